// Modules with dropout.
#pragma once
#include "weft/header_begin.hpp"

#include <cstdint>

#include "weft/run/module.hpp"

namespace weft {

// Masks of dropout: those of a trainer with this dropout_seed after `sample` steps.
struct dropout_sample {
  std::uint64_t seed = 0;    // the dropout_seed
  std::uint64_t sample = 0;  // steps
};

// A module with dropout as in training: runs with different masks are samples of the model's
// approximate predictive distribution (Gal and Ghahramani 2016, equation 6).
//
//   weft::monte_carlo<classifier, "logits"> net(trainer.parameters());
//   for (std::uint64_t i = 0; i < samples; ++i) {
//     net.draw_from({.seed = seed, .sample = i});
//     add(net(weft::arg<"x">(x)));
//   }
template <model_like Model, fixed_string... Results>
class monte_carlo : public detail::runnable<Model, sampling<Model, Results...>> {
  using base = detail::runnable<Model, sampling<Model, Results...>>;
  using code = lowered<sampling<Model, Results...>>;

 public:
  using base::base;
  // With new parameters from seed 0, as weft::module.
  monte_carlo(detail::linked here = detail::linked_here<code, code::program.fingerprint, Model>())
      : base(parameter_options{}, {}, here) {}
  WEFT_REJECT_COPIES(
      "monte_carlo: it is not copied; move it, or share its weights: weft::sharing(net)",
      monte_carlo)
  // Sets the masks of later runs.
  void draw_from(dropout_sample masks) noexcept { base::draw_from({masks.seed, masks.sample}); }

 private:
  WEFT_REJECT_MAKING(monte_carlo)
};

template <model_like Model, fixed_string... Results>
requires(detail::ill_formed<Model, sampling<Model, Results...>,
                            Results...>()) class monte_carlo<Model, Results...>
    : public detail::runnable<Model, sampling<Model, Results...>> {
 public:
  void draw_from(dropout_sample) noexcept {}

 private:
  WEFT_REJECT_MODELS(Model, (sampling<Model, Results...>), (class... Args),
                     explicit monte_carlo(const Args&...){})
  WEFT_REJECT_RESULTS("monte_carlo: the model has no result of this name", Model,
                      explicit monte_carlo(const Args&...){})
};

#undef WEFT_REJECT_MAKING

}  // namespace weft
#include "weft/header_end.hpp"
