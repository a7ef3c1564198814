#include <cmath>

#include "weft/ops/arithmetic.hpp"
#include "weft/ops/compare.hpp"
#include "weft/ops/convert.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/mask.hpp"

#include "words.hpp"

using namespace words;

constexpr floats<Batch> f{};
constexpr integers<Batch> i{};
constexpr masks<Batch> b{};

// Arithmetic. Operands are broadcast by axis; a C++ number takes the dtype of the tensor.
constexpr auto adds = [](auto l, auto r) {
  return requires {
    l + r;
  };
};
constexpr auto subtracts = [](auto l, auto r) {
  return requires {
    l - r;
  };
};
constexpr auto multiplies = [](auto l, auto r) {
  return requires {
    l* r;
  };
};
constexpr auto divides = [](auto l, auto r) {
  return requires {
    l / r;
  };
};

static_assert(is<decltype(x + gain), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(gain + x), floats<Embed, Batch, Pos>>);
static_assert(is<decltype(f + w), floats<Batch, Embed, Heads, HeadDim>>);
static_assert(is<decltype(x * 2), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(0.5 - x), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(i + 1), integers<Batch>>);
static_assert(is<decltype(tokens - i), integers<Batch, Pos>>);
static_assert(is<decltype(1 / x), floats<Batch, Pos, Embed>>);
// A C++ number may have any type whose kind of value the dtype can hold.
static_assert(is<decltype(2 * x), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(x + 1U), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(x - 0.5f), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(x / 2L), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(1 - i), integers<Batch>> && is<decltype(i * 3), integers<Batch>>);
static_assert(is<decltype(i == 1), masks<Batch>> && is<decltype(1 < i), masks<Batch>>);
static_assert(is<decltype(i != i), masks<Batch>> && is<decltype(b == b), masks<Batch>>);

static_assert(adds(f, f) && !adds(f, i) && !adds(i, f) && !adds(i, 0.5) && !adds(f, b));
static_assert(!adds(b, b) && !adds(b, 1) && !adds(b, true));
static_assert(subtracts(f, f) && !subtracts(f, i) && !subtracts(0.5, i) && !subtracts(b, b));
static_assert(multiplies(f, f) && !multiplies(f, b) && !multiplies(i, f) && !multiplies(b, b));
static_assert(divides(f, f) && !divides(f, i) && !divides(b, b));
static_assert(!divides(i, i) && !divides(i, 2) && !divides(2, i));

// A C++ number that the dtype cannot hold is not a constant expression; infinity is one.
constexpr auto indices = weft::positions<Pos>();
constexpr auto reals = weft::cast<float>(indices);
template <auto Of>
concept is_constant = requires {
  typename std::bool_constant<(Of(), true)>;
};
static_assert(is_constant<[] { return reals * 3.4e38; }> &&
              !is_constant<[] { return reals * 3.5e38; }>);
static_assert(is_constant<[] { return reals + 1e-45; }> &&
              !is_constant<[] { return reals + 1e-46; }>);
static_assert(!is_constant<[] { return -1e300L < reals; }> &&
              !is_constant<[] { return where(indices == 0, -1e300, reals); }> &&
              !is_constant<[] { return where(indices == 0, 0, 1e300); }>);
static_assert(is_constant<[] { return where(indices == 0, reals, -weft::infinity); }> &&
              is_constant<[] { return maximum(reals, -HUGE_VAL); }>);
static_assert(is_constant<[] { return indices + 2147483647; }> &&
              is_constant<[] { return indices + -2147483648L; }> &&
              !is_constant<[] { return indices + 2147483648; }> &&
              !is_constant<[] { return where(indices == 0, 4294967295U, 0); }>);

constexpr auto takes_maximum = [](auto l, auto r) {
  return requires {
    weft::maximum(l, r);
  };
};
constexpr auto takes_minimum = [](auto l, auto r) {
  return requires {
    weft::minimum(l, r);
  };
};
static_assert(is<decltype(maximum(x, 0)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(minimum(i, tokens)), integers<Batch, Pos>>);
static_assert(!takes_maximum(f, i) && !takes_maximum(i, 0.5) && !takes_maximum(b, f));
static_assert(!takes_minimum(f, i) && !takes_minimum(i, 0.5) && !takes_minimum(b, f));
static_assert(!takes_maximum(b, b) && !takes_minimum(b, b));

// Comparisons give booleans.
static_assert(is<decltype(i < tokens), masks<Batch, Pos>>);
static_assert(is<decltype(f >= 0), masks<Batch>>);
static_assert(is<decltype(weft::positions<KeyPos>() <= weft::positions<Pos>()),
                 weft::fragment<bool, weft::shape<KeyPos, Pos>, 3>>);
constexpr auto compares = [](auto l, auto r) {
  return requires {
    l < r;
  }
  || requires {
    l <= r;
  }
  || requires {
    l > r;
  }
  || requires {
    l >= r;
  }
  || requires {
    l == r;
  }
  || requires {
    l != r;
  };
};
static_assert(compares(f, f) && compares(i, 1) && compares(b, b));
static_assert(!compares(f, i) && !compares(i, 0.5) && !compares(b, i));
// Booleans are equal or not; they have no order.
constexpr auto orders = [](auto l, auto r) {
  return requires {
    l < r;
  }
  || requires {
    l <= r;
  }
  || requires {
    l > r;
  }
  || requires {
    l >= r;
  };
};
static_assert(orders(f, f) && orders(i, 1) && !orders(b, b) && !orders(b, causal));

// The operands have at most eight distinct axes.
constexpr floats<Level<4>, Level<5>, Level<6>, Level<7>> four{};
static_assert(adds(five<float>, four) && !adds(five<float>, five_more<float>));
static_assert(!subtracts(five<float>, five_more<float>));
static_assert(!multiplies(five<float>, five_more<float>));
static_assert(!divides(five<std::int32_t>, five_more<std::int32_t>));
static_assert(!takes_maximum(five<float>, five_more<float>));
static_assert(!takes_minimum(five<float>, five_more<float>));
static_assert(compares(five<float>, four) && !compares(five<float>, five_more<float>));
static_assert(!compares(five<bool>, five_more<bool>));

// Logical operators take only booleans.
constexpr auto ands = [](auto l, auto r) {
  return requires {
    l&& r;
  };
};
constexpr auto ors = [](auto l, auto r) {
  return requires {
    l || r;
  };
};
constexpr auto nots = [](auto a) {
  return requires {
    !a;
  };
};
static_assert(is<decltype(b && causal), masks<Batch, KeyPos, Pos>>);
static_assert(ands(b, b) && !ands(b, i) && !ands(f, b) && !ands(i, f));
static_assert(ors(b, b) && !ors(b, i) && !ors(f, b) && !ors(i, f));
static_assert(!ands(five<bool>, five_more<bool>) && !ors(five<bool>, five_more<bool>));
static_assert(nots(b) && !nots(i) && !nots(f));

// where
constexpr auto chooses = [](auto c, auto l, auto r) {
  return requires {
    weft::where(c, l, r);
  };
};
static_assert(is<decltype(where(causal, x, 0)), floats<Batch, Pos, Embed, KeyPos>>);
static_assert(is<decltype(where(b, 0, tokens)), integers<Batch, Pos>>);
static_assert(chooses(b, f, f) && chooses(b, f, -1.0) && chooses(b, b, b));
static_assert(!chooses(i, f, f) && !chooses(f, f, f));         // the condition
static_assert(!chooses(b, f, i) && !chooses(b, 0.5, i));       // the choices
static_assert(!chooses(i, f, i));                              // both
static_assert(is<decltype(where(b, 1.0, 0)), floats<Batch>>);  // two C++ numbers
static_assert(is<decltype(where(b, 1, 0)), integers<Batch>>);
static_assert(!chooses(five<bool>, five_more<float>, 0) &&
              !chooses(b, five<float>, five_more<float>));
static_assert(chooses(five<bool>, four, 0));

// Unary operations.
constexpr auto negates = [](auto a) {
  return requires {
    -a;
  };
};
static_assert(is<decltype(-i), integers<Batch>> && is<decltype(-x), floats<Batch, Pos, Embed>>);
static_assert(negates(f) && negates(i) && !negates(b));

template <class T>
constexpr auto casts = [](auto a) {
  return requires {
    weft::cast<T>(a);
  };
};
static_assert(is<decltype(weft::cast<float>(tokens)), floats<Batch, Pos>>);
static_assert(is<decltype(weft::cast<bool>(x)), masks<Batch, Pos, Embed>>);
static_assert(!casts<double>(f) && !casts<long>(i));

static_assert(is<decltype(weft::broadcast<Pos, Batch>(i)), integers<Batch, Pos>>);
static_assert(is<decltype(weft::broadcast<>(i)), integers<Batch>>);
template <class... Axes>
constexpr auto broadcasts = [](auto a) {
  return requires {
    weft::broadcast<Axes...>(a);
  };
};
static_assert(broadcasts<Pos, Batch>(i) && !broadcasts<int>(i) && !broadcasts<Pos, Pos>(i));
static_assert(broadcasts<Pos, Heads, Batch>(five<float>));
static_assert(!broadcasts<Pos, Heads, Batch, Embed>(five<float>));

// Functions of floats.
constexpr auto takes_exp = [](auto a) {
  return requires {
    weft::exp(a);
  };
};
constexpr auto takes_log = [](auto a) {
  return requires {
    weft::log(a);
  };
};
constexpr auto takes_sqrt = [](auto a) {
  return requires {
    weft::sqrt(a);
  };
};
constexpr auto takes_tanh = [](auto a) {
  return requires {
    weft::tanh(a);
  };
};
constexpr auto takes_erf = [](auto a) {
  return requires {
    weft::erf(a);
  };
};
constexpr auto takes_sin = [](auto a) {
  return requires {
    weft::sin(a);
  };
};
constexpr auto takes_cos = [](auto a) {
  return requires {
    weft::cos(a);
  };
};
constexpr auto takes_sigmoid = [](auto a) {
  return requires {
    weft::sigmoid(a);
  };
};
constexpr auto takes_relu = [](auto a) {
  return requires {
    weft::relu(a);
  };
};
constexpr auto takes_gelu = [](auto a) {
  return requires {
    weft::gelu(a);
  };
};
constexpr auto takes_gelu_tanh = [](auto a) {
  return requires {
    weft::gelu_tanh(a);
  };
};
constexpr auto takes_silu = [](auto a) {
  return requires {
    weft::silu(a);
  };
};
static_assert(is<decltype(exp(x)), floats<Batch, Pos, Embed>>);
static_assert(takes_exp(f) && !takes_exp(i) && !takes_exp(b));
static_assert(takes_log(f) && !takes_log(i) && !takes_log(b));
static_assert(takes_sqrt(f) && !takes_sqrt(i) && !takes_sqrt(b));
static_assert(takes_tanh(f) && !takes_tanh(i) && !takes_tanh(b));
static_assert(takes_erf(f) && !takes_erf(i) && !takes_erf(b));
static_assert(takes_sin(f) && !takes_sin(i) && !takes_sin(b));
static_assert(takes_cos(f) && !takes_cos(i) && !takes_cos(b));
static_assert(takes_sigmoid(f) && !takes_sigmoid(i) && !takes_sigmoid(b));
static_assert(takes_relu(f) && !takes_relu(i) && !takes_relu(b));
static_assert(takes_gelu(f) && !takes_gelu(i) && !takes_gelu(b));
static_assert(takes_gelu_tanh(f) && !takes_gelu_tanh(i) && !takes_gelu_tanh(b));
static_assert(takes_silu(f) && !takes_silu(i) && !takes_silu(b));

// sqrt of an axis is a scalar.
static_assert(is<decltype(x / sqrt(HeadDim{})), floats<Batch, Pos, Embed>>);
