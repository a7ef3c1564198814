// Data-parallel training on the ranks of an MPI program. Link weft::mpi.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "weft/mpi/agreement.hpp"
#include "weft/mpi/batch_axis.hpp"
#include "weft/mpi/communicator.hpp"
#include "weft/mpi/finished.hpp"
#include "weft/mpi/gradient_exchange.hpp"
#include "weft/mpi/sharding.hpp"
#include "weft/run/argument.hpp"
#include "weft/run/refusal.hpp"
#include "weft/run/training.hpp"

namespace weft {
namespace detail {
template <class Distributed>
class checkpoint;  // mpi/checkpoint.hpp
}

// How the work is divided.
struct sharding_options {
  // The number of parts that the global batch is cut into. The gradient of each is computed by
  // itself, so a part has at most the model's bound of Batch, and at most as many ranks have
  // examples. The bits of the results depend on it; on one rank, 1 gives those of weft::trainer.
  int shards = 8;
  // Whether each rank keeps the optimizer's state of its share of the parameters alone, updates
  // that, and gets the rest from the others (ZeRO stage 1: Rajbhandari et al. 2020). The bits are
  // the same.
  bool divides_state = false;
};

// The trainer of a model whose batches are divided among ranks along the axis Batch:
//
//   weft::distributed<char_lm, Batch> trainer(ranks, weft::adamw{.learning_rate = 1e-3});
//   const auto [begin, end] = trainer.part(64);  // of 64 examples, those for this rank
//   float loss = trainer.step(weft::arg<"tokens">(x), weft::arg<"targets">(y));
//
// `ranks` is that of weft::mpi_main. All ranks construct one with the same arguments, and then call
// the same members in the same order; these are collective, but for part and what only reads. Each
// step takes this rank's examples: those of all ranks, in the order of ranks, are the global batch.
// Inputs without the axis are the same on all ranks. The loss is a mean over Batch (such as
// weft::mean<Batch, Pos>): gradients and loss are those of the global batch, in which each example
// has the same weight, whatever the other lengths of its rank's run.
//
// The parameters have the same bits on 1, 2 or any other number of ranks with any number of
// threads, where the ranks have the parts of the batch that part() gives them and processors whose
// kernels have the same bits; the masks of a dropout depend on the example's place in the global
// batch, and not on the rank. Other parts, also empty ones, give the same but for rounding, and
// other masks.
//
// An error of one rank in such a call is thrown by all, as weft::rank_error, before parameters
// change. A rank that is left by another exception ends all: see weft::mpi_main.
template <model_like Model, class Batch, class Optimizer = adamw, fixed_string Loss = "loss">
class distributed {
  using source = training<Model, Loss>;
  using code = lowered<source>;
  using optimizer_type = Optimizer;
  using batch = detail::batch_axis<source, Batch>;

  static constexpr bool well_formed = detail::is_trainable<Model, Loss>() && batch::exists();

 public:
  // Collective. With new parameters, of rank 0's seed, for all. Throws rank_error where a rank has
  // another model, version of weft, optimizer or options than rank 0, or there are less than 1 or
  // more than 2^20 shards.
  explicit distributed(communicator ranks, Optimizer optimizer = {}, training_options options = {},
                       sharding_options sharding = {},
                       detail::linked = detail::linked_here<code, code::program.fingerprint,
                                                            Model>()) requires(well_formed)
      : distributed(checked{}, std::move(ranks), weft::parameters<Model>({.seed = options.seed}),
                    optimizer, std::move(options), sharding) {}
  // The same with existing parameters, whose memory is shared; all ranks get the values of rank 0.
  distributed(communicator ranks, weft::parameters<Model> shared, Optimizer optimizer = {},
              training_options options = {}, sharding_options sharding = {},
              detail::linked = detail::linked_here<code, code::program.fingerprint,
                                                   Model>()) requires(well_formed)
      : distributed(checked{}, std::move(ranks), std::move(shared), optimizer, std::move(options),
                    sharding) {}
  // A trainer is where its ranks are.
  distributed(const distributed&) = delete;
  distributed& operator=(const distributed&) = delete;
  // Where this rank alone is left by an exception, others would wait for it for ever: all end.
  ~distributed() {
    if (std::uncaught_exceptions() > exceptions_ && !rank_error::is_thrown()) ranks_.leave();
  }

  // The examples [begin, end) of a global batch of n that are this rank's: a whole number of
  // shards, as many as the other ranks' or one more or less.
  example_range part(std::size_t n) const {
    return detail::part_of(n, ranks_.rank(), ranks_.size(), sharding_.shards);
  }

  // As in weft::trainer, with this rank's examples. Arguments with the axis Batch may have length 0
  // along it, and more than the model's bound, which is that of a shard. Returns the loss of the
  // global batch. Throws rank_error where an argument of any rank is wrong, one is at another
  // step, no rank has an example, or more ranks than there are shards.
  template <class... Args>
  requires(detail::rule_of_arguments<source, Args...>() ==
           rule::none) float step(const Args&... args) {
    const engine::use one(*parts_.engine);
    const float loss = compute(args...);
    update_parameters();
    return loss;
  }
  // The loss and its gradients, without updating the parameters.
  template <class... Args>
  requires(detail::rule_of_arguments<source, Args...>() ==
           rule::none) float compute_gradients(const Args&... args) {
    const engine::use one(*parts_.engine);
    return compute(args...);
  }
  // Updates the parameters with the latest gradients, and counts a step. Throws weft::error on all
  // ranks where training_options::error_if_nonfinite says so.
  void apply() {
    const engine::use one(*parts_.engine);
    update_parameters();
  }

  // Sets the threads of this rank's later steps: see trainer::run_on. Each of them may call MPI,
  // though no two at once. Throws weft::error where MPI was initialized for less.
  void run_on(const executor& threads) {
    if (threads.width() > 1) detail::check_thread_level();
    parts_.engine->run_on(threads);
  }
  // Records the times of this rank's later steps: see weft::profile. Each shard is a run.
  void record(const std::shared_ptr<recording>& r) { parts_.engine->record(r); }

  // The L2 norm of the global batch's gradients in the last step, before clipping.
  double gradient_norm() const { return parts_.gradient_norm; }
  // The number of steps done.
  std::int64_t steps() const { return parts_.steps; }
  // Continues as after that many steps, on all ranks: see trainer::resume_at.
  void resume_at(std::int64_t steps) { parts_.steps = steps; }
  // The parameters, the same on all ranks; the copy shares their memory.
  weft::parameters<Model> parameters() const { return parts_.parameters; }

  // The ranks that it trains on.
  const communicator& ranks() const { return ranks_; }

 private:
  struct checked {};

  distributed(checked, communicator ranks, weft::parameters<Model> shared, Optimizer optimizer,
              training_options options, sharding_options sharding)
      : ranks_(std::move(ranks)),
        sharding_(sharding),
        parts_(std::move(shared), optimizer, std::move(options), {},
               sharding.divides_state ? pages::small : pages::huge),
        exchange_(ranks_, gradients(), blocks(), sharding.divides_state) {
    compare();
    ranks_.broadcast(std::as_writable_bytes(parts_.floats));
    detail::agreement same;
    same.add("other parameters", detail::hash_of(std::as_bytes(parts_.floats)));
    same.check(ranks_);
  }

  template <model_like M, class B, class O, fixed_string L>
  friend void explain(const distributed<M, B, O, L>&, std::ostream&);
  template <class Distributed>
  friend class detail::checkpoint;

  std::string explained() const {
    return std::to_string(ranks_.size()) + " ranks, " + std::to_string(sharding_.shards) +
           " shards; the optimizer's state is " +
           (sharding_.divides_state ? "divided among the ranks" : "whole on each rank") + "\n" +
           exchange_.explained(code::program);
  }

  std::span<float> gradients() {
    return {reinterpret_cast<float*>(parts_.gradients.get()), parts_.floats.size()};
  }
  std::vector<detail::gradient_block> blocks() const {
    static constexpr auto finished = detail::finished_by(code::tables);
    std::vector<detail::gradient_block> all;
    for (const auto& b : parts_.blocks) {
      int last = 0;
      for (std::size_t i = 0; i < finished.size(); ++i) {
        const std::size_t begin = code::tables.parameters[i].offset / sizeof(float);
        if (begin < b.begin + b.size && b.begin < begin + code::tables.parameters[i].size)
          last = std::max(last, finished[i]);
      }
      all.push_back({b.begin, b.begin + b.size, last});
    }
    return all;
  }

  void compare() const {
    const training_options& o = parts_.options;
    // First, as another version may compare other things.
    detail::agreement version;
    version.add("another version of weft", detail::hash_of(detail::version()));
    version.check(ranks_);
    detail::agreement same;
    same.add("another model", detail::hash_of(code::program));
    same.add("another optimizer, or a processor that computes it otherwise", probe());
    const std::array numbers{o.clip_norm.value_or(-1)};
    same.add("another clip_norm in its training_options", detail::hash_of(numbers));
    std::vector<double> factors;
    for (std::int64_t step = 0; step < 1 << 20; step += step / 2 + 1)
      factors.push_back(o.schedule ? o.schedule(step) : 1);
    same.add("another schedule in its training_options", detail::hash_of(factors));
    const std::array seed{o.dropout_seed};
    same.add("another dropout_seed in its training_options",
             detail::hash_of(std::as_bytes(std::span(seed))));
    std::vector<double> groups;
    for (const auto& b : parts_.blocks) groups.insert(groups.end(), {b.rate, b.decay});
    same.add("other groups of parameters in its training_options", detail::hash_of(groups));
    const std::array division{sharding_.shards, static_cast<int>(sharding_.divides_state)};
    same.add("other sharding_options", detail::hash_of(std::as_bytes(std::span(division))));
    same.check(ranks_);
    if (sharding_.shards < 1 || sharding_.shards > 1 << 20)
      throw rank_error("sharding_options: " + std::to_string(sharding_.shards) +
                       " shards, and there are 1 to 1048576");
  }
  // What the optimizer does in two steps, for gradients of many magnitudes, and a sum of squares.
  std::uint64_t probe() const {
    constexpr std::size_t n = 1000;
    std::vector<float> parameters(n), gradients(n);
    std::vector<std::vector<float>> state(Optimizer::states, std::vector<float>(n));
    std::array<float*, Optimizer::states> states{};
    for (std::size_t s = 0; s < states.size(); ++s) states[s] = state[s].data();
    for (std::int64_t step = 1; step <= 2; ++step) {
      for (std::size_t i = 0; i < n; ++i) {
        parameters[i] += 1 / (1 + static_cast<float>(i));
        gradients[i] =
            std::ldexp(1 + 0.37f * static_cast<float>(i % 7), static_cast<int>(i % 61) - 45);
      }
      parts_.optimizer(
          {.parameters = parameters, .gradients = gradients, .state = states, .step = step});
    }
    std::vector<double> all(parameters.begin(), parameters.end());
    for (const auto& s : state) all.insert(all.end(), s.begin(), s.end());
    all.push_back(kernels::sum_of_squares_kernel()(gradients.data(), n));
    return detail::hash_of(all);
  }

  // What a rank says at the beginning of a step.
  struct greeting {
    std::uint64_t examples;
    std::int64_t steps;
    double learning_rate_scale;
  };

  template <class... Args>
  float sum_over_shards(const Args&... args) {
    const detail::rounding_to_nearest mode;
    typename batch::arguments bound{};
    greeting mine{0, parts_.steps, parts_.scale_of_schedule()};
    ranks_.attempt(true, [&] {
      bound = bindings<source>(code::program, args...);
      mine.examples = batch::length(bound);
    });
    const auto all = ranks_.all(mine);
    std::vector<std::size_t> examples;
    for (std::size_t r = 0; r < all.size(); ++r) {
      if (all[r].steps != all[0].steps || all[r].learning_rate_scale != all[0].learning_rate_scale)
        throw rank_error(static_cast<int>(r), ranks_.size(),
                         "it is at step " + std::to_string(all[r].steps) +
                             " with the schedule's factor " +
                             std::to_string(all[r].learning_rate_scale) + ", rank 0 at step " +
                             std::to_string(all[0].steps) + " with " +
                             std::to_string(all[0].learning_rate_scale));
      examples.push_back(static_cast<std::size_t>(all[r].examples));
    }
    if (examples != examples_) {
      try {
        cut_ = detail::sharding(examples, sharding_.shards);
      } catch (const error& e) {
        throw rank_error(e.what());  // all ranks have it
      }
      examples_ = examples;
    }
    std::size_t first = 0;  // example of this rank
    for (int r = 0; r < ranks_.rank(); ++r) first += examples[static_cast<std::size_t>(r)];

    // All arguments are checked before anything is computed.
    std::vector<detail::tree_step> own;
    for (const auto& s : cut_.within)
      if (s.rank == ranks_.rank()) own.push_back(s);
    const auto bind = [&](const detail::tree_step& s) {
      const example_range range = cut_.shards[static_cast<std::size_t>(s.shard)].examples;
      parts_.engine->bind(batch::slices(bound, range.begin - first, range.size()));
    };
    ranks_.attempt(true, [&] {
      for (const auto& s : own) bind(s);
      exchange_.begin(cut_);
      losses_.assign(cut_.shards.size(), 0);
    });
    for (const auto& s : own) {
      if (own.size() > 1) bind(s);
      const auto i = static_cast<std::size_t>(s.shard);
      parts_.draw_for(cut_.shards[i].number);
      exchange_.run(*parts_.engine, s, &s == &own.back());
      losses_[i] = cut_.share(cut_.shards[i]) * static_cast<double>(parts_.loss());
    }
    exchange_.finish();
    if constexpr (detail::computes_indices(code::tables))
      ranks_.attempt(true, [&] { parts_.engine->check_run(); });
    exchange_.sum(losses_);
    return static_cast<float>(detail::sum_of(losses_));
  }

  float compute(const auto&... args) {
    if constexpr (source::g.rejected)
      return (static_cast<void>(args), ..., 0.0f);
    else
      return sum_over_shards(args...);
  }
  void update_parameters() {
    parts_.record_update([&] {
      if (!sharding_.divides_state) return parts_.update_all();
      parts_.update_parameters([&](std::size_t b) { return exchange_.owns(b); },
                               [&](std::span<double> squares) { exchange_.sum(squares); });
      exchange_.gather_segments(parts_.floats);
    });
  }

  communicator ranks_;
  sharding_options sharding_;
  detail::training_parts<Model, Optimizer, Loss> parts_;
  detail::gradient_exchange exchange_;
  std::vector<std::size_t> examples_;  // of each rank, for which cut_ is
  detail::sharding cut_;
  std::vector<double> losses_;  // of each shard, times its share
  int exceptions_ = std::uncaught_exceptions();

#define WEFT_REJECT_DISTRIBUTED(...)                                                            \
  WEFT_REJECT_LOSSES(Model, Loss, __VA_ARGS__)                                                  \
  WEFT_REJECT_CALL("distributed: no input of the loss has the axis that batches are cut along", \
                   (Batch), (int = 0), (!batch::exists()), __VA_ARGS__)
  WEFT_REJECT_DISTRIBUTED(explicit distributed(communicator ranks, Optimizer optimizer = {},
                                               training_options options = {},
                                               sharding_options sharding = {})
                          : distributed(checked{}, std::move(ranks), weft::parameters<Model>(),
                                        optimizer, std::move(options), sharding){})
  WEFT_REJECT_DISTRIBUTED(distributed(communicator ranks, weft::parameters<Model> shared,
                                      Optimizer optimizer = {}, training_options options = {},
                                      sharding_options sharding = {})
                          : distributed(checked{}, std::move(ranks), std::move(shared), optimizer,
                                        std::move(options), sharding){})
#undef WEFT_REJECT_DISTRIBUTED
  WEFT_REJECT_ARGUMENTS(
      source, float step(const Args&...) { return 0; })
  WEFT_REJECT_ARGUMENTS(
      source, float compute_gradients(const Args&...) { return 0; })
};

// Prints how gradients are exchanged: the ranks and shards, and a line for each bucket of
// gradients, in the order in which they are sent: its bytes, its parameters, and the instruction of
// weft::explain_training after which it is complete, and sent while later ones are executed.
template <model_like Model, class Batch, class Optimizer, fixed_string Loss>
void explain(const distributed<Model, Batch, Optimizer, Loss>& t, std::ostream& out = std::cout) {
  out << t.explained();
}

}  // namespace weft
#include "weft/header_end.hpp"
