// Makes contestants of encodings. Each costs the compiler a model and its training, so they are
// distributed over POSITIONS_PARTS files, which compile in parallel.
#pragma once

#include <algorithm>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#include <weft/train.hpp>

#include "encodings.hpp"
#include "learner.hpp"

namespace positions {

template <class Model>
class learner_of final : public learner {
 public:
  learner_of(long steps, std::uint64_t seed)
      : trainer_(weft::adamw{.learning_rate = 2e-3, .beta2 = 0.99},
                 {.clip_norm = 1,
                  .schedule =
                      weft::warmup_cosine{
                          .warmup = std::min(200L, steps / 10), .total = steps, .floor = 0.02},
                  .seed = seed}),
        measure_(trainer_.parameters()),
        adds_(trainer_.parameters()) {}

  float learn(const batch& b) override {
    return trainer_.step(weft::arg<"tokens">(b.tokens), weft::arg<"targets">(b.targets),
                         weft::arg<"visible">(b.visible));
  }
  measure measured(const batch& b) override {
    const auto seen = measure_(weft::arg<"tokens">(b.tokens), weft::arg<"targets">(b.targets),
                               weft::arg<"visible">(b.visible));
    return {static_cast<double>(seen.template get<"loss">()()),
            static_cast<double>(seen.template get<"accuracy">()())};
  }
  weft::grid added(std::size_t length) override {
    const weft::array<std::int32_t, Batch, Pos> tokens(1, length);
    return weft::grid(
        adds_(weft::arg<"tokens">(tokens)).template get<"added">().template at<Batch>(0));
  }

 private:
  weft::trainer<Model> trainer_;
  weft::module<Model, "loss", "accuracy"> measure_;
  weft::module<Model, "added"> adds_;
};

template <std::size_t I>
contestant contestant_of() {
  constexpr auto& row = std::get<I>(encodings);
  using net = model<std::remove_const_t<decltype(row.create)>>;
  return {row.name, weft::parameters<net>().elements(),
          [](long steps, std::uint64_t seed) -> std::unique_ptr<learner> {
            return std::make_unique<learner_of<net>>(steps, seed);
          }};
}

// Sets every POSITIONS_PARTS-th of the contestants, from Part on.
template <std::size_t Part>
void set_contestants(std::vector<contestant>& all) {
  constexpr std::size_t step = POSITIONS_PARTS, count = std::tuple_size_v<decltype(encodings)>;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((all[Part + I * step] = contestant_of<Part + I * step>()), ...);
  }
  (std::make_index_sequence<(count - Part + step - 1) / step>());
}

}  // namespace positions
