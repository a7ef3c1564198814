# Eigen is made by clang where there is one, whatever makes the rest: its code is twice as fast as
# that of g++ 12. Included by CMakeLists.txt.
set(sources eigen_attention eigen_encoder eigen_product eigen_rows)
find_program(WEFT_BENCH_CLANG NAMES clang++ DOC "The compiler for Eigen")
get_target_property(eigen_folder Eigen3::Eigen INTERFACE_INCLUDE_DIRECTORIES)
if(WEFT_BENCH_CLANG)
  message(STATUS "Benchmarks: Eigen ${Eigen3_VERSION}, by ${WEFT_BENCH_CLANG}")
  foreach(source ${sources})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${source}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${WEFT_BENCH_CLANG} -std=c++20 -O3 -march=native -DNDEBUG -MD -MF ${object}.d
              -I${PROJECT_SOURCE_DIR} -isystem ${eigen_folder}
              -c ${CMAKE_CURRENT_SOURCE_DIR}/${source}.cpp -o ${object}
      DEPENDS ${source}.cpp
      DEPFILE ${object}.d
      COMMENT "Building ${source}.o with clang" VERBATIM)
    target_sources(weft_peers PRIVATE ${object})
  endforeach()
else()
  message(STATUS "Benchmarks: Eigen ${Eigen3_VERSION}; clang is not there, which would make it faster")
  list(TRANSFORM sources APPEND .cpp)
  target_sources(weft_peers PRIVATE ${sources})
  set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "-O3;-march=native")
  target_link_libraries(weft_peers PRIVATE Eigen3::Eigen)
endif()
