# Error messages for wrong uses of weft_add_model: each target must fail to build with these words.
function(weft_add_wrong_use target words)
  target_link_libraries(${target} PRIVATE weft::weft)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  add_test(NAME generate/${target}
    COMMAND ${CMAKE_COMMAND} --build ${CMAKE_BINARY_DIR} --target ${target})
  set_tests_properties(generate/${target} PROPERTIES
    PASS_REGULAR_EXPRESSION "${words}" RESOURCE_LOCK ${CMAKE_BINARY_DIR})
endfunction()

add_library(result_of_no_such_name OBJECT EXCLUDE_FROM_ALL)
weft_add_model(result_of_no_such_name generate/models.hpp weft::generating::perceptron RESULTS y)
weft_add_wrong_use(result_of_no_such_name
  "RESULTS y\\): weft::generating::perceptron has no result of this name")

add_library(no_such_header OBJECT EXCLUDE_FROM_ALL)
weft_add_model(no_such_header generate/no_models.hpp weft::generating::perceptron)
weft_add_wrong_use(no_such_header "perceptron\\): there is no such header")

add_library(unnamed_namespace OBJECT EXCLUDE_FROM_ALL)
weft_add_model(unnamed_namespace generate/unnamed.hpp unnamed)
weft_add_wrong_use(unnamed_namespace "unnamed\\): unnamed is in an unnamed namespace")

add_executable(no_line_of_cmake EXCLUDE_FROM_ALL generate/without_code.cpp)
weft_add_wrong_use(no_line_of_cmake "undefined .*made_by_weft_add_model")
