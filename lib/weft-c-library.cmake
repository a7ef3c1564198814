# weft_add_c_library(<name> MODEL <model> HEADER <header> [RESULTS <result>...] [SHARED]
#                    [WEIGHTS <file>] [PRECISION <precision>] [LOAD_OPTIONS <expression>])
#
# Makes a library of a model, and <name>.h in C. The model's header is a file, or a path as in #include
# "..." in the library's include directories. RESULTS are computed, or all. A SHARED library exports the
# functions of <name>.h alone; a static one is for programs of this build. WEIGHTS is a file that the
# library holds. PRECISION, float32 by default, is that of weft::precision in which weights are packed,
# and LOAD_OPTIONS are the weft::load_options of their files: "{.ignore_others = true}".
function(weft_add_c_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg SHARED "MODEL;HEADER;WEIGHTS;PRECISION;LOAD_OPTIONS" RESULTS)
  list(JOIN ARGV " " said)
  string(REPLACE "\"" "'" said "weft_add_c_library(${said})")
  set(precision float32 ${arg_PRECISION})
  list(GET precision -1 precision)
  if(NOT arg_MODEL OR NOT arg_HEADER OR arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${said}: it is weft_add_c_library(<name> MODEL <model> HEADER <header> [<option>...])")
  elseif(NOT target MATCHES "^[A-Za-z][A-Za-z0-9_]*$")
    message(FATAL_ERROR "${said}: the functions begin with the library's name, and ${target} is no name in C")
  elseif(arg_SHARED AND NOT UNIX)
    message(FATAL_ERROR "${said}: shared libraries are made for Linux, macOS and other Unix")
  elseif(arg_WEIGHTS AND NOT TARGET weft::files)
    message(FATAL_ERROR "${said}: WEIGHTS needs weft::files, as by find_package(weft COMPONENTS files)")
  elseif(NOT precision MATCHES "^(float32|bfloat16|bfloat16_products|q8_0|q4_0|int8_products)$")
    message(FATAL_ERROR "${said}: PRECISION is float32, bfloat16, bfloat16_products, q8_0, q4_0 or int8_products")
  endif()
  list(TRANSFORM arg_RESULTS REPLACE "(.+)" ", \"\\1\"")
  list(JOIN arg_RESULTS "" names)
  set(weights "no file")
  set(embedded "throw c_error(c_code::null, \"the weights are null, and the library has none inside\")")
  if(arg_WEIGHTS)
    cmake_path(GET arg_WEIGHTS FILENAME weights)
    set(embedded "weft::tensor_file(weft::embedded<\"${weights}\">(), \"${weights}\")")
  endif()
  set(header ${arg_HEADER})
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${header})
    set(header ${CMAKE_CURRENT_SOURCE_DIR}/${header})
  endif()
  set(here ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/weft_c/${target})
  configure_file(${here}/weft-c-library.cpp.in ${folder}/model.cpp @ONLY)

  # The object file of the model has the rest of the header as text, which link-time optimization hides.
  set(type_TRUE SHARED)
  set(type_FALSE STATIC)
  add_library(${target}_model OBJECT ${folder}/model.cpp)
  add_library(${target} ${type_${arg_SHARED}} ${folder}/functions.cpp ${folder}/${target}.h
    $<TARGET_OBJECTS:${target}_model>)
  foreach(made IN ITEMS ${target} ${target}_model)
    target_link_libraries(${made} PRIVATE weft::weft $<TARGET_NAME_IF_EXISTS:weft::files>)
    set_target_properties(${made} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
      VISIBILITY_INLINES_HIDDEN ON UNITY_BUILD OFF DISABLE_PRECOMPILE_HEADERS ON)
  endforeach()
  target_include_directories(${target}_model PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  target_compile_definitions(${target}_model PRIVATE $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>
    WEFT_HAS_FILES=$<TARGET_EXISTS:weft::files>)
  target_compile_options(${target}_model PRIVATE -Wfatal-errors -fno-lto)
  if(arg_WEIGHTS)
    weft_embed_weights(${target} ${arg_WEIGHTS})
  endif()
  get_property(version GLOBAL PROPERTY WEFT_VERSION)
  add_custom_command(OUTPUT ${folder}/${target}.h ${folder}/functions.cpp
    COMMAND ${CMAKE_COMMAND} -D OBJECT=$<TARGET_OBJECTS:${target}_model> -D FOLDER=${folder} -D prefix=${target}
      -D model=${arg_MODEL} -D version=${version} -D weights=${weights} -P ${here}/weft-c-header.cmake
    DEPENDS $<TARGET_OBJECTS:${target}_model> ${here}/weft-c-header.cmake ${here}/weft-c-library.h.in
    COMMENT "Writing ${target}.h" VERBATIM)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${folder}>)
  set_target_properties(${target} PROPERTIES PUBLIC_HEADER ${folder}/${target}.h)
  if(arg_SHARED AND APPLE)
    target_link_options(${target} PRIVATE -Wl,-exported_symbol,_${target}_* -Wl,-dead_strip)
  elseif(arg_SHARED)
    file(WRITE ${folder}/exported "{ global: ${target}_*; local: *; };\n")
    target_link_options(${target} PRIVATE -Wl,--version-script=${folder}/exported -Wl,--gc-sections)
  endif()
endfunction()
set_property(GLOBAL PROPERTY WEFT_VERSION ${weft_VERSION})  # that is built, or was found
