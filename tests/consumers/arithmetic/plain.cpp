// The same on the SIMD target of programs that are compiled for one alone.
#include "hwy/targets.h"

extern "C" void print_results();

int main() {
  hwy::SetSupportedTargetsForTest(HWY_STATIC_TARGET);
  print_results();
}
