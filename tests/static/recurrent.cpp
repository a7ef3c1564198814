#include "weft/nn/recurrent.hpp"

#include "words.hpp"

using namespace words;

struct Hidden : weft::axis<16> {};
constexpr floats<Batch, Hidden> h0{};

template <class A, class In, class H>
constexpr auto recurs = [](auto... operands) {
  return requires(weft::scope s) {
    weft::nn::rnn<A, In, H>(s, operands...);
    weft::nn::gru<A, In, H>(s, operands...);
  };
};
template <class... Operands>
using rnn = decltype(weft::nn::rnn<Pos, Embed, Hidden>(std::declval<weft::scope>(),
                                                       std::declval<Operands>()...));
template <class... Operands>
using gru = decltype(weft::nn::gru<Pos, Embed, Hidden, "_l1", weft::backwards>(
    std::declval<weft::scope>(), std::declval<Operands>()...));
static_assert(is<decltype(rnn<decltype(x)>::last), floats<Batch, Hidden>>);
static_assert(is<decltype(rnn<decltype(x), decltype(h0)>::all), floats<Batch, Pos, Hidden>>);
static_assert(is<decltype(gru<decltype(x)>::last), floats<Batch, Hidden>>);
static_assert(is<decltype(gru<decltype(x), decltype(h0)>::all), floats<Batch, Pos, Hidden>>);

static_assert(recurs<Pos, Embed, Hidden>(x) && recurs<Pos, Embed, Hidden>(x, h0));
static_assert(recurs<Pos, Embed, Embed>(x));  // In and Hidden are the same axis
static_assert(!recurs<Pos, Embed, Pos>(x) && !recurs<int, Embed, Hidden>(x));  // not fixed axes
static_assert(!recurs<KeyPos, Embed, Hidden>(x));                              // no such axis
static_assert(!recurs<Pos, Hidden, Hidden>(x, h0));
static_assert(!recurs<Pos, Batch, Hidden>(tokens));                     // dtype
static_assert(!recurs<Pos, Embed, Hidden>(x, floats<Batch, Embed>{}));  // axes of the state
