# WebAssembly with 128-bit vectors and WASI's system calls, by the clang of PyPI's ziglang, for node and
# browsers. Needs python3 with pip and the headers of Highway, Boost and nlohmann-json.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)

# What ziglang does not compile of its libraries for this target: see prepare.sh.
set(WEFT_WASM ${CMAKE_CURRENT_LIST_DIR}/../../../build-wasm/toolchain)
cmake_path(NORMAL_PATH WEFT_WASM)
if(NOT EXISTS ${WEFT_WASM}/complete)
  execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/prepare.sh ${WEFT_WASM} COMMAND_ERROR_IS_FATAL ANY)
endif()
set(CMAKE_CXX_COMPILER ${WEFT_WASM}/c++)
set(CMAKE_AR ${WEFT_WASM}/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${WEFT_WASM}/ranlib CACHE FILEPATH "")
# Before all objects, whose references would otherwise bring in what stands for it in the library.
set(CMAKE_EXE_LINKER_FLAGS_INIT ${WEFT_WASM}/exceptions.o)
set(CMAKE_CXX_STANDARD_LIBRARIES_INIT "${WEFT_WASM}/libfiles.a -lwasi-emulated-mman")
set(CMAKE_EXECUTABLE_SUFFIX_CXX .wasm)
set(CMAKE_CROSSCOMPILING_EMULATOR node --no-warnings ${CMAKE_CURRENT_LIST_DIR}/run.mjs)
# find_package gives these packages, and none of the machine that compiles.
set(CMAKE_PROJECT_TOP_LEVEL_INCLUDES ${CMAKE_CURRENT_LIST_DIR}/packages.cmake)
