// Invariants of attention that hold for all values: each compares two runs and needs no reference.
// That cached decoding equals the whole sequence at once is tested in run/decode_test.cpp.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/targets.hpp"
#include "laws/attention_inputs.hpp"
#include "support/greater_error.hpp"
#include "weft/weft.hpp"

namespace {

using namespace weft::testing::laws;
using weft::arg;

// Attention to given keys and values, with a bias and a mask; fused unless its weights are needed.
struct given_keys {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto q = s.input<"q", float, Batch, Pos, Heads, HeadDim>();
    auto k = s.input<"k", float, Batch, KeyPos, Heads, HeadDim>();
    auto v = s.input<"v", float, Batch, KeyPos, Heads, HeadDim>();
    auto bias = s.input<"bias", float, Heads, KeyPos>();
    auto mask = s.input<"mask", bool, Batch, KeyPos>();
    auto scores = nn::dot_product_score<HeadDim>(q, k) + bias;
    auto y = nn::attention<KeyPos>(scores, v, mask);
    return weft::results(weft::as<"output">(y.output), weft::as<"weights">(y.weights));
  }
};
// Attention to the first keys of each sequence, as many as its length.
struct valid_keys {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto q = s.input<"q", float, Batch, Pos, Heads, HeadDim>();
    auto k = s.input<"k", float, Batch, KeyPos, Heads, HeadDim>();
    auto v = s.input<"v", float, Batch, KeyPos, Heads, HeadDim>();
    auto lengths = s.input<"lengths", std::int32_t, Batch>();
    auto weights = nn::attention_weights<HeadDim, KeyPos>(q, k, lengths);
    return weft::dot<KeyPos>(weights, v);
  }
};
// A layer as in models: causal self-attention with a norm, projections and a residual.
struct axes {
  using positions = Pos;
  using keys = Before;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
};
struct causal_layer {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    auto y = nn::self_attention<axes>(s / "attn", nn::layer_norm<Embed>(s / "norm", x),
                                      nn::causal<Pos, Before>());
    return x + y.output;
  }
};
// Its mean square error as a loss.
struct trained_layer {
  constexpr auto operator()(weft::scope s) const {
    auto y = causal_layer()(s);
    auto target = s.input<"target", float, Batch, Pos, Embed>();
    auto loss = weft::mean<Batch, Pos, Embed>((y - target) * (y - target));
    return weft::results(weft::as<"loss">(loss), weft::as<"y">(y));
  }
};
struct rows_and_shifted {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, Embed>();
    auto shift = s.input<"shift", float, Pos>();
    return weft::results(weft::as<"plain">(weft::softmax<Embed>(x)),
                         weft::as<"shifted">(weft::softmax<Embed>(x + shift)),
                         weft::as<"log_plain">(weft::log_softmax<Embed>(x)),
                         weft::as<"log_shifted">(weft::log_softmax<Embed>(x + shift)));
  }
};

template <class Net>
auto output_of(Net& net, const attention_inputs& x) {
  return queries(
      net(arg<"q">(x.q), arg<"k">(x.k), arg<"v">(x.v), arg<"bias">(x.bias), arg<"mask">(x.mask))
          .template get<"output">());
}

// Calls f with a module of fused attention, and with one that stores its weights.
template <class F>
void fused_and_not(F f) {
  weft::kernels::on_every_target([&](const auto&) {
    weft::module<given_keys, "output"> fused;
    f(fused);
    weft::module<given_keys> apart;
    f(apart);
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(laws)

BOOST_AUTO_TEST_CASE(permuting_keys_with_values_changes_nothing_but_rounding) {
  fused_and_not([](auto& net) {
    for (const std::size_t n : {1u, 3u, 17u, 90u}) {
      const attention_inputs x(2, 7, n);
      std::vector<std::size_t> order(n);
      for (std::size_t i = 0; i < n; ++i) order[i] = (i * 7 + 3) % n;
      if (n == 90) std::rotate(order.begin(), order.begin() + 41, order.end());
      std::vector<std::size_t> sorted = order;
      std::ranges::sort(sorted);
      if (std::ranges::adjacent_find(sorted) != sorted.end())  // 7 divides n
        for (std::size_t i = 0; i < n; ++i) order[i] = n - 1 - i;
      const attention_inputs y(x, order);
      BOOST_TEST(largest_difference(output_of(net, x), output_of(net, y)) <= distance(n, 1));
    }
  });
}

BOOST_AUTO_TEST_CASE(masking_a_key_equals_removing_it_but_for_rounding) {
  fused_and_not([](auto& net) {
    for (const std::size_t n : {1u, 3u, 17u, 90u}) {
      attention_inputs x(2, 7, n);
      for (std::size_t j = 0; j < n; ++j) x.mask(1, j) = x.mask(0, j);
      std::vector<std::size_t> seen;
      for (std::size_t j = 0; j < n; ++j)
        if (x.mask(0, j)) seen.push_back(j);
      const attention_inputs y(x, seen);
      BOOST_TEST(largest_difference(output_of(net, x), output_of(net, y)) <= distance(n, 1));
    }
  });
}

BOOST_AUTO_TEST_CASE(contents_of_masked_keys_do_not_change_a_bit_of_the_result) {
  fused_and_not([](auto& net) {
    attention_inputs x(2, 7, 50);
    const queries before = output_of(net, x);
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t j = 0; j < 50; ++j)
        for (std::size_t h = 0; h < Heads::extent && !x.mask(b, j); ++h)
          for (std::size_t d = 0; d < HeadDim::extent; ++d)
            x.k(b, j, h, d) *= 3, x.v(b, j, h, d) = 7;
    BOOST_TEST(largest_difference(before, output_of(net, x)) == 0);
  });
}

BOOST_AUTO_TEST_CASE(sequences_of_a_batch_do_not_change_a_bit_of_each_other) {
  fused_and_not([](auto& net) {
    const attention_inputs x(5, 7, 40);
    const queries all = output_of(net, x);
    attention_inputs turned(5, 7, 40);
    constexpr std::array<std::size_t, 5> order{3, 0, 4, 1, 2};
    for (std::size_t b = 0; b < 5; ++b) {
      for (std::size_t i = 0; i < 7; ++i)
        for (std::size_t h = 0; h < Heads::extent; ++h)
          for (std::size_t d = 0; d < HeadDim::extent; ++d)
            turned.q(b, i, h, d) = x.q(order[b], i, h, d);
      for (std::size_t j = 0; j < 40; ++j) {
        turned.mask(b, j) = x.mask(order[b], j);
        for (std::size_t h = 0; h < Heads::extent; ++h)
          for (std::size_t d = 0; d < HeadDim::extent; ++d) {
            turned.k(b, j, h, d) = x.k(order[b], j, h, d);
            turned.v(b, j, h, d) = x.v(order[b], j, h, d);
          }
      }
    }
    const queries y = output_of(net, turned);
    int differ = 0;
    for (std::size_t b = 0; b < 5; ++b)
      for (std::size_t i = 0; i < 7; ++i)
        for (std::size_t h = 0; h < Heads::extent; ++h)
          for (std::size_t d = 0; d < HeadDim::extent; ++d)
            differ += y(b, i, h, d) != all(order[b], i, h, d);
    BOOST_TEST(differ == 0);
  });
}

BOOST_AUTO_TEST_CASE(padding_after_the_valid_length_changes_nothing_but_rounding) {
  weft::kernels::on_every_target([](const auto&) {
    weft::module<valid_keys> net;
    for (const std::size_t n : {0u, 1u, 5u, 33u}) {
      attention_inputs padded(1, 6, 90);
      for (std::size_t j = n; j < 90; ++j)
        for (std::size_t h = 0; h < Heads::extent; ++h)
          for (std::size_t d = 0; d < HeadDim::extent; ++d) padded.v(0, j, h, d) = 1000;
      std::vector<std::size_t> first(n);
      for (std::size_t j = 0; j < n; ++j) first[j] = j;
      const attention_inputs x(padded, first);
      const auto run = [&](const attention_inputs& of) {
        return queries(net(arg<"q">(of.q), arg<"k">(of.k), arg<"v">(of.v),
                           arg<"lengths">(std::array{static_cast<std::int32_t>(n)})));
      };
      BOOST_TEST(largest_difference(run(x), run(padded)) <= distance(n, 1));
    }
  });
}

BOOST_AUTO_TEST_CASE(a_causal_prefix_does_not_depend_on_what_follows) {
  weft::kernels::on_every_target([](const auto&) {
    weft::module<causal_layer> net;
    weft::array<float, Batch, Pos, Embed> x(2, 70);
    fill(x, 1);
    using outputs = weft::array<float, Batch, Pos, Embed>;
    const outputs all(net(arg<"x">(x)));
    for (const std::size_t n : {1u, 3u, 17u, 69u}) {
      outputs prefix(2, n), other(x.view());
      double most = 0;
      for (std::size_t b = 0; b < 2; ++b)
        for (std::size_t i = 0; i < 70; ++i)
          for (std::size_t e = 0; e < Embed::extent; ++e) {
            if (i < n) prefix(b, i, e) = x(b, i, e);
            if (i >= n) other(b, i, e) = number(i * 100 + e, 9);
            most = std::max(most, static_cast<double>(std::abs(all(b, i, e))));
          }
      // The same shape runs the same kernels in the same order.
      const outputs changed(net(arg<"x">(other)));
      const outputs shorter(net(arg<"x">(prefix)));
      int differ = 0;
      double distant = 0;
      for (std::size_t b = 0; b < 2; ++b)
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t e = 0; e < Embed::extent; ++e) {
            differ += changed(b, i, e) != all(b, i, e);
            distant = weft::testing::greater_error(
                distant, static_cast<double>(std::abs(shorter(b, i, e) - all(b, i, e))));
          }
      BOOST_TEST(differ == 0);
      // Three sums over 100, and one over the positions.
      BOOST_TEST(distant <= distance(3 * 100 + 70, most));
    }
  });
}

BOOST_AUTO_TEST_CASE(a_softmax_does_not_change_when_its_row_is_shifted) {
  weft::kernels::on_every_target([](const auto&) {
    weft::module<rows_and_shifted> net;
    weft::array<float, Pos, Embed> x(70);
    weft::array<float, Pos> shift(70);
    fill(x, 1);
    for (std::size_t i = 0; i < 70; ++i) shift(i) = number(i, 2) * 16;
    const auto y = net(arg<"x">(x), arg<"shift">(shift));
    using rows = weft::array<float, Pos, Embed>;
    const rows plain(y.get<"plain">()), shifted(y.get<"shifted">());
    // x + shift is at most 17 and rounded: an exponent is off by 2 * 17 roundings, a logarithm too.
    const double off = (2 * 17 + 100 / 2 + 16) * epsilon;
    BOOST_TEST(largest_difference(plain, shifted) <= off);
    const rows log_plain(y.get<"log_plain">()), log_shifted(y.get<"log_shifted">());
    BOOST_TEST(largest_difference(log_plain, log_shifted) <= off + 4 * 17 * epsilon);
  });
}

BOOST_AUTO_TEST_CASE(a_module_and_its_trainer_compute_the_same_loss) {
  weft::kernels::on_every_target([](const auto&) {
    weft::trainer<trained_layer> trainer(weft::adamw{}, {.seed = 3});
    weft::module<trained_layer, "loss"> net(trainer.parameters());
    weft::array<float, Batch, Pos, Embed> x(2, 33), target(2, 33);
    fill(x, 1), fill(target, 2);
    for (int step = 0; step < 3; ++step) {
      const auto before =
          static_cast<double>(net(arg<"x">(x), arg<"target">(target)).get<"loss">()());
      const auto loss = static_cast<double>(trainer.step(arg<"x">(x), arg<"target">(target)));
      BOOST_TEST(std::abs(before - loss) <= distance(2 * 33 * 100, 1) * before / 8);
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
