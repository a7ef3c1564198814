#include "weft/ops/concatenate.hpp"

#include "words.hpp"

using namespace words;
using weft::shape;

struct Prefix : weft::axis<4> {};
struct Rest : weft::axis<12> {};
struct Joint : weft::axis<16> {};
struct Cache : weft::axis<weft::up_to<100>> {};
struct Present : weft::axis<weft::up_to<612>> {};

constexpr floats<Batch, Prefix> a{};
constexpr floats<Rest, Batch> b{};

template <class Whole, class... Parts>
constexpr auto concatenates = [](auto... xs) {
  return requires {
    weft::concatenate<Whole, shape<Parts...>>(xs...);
  };
};

// The new axis is where the first operand has the axis that is joined.
static_assert(
    is<decltype(weft::concatenate<Joint, shape<Prefix, Rest>>(a, b)), floats<Batch, Joint>>);
static_assert(
    is<decltype(weft::concatenate<Joint, shape<Rest, Prefix>>(b, a)), floats<Joint, Batch>>);
static_assert(
    is<decltype(weft::concatenate<Present, shape<Cache, Pos>>(integers<Batch, Cache>{}, tokens)),
       integers<Batch, Present>>);
static_assert(concatenates<Joint, Prefix, Rest>(a, b));

template <class... Axes>
constexpr auto concatenates_unlisted = [](auto... xs) {
  return requires {
    weft::concatenate<Axes...>(xs...);
  };
};
static_assert(!concatenates_unlisted<Joint, Prefix, Rest>(a, b));  // axes without weft::shape
static_assert(!concatenates_unlisted<Joint, Prefix>(a) && !concatenates_unlisted<Joint>(a, b));
static_assert(!concatenates_unlisted<Joint, int>(a));
static_assert(!concatenates<int, Prefix, Rest>(a, b));  // not an axis
static_assert(!concatenates<Joint, Prefix>(a, b));      // number of operands
static_assert(!concatenates<Joint>());
static_assert(!concatenates<Joint, Prefix, Rest, Prefix>(a, b));
static_assert(!concatenates<Joint, Rest, Prefix>(a, b));  // an operand has no such axis
static_assert(!concatenates<Joint, Prefix, Rest>(a, integers<Rest, Batch>{}));  // dtype
static_assert(!concatenates<Joint, Prefix, Rest>(a, floats<Rest>{}));           // other axes
static_assert(!concatenates<Joint, Prefix, Rest>(a, floats<Rest, Heads>{}));
static_assert(!concatenates<Joint, Prefix, Rest>(floats<Joint, Prefix>{},
                                                 floats<Joint, Rest>{}));  // Joint is present
static_assert(!concatenates<Heads, Prefix, Rest>(a, b));                   // length
static_assert(!concatenates<Present, Cache, Pos, Prefix>(integers<Batch, Cache>{}, tokens,
                                                         integers<Batch, Prefix>{}));
