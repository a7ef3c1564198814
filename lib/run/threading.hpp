// A lock and a pause for the threads of an executor. Where the standard library has no threads, as
// that of WebAssembly, there is one, which never waits for another.
#pragma once

#include <mutex>
#include <thread>

namespace weft::detail {

#ifdef __STDCPP_THREADS__
using mutex = std::mutex;
// Lets other threads run.
inline void yield() noexcept {
  std::this_thread::yield();
}
#else
struct mutex {
  void lock() noexcept {}
  void unlock() noexcept {}
};
inline void yield() noexcept {}
#endif

}  // namespace weft::detail
