// What trainers are made of.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "weft/lower/lower.hpp"
#include "weft/lower/units.hpp"
#include "weft/run/engine.hpp"
#include "weft/run/generated.hpp"
#include "weft/run/memory.hpp"
#include "weft/run/optimizer.hpp"
#include "weft/run/parameters.hpp"
#include "weft/run/recording.hpp"
#include "weft/run/rounding.hpp"
#include "weft/run/schedule.hpp"

namespace weft {

// The parameters whose names a pattern stands for (see weft::matches), and how they are trained.
struct parameter_group {
  std::string pattern{};  // such as "*.bias"
  double rate = 1;        // a factor of the learning rate
  double decay = 1;       // a factor of the weight decay; 0: these parameters do not decay
};

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
  // A parameter is trained as the first group says whose pattern stands for its name, or else as
  // the optimizer says; at most 16. A pattern without a parameter throws weft::error in the
  // constructor. A vector would cost every model time to compile; g++ 12 wants each {} of an array.
  parameter_group groups[16]{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  // The seed of new parameters' initial values; existing ones keep theirs.
  std::uint64_t seed = 0;
};

namespace detail {

// The factors of rate and decay of each parameter, one after another. Throws weft::error: see
// training_options::groups.
std::vector<double> factors_of(const program& tables, const training_options& options);

// The memory of training, the engine that computes gradients, and the update: of a trainer, and of
// one whose batches are divided among ranks.
template <model_like Model, class Optimizer, fixed_string Loss>
struct training_parts {
  using source = training<Model, Loss>;
  using code = lowered<source>;

  // A contiguous range of parameters with the same factors of rate and decay: small enough that
  // each thread has some, and independent of the number of threads, so that the sums of squares
  // have the same bits.
  struct block_of_parameters {
    std::size_t begin, size;
    double rate, decay;
  };
  static constexpr std::size_t most_in_block = 32768;

  training_parts(weft::parameters<Model> shared, Optimizer by, training_options how,
                 generated_code<source> generated = {}, pages pages_of_state = pages::huge)
      : optimizer(by),
        options(std::move(how)),
        parameters(std::move(shared)),
        floats(parameters.floats()),
        gradients(allocate(parameters.bytes)),
        workspace(allocate(code::tables.workspace_bytes)),
        engine(std::make_unique<weft::engine>(
            code::program, memory{parameters.addresses(), gradients.get(), workspace.get()},
            generated.steps())) {
    for (std::size_t s = 0; s < Optimizer::states; ++s)
      state.push_back(allocate(parameters.bytes, pages_of_state));
    find_blocks();
    squares.resize(blocks.size());
  }

  // The dropout masks of the next run are those of one shard of a batch.
  void draw_for(int shard) noexcept {
    constexpr int most_steps = 40;  // bits
    engine->draw_from(
        {options.dropout_seed,
         static_cast<std::uint64_t>(steps) + (static_cast<std::uint64_t>(shard) << most_steps)});
  }
  // State s of the optimizer, in the layout of the parameters; it refers to this memory.
  weft::parameters<Model> optimizer_state(std::size_t s) const {
    return weft::parameters<Model>(std::span(state[s].get(), parameters.bytes));
  }
  // The loss of the last run.
  float loss() const noexcept {
    return *reinterpret_cast<const float*>(engine->address(code::tables.results[0].at));
  }

  // Adds the gradients of the last run to those of batches - 1 before it, and puts the mean of all
  // in their place.
  void add_batch() {
    const rounding_to_nearest mode;
    if (!sums) sums = allocate(parameters.bytes);
    for_blocks([&](std::size_t b) {
      float* const first = reinterpret_cast<float*>(gradients.get()) + blocks[b].begin;
      float* const sum = reinterpret_cast<float*>(sums.get()) + blocks[b].begin;
      mean_of_batches({first, blocks[b].size}, sum, batches);
    });
  }

  double scale_of_schedule() const { return options.schedule ? options.schedule(steps) : 1; }

  void update_all() {
    update_parameters([](std::size_t) { return true; }, [](std::span<double>) {});
  }
  // Calls update() and records its time.
  template <class Update>
  void record_update(Update update) {
    const auto r = engine->recorded();
    const std::int64_t begin = r ? recording::now() : 0;
    update();
    if (r) r->updated(recording::now() - begin);
  }

  // Updates the blocks of parameters for which owns(b) holds. share(squares) sets the sums of
  // squared gradients of the others, which are 0 when it is called.
  template <class Owns, class Share>
  void update_parameters(Owns owns, Share share) {
    const rounding_to_nearest mode;
    batches = 0;
    const kernels::sum_function sum_of_squares = kernels::sum_of_squares_kernel();
    update u;
    u.learning_rate_scale = scale_of_schedule();
    u.step = steps + 1;
    // Without clipping, a block is updated while its gradients are in the cache.
    const bool clips = options.clip_norm.has_value();
    for_blocks([&](std::size_t b) {
      squares[b] = 0;
      if (!owns(b)) return;
      squares[b] = sum_of_squares(gradients_of(blocks[b]).data(), blocks[b].size);
      if (!clips) change(blocks[b], u);
    });
    share(std::span(squares));
    const clipping clipped = clip(squares, options.clip_norm);
    gradient_norm = clipped.norm;
    if (clips) {
      if (!clipped.finite) {
        if (options.error_if_nonfinite) refuse_norm(gradient_norm);
        return;
      }
      u.gradient_scale = clipped.scale;
      for_blocks([&](std::size_t b) {
        if (owns(b)) change(blocks[b], u);
      });
    }
    steps = u.step;
  }

  std::span<const float> gradients_of(const block_of_parameters& b) const {
    return {reinterpret_cast<const float*>(gradients.get()) + b.begin, b.size};
  }

  // Calls f(b) for the index b of each block, on the threads of run_on.
  template <class F>
  void for_blocks(F f) const noexcept {
    engine->in_parts(std::ssize(blocks), [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      for (std::ptrdiff_t b = begin; b < end; ++b) f(static_cast<std::size_t>(b));
    });
  }

  void change(const block_of_parameters& b, update u) noexcept {
    u.parameters = floats.subspan(b.begin, b.size);
    u.gradients = gradients_of(b);
    std::array<float*, Optimizer::states> states{};
    for (std::size_t s = 0; s < states.size(); ++s)
      states[s] = reinterpret_cast<float*>(state[s].get()) + b.begin;
    u.state = states;
    u.learning_rate_scale *= b.rate;
    u.weight_decay_scale = b.decay;
    optimizer(u);
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
  // decay. Nor is one that is held.
  void find_blocks() {
    const auto factors = factors_of(code::program, options);
    for (std::size_t i = 0; i < code::tables.parameters.size(); ++i) {
      const parameter_ref& p = code::tables.parameters[i];
      if (!reached(i)) continue;
      const double rate = factors[2 * i], decay = factors[2 * i + 1];
      std::size_t begin = p.offset / sizeof(float);
      const std::size_t end = begin + align(p.size * sizeof(float)) / sizeof(float);
      while (begin < end) {
        const bool joins =
            !blocks.empty() && blocks.back().rate == rate && blocks.back().decay == decay &&
            blocks.back().begin + blocks.back().size == begin && blocks.back().size < most_in_block;
        if (!joins) blocks.push_back({begin, 0, rate, decay});
        const std::size_t more = std::min(end - begin, most_in_block - blocks.back().size);
        blocks.back().size += more;
        begin += more;
      }
    }
  }

  Optimizer optimizer;
  training_options options;
  weft::parameters<Model> parameters;
  std::span<float> floats;  // of the parameters
  aligned_bytes gradients, workspace;
  aligned_bytes sums;  // of the gradients of the batches accumulated since the last update
  int batches = 0;     // their number
  std::vector<aligned_bytes> state;  // of the optimizer
  std::vector<block_of_parameters> blocks;
  std::vector<double> squares;  // the sum of squared gradients of each block
  std::unique_ptr<weft::engine> engine;
  double gradient_norm = 0;
  std::int64_t steps = 0;
};

}  // namespace detail
}  // namespace weft
#include "weft/header_end.hpp"
