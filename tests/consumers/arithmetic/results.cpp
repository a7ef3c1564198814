// Prints the bits of what the models of model.hpp compute, with generated code and with the
// library's kernels, and of what a step of training makes of the parameters.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include <weft/weft.hpp>

#include "model.hpp"

namespace {

using namespace arithmetic;

void print(const char* what, const auto& view) {
  std::printf("%s", what);
  const auto array = weft::array(view);
  for (const float f : array) {
    // A NaN's sign and payload are nobody's promise, and `f != f` is false with -ffinite-math-only.
    auto bits = std::bit_cast<std::uint32_t>(f);
    if ((bits & 0x7fffffff) > 0x7f800000) bits = 0x7fc00000;
    std::printf(" %08x", static_cast<unsigned>(bits));
  }
  std::printf("\n");
}

void print_elementwise(const char* how, auto&& net) {
  // Bits, as constants of NaN and infinity are what -ffinite-math-only excludes.
  constexpr std::uint32_t special[] = {0x7fc00000, 0x7f800000, 0xff800000,
                                       0x80000000, 0,          0x3f800000};
  weft::array<float, Pos> x(19);
  weft::array<float, KeyPos> y(19);
  for (std::size_t i = 0; i < 19; ++i) {
    x(i) = i < 6 ? std::bit_cast<float>(special[i]) : 0.375f * static_cast<float>(i) - 4;
    y(i) = i < 6 ? std::bit_cast<float>(special[5 - i]) : 3 - 0.25f * static_cast<float>(i);
  }
  const auto r = net(weft::arg<"x">(x), weft::arg<"y">(y));
  std::printf("%s:\n", how);
  print("functions", r.template get<"functions">());
  print("quotient", r.template get<"quotient">());
  print("power", r.template get<"power">());
  print("greatest", r.template get<"greatest">());
  print("ordered", r.template get<"ordered">());
  print("unequal", r.template get<"unequal">());
  print("zeros", r.template get<"zeros">());
  print("cancelled", r.template get<"cancelled">());
  print("weights", r.template get<"weights">());
  print("sum", r.template get<"sum">());
}

}  // namespace

extern "C" void print_results() {
  print_elementwise("library", weft::module<elementwise>());
  print_elementwise("generated code", weft::module<elementwise>(weft::generated<elementwise>()));

  weft::array<float, Pos, Embed> x(17);
  for (std::size_t i = 0; i < x.size(); ++i)
    x.data()[i] = static_cast<float>(i * i % 101) * 0.03125f - 1;  // exact, whatever the flags
  weft::trainer<encoder> trainer({.learning_rate = 0.01}, {.clip_norm = 0.5});
  for (int step = 0; step < 3; ++step) trainer.step(weft::arg<"x">(x));
  const auto r = trainer.compute_gradients(weft::arg<"x">(x));
  std::printf("loss %.9g, norm %.17g\n", static_cast<double>(r), trainer.gradient_norm());
  weft::module<encoder, "y"> net(trainer.parameters());
  print("y", net(weft::arg<"x">(x)).get<"y">());
}
