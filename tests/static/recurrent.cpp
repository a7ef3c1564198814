#include "weft/nn/recurrent.hpp"

#include "words.hpp"

using namespace words;

extern const weft::scope s;
constexpr floats<Batch, Hidden> h0{};

template <class... Operands>
using rnn = decltype(weft::nn::rnn<Pos, Embed, Hidden>(s, std::declval<Operands>()...));
template <class... Operands>
using gru = decltype(weft::nn::gru<Pos, Embed, Hidden, "_l1", weft::backwards>(
    s, std::declval<Operands>()...));
static_assert(is<decltype(rnn<decltype(x)>::last), floats<Batch, Hidden>>);
static_assert(is<decltype(rnn<decltype(x), decltype(h0)>::all), floats<Batch, Pos, Hidden>>);
static_assert(is<decltype(gru<decltype(x)>::last), floats<Batch, Hidden>>);
static_assert(is<decltype(gru<decltype(x), decltype(h0)>::all), floats<Batch, Pos, Hidden>>);

// In and Hidden may be the same axis.
static_assert(is<decltype(weft::nn::rnn<Pos, Embed, Embed>(s, x).all), floats<Batch, Pos, Embed>>);
