# Checks that every sentence with which the headers refuse a use has a case in rules/.
file(GLOB headers ${INCLUDE}/weft/graph/*.hpp ${INCLUDE}/weft/nn/*.hpp
                  ${INCLUDE}/weft/nn/position/*.hpp ${INCLUDE}/weft/ops/*.hpp
                  ${INCLUDE}/weft/run/*.hpp)
list(FILTER headers EXCLUDE REGEX "/reject\\.hpp$")  # the macro itself
file(GLOB rules ${CMAKE_CURRENT_LIST_DIR}/rules/*.cpp)

set(cases)
foreach(file IN LISTS rules)
  file(READ ${file} text)
  string(REGEX REPLACE "\n *// " " " text "${text}")  # one line for a sentence that takes several
  string(APPEND cases "${text}")
endforeach()

set(count 0)
set(missing)
foreach(file IN LISTS headers)
  file(READ ${file} text)
  string(REPLACE ";" "<semicolon>" text "${text}")
  string(REPLACE "[" "<open>" text "${text}")
  string(REPLACE "]" "<close>" text "${text}")
  string(REPLACE "\\\"" "<quote>" text "${text}")
  string(REGEX REPLACE " *\\\\\n" "\n" text "${text}")  # lines of a macro
  string(REGEX REPLACE "WEFT_[A-Z_]+\\(sentence" "" text "${text}")  # the definition of a macro
  string(REGEX MATCHALL "WEFT_RE(JECT|FUSED)(_MEMBER|_CALL|_RESULTS)?\\([ \n]*(\"[^\"]*\"[ \n]*)+," sentences "${text}")
  string(REGEX MATCHALL "WEFT_RE(JECT|FUSED)(_MEMBER|_CALL|_RESULTS)?\\(" uses "${text}")
  list(LENGTH sentences found)
  list(LENGTH uses used)
  if(NOT found EQUAL used)
    message(FATAL_ERROR "${file}: a WEFT_REJECT without a sentence in quotes")
  endif()
  foreach(sentence IN LISTS sentences)
    string(REGEX REPLACE "\"[ \n]*\"" "" sentence "${sentence}")
    string(REGEX REPLACE "^[^\"]*\"([^\"]*)\".*$" "\\1" sentence "${sentence}")
    string(REPLACE "<semicolon>" ";" sentence "${sentence}")
    string(REPLACE "<open>" "[" sentence "${sentence}")
    string(REPLACE "<close>" "]" sentence "${sentence}")
    string(REPLACE "<quote>" "\"" sentence "${sentence}")
    string(FIND "${cases}" "${sentence}" at)
    if(at EQUAL -1)
      string(APPEND missing "\n  ${sentence}")
    endif()
    math(EXPR count "${count} + 1")
  endforeach()
endforeach()
if(missing)
  message(FATAL_ERROR "without a case in rules/:${missing}")
endif()
message("${count} rules")
