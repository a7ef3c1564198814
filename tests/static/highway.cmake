# Checks that what has other results on another machine is not called: functions of Highway that differ
# between targets, but in kernels/hwy-inl.h, which explains why; and those of the C library that are not
# correctly rounded. Nor does what has to compile without exceptions throw. Usage: cmake -DROOT=<the repository> -P highway.cmake
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

# weft compiles without exceptions, but for what is between the ranks of MPI.
set(with_exceptions ${files})
list(FILTER with_exceptions EXCLUDE REGEX "/mpi/|/(benchmarks|examples)/|/weft/fault.hpp$|/lib/run/error.cpp$|/lib/files/json.hpp$|/generate/c_library.hpp$")
foreach(file IN LISTS with_exceptions)
  file(STRINGS ${file} lines REGEX "^( |[^/]*[^a-z_/])(throw [a-z:]+[({]|throw;|try {|catch [(])")
  if(lines)
    message(SEND_ERROR "${file} throws or catches; detail::raise and detail::caught of run/error.hpp do, "
      "where the compiler has exceptions:\n${lines}")
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
