# The results of a program have the same bits whatever flags the project around weft sets, and weft is
# optimized whatever its build type is.
#
# -D WEFT=<weft's folder> -D PLAIN=<the program, compiled by weft's own build> -D COMPILER=<C++ compiler>
# -D SOURCE=<the project> -D WORK=<an empty folder>
file(REMOVE_RECURSE ${WORK})

function(run variable)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE errors)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${said}${errors}")
  endif()
  set(${variable} "${said}" PARENT_SCOPE)
endfunction()

# The commands of a build folder that compile a source file of weft, or of its generated code.
function(commands folder pattern variable)
  file(STRINGS ${WORK}/${folder}/compile_commands.json lines REGEX "\"command\": .*${pattern}")
  if(NOT lines)
    message(FATAL_ERROR "${folder}: nothing compiles ${pattern}")
  endif()
  set(${variable} "${lines}" PARENT_SCOPE)
endfunction()
function(configure folder)
  run(said ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/${folder} -G Ninja -DWEFT=${WEFT}
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_EXPORT_COMPILE_COMMANDS=ON ${ARGN})
endfunction()
# The last level of optimization is what counts.
function(must_compile folder pattern level)
  commands(${folder} ${pattern} lines)
  string(REGEX MATCHALL " -O[0-9a-z]*" levels "${lines}")
  list(POP_BACK levels last)
  if(NOT "${last}" STREQUAL "${level}")
    message(FATAL_ERROR "${folder}: ${pattern} is compiled with '${last}', not '${level}'")
  endif()
endfunction()

configure(debug -DCMAKE_BUILD_TYPE=Debug)
configure(without)
configure(none -DCMAKE_CXX_FLAGS=-O3)
configure(kernels -DCMAKE_BUILD_TYPE=Debug -DWEFT_DEBUG_KERNELS=ON)
configure(size -DCMAKE_BUILD_TYPE=MinSizeRel)
foreach(file kernels/dot.cpp run/engine.cpp weft_models/plugin)
  must_compile(debug ${file} " -O2")
  must_compile(without ${file} " -O2")
  must_compile(none ${file} " -O3")
  must_compile(kernels ${file} "")
  must_compile(size ${file} " -Os")
endforeach()

set(flags "-Ofast -ffast-math -funsafe-math-optimizations -ffinite-math-only -ffp-contract=fast")
configure(fast "-DCMAKE_CXX_FLAGS=${flags} -DHWY_COMPILE_ONLY_STATIC")
run(said ${CMAKE_COMMAND} --build ${WORK}/fast)
run(got ${WORK}/fast/host ${WORK}/fast/libplugin.so)
run(expected ${PLAIN})
if(NOT "${got}" STREQUAL "${expected}")
  file(WRITE ${WORK}/got.txt "${got}")
  file(WRITE ${WORK}/expected.txt "${expected}")
  execute_process(COMMAND diff ${WORK}/expected.txt ${WORK}/got.txt OUTPUT_VARIABLE difference)
  message(FATAL_ERROR "With ${flags} results are others:\n${difference}")
endif()
