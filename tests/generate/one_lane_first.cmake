# With a newer baseline processor, g++ compiles the one-lane target, for which nothing is generated,
# before the others. Newer versions of Highway have such a baseline by default.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_test(NAME generate/one_lane_first
    COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -march=x86-64-v2 -DHWY_IS_TEST=1
            -fconstexpr-ops-limit=2000000000
            "-I$<JOIN:$<TARGET_PROPERTY:weft_generate_test,INCLUDE_DIRECTORIES>,;-I>"
            ${CMAKE_CURRENT_BINARY_DIR}/weft_models/weft_test_models/inference_weft__generating__narrow_.cpp
    COMMAND_EXPAND_LISTS)
endif()
