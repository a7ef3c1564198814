#include "weft/nn/recurrent.hpp"

#include "words.hpp"

using namespace words;

extern const weft::scope s;
constexpr floats<Batch, Hidden> h0{};
constexpr weft::nn::recurrence backwards{.direction = weft::backwards, .first = 1};
constexpr weft::nn::recurrence deep{.layers = 2, .bidirectional = true};

template <class... Operands>
using rnn = decltype(weft::nn::rnn<Pos, Embed, Hidden>(s, std::declval<Operands>()...));
template <class... Operands>
using gru = decltype(weft::nn::gru<Pos, Embed, Hidden, backwards>(s, std::declval<Operands>()...));
static_assert(is<decltype(rnn<decltype(x)>::last), floats<Batch, Hidden>>);
static_assert(is<decltype(rnn<decltype(x), decltype(h0)>::all), floats<Batch, Pos, Hidden>>);
static_assert(is<decltype(gru<decltype(x)>::last), floats<Batch, Hidden>>);
static_assert(is<decltype(gru<decltype(x), decltype(h0)>::all), floats<Batch, Pos, Hidden>>);

// In and Hidden may be the same axis.
static_assert(is<decltype(weft::nn::rnn<Pos, Embed, Embed>(s, x).all), floats<Batch, Pos, Embed>>);

// A state of an LSTM has two tensors; of several layers or directions there is one of each.
template <weft::nn::recurrence R, class... Operands>
using lstm = decltype(weft::nn::lstm<Pos, Embed, Hidden, R>(s, std::declval<Operands>()...));
using both_tensors = std::tuple<floats<Batch, Hidden>, floats<Batch, Hidden>>;
static_assert(is<decltype(lstm<backwards, decltype(x)>::last), both_tensors>);
static_assert(is<decltype(lstm<deep, decltype(x)>::last), std::array<both_tensors, 4>>);
static_assert(is<decltype(lstm<deep, decltype(x)>::all),
                 floats<Batch, Pos, weft::nn::both_directions<Hidden>>>);
