#include "benchmarks/peers/ggml.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "benchmarks/peers/fastest.hpp"
#include "benchmarks/peers/ggml_graph.hpp"

namespace bench {
namespace {

// w [k, n] transposed to [n, k], the layout of ggml's weights.
floats transposed(const floats& w, std::ptrdiff_t k, std::ptrdiff_t n) {
  const floats to(w.size());
  for (std::ptrdiff_t i = 0; i < k; ++i)
    for (std::ptrdiff_t j = 0; j < n; ++j) to.data()[j * k + i] = w.data()[i * n + j];
  return to;
}

// softmax(q kᵀ / sqrt(depth) + mask) v, of [depth, n, heads, batch], as [depth, heads, n, batch]:
// fused without storing the scores, or with products, which may be a BLAS's.
ggml_tensor* attended(ggml_context* c, ggml_tensor* q, ggml_tensor* k, ggml_tensor* v,
                      ggml_tensor* mask, bool fused) {
  const float scale = 1 / std::sqrt(static_cast<float>(q->ne[0]));
  if (fused) return ggml_flash_attn_ext(c, q, k, v, mask, scale, 0, 0);
  ggml_tensor* const weights = ggml_soft_max_ext(c, ggml_mul_mat(c, k, q), mask, scale, 0);
  ggml_tensor* const turned = ggml_cont(c, ggml_transpose(c, v));
  return ggml_cont(c, ggml_permute(c, ggml_mul_mat(c, turned, weights), 0, 2, 1, 3));
}

contender of_both(int threads, const std::function<ggml_tensor*(ggml_graph&, bool fused)>& build) {
  return fastest({ggml_contender(threads, [&](ggml_graph& g) { return build(g, true); }),
                  ggml_contender(threads, [&](ggml_graph& g) { return build(g, false); })});
}

}  // namespace

ggml::ggml() : peer("ggml " + std::string(ggml_version())) {}

contender ggml::product(const product_task& t) {
  return ggml_contender(1, [&](ggml_graph& g) {
    ggml_tensor* const x = g.filled({t.k, t.m}, t.x);
    if (t.packed)
      return ggml_mul_mat(g.context(), g.filled({t.k, t.n}, transposed(t.w, t.k, t.n)), x);
    ggml_tensor* const w = g.filled({t.n, t.k}, t.w);
    return ggml_mul_mat(g.context(), ggml_cont(g.context(), ggml_transpose(g.context(), w)), x);
  });
}

contender ggml::bfloat16_product(const product_task& t) {
  return ggml_contender(1, [&](ggml_graph& g) {
    ggml_tensor* const w = g.filled({t.k, t.n}, transposed(t.w, t.k, t.n), GGML_TYPE_BF16);
    return ggml_mul_mat(g.context(), w, g.filled({t.k, t.m}, t.x));
  });
}

contender ggml::attention(const attention_task& t) {
  return of_both(1, [&](ggml_graph& g, bool fused) {
    ggml_context* const c = g.context();
    const auto by_heads = [&](const floats& x) {
      return ggml_permute(c, g.filled({t.depth, t.heads, t.n}, x), 0, 2, 1, 3);
    };
    ggml_tensor* mask = nullptr;
    if (t.causal) {
      const floats hidden(static_cast<std::size_t>(t.n * t.n));
      for (std::ptrdiff_t i = 0; i < t.n; ++i)
        for (std::ptrdiff_t j = i + 1; j < t.n; ++j)
          hidden.data()[i * t.n + j] = -std::numeric_limits<float>::infinity();
      mask = g.filled({t.n, t.n}, hidden, GGML_TYPE_F16);
    }
    return attended(c, by_heads(t.q), by_heads(t.k), by_heads(t.v), mask, fused);
  });
}

contender ggml::encoder(const encoder_task& t) {
  return of_both(t.threads, [&](ggml_graph& g, bool fused) {
    ggml_context* const c = g.context();
    const auto affine = [&](ggml_tensor* x, const linear_weights& w) {
      const auto out = static_cast<std::int64_t>(w.bias.size());
      ggml_tensor* const weight = g.filled({x->ne[0], out}, w.weight);
      return ggml_add(c, ggml_mul_mat(c, weight, x), g.filled({out}, w.bias));
    };
    const auto normalized = [&](ggml_tensor* x, const linear_weights& w) {
      ggml_tensor* const gain = g.filled({t.embed}, w.weight);
      return ggml_add(c, ggml_mul(c, ggml_norm(c, x, 1e-5F), gain), g.filled({t.embed}, w.bias));
    };
    ggml_tensor* const x = g.filled({t.embed, t.tokens()}, t.x);
    const auto by_heads = [&](const linear_weights& w) {
      return ggml_permute(c, ggml_reshape_4d(c, affine(x, w), t.depth(), t.heads, t.n, t.batch), 0,
                          2, 1, 3);
    };
    ggml_tensor* const heads =
        attended(c, by_heads(t.query), by_heads(t.key), by_heads(t.value), nullptr, fused);
    ggml_tensor* const joined = ggml_reshape_2d(c, heads, t.embed, t.tokens());
    ggml_tensor* const between = normalized(ggml_add(c, x, affine(joined, t.out)), t.norm1);
    ggml_tensor* const wide = ggml_gelu_erf(c, affine(between, t.linear1));
    return normalized(ggml_add(c, between, affine(wide, t.linear2)), t.norm2);
  });
}

contender ggml::row(const row_task& t) {
  if (t.kind == row_work::gelu_tanh) return {};
  return ggml_contender(1, [&](ggml_graph& g) {
    ggml_context* const c = g.context();
    ggml_tensor* const x = g.filled({t.columns, t.rows}, t.x);
    switch (t.kind) {
      case row_work::softmax:
        return ggml_soft_max(c, x);
      case row_work::layer_norm:
        return ggml_add(c, ggml_mul(c, ggml_norm(c, x, 1e-5F), g.filled({t.columns}, t.gain)),
                        g.filled({t.columns}, t.bias));
      case row_work::gelu:
        return ggml_gelu_erf(c, x);
      case row_work::gelu_tanh:
      case row_work::exp:
        break;
    }
    return ggml_exp(c, x);
  });
}

}  // namespace bench
