# Makes the files of test cases, and turns the header of one into the C++ of its test case.

# Makes the cases with PyPI's onnx, once for the content of the script and the versions that it needs.
# Where that fails there are none, and a line says why.
function(weft_make_cases cases)
  set(key "")
  foreach(file make_cases.py requirements.txt)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    file(SHA256 ${CMAKE_CURRENT_SOURCE_DIR}/${file} hash)
    string(APPEND key "${hash} ")
  endforeach()
  if(EXISTS ${cases}/key.txt)
    file(READ ${cases}/key.txt made)
    if(made STREQUAL key)
      return()
    endif()
  endif()
  find_program(WEFT_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
  set(packages ${CMAKE_CURRENT_BINARY_DIR}/packages)
  file(REMOVE_RECURSE ${cases} ${packages})
  message(STATUS "Making conformance tests with PyPI's onnx")
  # The system's numpy serves, as for random models.
  execute_process(RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE said
    COMMAND ${WEFT_PYTHON} -m pip install --quiet --disable-pip-version-check --retries 1
      --no-compile --no-deps --target ${packages} -r ${CMAKE_CURRENT_SOURCE_DIR}/requirements.txt)
  if(failed EQUAL 0)
    execute_process(RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE said
      COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${packages}
        ${WEFT_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/make_cases.py ${cases})
  endif()
  file(REMOVE_RECURSE ${packages})
  if(failed EQUAL 0)
    file(WRITE ${cases}/key.txt "${key}")
  else()
    file(REMOVE_RECURSE ${cases})
    string(STRIP "${said}" said)
    string(REGEX MATCH "[^\n]*$" why "${said}")
    message(STATUS "They need python3-pip, python3-numpy and PyPI: ${why}")
  endif()
endfunction()

# The value at a path of names in JSON; empty if there is none.
function(weft_json_get result json)
  string(JSON value ERROR_VARIABLE missing GET "${json}" ${ARGN})
  if(missing)
    set(value "")
  endif()
  set(${result} "${value}" PARENT_SCOPE)
endfunction()

# A text as a C++ string literal.
function(weft_literal result text)
  set(${result} "R\"weft(${text})weft\"" PARENT_SCOPE)
endfunction()

# The header, as JSON text; empty if the file has none.
function(weft_read_header result file)
  set(${result} "" PARENT_SCOPE)
  file(READ ${file} hex LIMIT 8 HEX)
  if(NOT hex MATCHES "^(..)(..)(..)(..)00000000$")
    return()
  endif()
  math(EXPR size "0x${CMAKE_MATCH_4}${CMAKE_MATCH_3}${CMAKE_MATCH_2}${CMAKE_MATCH_1}")
  file(READ ${file} text OFFSET 8 LIMIT ${size})
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# {"axis", -1}, {"approximate", 0, "tanh"}
function(weft_attributes result json)
  set(all "")
  string(JSON count ERROR_VARIABLE wrong LENGTH "${json}")
  if(NOT wrong AND count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
      string(JSON name MEMBER "${json}" ${i})
      string(JSON type TYPE "${json}" "${name}")
      weft_json_get(value "${json}" "${name}")
      weft_literal(literal "${name}")
      if(type STREQUAL "NUMBER")
        string(APPEND all "{${literal}, ${value}, \"\"}, ")
      else()
        weft_literal(value "${value}")
        string(APPEND all "{${literal}, 0, ${value}}, ")
      endif()
    endforeach()
  endif()
  set(${result} "${all}" PARENT_SCOPE)
endfunction()

# {"x", "F32", 2, {3, 4}} for each name in a list of the header.
function(weft_tensors result header prefix names)
  set(all "")
  string(JSON count ERROR_VARIABLE wrong LENGTH "${names}")
  if(NOT wrong AND count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(i RANGE ${last})
      string(JSON name GET "${names}" ${i})
      if(name STREQUAL "")  # an optional tensor that is omitted
        continue()
      endif()
      weft_literal(literal "${name}")
      weft_json_get(type "${header}" "${prefix}.${name}" dtype)
      weft_json_get(shape "${header}" "${prefix}.${name}" shape)
      string(JSON rank ERROR_VARIABLE wrong LENGTH "${shape}")
      if(wrong OR type STREQUAL "")
        string(APPEND all "{${literal}, \"\", 0, {}}, ")
        continue()
      endif()
      if(rank GREATER 8)  # more than the model's tensors have: the test will say so
        string(APPEND all "{${literal}, \"${type} with ${rank} axes\", 0, {}}, ")
        continue()
      endif()
      string(REGEX MATCHALL "[0-9]+" extents "${shape}")
      list(JOIN extents ", " extents)
      string(APPEND all "{${literal}, \"${type}\", ${rank}, {${extents}}}, ")
    endforeach()
  endif()
  set(${result} "${all}" PARENT_SCOPE)
endfunction()

# Sets `text` to the C++ of a file.
function(weft_conformance_case file text)
  cmake_path(GET file STEM LAST_ONLY name)
  string(MAKE_C_IDENTIFIER "${name}" case)
  weft_read_header(header ${file})
  weft_json_get(op "${header}" __metadata__ op_type)
  weft_json_get(opset "${header}" __metadata__ opset)
  if(NOT opset MATCHES "^[0-9]+$")
    set(opset 0)
  endif()
  weft_json_get(attributes "${header}" __metadata__ attributes)
  weft_json_get(inputs "${header}" __metadata__ inputs)
  weft_json_get(outputs "${header}" __metadata__ outputs)
  weft_literal(op "${op}")
  weft_literal(path "${file}")
  weft_attributes(attributes "${attributes}")
  weft_tensors(inputs "${header}" input "${inputs}")
  weft_tensors(outputs "${header}" output "${outputs}")
  set(${text} "
namespace weft::conformance::headers {
inline constexpr header ${case}{
    ${op}, ${opset}, {${attributes}}, {${inputs}}, {${outputs}}};
}
BOOST_AUTO_TEST_CASE(${case}) {
  weft::conformance::check<weft::conformance::headers::${case}>(${path});
}
" PARENT_SCOPE)
endfunction()
