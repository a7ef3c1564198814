# weft_add_model(<target> <header> <model> [RESULTS <name>...] [TRAINING <loss>])
#
# Generates code for a model that the header declares, for every SIMD target, and adds it to the
# CMake target: for weft::generated<model, results...>() or, with TRAINING, for
# weft::generated_training<model, loss>(). The header is a file, or a path as in #include "...".
function(weft_add_model target header model)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" "TRAINING" "RESULTS")
  if(arg_UNPARSED_ARGUMENTS OR (DEFINED arg_TRAINING AND DEFINED arg_RESULTS))
    message(FATAL_ERROR
      "weft_add_model(<target> <header> <model> [RESULTS <name>... | TRAINING <loss>])")
  endif()
  set(kind inference)
  if(DEFINED arg_TRAINING)
    set(kind training)
  endif()
  set(arguments ${model})
  foreach(name IN LISTS arg_RESULTS arg_TRAINING)
    string(APPEND arguments ", \"${name}\"")
  endforeach()
  set(source "${kind}<${arguments}>")
  list(JOIN ARGV " " said)
  set(said "weft_add_model(${said})")
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${header})
    set(header ${CMAKE_CURRENT_SOURCE_DIR}/${header})
  endif()
  string(MAKE_C_IDENTIFIER "${source}" name)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/weft_models/${target}/${name}.cpp)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/weft-model.cpp.in ${file} @ONLY)
  target_sources(${target} PRIVATE ${file})
  # Stops at the first error, which is the informative one: the file is compiled once per SIMD
  # target.
  set_source_files_properties(${file} PROPERTIES
    COMPILE_OPTIONS -Wfatal-errors SKIP_PRECOMPILE_HEADERS ON)
endfunction()
