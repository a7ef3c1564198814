# Functions of Highway that targets do not agree on are called in kernels/hwy-inl.h alone, where the
# reason is. cmake -DROOT=<the repository> -P highway.cmake
file(GLOB_RECURSE files ${ROOT}/include/*.h ${ROOT}/include/*.hpp ${ROOT}/lib/*.h ${ROOT}/lib/*.hpp
  ${ROOT}/lib/*.cpp ${ROOT}/benchmarks/*.cpp ${ROOT}/examples/*.cpp)
list(LENGTH files count)
if(count LESS 100)
  message(FATAL_ERROR "${count} files in ${ROOT}: it is not the repository")
endif()
list(FILTER files EXCLUDE REGEX "/weft/kernels/hwy-inl[.]h$")
foreach(file IN LISTS files)
  file(STRINGS ${file} lines REGEX "hn::Ne[^a-zA-Z]")
  if(lines)
    message(SEND_ERROR "${file}: hn::Ne; call unequal of kernels/hwy-inl.h instead")
  endif()
endforeach()
