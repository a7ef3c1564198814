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

// A C++ number that the dtype cannot hold refuses the model; infinity does not.
constexpr auto indices = weft::positions<Pos>();
constexpr auto reals = weft::cast<float>(indices);
constexpr weft::model_fault fault_of(const auto& fragment) {
  weft::graph g;
  weft::attach(g, fragment);
  return g.fault;
}
template <class... Fragments>
constexpr bool refuse(weft::model_fault why, const Fragments&... fragments) {
  return ((fault_of(fragments) == why) && ...);
}
static_assert(refuse(weft::model_fault::infinite, reals * 3.5e38, -1e300L < reals,
                     where(indices == 0, -1e300, reals), where(indices == 0, 0, 1e300)));
static_assert(refuse(weft::model_fault::zero, reals + 1e-46));
static_assert(refuse(weft::model_fault::integer, indices + 2147483648,
                     where(indices == 0, 4294967295U, 0)));
static_assert(refuse(weft::model_fault::none, reals * 3.4e38, reals + 1e-45,
                     where(indices == 0, reals, -weft::infinity), maximum(reals, -HUGE_VAL),
                     indices + 2147483647, indices + -2147483648L));

static_assert(is<decltype(maximum(x, 0)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(minimum(i, tokens)), integers<Batch, Pos>>);

// Comparisons give booleans.
static_assert(is<decltype(i < tokens), masks<Batch, Pos>>);
static_assert(is<decltype(f >= 0), masks<Batch>>);
static_assert(is<decltype(weft::positions<KeyPos>() <= weft::positions<Pos>()),
                 weft::fragment<bool, weft::shape<KeyPos, Pos>, 3>>);
static_assert(are<masks<Batch>, decltype(f < f), decltype(f <= f), decltype(f > f),
                  decltype(f >= f), decltype(f == f), decltype(f != f)>);
static_assert(are<masks<Batch>, decltype(i < 1), decltype(i <= 1), decltype(i > 1),
                  decltype(i >= 1), decltype(i == 1), decltype(i != 1)>);
static_assert(
    are<masks<Batch>, decltype(1 < i), decltype(i != i), decltype(b == b), decltype(b != b)>);

// The operands have at most eight distinct axes.
constexpr floats<Level<4>, Level<5>, Level<6>, Level<7>> four{};
static_assert(weft::shape_t<decltype(five<float> + four)>::rank == 8);
static_assert(weft::shape_t<decltype(five<float> < four)>::rank == 8);
static_assert(weft::shape_t<decltype(where(five<bool>, four, 0))>::rank == 8);
static_assert(weft::shape_t<decltype(weft::broadcast<Pos, Heads, Batch>(five<float>))>::rank == 8);

// Logical operators.
static_assert(is<decltype(b && causal), masks<Batch, KeyPos, Pos>>);
static_assert(are<masks<Batch>, decltype(b && b), decltype(b || b), decltype(!b)>);

// where
static_assert(is<decltype(where(causal, x, 0)), floats<Batch, Pos, Embed, KeyPos>>);
static_assert(is<decltype(where(b, 0, tokens)), integers<Batch, Pos>>);
static_assert(is<decltype(where(b, f, -1.0)), floats<Batch>> &&
              is<decltype(where(b, b, b)), masks<Batch>>);
static_assert(is<decltype(where(b, 1.0, 0)), floats<Batch>>);  // two C++ numbers
static_assert(is<decltype(where(b, 1, 0)), integers<Batch>>);

// Unary operations.
static_assert(is<decltype(-i), integers<Batch>> && is<decltype(-x), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(weft::cast<float>(tokens)), floats<Batch, Pos>>);
static_assert(is<decltype(weft::cast<bool>(x)), masks<Batch, Pos, Embed>>);
static_assert(is<decltype(weft::broadcast<Pos, Batch>(i)), integers<Batch, Pos>>);
static_assert(is<decltype(weft::broadcast<>(i)), integers<Batch>>);

// Functions of floats.
static_assert(are<floats<Batch>, decltype(exp(f)), decltype(log(f)), decltype(sqrt(f)),
                  decltype(tanh(f)), decltype(erf(f)), decltype(sin(f)), decltype(cos(f)),
                  decltype(sigmoid(f)), decltype(relu(f)), decltype(gelu(f)),
                  decltype(gelu_tanh(f)), decltype(silu(f)), decltype(pow(f, 2))>);

// sqrt of an axis is a scalar.
static_assert(is<decltype(x / sqrt(HeadDim{})), floats<Batch, Pos, Embed>>);
