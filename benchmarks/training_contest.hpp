// A training step of a small language model as a case, on one or more threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/contest.hpp"
#include "benchmarks/models/language.hpp"
#include "benchmarks/operations.hpp"
#include "benchmarks/weft.hpp"

namespace bench {

using trained_model = language_model<4>;
using model_trainer = weft::trainer<trained_model>;

inline std::shared_ptr<model_trainer> new_trainer() {
  return std::make_shared<model_trainer>(weft::adamw{.learning_rate = 1e-3, .weight_decay = 1e-2});
}

// Some tokens, and the initial parameters.
inline training_task training_task_of(const weft::parameter_block& parameters, int threads) {
  using M = trained_model;
  training_task task{M::Vocab::extent,  M::Embed::extent, M::Heads::extent, 4,
                     M::Hidden::extent, M::Pos::extent,   M::Batch::extent, threads};
  std::int32_t next = 0;
  const auto token = [&next] { return next = (next * 29 + 17) % std::int32_t{M::Vocab::extent}; };
  for (auto* list : {&task.tokens, &task.targets}) {
    list->resize(M::Batch::extent * M::Pos::extent);
    std::ranges::generate(*list, token);
  }
  for (std::size_t i = 0; i < parameters.count(); ++i) {
    const weft::parameter p = parameters[i];
    task.parameters[std::string(p.name)] = {{p.extents.begin(), p.extents.end()},
                                            copy_of(parameters, p.name)};
  }
  return task;
}

// A step: forward, backward, AdamW. make() returns a trainer that runs on `threads` threads; all
// contenders of the case use the same clock.
template <class Make = decltype(&new_trainer)>
contest training_contest(Make make = &new_trainer, int threads = 1) {
  training_task task;
  const auto own = [&](const std::shared_ptr<model_trainer>& trainer) -> contender {
    task = training_task_of(trainer->parameters(), threads);
    const auto step = [trainer, x = task.tokens, y = task.targets] {
      return trainer->step(weft::arg<"tokens">(x), weft::arg<"targets">(y));
    };
    std::vector<float> losses;
    for (int i = 0; i < training_task::checked_steps; ++i) losses.push_back(step());
    return {timed(threads, step), [losses] { return losses; }};
  };
  using M = trained_model;
  constexpr double texts = M::Batch::extent, n = M::Pos::extent, embed = M::Embed::extent;
  contest c;
  c.threads = threads;
  c.tolerance = texts * n * std::numeric_limits<float>::epsilon();
  c.weft = own(make());
  if (threads > 1) c.variants.emplace_back("weft, one thread", own(new_trainer()));
  c.peers = peers_at(&peer::training, task);
  // The gradient of a contraction is two contractions of the same size. Attention counts as a full
  // square.
  c.operations =
      3 * texts *
      (static_cast<double>(task.layers) * layer_operations(n, n, embed, M::Hidden::extent) +
       2 * n * embed * M::Vocab::extent);
  return c;
}

}  // namespace bench
