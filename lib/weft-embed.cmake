# weft_embed_weights(<target> <file>...)
#
# Puts files into a program, or a library: for weft::embedded<"file name">() of
# weft/files/embedded.hpp. A file that is made while building must be the output of a custom command.
# Needs g++ or clang.
function(weft_embed_weights target)
  if(ARGC LESS 2)
    message(FATAL_ERROR "weft_embed_weights(<target> <file>...)")
  endif()
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    get_source_file_property(made ${file} GENERATED)
    if(NOT made AND NOT EXISTS ${file})
      message(FATAL_ERROR "weft_embed_weights(${target} ${file}): there is no such file")
    endif()
    cmake_path(GET file FILENAME name)
    string(MAKE_C_IDENTIFIER "weft_embedded_${name}" symbol)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/weft_embedded/${target}/${symbol}.cpp)
    configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/weft-embed.cpp.in ${source} @ONLY)
    target_sources(${target} PRIVATE ${source})
    # Link-time optimization would not find the labels.
    set_source_files_properties(${source} PROPERTIES
      OBJECT_DEPENDS ${file} COMPILE_OPTIONS -fno-lto SKIP_PRECOMPILE_HEADERS ON
      SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endfunction()
