// A step of training a small language model as a case, on one thread or more.
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

// A step of training: forward, backward, AdamW.
inline contest training_contest(int threads = 1) {
  constexpr int layers = 4;
  using model = language_model<layers>;
  constexpr std::size_t tokens = model::Batch::extent * model::Pos::extent;
  training_task task{model::Vocab::extent,  model::Embed::extent, model::Heads::extent, layers,
                     model::Hidden::extent, model::Pos::extent,   model::Batch::extent, threads};
  std::int32_t next = 0;
  const auto token = [&next] {
    return next = (next * 29 + 17) % std::int32_t{model::Vocab::extent};
  };
  for (auto* list : {&task.tokens, &task.targets}) {
    list->resize(tokens);
    std::ranges::generate(*list, token);
  }
  const weft::adamw optimizer{.learning_rate = 1e-3, .weight_decay = 1e-2};
  auto trainer = std::make_shared<weft::trainer<model>>(optimizer);
  const weft::parameter_block parameters = trainer->parameters();
  for (std::size_t i = 0; i < parameters.count(); ++i) {
    const weft::parameter p = parameters[i];
    task.parameters[std::string(p.name)] = {{p.extents.begin(), p.extents.end()},
                                            copy_of(parameters, p.name)};
  }
  const auto step = [trainer, task] {
    return trainer->step(weft::arg<"tokens">(task.tokens), weft::arg<"targets">(task.targets));
  };
  auto losses = std::make_shared<std::vector<float>>();
  for (int i = 0; i < training_task::checked_steps; ++i) losses->push_back(step());

  contest c;
  c.threads = threads;
  // The gradient of a contraction is two contractions of the same size. Attention counts as a full
  // square.
  c.operations = 3 * (layers * static_cast<double>(model::Batch::extent) *
                          layer_operations(model::Pos::extent, model::Pos::extent,
                                           model::Embed::extent, model::Hidden::extent) +
                      2.0 * tokens * model::Embed::extent * model::Vocab::extent);
  c.tolerance = tokens * std::numeric_limits<float>::epsilon();
  c.weft = {timed(threads, step), [losses] { return *losses; }};
  add_peers(c, &peer::training, task);
  return c;
}

}  // namespace bench
