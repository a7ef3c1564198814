# Builds PROGRAM from FILES with COMPILER, and runs it. Items of lists are separated by |. The LIBRARIES
# have a limit of MAX_OPERATIONS, if that is not empty.
foreach(list FILES INCLUDES LIBRARIES)
  string(REPLACE "|" ";" ${list} "${${list}}")
endforeach()
list(TRANSFORM INCLUDES PREPEND "-I")
set(options -std=c++20 -O0 -DBOOST_TEST_DYN_LINK
  -DHWY_DISABLED_TARGETS=HWY_SSSE3+HWY_SSE4+HWY_AVX3)
if(MAX_OPERATIONS)
  list(APPEND options -DWEFT_MAX_OPERATIONS=${MAX_OPERATIONS})
endif()
if(COMPILER_ID STREQUAL "GNU")
  list(APPEND options -fconstexpr-ops-limit=2000000000)
else()
  list(APPEND options -fconstexpr-steps=2000000000)
endif()
execute_process(COMMAND ${COMPILER} ${options} ${INCLUDES} ${FILES} ${LIBRARIES} -o ${PROGRAM}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${PROGRAM} COMMAND_ERROR_IS_FATAL ANY)
