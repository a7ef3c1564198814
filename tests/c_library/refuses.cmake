# What CMake says of wrong calls of weft_add_c_library: -D WEFT=<weft's folder> -D WORK=<an empty folder>
cmake_minimum_required(VERSION 3.25)
function(expect_refused call sentence)
  file(WRITE ${WORK}/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES NONE)\n"
    "include(${WEFT}/lib/weft-c-library.cmake)\nweft_add_c_library(${call})\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${WORK} -B ${WORK}/build RESULT_VARIABLE code OUTPUT_QUIET
    ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  string(FIND "${said}" "${sentence}" at)
  if(NOT code OR at LESS 0)
    message(FATAL_ERROR "weft_add_c_library(${call}) was to say '${sentence}', and says '${said}'")
  endif()
endfunction()
expect_refused("net MODEL app::net" "it is weft_add_c_library(<name> MODEL <model> HEADER <header>")
expect_refused("net app::net HEADER net.hpp MODEL app::net" "it is weft_add_c_library(<name> MODEL <model>")
expect_refused("my-net MODEL app::net HEADER net.hpp" "my-net is no name in C")
expect_refused("net MODEL app::net HEADER net.hpp PRECISION half" "PRECISION is float32, bfloat16")
expect_refused("net MODEL app::net HEADER net.hpp WEIGHTS net.safetensors" "WEIGHTS needs weft::files")
