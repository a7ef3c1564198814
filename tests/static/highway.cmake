# Checks that what has other results on another machine is not called: functions of Highway that differ
# between targets, but in kernels/hwy-inl.h, which explains why; and those of the C library that are not
# correctly rounded. Usage: cmake -DROOT=<the repository> -P highway.cmake
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

list(FILTER files EXCLUDE REGEX "/(lib/pictures|benchmarks|examples)/")
foreach(file IN LISTS files)
  file(STRINGS ${file} lines REGEX
    "std::(exp2?|expm1|log(2|10|1p)?|pow|cbrt|hypot|a?(sin|cos|tan)h?|atan2|erfc?|[lt]gamma|[a-z_]*_distribution)[(<]")
  if(lines)
    message(SEND_ERROR "${file} calls a function of the C library whose last bits differ between machines; "
      "kernels/elementary.hpp has others:\n${lines}")
  endif()
endforeach()
