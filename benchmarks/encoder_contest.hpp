// An encoder layer as a case, on one or more threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <memory>
#include <string>

#include "benchmarks/contest.hpp"
#include "benchmarks/models/encoder.hpp"
#include "benchmarks/operations.hpp"
#include "benchmarks/weft.hpp"

namespace bench {

// The task of a model's parameters with their initial values, except gains and biases of the norms,
// which would be ones and zeros.
template <class M>
encoder_task encoder_task_of(const weft::parameter_block& parameters, int threads) {
  encoder_task task{M::Batch::extent, M::Pos::extent,    M::Embed::extent,
                    M::Heads::extent, M::Hidden::extent, threads};
  task.x = floats(M::Batch::extent * M::Pos::extent * M::Embed::extent, 1);
  unsigned seed = 2;
  const auto weights = [&](const std::string& name) {
    if (name.starts_with("norm")) {
      set(parameters, name + ".weight", floats(M::Embed::extent, seed++, 2));
      set(parameters, name + ".bias", floats(M::Embed::extent, seed++));
    }
    return linear_weights{copy_of(parameters, name + ".weight"),
                          copy_of(parameters, name + ".bias")};
  };
  set(parameters, "self_attn.in_proj_bias", floats(3 * M::Embed::extent, seed++));
  const auto third = [&](const char* name, std::size_t i) {
    const floats all = copy_of(parameters, name);
    floats part(all.size() / 3);
    std::ranges::copy_n(all.begin() + i * part.size(), std::ssize(part), part.begin());
    return part;
  };
  const auto projection = [&](std::size_t i) {
    return linear_weights{third("self_attn.in_proj_weight", i), third("self_attn.in_proj_bias", i)};
  };
  task.query = projection(0);
  task.key = projection(1);
  task.value = projection(2);
  task.out = weights("self_attn.out_proj");
  task.linear1 = weights("linear1");
  task.linear2 = weights("linear2");
  task.norm1 = weights("norm1");
  task.norm2 = weights("norm2");
  return task;
}

// make() returns a module that runs on `threads` threads; all contenders of the case use the same
// clock.
template <class M, class Make = decltype(&new_module<M>)>
contest encoder_contest(Make make = &new_module<M>, int threads = 1) {
  encoder_task task;
  const auto own = [&](const std::shared_ptr<weft::module<M>>& net) {
    task = encoder_task_of<M>(net->parameters(), threads);
    net->freeze();
    return weft_contender(
        net, [x = task.x](auto& n) { return n(weft::arg<"x">(x)); }, threads);
  };
  contest c;
  c.threads = threads;
  c.operations =
      static_cast<double>(M::Batch::extent) *
      layer_operations(M::Pos::extent, M::Pos::extent, M::Embed::extent, M::Hidden::extent);
  // The length of the longest sum.
  c.tolerance = static_cast<double>(M::Hidden::extent) * std::numeric_limits<float>::epsilon();
  c.weft = own(make());
  if (threads > 1) c.variants.emplace_back("weft, one thread", own(new_module<M>()));
  c.peers = peers_at(&peer::encoder, task);
  return c;
}

// With int8 weights and products; others that round are no contenders.
template <class M>
contest encoder_in_int8() {
  const auto net = new_module<M>();
  const encoder_task task = encoder_task_of<M>(net->parameters(), 1);
  net->freeze(weft::precision::int8_products);
  contest c;
  c.operations =
      static_cast<double>(M::Batch::extent) *
      layer_operations(M::Pos::extent, M::Pos::extent, M::Embed::extent, M::Hidden::extent);
  c.weft = weft_contender(
      net, [x = task.x](auto& n) { return n(weft::arg<"x">(x)); }, 1);
  return c;
}

}  // namespace bench
