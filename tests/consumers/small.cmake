# What a program with one small model holds, links and compiles.
#
# -D PROGRAM=<it> -D BUDGET=<bytes, stripped> -D SOURCE=<a file with its model> -D WORK=<a folder>
# -D LIBRARY=<weft> -D COMPILE=<the compiler and its options> -D NM=<nm> -D STRIP=<strip> -D READELF=<readelf>
function(run variable)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE said COMMAND_ERROR_IS_FATAL ANY)
  set(${variable} "${said}" PARENT_SCOPE)
endfunction()

run(said ${PROGRAM})
run(said ${STRIP} -o ${WORK}/stripped ${PROGRAM})
file(SIZE ${WORK}/stripped bytes)
message(STATUS "${bytes} bytes, stripped")
if(bytes GREATER BUDGET)
  message(SEND_ERROR "The program has ${bytes} bytes, stripped: more than ${BUDGET}")
endif()

# Kernels that its model does not run; the adjoints; rare operations.
run(symbols ${NM} -C ${PROGRAM})
string(REGEX MATCH "::(attention|rowwise|rotate_adjoint|top_k|adamw|max_of|dropout_loop|conversion|profile|explain)(_of_target)?[(<][^\n]*"
  found "${symbols}")
if(found)
  message(SEND_ERROR "The program holds what its model does not use: ${found}")
endif()

run(needed ${READELF} -d ${PROGRAM})
if(needed MATCHES "libhwy")
  message(SEND_ERROR "The program needs Highway's library, which takes longer to start than the program")
endif()

# Time differs from run to run, and this does not: of g++ 12's library, a header of models takes 29,000
# lines, and with <string>, <algorithm>, <cmath> or <iostream> a tenth of a second more each.
run(lines ${COMPILE} -E -P -x c++ ${SOURCE})
string(REGEX MATCHALL "\n" lines "${lines}")
list(LENGTH lines count)
message(STATUS "${count} lines")
if(count GREATER 31000)
  message(SEND_ERROR "A header of models takes ${count} lines, preprocessed")
endif()

# With other containers than the library's the program would crash.
file(WRITE ${WORK}/debug.cpp "#include \"weft/language.hpp\"\nint main() {}\n")
foreach(options IN ITEMS "" -D_GLIBCXX_DEBUG)
  execute_process(COMMAND ${COMPILE} ${options} ${WORK}/debug.cpp ${LIBRARY} -o ${WORK}/debug
    ERROR_VARIABLE said RESULT_VARIABLE result)
  if((result EQUAL 0) EQUAL (options STREQUAL "-D_GLIBCXX_DEBUG"))
    message(SEND_ERROR "Linked with '${options}': ${result} ${said}")
  endif()
endforeach()
if(NOT said MATCHES "library_is_compiled_with_GLIBCXX_DEBUG")
  message(SEND_ERROR "The linker does not name _GLIBCXX_DEBUG: ${said}")
endif()
