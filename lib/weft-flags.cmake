# weft_own_flags(<variable>)
#
# Sets the variable to the options with which weft's libraries and generated code are compiled after
# all others, so that what they compute, and how fast, does not depend on the project around them:
#
# - IEEE arithmetic, whatever -ffast-math and its parts say before;
# - optimized, where neither the project nor the build type asks for it, as without a build type or in
#   Debug (kernels at -O0 take 67 times as long), unless WEFT_DEBUG_KERNELS is ON.
function(weft_own_flags variable)
  set(flags "")
  if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    set(flags -fno-fast-math -fno-unsafe-math-optimizations -fno-finite-math-only -fno-associative-math
      -fno-reciprocal-math -fsigned-zeros)
    # Where a product and a sum are rounded once, the source says so (hn::MulAdd). Else it is for each
    # compiler and processor to decide: g++ contracts Highway's Mul and Add too, clang does not.
    list(APPEND flags -ffp-contract=off)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      list(APPEND flags -fno-single-precision-constant)
    endif()
    if(NOT WEFT_DEBUG_KERNELS)
      get_directory_property(options COMPILE_OPTIONS)
      foreach(configuration IN LISTS CMAKE_CONFIGURATION_TYPES CMAKE_BUILD_TYPE ITEMS none)
        string(TOUPPER "${configuration}" upper)
        string(REGEX MATCHALL "-O[0-9a-z]*"
          levels "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${upper}} ${options}")
        list(POP_BACK levels last)
        string(REPLACE none "" name ${configuration})
        if(NOT last MATCHES "^-O$|^-O[1-9sz]|^-Ofast")
          list(APPEND flags "$<$<CONFIG:${name}>:-O2>")
        endif()
      endforeach()
    endif()
  endif()
  set(${variable} ${flags} PARENT_SCOPE)
endfunction()

# weft_give_options(<target>)
#
# Gives the C++ files of the target's users what they need to compile a model: it is evaluated at compile
# time, and a large one exceeds the compilers' default limit of steps. With some of its checks for
# undefined behaviour, g++ does not compare addresses in constant expressions, which distinguish axes:
# these checks are off where the project, or a target's link options, have such a sanitizer.
function(weft_give_options target)
  set(sanitized "$<BOOL:$<FILTER:$<TARGET_PROPERTY:LINK_OPTIONS>,INCLUDE,-fsanitize=.*(undefined|null)>>")
  get_directory_property(options COMPILE_OPTIONS)
  foreach(configuration IN LISTS CMAKE_CONFIGURATION_TYPES CMAKE_BUILD_TYPE)
    string(TOUPPER "${configuration}" upper)
    list(APPEND options ${CMAKE_CXX_FLAGS_${upper}})
  endforeach()
  if("${CMAKE_CXX_FLAGS} ${options}" MATCHES "-fsanitize=[^ ;]*(undefined|null)")
    set(sanitized 1)
  endif()
  set(checks null,nonnull-attribute,returns-nonnull-attribute)
  # An installed target gets them from find_package.
  foreach(option IN ITEMS
      $<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:-fconstexpr-steps=2000000000>
      $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fconstexpr-ops-limit=2000000000>
      $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,${sanitized}>:-fno-sanitize=${checks}>)
    target_compile_options(${target} INTERFACE $<BUILD_INTERFACE:${option}>)
  endforeach()
endfunction()
