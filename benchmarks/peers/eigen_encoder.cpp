#include <algorithm>
#include <cmath>
#include <memory>

#include "benchmarks/peers/eigen.hpp"
#include "benchmarks/peers/eigen_attention.hpp"
#include "benchmarks/peers/eigen_rows.hpp"

namespace bench {
namespace {

constexpr int any = Eigen::Dynamic;
constexpr int times(int n, int extent) {
  return extent == any ? any : n * extent;
}

// x W + b. The weight is stored [in, out], which is faster in Eigen's product.
template <int In, int Out>
struct linear {
  matrix<In, Out> weight;
  row_vector<Out> bias;

  linear(std::ptrdiff_t in, std::initializer_list<const linear_weights*> parts)
      : weight(in, columns(parts)), bias(columns(parts)) {
    Eigen::Index at = 0;
    for (const linear_weights* part : parts) {
      const auto out = static_cast<Eigen::Index>(part->bias.size());
      weight.middleCols(at, out) = dense<>(part->weight.data(), out, in).transpose();
      bias.segment(at, out) = Eigen::Map<row_vector<>>(part->bias.data(), out);
      at += out;
    }
  }

 private:
  static Eigen::Index columns(std::initializer_list<const linear_weights*> parts) {
    Eigen::Index n = 0;
    for (const linear_weights* part : parts) n += static_cast<Eigen::Index>(part->bias.size());
    return n;
  }
};

// Extents are compile-time constants or Eigen::Dynamic. The number of tokens is constant only for a
// batch of one.
template <int Tokens = any, int Embed = any, int Heads = any, int Hidden = any>
struct layer {
  encoder_task t;
  linear<Embed, times(3, Embed)> projections;
  linear<Embed, Embed> out;
  linear<Embed, Hidden> linear1;
  linear<Hidden, Embed> linear2;
  matrix<Tokens, times(3, Embed)> qkv;
  matrix<Tokens, Embed> attended, between, normal;
  matrix<Tokens, Hidden> hidden;
  floats scores, query, y;

  explicit layer(const encoder_task& task)
      : t(task),
        projections(t.embed, {&t.query, &t.key, &t.value}),
        out(t.embed, {&t.out}),
        linear1(t.embed, {&t.linear1}),
        linear2(t.hidden, {&t.linear2}),
        qkv(t.tokens(), 3 * t.embed),
        attended(t.tokens(), t.embed),
        between(t.tokens(), t.embed),
        normal(t.tokens(), t.embed),
        hidden(t.tokens(), t.hidden),
        scores(static_cast<std::size_t>(query_rows * t.n)),
        query(static_cast<std::size_t>(query_rows * t.depth())),
        y(t.x.size()) {}

  void run() {
    const dense<Tokens, Embed> x(t.x.data(), t.tokens(), t.embed);
    dense<Tokens, Embed> result(y.data(), t.tokens(), t.embed);
    qkv.noalias() = x * projections.weight;
    qkv.rowwise() += projections.bias;
    attend_all();
    between.noalias() = attended * out.weight;
    between += x;
    between.rowwise() += out.bias;
    layer_norm(between, vector(t.norm1.weight), vector(t.norm1.bias), normal);
    hidden.noalias() = normal * linear1.weight;
    hidden.rowwise() += linear1.bias;
    gelu(hidden);
    between.noalias() = hidden * linear2.weight;
    between += normal;
    between.rowwise() += linear2.bias;
    layer_norm(between, vector(t.norm2.weight), vector(t.norm2.bias), result);
  }

 private:
  static Eigen::Map<row_vector<Embed>> vector(const floats& x) {
    return {x.data(), static_cast<Eigen::Index>(x.size())};
  }

  void attend_all() {
    if constexpr (Tokens == any) {
      const std::ptrdiff_t wide = 3 * t.embed;
      for (std::ptrdiff_t b = 0; b < t.batch; ++b)
        for (std::ptrdiff_t h = 0; h < t.heads; ++h) {
          const float* const q = qkv.data() + b * t.n * wide + h * t.depth();
          float* const to = attended.data() + b * t.n * t.embed + h * t.depth();
          attend({q, q + t.embed, q + 2 * t.embed, wide, to, t.embed, t.n, t.depth(), false},
                 scores, query);
        }
    } else {
      constexpr int depth = Embed / Heads;
      for (int h = 0; h < Heads; ++h) {
        const auto part = [&](int which) {
          return qkv.template middleCols<depth>(which * Embed + h * depth);
        };
        matrix<Tokens, Tokens> s;
        s.noalias() = part(0) * part(1).transpose();
        s *= 1 / std::sqrt(static_cast<float>(depth));
        const Eigen::Matrix<float, Tokens, 1> most = s.rowwise().maxCoeff();
        s.array() = (s.colwise() - most).array().exp();
        const Eigen::Matrix<float, Tokens, 1> sums = s.rowwise().sum().cwiseInverse();
        attended.template middleCols<depth>(h * depth).noalias() = s * part(2);
        attended.template middleCols<depth>(h * depth).array().colwise() *= sums.array();
      }
    }
  }
};

template <class Layer>
contender contender_of(const encoder_task& t) {
  const auto made = std::make_shared<Layer>(t);
  return {timed(t.threads, [made] { made->run(); }), [made] { return made->y.copy(); }};
}

}  // namespace

contender eigen::encoder(const encoder_task& t) {
  if (t.threads > 1) return {};  // only its products would be parallel, and with OpenMP threads
  if (t.batch == 1 && t.n == 16 && t.embed == 32 && t.heads == 2 && t.hidden == 64)
    return contender_of<layer<16, 32, 2, 64>>(t);
  if (t.batch == 1 && t.n == 8 && t.embed == 16 && t.heads == 1 && t.hidden == 32)
    return contender_of<layer<8, 16, 1, 32>>(t);
  return contender_of<layer<>>(t);
}

}  // namespace bench
