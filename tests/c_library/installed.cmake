# Makes a library in C with an installed weft, installs it, and asks a program in C that is compiled by hand.
#
# -D BUILD=<weft's build folder> -D SOURCE=<this folder> -D WORK=<an empty folder> -D COMPILER=<of C++> -D CC=<of C>
cmake_minimum_required(VERSION 3.25)
function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE code)
  if(code)
    message(FATAL_ERROR "${ARGN}\n${said}")
  endif()
endfunction()
file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --build ${BUILD} --target weft)
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/weft)
run(${CMAKE_COMMAND} -S ${SOURCE}/installed -B ${WORK}/build -G Ninja -DCMAKE_PREFIX_PATH=${WORK}/weft
  -DCMAKE_CXX_COMPILER=${COMPILER} -DHEADER=${SOURCE}/second.hpp -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_LIBDIR=lib)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${CMAKE_COMMAND} --install ${WORK}/build --prefix ${WORK}/net)
file(WRITE ${WORK}/main.c "#include <second.h>\nint main(void) { second *net; float x[2] = {1, 2}, y[20]; size_t n;\n"
  "return second_create(&net, NULL, 0) || second_run(net, 1, x, y, &n) || n != 3 || y[5] != 2 || second_destroy(net); }\n")
run(${CC} -std=c89 -pedantic -Wall -Werror -I ${WORK}/net/include ${WORK}/main.c -L ${WORK}/net/lib -lsecond
  -Wl,-rpath,${WORK}/net/lib -o ${WORK}/main)
run(${WORK}/main)
