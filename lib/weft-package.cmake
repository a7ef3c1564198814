# `cpack -G DEB` makes libweft-dev of the components that are there, and of what they need.
set(CPACK_PACKAGE_NAME libweft-dev)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "attention models in C++20, run as SIMD loops (development files)")
set(CPACK_PACKAGE_DESCRIPTION "Models are static expression graphs over named axes, which the compiler
checks, differentiates and plans, and which run as SIMD loops of Highway.
This package has headers, static libraries, and files for CMake.")
set(CPACK_PACKAGE_CONTACT "The weft authors <weft@example.org>" CACHE STRING "The maintainer of packages")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(needed_by_mpi "libopenmpi-dev (>= 4)")
set(needed_by_pictures "libcairo2-dev (>= 1.16)")
set(needed_by_tbb "libtbb-dev (>= 2021)")
set(needed "libhwy-dev (>= 1.0.3)" "libboost-dev (>= 1.74)")
foreach(component IN LISTS components)
  list(APPEND needed ${needed_by_${component}})
endforeach()
list(JOIN needed ", " CPACK_DEBIAN_PACKAGE_DEPENDS)

# What Debian wants beside, with the owner and the rights of files of packages.
set(folder ${CMAKE_INSTALL_DATADIR}/doc/libweft-dev)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${folder} RENAME copyright COMPONENT debian EXCLUDE_FROM_ALL)
set(CPACK_INSTALL_CMAKE_PROJECTS
  "${CMAKE_BINARY_DIR};weft;ALL;/;${CMAKE_BINARY_DIR};weft;debian;/")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
include(CPack)
