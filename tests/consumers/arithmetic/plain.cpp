// The same on the SIMD target of programs that are compiled for one alone.
#include "weft/kernels/targets.hpp"

extern "C" void print_results();

int main() {
  weft::kernels::use_targets(HWY_STATIC_TARGET);
  print_results();
}
