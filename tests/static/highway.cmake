# Checks that functions of Highway whose results differ between targets are called only in
# kernels/hwy-inl.h, which explains why. Usage: cmake -DROOT=<the repository> -P highway.cmake
file(GLOB_RECURSE files ${ROOT}/include/*.h ${ROOT}/include/*.hpp ${ROOT}/lib/*.h ${ROOT}/lib/*.hpp
  ${ROOT}/lib/*.cpp ${ROOT}/benchmarks/*.cpp ${ROOT}/examples/*.cpp)
list(LENGTH files count)
if(count LESS 100)
  message(FATAL_ERROR "${count} files in ${ROOT}, which is not the repository")
endif()
list(FILTER files EXCLUDE REGEX "/weft/kernels/hwy-inl[.]h$")
foreach(file IN LISTS files)
  file(STRINGS ${file} lines REGEX "hn::Ne[^a-zA-Z]")
  if(lines)
    message(SEND_ERROR "${file} calls hn::Ne; call unequal of kernels/hwy-inl.h instead")
  endif()
endforeach()
