#include "benchmarks/peers/onednn.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/peers/fastest.hpp"
#include "benchmarks/peers/onednn_step.hpp"

namespace bench {
namespace {

using dnnl::memory;

std::string version() {
  const dnnl_version_t* const v = dnnl_version();
  return "oneDNN " + std::to_string(v->major) + "." + std::to_string(v->minor) + "." +
         std::to_string(v->patch);
}

std::size_t size(std::ptrdiff_t n) {
  return static_cast<std::size_t>(n);
}

// Several weights [out, in] and their biases, concatenated along `out`.
linear_weights joined(std::initializer_list<const linear_weights*> parts) {
  std::vector<float> weight, bias;
  for (const linear_weights* part : parts) {
    weight.insert(weight.end(), part->weight.begin(), part->weight.end());
    bias.insert(bias.end(), part->bias.begin(), part->bias.end());
  }
  linear_weights all{floats(weight.size()), floats(bias.size())};
  std::ranges::copy(weight, all.weight.begin());
  std::ranges::copy(bias, all.bias.begin());
  return all;
}

}  // namespace

onednn::onednn() : peer(version()), engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}

contender onednn::product(const product_task& t) {
  const floats y(size(t.m * t.n));
  const auto way = [&](weight_layout how) -> contender {
    const step multiply = step::product(engine_, at(engine_, layout({t.m, t.k}), t.x.data()),
                                        at(engine_, layout({t.k, t.n}), t.w.data()), nullptr,
                                        at(engine_, layout({t.m, t.n}), y.data()), how);
    const auto run = [multiply, t, y, stream = stream_]() mutable {
      multiply.run(stream);
      stream.wait();
    };
    return {timed(1, run), [y] { return y.copy(); }};
  };
  if (t.packed) return fastest({way(weight_layout::beforehand), way(weight_layout::nowhere)});
  return fastest({way(weight_layout::nowhere), way(weight_layout::in_each_run)});
}

contender onednn::bfloat16_product(const product_task& t) {
  const floats y(size(t.m * t.n));
  const memory x = at(engine_, layout({t.m, t.k}), t.x.data());
  const memory rounded({{t.m, t.k}, memory::data_type::bf16, memory::format_tag::ab}, engine_);
  const step round = step::copy(x, rounded);
  const step multiply =
      step::product(engine_, rounded, at(engine_, layout({t.k, t.n}), t.w.data()), nullptr,
                    at(engine_, layout({t.m, t.n}), y.data()), weight_layout::beforehand);
  const auto run = [round, multiply, t, y, stream = stream_]() mutable {
    round.run(stream);
    multiply.run(stream);
    stream.wait();
  };
  return {timed(1, run), [y] { return y.copy(); }};
}

contender onednn::chain(const chain_task& t) {
  const floats a(t.x.size()), b(t.x.size());
  std::vector<step> steps;
  const float* from = t.x.data();
  for (std::ptrdiff_t i = 0; i < t.length; ++i) {
    float* const to = (i % 2 ? b : a).data();
    steps.push_back(
        step::product(engine_, at(engine_, layout({t.m, t.k}), const_cast<float*>(from)),
                      at(engine_, layout({t.k, t.k}), t.w.data() + i * t.k * t.k), nullptr,
                      at(engine_, layout({t.m, t.k}), to), weight_layout::beforehand));
    from = to;
  }
  const auto run = [steps, t, a, b, stream = stream_]() mutable {
    for (const step& s : steps) s.run(stream);
    stream.wait();
  };
  return {timed(1, run), [t, a, b] { return (t.length % 2 ? a : b).copy(); }};
}

// In blocks of queries whose scores fit in L2.
contender onednn::attention(const attention_task& t) {
  if (t.causal) return {};  // it would compute all scores and discard half
  const std::ptrdiff_t most_scores = std::ptrdiff_t{1} << 18;
  const std::ptrdiff_t rows = std::min(t.n, std::max<std::ptrdiff_t>(16, most_scores / t.n));
  const std::ptrdiff_t row = t.heads * t.depth;
  const floats y(t.q.size()), scores(size(rows * t.n));
  const memory s = at(engine_, layout({rows, t.n}), scores.data());
  std::vector<step> steps;
  for (std::ptrdiff_t h = 0; h < t.heads; ++h)
    for (std::ptrdiff_t i = 0; i < t.n; i += rows) {
      const auto head = [&](const floats& x, std::ptrdiff_t first) {
        return x.data() + first * row + h * t.depth;
      };
      const memory q = at(engine_, layout({rows, t.depth}, {row, 1}), head(t.q, i));
      const memory k = at(engine_, layout({t.depth, t.n}, {1, row}), head(t.k, 0));
      const memory v = at(engine_, layout({t.n, t.depth}, {row, 1}), head(t.v, 0));
      const memory to = at(engine_, layout({rows, t.depth}, {row, 1}), head(y, i));
      const finish scaled{.scale = 1 / std::sqrt(static_cast<float>(t.depth))};
      steps.push_back(step::product(engine_, q, k, nullptr, s, weight_layout::nowhere, scaled));
      steps.push_back(step::softmax(engine_, s, s));
      steps.push_back(step::product(engine_, s, v, nullptr, to, weight_layout::nowhere));
    }
  const auto run = [steps, t, y, scores, stream = stream_]() mutable {
    for (const step& one : steps) one.run(stream);
    stream.wait();
  };
  return {timed(1, run), [y] { return y.copy(); }};
}

contender onednn::encoder(const encoder_task& t) {
  const std::ptrdiff_t wide = 3 * t.embed, tokens = t.tokens(), depth = t.depth();
  const floats qkv(size(tokens * wide)), scores(size(t.batch * t.heads * t.n * t.n)),
      attended(size(tokens * t.embed)), between(size(tokens * t.embed)),
      normal(size(tokens * t.embed)), hidden(size(tokens * t.hidden)), y(size(tokens * t.embed));
  const linear_weights projections = joined({&t.query, &t.key, &t.value});

  const auto matrix = [&](const floats& x, std::ptrdiff_t columns) {
    return at(engine_, layout({tokens, columns}), x.data());
  };
  const auto vector = [&](const floats& x) {
    return at(engine_, layout({static_cast<dnnl_dim_t>(x.size())}), x.data());
  };
  std::vector<step> before, after;
  const auto linear = [&](std::vector<step>& to, const floats& x, std::ptrdiff_t in,
                          const linear_weights& w, const floats& out, std::ptrdiff_t columns,
                          const finish& then = {}) {
    const memory bias = at(engine_, layout({1, columns}), w.bias.data());
    to.push_back(step::product(engine_, matrix(x, in),
                               at(engine_, layout({in, columns}, {1, in}), w.weight.data()), &bias,
                               matrix(out, columns), weight_layout::beforehand, then));
  };
  const auto normalize = [&](const floats& x, const linear_weights& w, const floats& to) {
    after.push_back(step::layer_norm(engine_, matrix(x, t.embed), vector(w.weight), vector(w.bias),
                                     matrix(to, t.embed)));
  };
  // The query, key or value slice of qkv, per batch entry and head.
  const auto part = [&](std::ptrdiff_t which, const dims& extents, const dims& strides) {
    return at(engine_, layout(extents, strides), qkv.data() + which * t.embed);
  };
  const dims split{t.batch, t.heads, t.n, depth}, as_rows{t.n * wide, depth, wide, 1};

  linear(before, t.x, t.embed, projections, qkv, wide);
  const memory s = at(engine_, layout({t.batch, t.heads, t.n, t.n}), scores.data());
  before.push_back(step::product(
      engine_, part(0, split, as_rows),
      part(1, {t.batch, t.heads, depth, t.n}, {t.n * wide, depth, 1, wide}), nullptr, s,
      weight_layout::nowhere, {.scale = 1 / std::sqrt(static_cast<float>(depth))}));
  before.push_back(step::softmax(engine_, s, s));
  before.push_back(
      step::product(engine_, s, part(2, split, as_rows), nullptr,
                    at(engine_, layout(split, {t.n * t.embed, depth, t.embed, 1}), attended.data()),
                    weight_layout::nowhere));
  linear(after, attended, t.embed, t.out, between, t.embed, {.adds = true});
  normalize(between, t.norm1, normal);
  linear(after, normal, t.embed, t.linear1, hidden, t.hidden, {.gelu = true});
  linear(after, hidden, t.hidden, t.linear2, normal, t.embed, {.adds = true});
  normalize(normal, t.norm2, y);

  const auto run = [before, after, t, qkv, scores, attended, between, normal, hidden, y,
                    projections, stream = stream_]() mutable {
    for (const step& one : before) one.run(stream);
    std::ranges::copy(t.x, between.begin());  // the residual, to which the product's post-op adds
    for (const step& one : after) one.run(stream);
    stream.wait();
  };
  return {timed(t.threads, run), [y] { return y.copy(); }};
}

contender onednn::row(const row_task& t) {
  const floats y(t.x.size());
  const memory from = at(engine_, layout({t.rows, t.columns}), t.x.data()),
               to = at(engine_, layout({t.rows, t.columns}), y.data());
  const auto made = [&]() -> step {
    switch (t.kind) {
      case row_work::softmax:
        return step::softmax(engine_, from, to);
      case row_work::layer_norm:
        return step::layer_norm(engine_, from, at(engine_, layout({t.columns}), t.gain.data()),
                                at(engine_, layout({t.columns}), t.bias.data()), to);
      case row_work::gelu:
        return step::eltwise(engine_, dnnl::algorithm::eltwise_gelu_erf, from, to);
      case row_work::gelu_tanh:
        return step::eltwise(engine_, dnnl::algorithm::eltwise_gelu_tanh, from, to);
      case row_work::exp:
        break;
    }
    return step::eltwise(engine_, dnnl::algorithm::eltwise_exp, from, to);
  };
  const auto run = [one = made(), t, y, stream = stream_]() mutable {
    one.run(stream);
    stream.wait();
  };
  return {timed(1, run), [y] { return y.copy(); }};
}

}  // namespace bench
