# A port of the folder that it lies in: vcpkg install weft --overlay-ports=weft/examples/packages/vcpkg
# In a registry, vcpkg_from_git(OUT_SOURCE_PATH SOURCE_PATH ...) is in the place of the first line.
cmake_path(SET SOURCE_PATH NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../../../..)
vcpkg_check_features(OUT_FEATURE_OPTIONS components
  FEATURES
    files WEFT_FILES
    pictures WEFT_PICTURES
    tbb WEFT_TBB)
vcpkg_cmake_configure(SOURCE_PATH ${SOURCE_PATH}
  OPTIONS ${components} -DWEFT_MPI=OFF -DWEFT_TESTS=OFF -DWEFT_EXAMPLES=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/weft)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE ${CURRENT_PACKAGES_DIR}/debug/include ${CURRENT_PACKAGES_DIR}/debug/share)
file(INSTALL ${CMAKE_CURRENT_LIST_DIR}/usage DESTINATION ${CURRENT_PACKAGES_DIR}/share/${PORT})
vcpkg_install_copyright(FILE_LIST ${SOURCE_PATH}/LICENSE)
