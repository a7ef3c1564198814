#include "weft/ops/reduce.hpp"

#include "words.hpp"

using namespace words;

template <class... K>
constexpr auto sums = [](auto a) {
  return requires {
    weft::sum<K...>(a);
  };
};
template <class... K>
constexpr auto takes_max = [](auto a) {
  return requires {
    weft::max<K...>(a);
  };
};
template <class... K>
constexpr auto takes_mean = [](auto a) {
  return requires {
    weft::mean<K...>(a);
  };
};

// The result lacks the named axes.
static_assert(is<decltype(weft::sum<Pos>(x)), floats<Batch, Embed>>);
static_assert(is<decltype(weft::max<Embed, Batch>(x)), floats<Pos>>);
static_assert(is<decltype(weft::mean<Embed, Batch, Pos>(x)), floats<>>);

// The operand has no such axis, no axis is named, or the dtype is not float.
static_assert(sums<Pos>(x) && !sums<KeyPos>(x) && !sums<Pos, KeyPos>(x));
static_assert(!sums<>(x) && !sums<Pos>(tokens) && !sums<Pos>(causal));
static_assert(takes_max<Pos>(x) && !takes_max<KeyPos>(x) && !takes_max<Pos, KeyPos>(x));
static_assert(!takes_max<>(x) && !takes_max<Pos>(tokens) && !takes_max<Pos>(causal));
static_assert(takes_mean<Pos>(x) && !takes_mean<KeyPos>(x) && !takes_mean<Pos, KeyPos>(x));
static_assert(!takes_mean<>(x) && !takes_mean<Pos>(tokens) && !takes_mean<Pos>(causal));
// An axis is named twice.
static_assert(!sums<Pos, Pos>(x) && !takes_max<Pos, Pos>(x) && !takes_mean<Pos, Pos>(x));
