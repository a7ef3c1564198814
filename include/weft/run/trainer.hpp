// Trainers: models that can be trained.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "weft/lower/lower.hpp"
#include "weft/lower/units.hpp"
#include "weft/run/argument.hpp"
#include "weft/run/engine.hpp"
#include "weft/run/generated.hpp"
#include "weft/run/memory.hpp"
#include "weft/run/optimizer.hpp"
#include "weft/run/parameters.hpp"
#include "weft/run/refusal.hpp"
#include "weft/run/rounding.hpp"
#include "weft/run/schedule.hpp"

namespace weft {

template <model_like Model, class Batch, class Optimizer, fixed_string Loss>
class distributed;

// The options of training, beside those of the optimizer.
struct training_options {
  // The largest L2 norm of all gradients together; larger ones are scaled down to it, as
  // torch.nn.utils.clip_grad_norm_ does: times min(1, clip_norm / (norm + 1e-6)).
  std::optional<double> clip_norm = {};
  // What a norm that is not finite does, where there is a clip_norm: such a step changes nothing,
  // no parameter, state or number of steps, and throws weft::error, as the same option of torch's
  // does, or, if this is false, is left out: gradient_norm() says so. Without a clip_norm the
  // gradients are used as they are.
  bool error_if_nonfinite = true;
  // The factor of the learning rate as a function of the number of steps done: see schedule.hpp.
  // Empty: 1. It must not throw.
  std::function<double(std::int64_t)> schedule{};
  // The seed of dropout masks, which depend on it and on the number of steps done.
  std::uint64_t dropout_seed = 0;
  // Whether weight decay applies to the parameter of this name; called when the trainer is created.
  // Empty: it applies to all.
  std::function<bool(std::string_view)> decays{};
  // The seed of new parameters' initial values; existing ones keep theirs.
  std::uint64_t seed = 0;
};

// Minimises a scalar float32 result of a model, "loss" by default, which depends on no state:
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
  void run_on(const executor& threads) { engine_->run_on(threads); }

  // Records the times of later steps while r lives: see weft::profile of weft/inspect/profile.hpp.
  void record(const std::shared_ptr<recording>& r) { engine_->record(r); }

  // One step: computes the loss and its gradients, then updates the parameters. Takes one weft::arg
  // per input of the loss. Returns the loss before the update. Throws weft::error where an argument
  // is wrong, before anything is computed; where the loss is not finite because an axis has length
  // 0, such as the mean over a batch without examples; where an index that the model has computed
  // is wrong; and as apply() does. Nothing is updated then.
  template <class... Args>
  requires(detail::fault_of_arguments<source, Args...>() ==
           detail::argument_fault::none) float step(const Args&... args) {
    const engine::use one(*engine_);
    const float loss = compute(args...);
    update_recorded();
    return loss;
  }

  // Computes the loss and its gradients without updating the parameters, and returns the loss.
  // Arguments and errors are those of step().
  template <class... Args>
  requires(detail::fault_of_arguments<source, Args...>() ==
           detail::argument_fault::none) float compute_gradients(const Args&... args) {
    const engine::use one(*engine_);
    return compute(args...);
  }

  // Updates the parameters with the latest gradients, and counts a step. Throws weft::error where
  // training_options::error_if_nonfinite says so.
  void apply() {
    const engine::use one(*engine_);
    update_recorded();
  }

  // The L2 norm of all gradients together in the last apply() or step(), before clipping; 0 before
  // the first.
  double gradient_norm() const { return gradient_norm_; }
  // The number of steps done.
  std::int64_t steps() const { return steps_; }
  // Continues as after that many steps: the schedule, the optimizer's bias correction and the
  // dropout masks depend on their number. The optimizer's state has to be that after as many.
  void resume_at(std::int64_t steps) { steps_ = steps; }

  // The parameters; the copy shares their memory.
  weft::parameters<Model> parameters() const { return parameters_; }
  // The gradients of the last compute_gradients() or step(), in the layout of the parameters; they
  // refer to the trainer's memory.
  weft::parameters<Model> gradients() const {
    return weft::parameters<Model>(std::span(gradients_.get(), parameters_.bytes));
  }
  // State s of the optimizer, s < Optimizer::states, in the layout of the parameters; it refers to
  // the trainer's memory.
  weft::parameters<Model> optimizer_state(std::size_t s) const {
    return weft::parameters<Model>(std::span(state_[s].get(), parameters_.bytes));
  }

 private:
  template <model_like, class, class, fixed_string>
  friend class distributed;

  struct checked {};
  trainer(checked, weft::parameters<Model> shared, Optimizer optimizer, training_options options,
          generated_code<source> generated, pages pages_of_state = pages::huge)
      : optimizer_(optimizer),
        options_(std::move(options)),
        parameters_(std::move(shared)),
        floats_(parameters_.floats()),
        gradients_(allocate(parameters_.bytes)),
        workspace_(allocate(workspace_bytes)),
        engine_(std::make_unique<engine>(
            code::program, memory{parameters_.addresses(), gradients_.get(), workspace_.get()},
            generated.steps())) {
    for (std::size_t s = 0; s < Optimizer::states; ++s) {
      state_.push_back(allocate(parameters_.bytes, pages_of_state));
      state_floats_[s] = reinterpret_cast<float*>(state_.back().get());
    }
    find_blocks();
    squares_.resize(blocks_.size());
  }

  template <class... Args>
  float compute(const Args&... args) {
    bind_arguments<source>(*engine_, args...);
    draw_for(0);
    engine_->run();
    engine_->check_run();
    engine_->check_loss(loss());
    return loss();
  }
  void update_recorded() {
    record_update([&] { update_all(); });
  }
  void update_all() {
    update_parameters([](std::size_t) { return true; }, [](std::span<double>) {});
  }
  // Calls update() and records its time.
  template <class Update>
  void record_update(Update update) {
    const auto r = engine_->recorded();
    const std::int64_t begin = r ? recording::now() : 0;
    update();
    if (r) r->updated(recording::now() - begin);
  }

  // The dropout masks of the next run are those of one shard of a batch.
  void draw_for(int shard) noexcept {
    constexpr int most_steps = 40;  // bits
    engine_->draw_from(
        {options_.dropout_seed,
         static_cast<std::uint64_t>(steps_) + (static_cast<std::uint64_t>(shard) << most_steps)});
  }
  // The loss of the last run.
  float loss() const noexcept {
    return *reinterpret_cast<const float*>(engine_->address(code::tables.results[0].at));
  }

  double scale_of_schedule() const { return options_.schedule ? options_.schedule(steps_) : 1; }

  // Updates the blocks of parameters for which owns(b) holds. share(squares) sets the sums of
  // squared gradients of the others, which are 0 when it is called.
  template <class Owns, class Share>
  void update_parameters(Owns owns, Share share) {
    const detail::rounding_to_nearest mode;
    const kernels::sum_function sum_of_squares = kernels::sum_of_squares_kernel();
    update u;
    u.learning_rate_scale = scale_of_schedule();
    u.step = steps_ + 1;
    // Without clipping, a block is updated while its gradients are in the cache.
    const bool clips = options_.clip_norm.has_value();
    for_blocks([&](std::size_t b) {
      squares_[b] = 0;
      if (!owns(b)) return;
      squares_[b] = sum_of_squares(gradients_of(blocks_[b]).data(), blocks_[b].size);
      if (!clips) change(blocks_[b], u);
    });
    share(std::span(squares_));
    const detail::clipping clipped = detail::clip(squares_, options_.clip_norm);
    gradient_norm_ = clipped.norm;
    if (clips) {
      if (!clipped.finite) {
        if (options_.error_if_nonfinite) detail::refuse_norm(gradient_norm_);
        return;
      }
      u.gradient_scale = clipped.scale;
      for_blocks([&](std::size_t b) {
        if (owns(b)) change(blocks_[b], u);
      });
    }
    steps_ = u.step;
  }

  // A contiguous range of parameters which all decay or all do not: small enough that each thread
  // has some, and independent of the number of threads, so that the sums of squares have the same
  // bits.
  struct block_of_parameters {
    std::size_t begin, size;
    bool decays;
  };
  static constexpr std::size_t most_in_block = 32768;

  std::span<const float> gradients_of(const block_of_parameters& b) const {
    return {reinterpret_cast<const float*>(gradients_.get()) + b.begin, b.size};
  }

  // Calls f(b) for the index b of each block, on the threads of run_on.
  template <class F>
  void for_blocks(F f) const noexcept {
    engine_->in_parts(std::ssize(blocks_), [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      for (std::ptrdiff_t b = begin; b < end; ++b) f(static_cast<std::size_t>(b));
    });
  }

  void change(const block_of_parameters& b, update u) noexcept {
    u.parameters = floats_.subspan(b.begin, b.size);
    u.gradients = gradients_of(b);
    std::array<float*, Optimizer::states> state{};
    for (std::size_t s = 0; s < state.size(); ++s) state[s] = state_floats_[s] + b.begin;
    u.state = state;
    u.decays = b.decays;
    optimizer_(u);
  }

  // Whether the loss depends on the parameter; if not, its gradient is a constant.
  static constexpr bool reached(std::size_t parameter) {
    for (const output& o : source::g.outputs) {
      if (o.kind != output_kind::gradient || o.leaf != static_cast<int>(parameter)) continue;
      const node& n = source::g.nodes[o.node];
      return n.kind != op::copy || source::g.nodes[n.operand[0]].kind != op::constant;
    }
    return false;
  }

  // As in PyTorch, a parameter that the loss does not depend on is not updated: it does not even
  // decay.
  void find_blocks() {
    for (std::size_t i = 0; i < code::tables.parameters.size(); ++i) {
      const parameter_ref& p = code::tables.parameters[i];
      if (!reached(i)) continue;
      const bool decays = !options_.decays || options_.decays(code::program.name(p.name));
      std::size_t begin = p.offset / sizeof(float);
      const std::size_t end = begin + align(p.size * sizeof(float)) / sizeof(float);
      while (begin < end) {
        const bool joins = !blocks_.empty() && blocks_.back().decays == decays &&
                           blocks_.back().begin + blocks_.back().size == begin &&
                           blocks_.back().size < most_in_block;
        if (!joins) blocks_.push_back({begin, 0, decays});
        const std::size_t more = std::min(end - begin, most_in_block - blocks_.back().size);
        blocks_.back().size += more;
        begin += more;
      }
    }
  }

  Optimizer optimizer_;
  training_options options_;
  weft::parameters<Model> parameters_;
  std::span<float> floats_;  // of the parameters
  aligned_bytes gradients_;
  aligned_bytes workspace_;
  std::vector<aligned_bytes> state_;
  std::array<float*, Optimizer::states> state_floats_{};
  std::vector<block_of_parameters> blocks_;
  std::vector<double> squares_;  // the sum of squared gradients of each block
  std::unique_ptr<engine> engine_;
  double gradient_norm_ = 0;
  std::int64_t steps_ = 0;

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
#define WEFT_REJECT_CONST(function)                                                        \
  WEFT_REJECT_CALL(                                                                        \
      "trainer: it changes, and is const here; take it as weft::trainer<Model>&", (Model), \
      (class... Args), (true), float function(const Args&...) const { return 0; })
  WEFT_REJECT_CONST(step)
  WEFT_REJECT_CONST(compute_gradients)
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
