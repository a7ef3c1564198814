# Installs weft, and those of its components that were built.
set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/weft TYPE INCLUDE)
install(TARGETS weft EXPORT weft-targets)
install(EXPORT weft-targets NAMESPACE weft:: DESTINATION ${folder})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
foreach(component IN LISTS components)
  install(TARGETS weft_${component} EXPORT weft-${component}-targets OPTIONAL)
  install(EXPORT weft-${component}-targets NAMESPACE weft:: DESTINATION ${folder})
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/weft_${component}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  # CMake installs an export set whether or not its library was built.
  install(CODE "
    set(libraries \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}\")
    if(NOT EXISTS \"\${libraries}/$<TARGET_LINKER_FILE_NAME:weft_${component}>\")
      file(GLOB files \"\${libraries}/cmake/weft/weft-${component}-targets*.cmake\")
      file(REMOVE \${files} \"\${libraries}/pkgconfig/weft_${component}.pc\")
      message(STATUS \"Without weft::${component}, which was not built\")
    endif()")
endforeach()
include(CMakePackageConfigHelpers)
configure_package_config_file(weft-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/weft-config.cmake
  INSTALL_DESTINATION ${folder})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/weft-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/weft-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/weft-config-version.cmake FindCairo.cmake weft-embed.cmake
  weft-flags.cmake weft-embed.cpp.in weft-model.cmake weft-model.cpp.in weft-c-library.cmake
  weft-c-library.cpp.in weft-c-library.h.in weft-c-header.cmake
  DESTINATION ${folder})
