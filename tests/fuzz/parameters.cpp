// Fuzzes files of parameters and of training states: loaded values have the bits of the file, and
// anything else is a weft::error that changes nothing.
#include <algorithm>

#include "fuzz/input.hpp"
#include "weft/files/load.hpp"
#include "weft/nn/linear.hpp"
#include "weft/ops/reduce.hpp"
#include "weft/run/error.hpp"

namespace {

struct Batch : weft::axis<2> {};
struct In : weft::axis<2> {};
struct Out : weft::axis<3> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, In>();
    auto y = weft::nn::linear<In, Out>(s / "l" / 0, x);
    auto z = weft::nn::linear<Out, In>(s / "l" / 1, y);
    return weft::results(weft::as<"loss">(weft::sum<Batch, In>(z * z)));
  }
};

// Compares bits, because NaN is not equal to itself.
bool equal(const weft::parameter_block& a, const weft::parameter_block& b) {
  const auto x = std::as_bytes(a.floats()), y = std::as_bytes(b.floats());
  return std::equal(x.begin(), x.end(), y.begin(), y.end());
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = fuzz::tensor_file({data, size});
  static const weft::parameters<model> before({.seed = 1});
  weft::parameters<model> loaded({.seed = 1});
  for (const bool ignore : {false, true}) try {
      const weft::tensor_file f(file, "memory");
      weft::load(loaded, f, {.ignore_others = ignore});
      for (std::size_t i = 0; i < loaded.count(); ++i) {
        const auto stored = f[loaded[i].name].values<float>();
        const auto x = std::as_bytes(std::span(stored)), y = std::as_bytes(loaded[i].values);
        fuzz::expect(std::equal(x.begin(), x.end(), y.begin(), y.end()));
      }
      loaded.initialize(1);
    } catch (const weft::error& e) {
      const std::string_view told = e.what();
      fuzz::expect(told.size() < 5000 && std::count(told.begin(), told.end(), '\n') < 11);
      fuzz::expect(equal(loaded, before));
    }

  weft::trainer<model> trainer({}, {.seed = 1});
  try {
    weft::load(trainer, fuzz::file_of(file));
    fuzz::expect(trainer.steps() >= 0);
  } catch (const weft::error&) {
    fuzz::expect(trainer.steps() == 0 && equal(trainer.parameters(), before));
  }
  return 0;
}
