# What lib/CMakeLists.txt makes weft's libraries with.

# Minor versions of 0 are not compatible with each other.
function(weft_version target)
  set_target_properties(${target} PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endfunction()
