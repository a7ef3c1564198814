#include "weft/ops/normalize.hpp"

#include "words.hpp"

using namespace words;

template <class... K>
constexpr auto takes_softmax = [](auto a) {
  return requires {
    weft::softmax<K...>(a);
  };
};
template <class... K>
constexpr auto takes_log_softmax = [](auto a) {
  return requires {
    weft::log_softmax<K...>(a);
  };
};
template <class... K>
constexpr auto normalizes = [](auto a) {
  return requires {
    weft::normalize<K...>(a);
  };
};
template <class... K>
constexpr auto takes_layer_norm = [](auto a, auto g, auto b) {
  return requires {
    weft::layer_norm<K...>(a, g, b);
  };
};

template <class... K>
constexpr auto takes_rms_norm = [](auto... a) {
  return requires {
    weft::rms_norm<K...>(a...);
  };
};

// The result has the shape of the operand.
static_assert(is<decltype(weft::softmax<Pos>(x)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(weft::softmax<Pos, Batch>(x)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(weft::log_softmax<Embed>(x)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(weft::normalize<Embed>(x, 1e-6)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(weft::layer_norm<Embed>(x, gain, gain)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(weft::rms_norm<Embed>(x)), floats<Batch, Pos, Embed>>);
static_assert(is<decltype(weft::rms_norm<Pos, Embed>(x, gain)), floats<Batch, Pos, Embed>>);

// The operand has no such axis, no axis is named, or the dtype is not float.
static_assert(takes_softmax<Pos>(x) && !takes_softmax<KeyPos>(x));
static_assert(!takes_softmax<>(x) && !takes_softmax<Pos>(tokens) && !takes_softmax<Pos>(causal));
static_assert(takes_log_softmax<Pos>(x) && !takes_log_softmax<KeyPos>(x));
static_assert(!takes_log_softmax<>(x) && !takes_log_softmax<Pos>(tokens));
static_assert(normalizes<Embed>(x) && !normalizes<Heads>(x));
static_assert(!normalizes<>(x) && !normalizes<Pos>(tokens));
static_assert(takes_layer_norm<Embed>(x, gain, gain) && !takes_layer_norm<Heads>(x, gain, gain));
static_assert(!takes_layer_norm<>(x, gain, gain));
static_assert(takes_rms_norm<Embed>(x) && !takes_rms_norm<Heads>(x) && !takes_rms_norm<>(x));
static_assert(takes_rms_norm<Embed>(x, gain) && !takes_rms_norm<Heads>(x, gain));
static_assert(!takes_rms_norm<>(x, gain));
// Gain and bias have only axes of the operand.
constexpr floats<Heads> per_head{};
static_assert(!takes_layer_norm<Embed>(x, per_head, gain));
static_assert(!takes_layer_norm<Embed>(x, gain, per_head));
static_assert(!takes_rms_norm<Embed>(x, per_head));
// An axis is named twice.
static_assert(!takes_softmax<Pos, Pos>(x) && !takes_log_softmax<Pos, Pos>(x) &&
              !normalizes<Pos, Pos>(x));
static_assert(!takes_layer_norm<Embed, Embed>(x, gain, gain));
static_assert(!takes_rms_norm<Embed, Embed>(x) && !takes_rms_norm<Embed, Embed>(x, gain));
// All operands are float.
constexpr integers<Embed> whole_gain{};
static_assert(!takes_layer_norm<Pos>(tokens, floats<Pos>{}, floats<Pos>{}));
static_assert(!takes_layer_norm<Embed>(x, whole_gain, gain));
static_assert(!takes_layer_norm<Embed>(x, gain, whole_gain));
static_assert(!takes_rms_norm<Pos>(tokens) && !takes_rms_norm<Pos>(tokens, floats<Pos>{}));
static_assert(!takes_rms_norm<Embed>(x, whole_gain));
