// Invariants of attention that hold for all values: each compares two runs and needs no reference.
// That cached decoding equals the whole sequence at once is tested in run/decode_test.cpp.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/targets.hpp"
#include "support/greater_error.hpp"
#include "weft/weft.hpp"

namespace {

using weft::arg;

struct Batch : weft::axis<weft::up_to<5>> {};
struct Pos : weft::axis<weft::up_to<70>> {};
struct KeyPos : weft::axis<weft::up_to<90>> {};  // with lengths of their own
struct Before : weft::alias<Pos> {};             // positions as keys
struct Embed : weft::axis<100> {};
struct Heads : weft::axis<5> {};
struct HeadDim : weft::axis<20> {};

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
struct causal_layer {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    auto y = nn::self_attention<Pos, Before, Embed, Heads, HeadDim>(
        s / "attn", nn::layer_norm<Embed>(s / "norm", x), nn::causal<Pos, Before>());
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

// The kinds of masks that hide keys from queries, with their types and axes.
enum class hides {
  keys,      // boolean [Batch, KeyPos]
  each,      // boolean [Batch, Pos, KeyPos]
  lengths,   // int32 [Batch]
  each_row,  // int32 [Batch, Pos]
  causal,    // with an offset int32 [Batch]
  window,    // 3 to the left, 1 to the right
  addends    // float [KeyPos, Pos]: 0 or -infinity
};
template <hides By>
struct hiding {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto q = s.input<"q", float, Batch, Pos, Heads, HeadDim>();
    auto k = s.input<"k", float, Batch, KeyPos, Heads, HeadDim>();
    auto v = s.input<"v", float, Batch, KeyPos, Heads, HeadDim>();
    auto y = nn::attention<KeyPos>(nn::dot_product_score<HeadDim>(q, k), v, mask(s));
    return weft::results(weft::as<"output">(y.output), weft::as<"weights">(y.weights));
  }
  static constexpr auto mask(weft::scope s) {
    namespace nn = weft::nn;
    if constexpr (By == hides::keys) return s.input<"mask", bool, Batch, KeyPos>();
    if constexpr (By == hides::each) return s.input<"mask", bool, Batch, Pos, KeyPos>();
    if constexpr (By == hides::lengths) return s.input<"mask", std::int32_t, Batch>();
    if constexpr (By == hides::each_row) return s.input<"mask", std::int32_t, Batch, Pos>();
    if constexpr (By == hides::causal)
      return nn::causal<Pos, KeyPos>(s.input<"mask", std::int32_t, Batch>());
    if constexpr (By == hides::window) return nn::sliding_window<Pos, KeyPos>(3, 1);
    if constexpr (By == hides::addends) return s.input<"mask", float, KeyPos, Pos>();
  }
};

// A sliding window whose bounds may be any int.
template <int Left, int Right>
struct far_window {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto q = s.input<"q", float, Batch, Pos, Heads, HeadDim>();
    auto k = s.input<"k", float, Batch, KeyPos, Heads, HeadDim>();
    auto v = s.input<"v", float, Batch, KeyPos, Heads, HeadDim>();
    auto y = nn::attention<KeyPos>(nn::dot_product_score<HeadDim>(q, k), v,
                                   nn::sliding_window<Pos, KeyPos>(Left, Right));
    return weft::results(weft::as<"output">(y.output), weft::as<"weights">(y.weights));
  }
};

// A pseudorandom value in [-1, 1), a hash of position and seed.
float number(std::size_t at, std::uint32_t seed) {
  std::uint32_t h = static_cast<std::uint32_t>(at) * 2654435761u + seed * 40503u;
  h ^= h >> 15, h *= 2246822519u, h ^= h >> 13, h *= 3266489917u, h ^= h >> 16;
  return static_cast<float>(h >> 8) * 0x1p-23f - 1;
}
template <class Array>
void fill(Array& a, std::uint32_t seed) {
  auto* const data = a.view().data();
  for (std::size_t i = 0; i < a.view().size(); ++i) data[i] = number(i, seed);
}

constexpr double epsilon = std::numeric_limits<float>::epsilon() / 2;
// The largest difference of two runs that sum n terms, of values of at most `most`, in different
// orders: each is within (n / 2 + 16) roundings, half as many as terms since vectors accumulate at
// least two at a time; scores of 20 products of at most 1 are off by 20 roundings more.
double distance(std::size_t n, double most) {
  return 2 * (static_cast<double>(n) / 2 + 16 + 20) * epsilon * most;
}

using keys = weft::array<float, Batch, KeyPos, Heads, HeadDim>;
using queries = weft::array<float, Batch, Pos, Heads, HeadDim>;

struct attention_inputs {
  std::size_t batch, pos, key;
  queries q{batch, pos};
  keys k{batch, key}, v{batch, key};
  weft::array<float, Heads, KeyPos> bias{key};
  weft::array<bool, Batch, KeyPos> mask{batch, key};

  attention_inputs(std::size_t b, std::size_t p, std::size_t n) : batch(b), pos(p), key(n) {
    fill(q, 1), fill(k, 2), fill(v, 3), fill(bias, 4);
    for (std::size_t i = 0; i < b; ++i)
      for (std::size_t j = 0; j < n; ++j) mask(i, j) = number(i * n + j, 5) < 0.5f;
  }
  // Key j is key of[j] of x.
  attention_inputs(const attention_inputs& x, const std::vector<std::size_t>& of)
      : attention_inputs(x.batch, x.pos, of.size()) {
    for (std::size_t b = 0; b < batch; ++b)
      for (std::size_t j = 0; j < key; ++j) {
        mask(b, j) = x.mask(b, of[j]);
        for (std::size_t h = 0; h < Heads::extent; ++h) {
          bias(h, j) = x.bias(h, of[j]);
          for (std::size_t d = 0; d < HeadDim::extent; ++d) {
            k(b, j, h, d) = x.k(b, of[j], h, d);
            v(b, j, h, d) = x.v(b, of[j], h, d);
          }
        }
      }
  }
};

template <class Net>
auto output_of(Net& net, const attention_inputs& x) {
  return queries(
      net(arg<"q">(x.q), arg<"k">(x.k), arg<"v">(x.v), arg<"bias">(x.bias), arg<"mask">(x.mask))
          .template get<"output">());
}

// A mask of this kind and these sizes, with queries that see no key, some keys and all keys.
template <hides By>
struct mask_of {
  std::size_t batch, pos, key;

  std::int32_t length(std::size_t b, std::size_t i) const {
    return b == 1 ? 0 : static_cast<std::int32_t>((i + 1) % (key + 1));
  }
  static std::int32_t offset(std::size_t b) { return b == 1 ? -3 : static_cast<std::int32_t>(b); }

  bool sees(std::size_t b, std::size_t i, std::size_t j) const {
    auto const from = static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i);
    if (By == hides::keys) return b != 1 && number(b * key + j, 5) < 0.2f;
    if (By == hides::each) return i != 2 && number((b * pos + i) * key + j, 5) < 0.2f;
    if (By == hides::lengths) return static_cast<std::int32_t>(j) < length(b, key / 2);
    if (By == hides::each_row) return static_cast<std::int32_t>(j) < length(b, i);
    if (By == hides::causal) return from <= offset(b);
    if (By == hides::window) return -3 <= from && from <= 1;
    return i != 2 && number(i * key + j, 5) < 0.2f;
  }

  // Returns the net's output for q, k, v and this mask.
  template <class Net>
  queries run(Net& net, const queries& q, const keys& k, const keys& v) const {
    auto const with = [&](const auto&... mask) {
      return queries(net(arg<"q">(q), arg<"k">(k), arg<"v">(v), mask...).template get<"output">());
    };
    auto const filled = [&](auto mask, auto of) {
      for (std::size_t b = 0; b < batch; ++b)
        for (std::size_t i = 0; i < pos; ++i)
          for (std::size_t j = 0; j < key; ++j) of(mask, b, i, j);
      return mask;
    };
    if constexpr (By == hides::keys) {
      weft::array<bool, Batch, KeyPos> const mask(batch, key);
      return with(arg<"mask">(
          filled(mask, [&](auto& m, auto b, auto i, auto j) { m(b, j) = sees(b, i, j); })));
    } else if constexpr (By == hides::each) {
      weft::array<bool, Batch, Pos, KeyPos> const mask(batch, pos, key);
      return with(arg<"mask">(
          filled(mask, [&](auto& m, auto b, auto i, auto j) { m(b, i, j) = sees(b, i, j); })));
    } else if constexpr (By == hides::lengths) {
      weft::array<std::int32_t, Batch> const mask(batch);
      return with(arg<"mask">(
          filled(mask, [&](auto& m, auto b, auto, auto) { m(b) = length(b, key / 2); })));
    } else if constexpr (By == hides::each_row) {
      weft::array<std::int32_t, Batch, Pos> const mask(batch, pos);
      return with(arg<"mask">(
          filled(mask, [&](auto& m, auto b, auto i, auto) { m(b, i) = length(b, i); })));
    } else if constexpr (By == hides::causal) {
      weft::array<std::int32_t, Batch> const mask(batch);
      return with(
          arg<"mask">(filled(mask, [&](auto& m, auto b, auto, auto) { m(b) = offset(b); })));
    } else if constexpr (By == hides::addends) {
      weft::array<float, KeyPos, Pos> const mask(key, pos);
      return with(arg<"mask">(filled(mask, [&](auto& m, auto b, auto i, auto j) {
        m(j, i) = sees(b, i, j) ? 0 : -weft::infinity;
      })));
    } else {
      return with();
    }
  }
};

template <class A, class B>
double largest_difference(const A& a, const B& b) {
  BOOST_REQUIRE(a.view().size() == b.view().size());
  double most = 0;
  for (std::size_t i = 0; i < a.view().size(); ++i) {
    auto const x = static_cast<double>(a.view().data()[i]),
               y = static_cast<double>(b.view().data()[i]);
    most = weft::testing::greater_error(most, std::abs(x - y));
  }
  return most;
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
    for (std::size_t const n : {1u, 3u, 17u, 90u}) {
      attention_inputs const x(2, 7, n);
      std::vector<std::size_t> order(n);
      for (std::size_t i = 0; i < n; ++i) order[i] = (i * 7 + 3) % n;
      if (n == 90) std::rotate(order.begin(), order.begin() + 41, order.end());
      std::vector<std::size_t> sorted = order;
      std::ranges::sort(sorted);
      if (std::ranges::adjacent_find(sorted) != sorted.end())  // 7 divides n
        for (std::size_t i = 0; i < n; ++i) order[i] = n - 1 - i;
      attention_inputs const y(x, order);
      BOOST_TEST(largest_difference(output_of(net, x), output_of(net, y)) <= distance(n, 1));
    }
  });
}

BOOST_AUTO_TEST_CASE(masking_a_key_equals_removing_it_but_for_rounding) {
  fused_and_not([](auto& net) {
    for (std::size_t const n : {1u, 3u, 17u, 90u}) {
      attention_inputs x(2, 7, n);
      for (std::size_t j = 0; j < n; ++j) x.mask(1, j) = x.mask(0, j);
      std::vector<std::size_t> seen;
      for (std::size_t j = 0; j < n; ++j)
        if (x.mask(0, j)) seen.push_back(j);
      attention_inputs const y(x, seen);
      BOOST_TEST(largest_difference(output_of(net, x), output_of(net, y)) <= distance(n, 1));
    }
  });
}

BOOST_AUTO_TEST_CASE(contents_of_masked_keys_do_not_change_a_bit_of_the_result) {
  fused_and_not([](auto& net) {
    attention_inputs x(2, 7, 50);
    queries const before = output_of(net, x);
    for (std::size_t b = 0; b < 2; ++b)
      for (std::size_t j = 0; j < 50; ++j)
        for (std::size_t h = 0; h < Heads::extent && !x.mask(b, j); ++h)
          for (std::size_t d = 0; d < HeadDim::extent; ++d)
            x.k(b, j, h, d) *= 3, x.v(b, j, h, d) = 7;
    BOOST_TEST(largest_difference(before, output_of(net, x)) == 0);
  });
}

struct spoiled {
  bool keys, values;
};
// Checks that NaN and infinities in some keys, values or both reach the results of the queries that
// see them, and of no others.
template <hides By, class Net>
void check_that_hidden_has_no_effect(Net& net, spoiled what) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float contents[]{nan, weft::infinity, -weft::infinity, 1};
  for (std::size_t const pos : {1u, 3u, 7u, 70u})
    for (std::size_t const key : {1u, 3u, 17u, 90u}) {
      attention_inputs const x(3, pos, key);
      mask_of<By> const mask{3, pos, key};
      queries const before = mask.run(net, x.q, x.k, x.v);
      for (std::size_t const every : {1u, 2u, 11u}) {
        keys k(x.k.view()), v(x.v.view());
        auto const is_spoiled = [&](std::size_t b, std::size_t j) { return (b + j) % every == 0; };
        for (std::size_t b = 0; b < 3; ++b)
          for (std::size_t j = 0; j < key; ++j)
            for (std::size_t h = 0; h < Heads::extent && is_spoiled(b, j); ++h)
              for (std::size_t d = 0; d < HeadDim::extent; ++d) {
                if (what.keys) k(b, j, h, d) = contents[(j + d) % 4];
                if (what.values) v(b, j, h, d) = contents[(j + h + d) % 3];
              }
        queries const after = mask.run(net, x.q, k, v);
        double distant = 0;  // the largest change of other results
        int shown = 0;       // finite results of queries that see a spoiled key
        for (std::size_t b = 0; b < 3; ++b)
          for (std::size_t i = 0; i < pos; ++i) {
            bool knows = false;
            for (std::size_t j = 0; j < key; ++j)
              knows = knows || (is_spoiled(b, j) && mask.sees(b, i, j));
            for (std::size_t h = 0; h < Heads::extent; ++h)
              for (std::size_t d = 0; d < HeadDim::extent; ++d) {
                auto const off =
                    static_cast<double>(std::abs(after(b, i, h, d) - before(b, i, h, d)));
                if (knows)
                  shown += std::isfinite(after(b, i, h, d));
                else
                  distant = weft::testing::greater_error(distant, off);
              }
          }
        BOOST_TEST_CONTEXT(pos << " queries, " << key << " keys, every " << every) {
          // NaN makes a single query take another code path, which rounds differently.
          BOOST_TEST(distant <= (pos == 1 ? distance(key, 1) : 0));
          BOOST_TEST(shown == 0);
        }
      }
    }
}
template <hides... By>
struct kinds {};
template <hides... By, class F>
void for_each_kind(kinds<By...>, F f) {
  weft::kernels::on_every_target(
      [&](const auto&) { (f(std::integral_constant<hides, By>()), ...); });
}

BOOST_AUTO_TEST_CASE(nan_in_hidden_keys_and_values_does_not_reach_a_query) {
  for_each_kind(kinds<hides::keys, hides::each, hides::lengths, hides::each_row, hides::causal,
                      hides::window, hides::addends>(),
                [](auto by) {
                  weft::module<hiding<by()>, "output"> net;
                  check_that_hidden_has_no_effect<by()>(net, {true, true});
                  check_that_hidden_has_no_effect<by()>(net, {true, false});
                  check_that_hidden_has_no_effect<by()>(net, {false, true});
                });
}

// Unlike above, hidden values must be finite, and so must scores to which a mask of floats is
// added.
BOOST_AUTO_TEST_CASE(nan_in_hidden_keys_does_not_reach_a_query_whose_weights_are_stored) {
  for_each_kind(kinds<hides::keys, hides::each, hides::lengths, hides::each_row, hides::causal,
                      hides::window>(),
                [](auto by) {
                  weft::module<hiding<by()>> net;
                  check_that_hidden_has_no_effect<by()>(net, {true, false});
                });
}

// Visible values are summed as IEEE 754 says even if hidden ones are NaN.
BOOST_AUTO_TEST_CASE(
    a_visible_infinite_value_beside_hidden_nan_makes_only_its_own_result_infinite) {
  weft::kernels::on_every_target([](const auto&) {
    weft::module<hiding<hides::causal>, "output"> net;
    for (std::size_t const pos : {1u, 7u, 70u}) {
      attention_inputs x(3, pos, 90);
      mask_of<hides::causal> const mask{3, pos, 90};
      queries const before = mask.run(net, x.q, x.k, x.v);
      for (std::size_t h = 0; h < Heads::extent; ++h) {
        x.v(0, 0, h, 3) = weft::infinity;
        for (std::size_t d = 0; d < HeadDim::extent; ++d)
          x.v(0, 1, h, d) = std::numeric_limits<float>::quiet_NaN();
      }
      queries const after = mask.run(net, x.q, x.k, x.v);
      for (std::size_t h = 0; h < Heads::extent; ++h)
        for (std::size_t d = 0; d < HeadDim::extent; ++d) {
          if (d == 3)
            BOOST_TEST(after(0, 0, h, d) == weft::infinity);
          else
            BOOST_TEST(static_cast<double>(std::abs(after(0, 0, h, d) - before(0, 0, h, d))) <=
                       distance(90, 1));
        }
    }
  });
}

BOOST_AUTO_TEST_CASE(a_query_that_sees_no_key_has_result_0_fused_or_not) {
  for_each_kind(kinds<hides::keys, hides::each, hides::lengths, hides::each_row, hides::causal,
                      hides::window, hides::addends>(),
                [](auto by) {
                  weft::module<hiding<by()>, "output"> fused;
                  weft::module<hiding<by()>> unfused;
                  int unseeing = 0, wrong = 0;
                  for (std::size_t const pos : {1u, 7u, 70u})
                    for (std::size_t const key : {0u, 1u, 17u, 90u}) {
                      attention_inputs const x(3, pos, key);
                      mask_of<by()> const mask{3, pos, key};
                      queries const y = mask.run(fused, x.q, x.k, x.v);
                      queries const z = mask.run(unfused, x.q, x.k, x.v);
                      BOOST_TEST(largest_difference(y, z) <= distance(key, 1));
                      for (std::size_t b = 0; b < 3; ++b)
                        for (std::size_t i = 0; i < pos; ++i) {
                          bool any = false;
                          for (std::size_t j = 0; j < key; ++j) any = any || mask.sees(b, i, j);
                          if (any) continue;
                          ++unseeing;
                          for (std::size_t h = 0; h < Heads::extent; ++h)
                            for (std::size_t d = 0; d < HeadDim::extent; ++d)
                              wrong += y(b, i, h, d) != 0 || z(b, i, h, d) != 0;
                        }
                    }
                  BOOST_TEST(unseeing > 0);
                  BOOST_TEST(wrong == 0);
                });
}

// The limits of int32, and the least positive integer that float32 does not represent.
constexpr int most = std::numeric_limits<std::int32_t>::max();
constexpr int least = std::numeric_limits<std::int32_t>::min();
constexpr int beyond_float = (1 << 24) + 1;

// Returns the output under a boolean mask: sees(sequence, position of key - position of query).
template <class Sees>
queries seen_by_mask(const attention_inputs& x, Sees sees) {
  weft::module<hiding<hides::each>> net;
  weft::array<bool, Batch, Pos, KeyPos> mask(x.batch, x.pos, x.key);
  for (std::size_t b = 0; b < x.batch; ++b)
    for (std::size_t i = 0; i < x.pos; ++i)
      for (std::size_t j = 0; j < x.key; ++j)
        mask(b, i, j) = sees(b, static_cast<std::int64_t>(j) - static_cast<std::int64_t>(i));
  return queries(
      net(arg<"q">(x.q), arg<"k">(x.k), arg<"v">(x.v), arg<"mask">(mask)).template get<"output">());
}

BOOST_AUTO_TEST_CASE(offsets_and_lengths_may_be_any_int32_fused_or_not) {
  weft::kernels::on_every_target([](const auto&) {
    weft::module<hiding<hides::causal>, "output"> fused_offset;
    weft::module<hiding<hides::causal>> offset;
    weft::module<hiding<hides::lengths>, "output"> fused_length;
    weft::module<hiding<hides::lengths>> length;
    for (std::size_t const pos : {1u, 7u, 70u}) {
      attention_inputs const x(5, pos, 90);
      for (auto const& all : {std::array{most, least, beyond_float, -beyond_float, 0},
                              std::array{most - 1, least + 1, most - 89, least + 69, most - 69}}) {
        auto const run = [&](auto& net) {
          return queries(net(arg<"q">(x.q), arg<"k">(x.k), arg<"v">(x.v), arg<"mask">(all))
                             .template get<"output">());
        };
        queries const causal = seen_by_mask(
            x, [&](std::size_t b, std::int64_t distance) { return distance <= all[b]; });
        BOOST_TEST(largest_difference(run(fused_offset), causal) <= distance(90, 1));
        BOOST_TEST(largest_difference(run(offset), causal) == 0);
        queries const unfused = run(length);
        BOOST_TEST(largest_difference(run(fused_length), unfused) <= distance(90, 1));
        for (std::size_t b = 0; b < 5; ++b) BOOST_TEST((unfused(b, 0, 0, 0) == 0) == (all[b] <= 0));
      }
    }
  });
}

template <int Left, int Right>
void window_is_its_mask() {
  weft::module<far_window<Left, Right>, "output"> fused;
  weft::module<far_window<Left, Right>> unfused;
  for (std::size_t const pos : {1u, 70u}) {
    attention_inputs const x(1, pos, 90);
    auto const run = [&](auto& net) {
      return queries(net(arg<"q">(x.q), arg<"k">(x.k), arg<"v">(x.v)).template get<"output">());
    };
    queries const expected = seen_by_mask(x, [](std::size_t, std::int64_t distance) {
      return -std::int64_t{Left} <= distance && distance <= Right;
    });
    BOOST_TEST_CONTEXT(Left << " to the left, " << Right << " to the right") {
      BOOST_TEST(largest_difference(run(fused), expected) <= distance(90, 1));
      BOOST_TEST(largest_difference(run(unfused), expected) == 0);
    }
  }
}
BOOST_AUTO_TEST_CASE(window_bounds_may_be_any_int_fused_or_not) {
  weft::kernels::on_every_target([](const auto&) {
    window_is_its_mask<most, most>();
    window_is_its_mask<most, 0>();
    window_is_its_mask<3, most>();
    window_is_its_mask<least, most>();
    window_is_its_mask<most, least>();
    window_is_its_mask<beyond_float, -2>();
    window_is_its_mask<-2, beyond_float>();
  });
}

BOOST_AUTO_TEST_CASE(sequences_of_a_batch_do_not_change_a_bit_of_each_other) {
  fused_and_not([](auto& net) {
    attention_inputs const x(5, 7, 40);
    queries const all = output_of(net, x);
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
    queries const y = output_of(net, turned);
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
    for (std::size_t const n : {0u, 1u, 5u, 33u}) {
      attention_inputs padded(1, 6, 90);
      for (std::size_t j = n; j < 90; ++j)
        for (std::size_t h = 0; h < Heads::extent; ++h)
          for (std::size_t d = 0; d < HeadDim::extent; ++d) padded.v(0, j, h, d) = 1000;
      std::vector<std::size_t> first(n);
      for (std::size_t j = 0; j < n; ++j) first[j] = j;
      attention_inputs const x(padded, first);
      auto const run = [&](const attention_inputs& of) {
        return queries(net(arg<"q">(of.q), arg<"k">(of.k), arg<"v">(of.v),
                           arg<"lengths">(std::array{static_cast<std::int32_t>(n)}))
                           .template get<"result">());
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
    outputs const all(net(arg<"x">(x)).get<"result">());
    for (std::size_t const n : {1u, 3u, 17u, 69u}) {
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
      outputs const changed(net(arg<"x">(other)).get<"result">());
      outputs const shorter(net(arg<"x">(prefix)).get<"result">());
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
    auto const y = net(arg<"x">(x), arg<"shift">(shift));
    using rows = weft::array<float, Pos, Embed>;
    rows const plain(y.get<"plain">()), shifted(y.get<"shifted">());
    // x + shift is at most 17 and rounded: an exponent is off by 2 * 17 roundings, a logarithm too.
    double const off = (2 * 17 + 100 / 2 + 16) * epsilon;
    BOOST_TEST(largest_difference(plain, shifted) <= off);
    rows const log_plain(y.get<"log_plain">()), log_shifted(y.get<"log_shifted">());
    BOOST_TEST(largest_difference(log_plain, log_shifted) <= off + 4 * 17 * epsilon);
  });
}

BOOST_AUTO_TEST_CASE(a_module_and_its_trainer_compute_the_same_loss) {
  weft::kernels::on_every_target([](const auto&) {
    weft::trainer<trained_layer> trainer(weft::adamw{}, {}, 3);
    weft::module<trained_layer, "loss"> net(trainer.parameters());
    weft::array<float, Batch, Pos, Embed> x(2, 33), target(2, 33);
    fill(x, 1), fill(target, 2);
    for (int step = 0; step < 3; ++step) {
      auto const before =
          static_cast<double>(net(arg<"x">(x), arg<"target">(target)).get<"loss">()());
      auto const loss = static_cast<double>(trainer.step(arg<"x">(x), arg<"target">(target)));
      BOOST_TEST(std::abs(before - loss) <= distance(2 * 33 * 100, 1) * before / 8);
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
