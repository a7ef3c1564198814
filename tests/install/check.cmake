# Installs weft, and uses the installation from another project: with one component, or with ALL=ON in
# each way of asking for components.
#
# -D BUILD=<weft's build folder> -D SOURCE=<the consumer> -D WORK=<an empty folder>
# -D COMPILER=<C++ compiler> -D VERSION=<weft's> -D COMPONENTS=<those that were built: files;mpi;pictures;tbb>
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

function(run_quietly)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${said}")
  endif()
endfunction()
list(TRANSFORM COMPONENTS PREPEND weft_ OUTPUT_VARIABLE libraries)
run_quietly(${CMAKE_COMMAND} --build ${BUILD} --target weft ${libraries})
run_quietly(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)

# Configures the consumer with more arguments; returns the exit code and the output.
function(configure name)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/${name} -G Ninja
      -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=Debug
      ${ARGN}
    RESULT_VARIABLE code OUTPUT_VARIABLE said ERROR_VARIABLE said)
  set(code ${code} PARENT_SCOPE)
  set(said "${said}" PARENT_SCOPE)
endfunction()
function(must_configure name)
  configure(${name} ${ARGN})
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${name} does not configure:\n${said}")
  endif()
endfunction()
function(must_work name)
  must_configure(${name} ${ARGN})
  run_quietly(${CMAKE_COMMAND} --build ${WORK}/${name})
  run_quietly(${CMAKE_COMMAND} -E chdir ${WORK}/${name} ./consumer)
endfunction()
function(must_be_refused name sentence)
  configure(${name} ${ARGN})
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  string(FIND "${said}" "${sentence}" at)
  if(code EQUAL 0 OR at EQUAL -1)
    message(FATAL_ERROR "${name} should say: ${sentence}\n${said}")
  endif()
endfunction()

# As on a machine that only has Highway and Boost's headers.
set(nothing_else -DCMAKE_DISABLE_FIND_PACKAGE_Cairo=ON -DCMAKE_DISABLE_FIND_PACKAGE_TBB=ON
  -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON)
if(NOT ALL)
  must_work(with_files ${nothing_else} "-DWANTED=COMPONENTS,files")
  must_be_refused(misspelt "weft has no component 'picture': there are files, mpi, pictures and tbb"
    "-DWANTED=COMPONENTS,picture")
  return()
endif()
must_work(alone ${nothing_else} -DVERSION=${VERSION})
# Its minor version alone is compatible, and no later patch.
string(REPLACE "." ";" parts ${VERSION})
list(GET parts 0 major)
list(GET parts 1 minor)
list(GET parts 2 patch)
must_configure(alone ${nothing_else} -DVERSION=${major}.${minor})
math(EXPR next "${patch} + 1")
set(others ${major}.${minor}.${next})
math(EXPR next "${minor} + 1")
list(APPEND others ${major}.${next})
if(minor GREATER 0)
  math(EXPR last "${minor} - 1")
  list(APPEND others ${major}.${last})
endif()
foreach(other IN LISTS others)
  must_be_refused(alone "compatible with requested version \"${other}\"" ${nothing_else} -DVERSION=${other})
endforeach()
list(JOIN COMPONENTS "," all)
must_work(with_all "-DWANTED=COMPONENTS,${all}")
# How a component is asked for changes nothing that is compiled.
must_configure(optional ${nothing_else} "-DWANTED=OPTIONAL_COMPONENTS,files")
must_configure(former_name ${nothing_else} "-DWANTED=COMPONENTS,io")
if(COMPONENTS MATCHES mpi)
  must_configure(with_mpi ${nothing_else} "-DWANTED=COMPONENTS,mpi")
  must_be_refused(without_mpi "'mpi' is missing: it needs MPI (Debian: libopenmpi-dev)"
    ${nothing_else} -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON "-DWANTED=COMPONENTS,mpi")
endif()
if(COMPONENTS MATCHES tbb)
  must_be_refused(without_tbb "'tbb' is missing: it needs oneTBB (Debian: libtbb-dev)"
    ${nothing_else} "-DWANTED=COMPONENTS,tbb")
endif()
