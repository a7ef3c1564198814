// Trainers: models that can be trained.
#pragma once
#include "weft/header_begin.hpp"

#include <cstdint>
#include <memory>
#include <span>

#include "weft/run/argument.hpp"
#include "weft/run/refusal.hpp"
#include "weft/run/training.hpp"

namespace weft {

// Minimizes a scalar float32 result of a model, "loss" by default, which depends on no state:
//
//   weft::trainer<char_lm> trainer(weft::adamw{.learning_rate = 1e-3}, {.clip_norm = 1});
//   float loss = trainer.step(weft::arg<"tokens">(x), weft::arg<"targets">(y));
//
// A step allocates nothing. The same seeds and arguments give the same bits. A trainer may be used
// by one thread at a time.
template <model_like Model, class Optimizer = adamw, fixed_string Loss = "loss">
class trainer {
  static constexpr bool well_formed = detail::is_trainable<Model, Loss>();
  using source = training<Model, Loss>;
  using code = lowered<source>;

 public:
  // With new parameters. `generated` is weft::generated_training<Model, Loss>() of
  // weft/run/generated.hpp.
  explicit trainer(Optimizer optimizer = {}, training_options options = {},
                   generated_code<source> generated = {},
                   detail::linked = detail::linked_here<code, code::program.fingerprint,
                                                        Model>()) requires(well_formed)
      : trainer(checked{}, weft::parameters<Model>({.seed = options.seed}), optimizer,
                std::move(options), generated) {}
  // Trains existing parameters, whose memory is shared. Throws weft::error where they are in a
  // file's memory instead of one block, which parameters::copy makes.
  trainer(weft::parameters<Model> shared, Optimizer optimizer = {}, training_options options = {},
          generated_code<source> generated = {},
          detail::linked =
              detail::linked_here<code, code::program.fingerprint, Model>()) requires(well_formed)
      : trainer(checked{}, std::move(shared), optimizer, std::move(options), generated) {}

  WEFT_REJECT_COPIES("trainer: it is not copied; move it, or give another one its parameters()",
                     trainer)

  // The size of the workspace in bytes: intermediates, scratch and staged inputs; no parameters,
  // gradients or optimizer states.
  static constexpr std::size_t workspace_bytes = code::tables.workspace_bytes;

  // Sets the threads of later steps, which use the calling thread alone at first:
  // run_on(weft::threads(2)), or an executor of the caller's own. Allocates scratch for them. The
  // results have the same bits for any number of threads. Generated code runs on the calling thread
  // alone; the optimizer uses all.
  void run_on(const executor& threads) { parts_.engine->run_on(threads); }

  // Records the times of later steps while r lives: see weft::profile of weft/inspect/profile.hpp.
  void record(const std::shared_ptr<recording>& r) { parts_.engine->record(r); }

  // One step: computes the loss and its gradients, then updates the parameters. Takes one weft::arg
  // per input of the loss. Returns the loss before the update. Throws weft::error where an argument
  // is wrong, before anything is computed; where the loss is not finite because an axis has length
  // 0, such as the mean over a batch without examples; where an index that the model has computed
  // is wrong; and as apply() does. Nothing is updated then.
  template <class... Args>
  requires(detail::rule_of_arguments<source, Args...>() ==
           rule::none) float step(const Args&... args) {
    const engine::use one(*parts_.engine);
    const float loss = compute(0, args...);
    update();
    return loss;
  }

  // Computes the loss and its gradients without updating the parameters, and returns the loss.
  // Arguments and errors are those of step().
  template <class... Args>
  requires(detail::rule_of_arguments<source, Args...>() ==
           rule::none) float compute_gradients(const Args&... args) {
    const engine::use one(*parts_.engine);
    return compute(0, args...);
  }

  // The same for one of several batches before apply(), which uses the mean of their gradients, as
  // gradients() has it; torch's backward() has the sum. With a loss that is a mean, n batches of
  // one size are one of n times as many examples. Each has dropout masks of its own. The first call
  // allocates memory; where a run throws, the sum begins anew.
  template <class... Args>
  requires(detail::rule_of_arguments<source, Args...>() ==
           rule::none) float accumulate(const Args&... args) {
    const engine::use one(*parts_.engine);
    const int batch = parts_.batches;
    const float loss = compute(batch, args...);
    parts_.batches = batch + 1;
    parts_.add_batch();
    return loss;
  }

  // Updates the parameters with the latest gradients, and counts a step. Throws weft::error where
  // training_options::error_if_nonfinite says so.
  void apply() {
    const engine::use one(*parts_.engine);
    update();
  }

  // The L2 norm of all gradients together in the last apply() or step(), before clipping; 0 before
  // the first.
  double gradient_norm() const { return parts_.gradient_norm; }
  // The number of steps done.
  std::int64_t steps() const { return parts_.steps; }
  // Continues as after that many steps: the schedule, the optimizer's bias correction and the
  // dropout masks depend on their number. The optimizer's state has to be that after as many.
  void resume_at(std::int64_t steps) { parts_.steps = steps; }

  // The parameters; the copy shares their memory.
  weft::parameters<Model> parameters() const { return parts_.parameters; }
  // The gradients of the last compute_gradients() or step(), before clipping, or the mean of those
  // of accumulate(), in the layout of the parameters; they refer to the trainer's memory.
  weft::parameters<Model> gradients() const {
    return weft::parameters<Model>(std::span(parts_.gradients.get(), parts_.parameters.bytes));
  }
  // State s of the optimizer, s < Optimizer::states, in the layout of the parameters; it refers to
  // the trainer's memory.
  weft::parameters<Model> optimizer_state(std::size_t s) const { return parts_.optimizer_state(s); }

 private:
  struct checked {};
  trainer(checked, weft::parameters<Model> shared, Optimizer optimizer, training_options options,
          generated_code<source> generated)
      : parts_(std::move(shared), optimizer, std::move(options), generated) {}

  template <class... Args>
  float compute(int batch, const Args&... args) {
    bind_arguments<source>(*parts_.engine, args...);
    parts_.batches = 0;
    parts_.draw_for(batch);
    parts_.engine->run();
    parts_.engine->check_run();
    parts_.engine->check_loss(parts_.loss());
    return parts_.loss();
  }

  void update() {
    parts_.record_update([&] { parts_.update_all(); });
  }

  detail::training_parts<Model, Optimizer, Loss> parts_;

  WEFT_REJECT_LOSSES(Model, Loss,
                     explicit trainer(Optimizer optimizer = {}, training_options options = {},
                                      generated_code<source> = {})
                     : trainer(checked{}, weft::parameters<Model>(), optimizer, std::move(options),
                               {}){})
  WEFT_REJECT_LOSSES(Model, Loss,
                     trainer(weft::parameters<Model> shared, Optimizer optimizer = {},
                             training_options options = {}, generated_code<source> = {})
                     : trainer(checked{}, std::move(shared), optimizer, std::move(options), {}){})
  WEFT_REJECT_ARGUMENTS(
      source, float step(const Args&...) { return 0; })
  WEFT_REJECT_ARGUMENTS(
      source, float compute_gradients(const Args&...) { return 0; })
  WEFT_REJECT_ARGUMENTS(
      source, float accumulate(const Args&...) { return 0; })
#define WEFT_REJECT_CONST(function)                                                        \
  WEFT_REJECT_CALL(                                                                        \
      "trainer: it changes, and is const here; take it as weft::trainer<Model>&", (Model), \
      (class... Args), (true), float function(const Args&...) const { return 0; })
  WEFT_REJECT_CONST(step)
  WEFT_REJECT_CONST(compute_gradients)
  WEFT_REJECT_CONST(accumulate)
#undef WEFT_REJECT_CONST

  static void from(Optimizer, training_options = {}, generated_code<source> = {});
  static void from(weft::parameters<Model>, Optimizer = {}, training_options = {},
                   generated_code<source> = {});
  WEFT_REJECT_CALL(
      "trainer: it is made of an optimizer such as weft::adamw{.learning_rate = 1e-3}, then "
      "options such as {.clip_norm = 1, .seed = 2}; or of parameters, then both",
      (Args...), (class... Args),
      (well_formed && !requires(const Args&... args) { from(args...); }),
      explicit trainer(const Args&...)
      : trainer(checked{}, weft::parameters<Model>(), Optimizer{}, {}, {}){})
};

}  // namespace weft
#include "weft/header_end.hpp"
