// Keys that a mask hides have no effect on a query, whatever hides them and whatever they hold.
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/targets.hpp"
#include "laws/hidden_keys.hpp"
#include "weft/weft.hpp"

namespace {

using namespace weft::testing::laws;
using weft::arg;

// The kinds of masks that hide keys from queries, with their types and axes.
enum class hides {
  keys,        // boolean [Batch, KeyPos]
  each,        // boolean [Batch, Pos, KeyPos]
  lengths,     // int32 [Batch]
  each_row,    // int32 [Batch, Pos]
  causal,      // with an offset int32 [Batch]
  any_length,  // as lengths, which may be any int32
  window,      // 3 to the left, 1 to the right
  addends      // float [KeyPos, Pos]: 0 or -infinity
};

// Attention with the mask of Model.
template <class Model>
struct masked {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    auto q = s.input<"q", float, Batch, Pos, Heads, HeadDim>();
    auto k = s.input<"k", float, Batch, KeyPos, Heads, HeadDim>();
    auto v = s.input<"v", float, Batch, KeyPos, Heads, HeadDim>();
    auto y = nn::attention<KeyPos>(nn::dot_product_score<HeadDim>(q, k), v, Model::mask(s));
    return weft::results(weft::as<"output">(y.output), weft::as<"weights">(y.weights));
  }
};
template <hides By>
struct hiding : masked<hiding<By>> {
  static constexpr auto mask(weft::scope s) {
    namespace nn = weft::nn;
    if constexpr (By == hides::keys) return s.input<"mask", bool, Batch, KeyPos>();
    if constexpr (By == hides::each) return s.input<"mask", bool, Batch, Pos, KeyPos>();
    if constexpr (By == hides::lengths) return s.input<"mask", std::int32_t, Batch>();
    if constexpr (By == hides::each_row) return s.input<"mask", std::int32_t, Batch, Pos>();
    // As nn::causal and nn::valid, which refuse arguments that are no lengths.
    if constexpr (By == hides::causal)
      return weft::positions<KeyPos>() - weft::positions<Pos>() <=
             s.input<"mask", std::int32_t, Batch>();
    if constexpr (By == hides::any_length)
      return weft::positions<KeyPos>() < s.input<"mask", std::int32_t, Batch>();
    if constexpr (By == hides::window)
      return nn::sliding_window<Pos, KeyPos>({.left = 3, .right = 1});
    if constexpr (By == hides::addends) return s.input<"mask", float, KeyPos, Pos>();
  }
};
// A sliding window whose bounds may be any int.
template <int Left, int Right>
struct far_window : masked<far_window<Left, Right>> {
  static constexpr auto mask(weft::scope) {
    return weft::nn::sliding_window<Pos, KeyPos>({.left = Left, .right = Right});
  }
};

// A mask of this kind and these sizes, with queries that see no key, some keys and all keys.
template <hides By>
struct mask_of {
  std::size_t batch, pos, key;

  std::int32_t length(std::size_t b, std::size_t i) const {
    return b == 1 ? 0 : static_cast<std::int32_t>((i + 1) % (key + 1));
  }
  static std::int32_t offset(std::size_t b) { return b == 1 ? -3 : static_cast<std::int32_t>(b); }

  bool sees(std::size_t b, std::size_t i, std::size_t j) const {
    const auto from = static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i);
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
    const auto with = [&](const auto&... mask) {
      return queries(net(arg<"q">(q), arg<"k">(k), arg<"v">(v), mask...).template get<"output">());
    };
    const auto filled = [&](auto mask, auto of) {
      for (std::size_t b = 0; b < batch; ++b)
        for (std::size_t i = 0; i < pos; ++i)
          for (std::size_t j = 0; j < key; ++j) of(mask, b, i, j);
      return mask;
    };
    if constexpr (By == hides::keys) {
      const weft::array<bool, Batch, KeyPos> mask(batch, key);
      return with(arg<"mask">(
          filled(mask, [&](auto& m, auto b, auto i, auto j) { m(b, j) = sees(b, i, j); })));
    } else if constexpr (By == hides::each) {
      const weft::array<bool, Batch, Pos, KeyPos> mask(batch, pos, key);
      return with(arg<"mask">(
          filled(mask, [&](auto& m, auto b, auto i, auto j) { m(b, i, j) = sees(b, i, j); })));
    } else if constexpr (By == hides::lengths) {
      const weft::array<std::int32_t, Batch> mask(batch);
      return with(arg<"mask">(
          filled(mask, [&](auto& m, auto b, auto, auto) { m(b) = length(b, key / 2); })));
    } else if constexpr (By == hides::each_row) {
      const weft::array<std::int32_t, Batch, Pos> mask(batch, pos);
      return with(arg<"mask">(
          filled(mask, [&](auto& m, auto b, auto i, auto) { m(b, i) = length(b, i); })));
    } else if constexpr (By == hides::causal) {
      const weft::array<std::int32_t, Batch> mask(batch);
      return with(
          arg<"mask">(filled(mask, [&](auto& m, auto b, auto, auto) { m(b) = offset(b); })));
    } else if constexpr (By == hides::addends) {
      const weft::array<float, KeyPos, Pos> mask(key, pos);
      return with(arg<"mask">(filled(mask, [&](auto& m, auto b, auto i, auto j) {
        m(j, i) = sees(b, i, j) ? 0 : -weft::infinity;
      })));
    } else {
      return with();
    }
  }
};

template <hides By, class Net>
void check_that_hidden_has_no_effect(Net& net, spoiled what) {
  for (const std::size_t pos : {1u, 3u, 7u, 70u})
    for (const std::size_t key : {1u, 3u, 17u, 90u}) {
      const attention_inputs x(3, pos, key);
      const mask_of<By> mask{3, pos, key};
      // NaN makes a single query take another code path, which rounds differently.
      check_that_hidden_has_no_effect(
          {3, pos, key, Heads::extent}, x.k, x.v, what, pos == 1 ? distance(key, 1) : 0,
          [&](const keys& k, const keys& v) { return elements(mask.run(net, x.q, k, v).view()); },
          [&](std::size_t b, std::size_t, std::size_t i, std::size_t j) {
            return mask.sees(b, i, j);
          });
    }
}
template <hides... By>
struct kinds {};
template <hides... By, class F>
void for_each_kind(kinds<By...>, F f) {
  weft::kernels::on_every_target(
      [&](const auto&) { (f(std::integral_constant<hides, By>()), ...); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hidden_keys, *boost::unit_test::label("full"))

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

// Unlike above, hidden values must be finite. Every kind of mask becomes a boolean one.
BOOST_AUTO_TEST_CASE(nan_in_hidden_keys_does_not_reach_a_query_whose_weights_are_stored) {
  for_each_kind(kinds<hides::each, hides::causal>(), [](auto by) {
    weft::module<hiding<by()>> net;
    check_that_hidden_has_no_effect<by()>(net, {true, false});
  });
}

// Visible values are summed as IEEE 754 says even if hidden ones are NaN.
BOOST_AUTO_TEST_CASE(
    a_visible_infinite_value_beside_hidden_nan_makes_only_its_own_result_infinite) {
  weft::kernels::on_every_target([](const auto&) {
    weft::module<hiding<hides::causal>, "output"> net;
    for (const std::size_t pos : {1u, 7u, 70u}) {
      attention_inputs x(3, pos, 90);
      const mask_of<hides::causal> mask{3, pos, 90};
      const queries before = mask.run(net, x.q, x.k, x.v);
      for (std::size_t h = 0; h < Heads::extent; ++h) {
        x.v(0, 0, h, 3) = weft::infinity;
        for (std::size_t d = 0; d < HeadDim::extent; ++d)
          x.v(0, 1, h, d) = std::numeric_limits<float>::quiet_NaN();
      }
      const queries after = mask.run(net, x.q, x.k, x.v);
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

// Checks that both nets give the same, and 0 to queries that see no key.
template <hides By, class Net, class Other>
void check_unseeing(Net& net, Other& other) {
  int unseeing = 0, wrong = 0;
  for (const std::size_t pos : {1u, 7u, 70u})
    for (const std::size_t key : {0u, 1u, 17u, 90u}) {
      const attention_inputs x(3, pos, key);
      const mask_of<By> mask{3, pos, key};
      const queries y = mask.run(net, x.q, x.k, x.v), z = mask.run(other, x.q, x.k, x.v);
      BOOST_TEST(largest_difference(y, z) <= distance(key, 1));
      for (std::size_t b = 0; b < 3; ++b)
        for (std::size_t i = 0; i < pos; ++i) {
          bool any = false;
          for (std::size_t j = 0; j < key && !any; ++j) any = mask.sees(b, i, j);
          if (any) continue;
          ++unseeing;
          for (std::size_t h = 0; h < Heads::extent; ++h)
            for (std::size_t d = 0; d < HeadDim::extent; ++d)
              wrong += y(b, i, h, d) != 0 || z(b, i, h, d) != 0;
        }
    }
  BOOST_TEST(unseeing > 0);
  BOOST_TEST(wrong == 0);
}
BOOST_AUTO_TEST_CASE(a_query_that_sees_no_key_has_result_0_fused_or_not) {
  for_each_kind(kinds<hides::keys, hides::each_row, hides::window>(), [](auto by) {
    weft::module<hiding<by()>, "output"> fused;
    check_unseeing<by()>(fused, fused);
  });
  for_each_kind(kinds<hides::each, hides::lengths, hides::causal, hides::addends>(), [](auto by) {
    weft::module<hiding<by()>, "output"> fused;
    weft::module<hiding<by()>> unfused;
    check_unseeing<by()>(fused, unfused);
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
    weft::module<hiding<hides::any_length>, "output"> fused_length;
    weft::module<hiding<hides::any_length>> length;
    for (const std::size_t pos : {1u, 7u, 70u}) {
      const attention_inputs x(5, pos, 90);
      for (const auto& all : {std::array{most, least, beyond_float, -beyond_float, 0},
                              std::array{most - 1, least + 1, most - 89, least + 69, most - 69}}) {
        const auto run = [&](auto& net) {
          return queries(net(arg<"q">(x.q), arg<"k">(x.k), arg<"v">(x.v), arg<"mask">(all))
                             .template get<"output">());
        };
        const queries causal = seen_by_mask(
            x, [&](std::size_t b, std::int64_t distance) { return distance <= all[b]; });
        BOOST_TEST(largest_difference(run(fused_offset), causal) <= distance(90, 1));
        BOOST_TEST(largest_difference(run(offset), causal) == 0);
        const queries unfused = run(length);
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
  for (const std::size_t pos : {1u, 70u}) {
    const attention_inputs x(1, pos, 90);
    const auto run = [&](auto& net) {
      return queries(net(arg<"q">(x.q), arg<"k">(x.k), arg<"v">(x.v)).template get<"output">());
    };
    const queries expected = seen_by_mask(x, [](std::size_t, std::int64_t distance) {
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
    window_is_its_mask<least, most>();
    window_is_its_mask<most, least>();
    window_is_its_mask<beyond_float, -2>();
  });
}

BOOST_AUTO_TEST_SUITE_END()
