# Compilers differ in how they handle template arguments, which code is generated from. So every
# compiler other than the one that builds also generates the code of some models for the library
# that is built, and runs it: for one SIMD target and not optimized, since it is the source of the code
# that differs.
find_package(hwy REQUIRED)
set(files ${CMAKE_CURRENT_SOURCE_DIR}/generate/another_compiler_test.cpp)
foreach(model narrow awkward_rows)
  list(APPEND files ${CMAKE_CURRENT_BINARY_DIR}/weft_models/weft_test_models/inference_weft__generating__${model}_.cpp)
endforeach()
list(JOIN files "|" files)
set(includes "$<JOIN:$<TARGET_PROPERTY:weft_generate_test,INCLUDE_DIRECTORIES>,|>")
set(libraries "$<TARGET_FILE:weft_test_support>|$<TARGET_FILE:weft_files>|$<TARGET_FILE:weft>")
string(APPEND libraries "|$<TARGET_FILE:hwy::hwy>|$<TARGET_FILE:Boost::unit_test_framework>")
foreach(compiler id IN ZIP_LISTS weft_compilers weft_compiler_ids)
  if(compiler STREQUAL CMAKE_CXX_COMPILER)
    continue()
  endif()
  cmake_path(GET compiler FILENAME name)
  add_test(NAME generate/${name}
    COMMAND ${CMAKE_COMMAND} -DCOMPILER=${compiler} -DCOMPILER_ID=${id} -DFILES=${files}
            -DLAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER}
            -DINCLUDES=${includes} -DLIBRARIES=${libraries} -DMAX_OPERATIONS=${WEFT_MAX_OPERATIONS}
            -DPROGRAM=${CMAKE_CURRENT_BINARY_DIR}/weft_generate_test_by_${name}
            -P ${CMAKE_CURRENT_SOURCE_DIR}/generate/compile_and_run.cmake)
  set_tests_properties(generate/${name} PROPERTIES
    ENVIRONMENT_MODIFICATION BOOST_TEST_RUN_FILTERS=unset: COST 20)
endforeach()
