// Prints the attention chapter's table of layer costs, computed by weft::cost.
#include <cstdio>

#include "layer_costs/measured.hpp"

namespace {

using layer_costs::layer_cost;
using layer_costs::power;

void print_powers(const char* what, const layer_costs::row& row, double layer_cost::*member) {
  const double at = row.here.*member;
  std::printf("  %-24s %12.0f   n^%.2f", what, at, power(at, row.longer.*member));
  std::printf("  d^%.2f", power(at, row.wider.*member));
  if (row.has_window) std::printf("  window^%.2f", power(at, row.broader.*member));
  std::printf("\n");
}

}  // namespace

int main() {
  std::printf(
      "n = %d positions of size d = %d; a window of %d positions to both sides, or %d taps\n",
      layer_costs::n, layer_costs::d, layer_costs::r, layer_costs::k);
  for (const layer_costs::row& row : layer_costs::rows) {
    std::printf("%s\n", row.layer);
    print_powers("operations", row, &layer_cost::flops);
    print_powers("one after another", row, &layer_cost::sequential);
    print_powers("longest path", row, &layer_cost::path);
  }
}
