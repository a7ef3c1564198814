# Uses weft in one way in which programs use it: builds the project `ways`, and runs what comes of it.
#
# -D WAY=<installed | makefile | fetched | with_highway> -D WEFT=<weft's folder> -D BUILD=<its build folder>
# -D SOURCE=<the project> -D WORK=<an empty folder> -D COMPILER=<C++ compiler> -D NM=<nm>
# -D MAKE=<make> -D PKG_CONFIG=<pkg-config>
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

function(run variable)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE errors)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${said}${errors}")
  endif()
  set(${variable} "${said}" PARENT_SCOPE)
endfunction()
function(configure folder)
  run(said ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/${folder} -G Ninja -DWAY=${WAY} -DWEFT=${WEFT}
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_C_FLAGS=-Werror
    -DCMAKE_CXX_VISIBILITY_PRESET=hidden -DCMAKE_VISIBILITY_INLINES_HIDDEN=ON ${ARGN})
endfunction()
function(build folder)
  run(said ${CMAKE_COMMAND} --build ${WORK}/${folder} --target ${ARGN})
endfunction()
# The symbols of what a file defines, or exports with -D, that match a pattern.
function(symbols variable pattern)
  run(said ${NM} -C --defined-only ${ARGN})
  string(REGEX MATCHALL "[^\n]*${pattern}[^\n]*" found "${said}")
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()
# That `got`, a list, has a form.
function(expect what got form)
  string(REGEX REPLACE "[ \n]+" " " got "${got}")
  if(NOT got MATCHES "^${form}$")
    message(FATAL_ERROR "${WAY}: ${what} should be '${form}', and is '${got}'")
  endif()
endfunction()
function(install_into prefix)
  run(said ${CMAKE_COMMAND} --build ${BUILD} --target weft)
  run(said ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
  file(RENAME ${WORK}/first ${prefix})  # an installation can be moved
endfunction()
# The page's program by the page's Makefile.
function(make folder prefix)
  file(READ ${WEFT}/examples/EMBEDDING.md page)
  foreach(language file IN ZIP_LISTS languages files)
    string(REGEX MATCH "```${language}\n([^`]*)```" block "${page}")
    file(WRITE ${WORK}/${folder}/${file} "${CMAKE_MATCH_1}")
  endforeach()
  file(GLOB_RECURSE file ${prefix}/weft.pc)
  cmake_path(GET file PARENT_PATH packages)
  cmake_path(GET packages PARENT_PATH libraries)
  run(said ${MAKE} -C ${WORK}/${folder} CXX=${COMPILER}
    "weft=PKG_CONFIG_PATH=${packages} ${PKG_CONFIG} weft")
  run(said ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${libraries} ${WORK}/${folder}/app)
endfunction()
set(languages cpp make)
set(files main.cpp Makefile)

if(WAY STREQUAL "installed")
  # A static weft in a plugin, which exports nothing of it.
  install_into(${WORK}/prefix)
  configure(build -DCMAKE_PREFIX_PATH=${WORK}/prefix)
  build(build plugin host sanitized)
  run(said ${WORK}/build/host ${WORK}/build/libplugin.so)
  symbols(exported "weft" -D ${WORK}/build/libplugin.so)
  expect("what the plugin exports of weft" "${exported}" "")
  file(STRINGS ${WORK}/build/compile_commands.json lines REGEX "-fno-sanitize")
  list(FILTER lines EXCLUDE REGEX "sanitized[.]dir")
  expect("what is compiled without checks where there is no sanitizer" "${lines}" "")
elseif(WAY STREQUAL "makefile")
  install_into(${WORK}/prefix)
  make(build ${WORK}/prefix)
elseif(WAY STREQUAL "fetched")
  # A shared weft, merged files and hidden symbols in the project around it; then what is installed of
  # it, without the components that were not built.
  configure(build -DBUILD_SHARED_LIBS=ON -DCMAKE_UNITY_BUILD=ON -DWEFT_TARGETS=baseline -DWEFT_INSTALL=ON
    -DWEFT_DEBUG_KERNELS=ON)
  build(build program)
  run(said ${WORK}/build/program)
  file(GLOB libraries RELATIVE ${WORK}/build/_deps/weft-build/lib ${WORK}/build/_deps/weft-build/lib/*.so.*)
  expect("the names of the library" "${libraries}" "libweft[.]so[.]0[.]1;libweft[.]so[.]0[.]1[.]0")
  run(said ${CMAKE_COMMAND} --install ${WORK}/build --prefix ${WORK}/prefix)
  set(WAY installed)
  configure(again -DCMAKE_PREFIX_PATH=${WORK}/prefix)
  execute_process(COMMAND ${CMAKE_COMMAND} -DWANTED=COMPONENTS,files ${WORK}/again ERROR_VARIABLE said)
  expect("what find_package says" "${said}" ".*'files' is missing: weft was installed without it.*")
  if(MAKE AND PKG_CONFIG)
    make(made ${WORK}/prefix)
  endif()
elseif(WAY STREQUAL "with_highway")
  # With the target of the project around it, nothing else, and two SIMD targets beside the baseline.
  # That project's installation has nothing of weft.
  configure(build -DWEFT_FILES=OFF -DWEFT_PICTURES=OFF -DWEFT_TBB=OFF -DWEFT_TARGETS=AVX2,AVX3
    -DCMAKE_DISABLE_FIND_PACKAGE_hwy=ON -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON)
  set(object weft/lib/CMakeFiles/weft.dir/kernels/top_k.cpp.o)
  build(build ${object})
  symbols(made "N_(SSSE3|SSE4|AVX2|AVX3)::" ${WORK}/build/${object})
  string(REGEX MATCHALL "N_[A-Z0-9]+" made "${made}")
  list(REMOVE_DUPLICATES made)
  list(SORT made)
  expect("what kernels are made for" "${made}" "N_AVX2;N_AVX3")
  run(said ${CMAKE_COMMAND} --install ${WORK}/build --prefix ${WORK}/prefix)
  file(GLOB_RECURSE files RELATIVE ${WORK}/prefix ${WORK}/prefix/*)
  expect("what is installed" "${files}" "[^;]*CMakeLists.txt")
else()
  message(FATAL_ERROR "There is no way '${WAY}'")
endif()
