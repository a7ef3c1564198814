#include "benchmarks/environment.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>

#ifdef __linux__
#include <sched.h>
#endif

namespace bench {

void clean_environment(char** argv, int threads) {
  bool clean = true;
  for (const char* name : {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "DNNL_MAX_CPU_ISA",
                           "ATEN_CPU_CAPABILITY", "OMP_WAIT_POLICY"}) {
    if (!std::getenv(name)) continue;
    clean = false;
    unsetenv(name);
  }
  const std::string count = std::to_string(threads);
  // Only by environment variables: a call that sets one library's number of threads sets it for all
  // that share its OpenMP runtime.
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"}) {
    const char* const now = std::getenv(name);
    if (now && std::string_view(now) == count) continue;
    clean = false;
    setenv(name, count.c_str(), 1);
  }
#ifdef __linux__
  if (!clean) execv("/proc/self/exe", argv);  // if it fails, a peer is slower than it could be
#else
  static_cast<void>(clean), static_cast<void>(argv);
#endif
}

void stay_on_one_core() {
#ifdef __linux__
  cpu_set_t allowed, only;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  CPU_ZERO(&only);
  for (unsigned core = CPU_SETSIZE; core-- > 0;)
    if (CPU_ISSET(core, &allowed)) {
      CPU_SET(core, &only);
      break;
    }
  sched_setaffinity(0, sizeof only, &only);  // if it fails, timings only vary more
#endif
}

}  // namespace bench
