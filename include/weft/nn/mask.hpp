// Masks: which keys a query attends to.
//
// A mask is one of these, over any of the axes that the scores have:
//   boolean   true where a query attends to a key
//   int32     valid lengths, without the keys' axis: a query attends to the first `length` keys.
//             [Batch] has one for each sequence, [Batch, Pos] one for each query; a length may be
//             0, and is checked as nn::valid checks it
//   float32   is added to the scores, and -infinity hides a key. It has the keys' axis, since
//             what is the same for all keys of a query changes no weight
// or nn::masks(...) of several: a query attends to the keys that all of them admit. No mask is {}.
//
// A query without visible keys has weights of 0, and so an output of 0 (ONNX's rule; PyTorch gives
// NaN).
//
// Hidden keys and their values may be NaN or infinite where attention is fused into one operation,
// that is if its weights have no other use and are no result (weft::explain shows it). Otherwise a
// weight of 0 is multiplied by a hidden value, and 0 * NaN is NaN:
//   stored weights   a boolean mask or a length hides keys that are NaN; values have to be finite,
//                    and so have scores that a float mask is added to
//   training         gradients may be NaN unless hidden keys and values are finite
#pragma once
#include "weft/header_begin.hpp"

#include <boost/hana/tuple.hpp>
#include <boost/hana/unpack.hpp>
#include <concepts>
#include <cstdint>

#include "weft/graph/reject.hpp"
#include "weft/nn/detail.hpp"
#include "weft/nn/layer_rules.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/compare.hpp"
#include "weft/ops/mask.hpp"
#include "weft/ops/normalize.hpp"
#include "weft/ops/sources.hpp"
#include "weft/ops/view.hpp"

namespace weft {

namespace nn {

// The mask X, whose keys are those along KeyPos, as nn::causal makes it and && keeps it: given to
// an attention over another axis, it has queries and keys exchanged, which does not compile.
template <expression X, class KeyPos>
struct mask_of_keys : X {};

}  // namespace nn

template <class X, class KeyPos>
struct expression_traits<nn::mask_of_keys<X, KeyPos>> : expression_traits<X> {};

}  // namespace weft

namespace weft::nn {

namespace detail {

// Two different axes: over one axis alone a mask would relate each position to itself only.
template <class Pos, class KeyPos>
inline constexpr bool queries_and_keys =
    axis_like<Pos>&& axis_like<KeyPos> && !std::same_as<Pos, KeyPos>;

template <class Pos, class KeyPos, expression O>
constexpr rule rule_of_causal() {
  if (!queries_and_keys<Pos, KeyPos>) return rule::not_an_axis;
  if (!std::same_as<element_t<O>, std::int32_t>) return rule::elements;
  return rule::none;
}

template <class KeyPos, expression X>
constexpr mask_of_keys<X, KeyPos> over_keys(const X& mask) {
  return {mask};
}
template <class X, class KeyPos>
constexpr const X& plain(const mask_of_keys<X, KeyPos>& mask) {
  return mask;
}

}  // namespace detail

// Both masks: elementwise, as the && of others.
template <class X, class KeyPos, expression R>
constexpr auto operator&&(const mask_of_keys<X, KeyPos>& l, const R& r) {
  return detail::over_keys<KeyPos>(detail::plain(l) && r);
}
// The same where the right one is such a mask.
template <expression L, class X, class KeyPos>
constexpr auto operator&&(const L& l, const mask_of_keys<X, KeyPos>& r) {
  return detail::over_keys<KeyPos>(l && detail::plain(r));
}
// The same of two such masks.
template <class X, class KeyPos, class Y, class Keys>
constexpr auto operator&&(const mask_of_keys<X, KeyPos>& l, const mask_of_keys<Y, Keys>& r) {
  const auto both = detail::plain(l) && detail::plain(r);
  if constexpr (std::same_as<KeyPos, Keys>)
    return detail::over_keys<KeyPos>(both);
  else
    return both;
}

// The causal mask: each position attends to itself and those before. bool [KeyPos, Pos].
template <class Pos, class KeyPos>
constexpr auto causal() {
  return detail::over_keys<KeyPos>(positions<KeyPos>() <= positions<Pos>());
}
template <class Pos, class KeyPos>
requires(!detail::queries_and_keys<Pos, KeyPos>)
    WEFT_REJECT((rule::not_an_axis), causal(),
                (not_an_axis,
                 "nn::causal: name the axis of the queries and another for the keys, as in "
                 "causal<Pos, KeyPos>()"))
// The same if the first query has the position `offset` among the keys, as after a cache of
// `offset` keys: int32 [...] to bool [KeyPos, Pos, ...]. An offset that is an input is not negative
// and at most the length of KeyPos, or weft::error says so before a run; where another one is meant
// to hide all keys or none, write the comparison that stands here.
template <class Pos, class KeyPos, expression O>
constexpr auto causal(const O& offset) {
  // A sum might not be an int32.
  return detail::over_keys<KeyPos>(positions<KeyPos>() - positions<Pos>() <=
                                   weft::detail::within<KeyPos, true>(offset));
}
WEFT_REJECT_IF((class Pos, class KeyPos, expression O), (detail::rule_of_causal<Pos, KeyPos, O>()),
               causal(const O&),
               (not_an_axis,
                "nn::causal: name the axis of the queries and another for the keys, as in "
                "causal<Pos, KeyPos>(offset)"),
               (elements, "nn::causal: the offset is not int32"))

// Options of nn::sliding_window: how many positions are seen beside a position itself.
struct sliding_window_options {
  int left = 0;   // before it
  int right = 0;  // after it
};

// The sliding window: each position attends to itself, window.left positions before it and
// window.right after it (Beltagy et al. 2020, section 3.1). bool [KeyPos, Pos]. Fused attention
// skips the keys outside of it.
template <class Pos, class KeyPos>
constexpr auto sliding_window(sliding_window_options window) {
  return detail::over_keys<KeyPos>(positions<KeyPos>() - positions<Pos>() <= window.right &&
                                   positions<Pos>() - positions<KeyPos>() <= window.left);
}
template <class Pos, class KeyPos>
requires(!detail::queries_and_keys<Pos, KeyPos>)
    WEFT_REJECT((rule::not_an_axis), sliding_window(sliding_window_options),
                (not_an_axis,
                 "nn::sliding_window: name the axis of the queries and another for the keys, as in "
                 "sliding_window<Pos, KeyPos>({.left = 8})"))

// True for the first `lengths` keys: int32 [...] to bool [KeyPos, ...]. Lengths that are an input
// are not negative and at most that of KeyPos, or weft::error says so before a run; where a greater
// one is to mean all keys and a negative one none, write positions<KeyPos>() < lengths.
template <class KeyPos, expression L>
constexpr auto valid(const L& lengths) {
  return positions<KeyPos>() < weft::detail::within<KeyPos, true>(lengths);
}
template <class KeyPos, expression L>
requires(!std::same_as<element_t<L>, std::int32_t>)
    WEFT_REJECT((rule::elements), valid(const L&),
                (elements, "nn::valid: the lengths are not int32"))

// Several masks, combined: booleans and lengths by &&, floats by their sum.
template <class... M>
struct mask_list {
  hana::tuple<M...> items;  // the masks
};
// masks(a, b, ...) of any of the kinds above.
template <expression... M>
constexpr mask_list<M...> masks(const M&... m) {
  return {hana::make_tuple(m...)};
}

namespace detail {

template <class M>
inline constexpr bool is_mask_list = false;
template <class... M>
inline constexpr bool is_mask_list<mask_list<M...>> = true;

template <class M>
concept mask_like = expression<M> || is_mask_list<M>;

// The axes of a mask, or of several, that the scores S do not have; the compiler prints the name.
// What is no mask has none.
template <class... Axes>
struct only_the_mask_has {};
template <class M>
struct axes_of_mask : weft::detail::operand_axes<M> {};
template <class... M>
struct axes_of_mask<mask_list<M...>> {
  using type = decltype((shape<>{} + ... + shape_t<M>{}));
};
template <class M, class S>
using surplus = axes_in<only_the_mask_has, without<typename axes_of_mask<M>::type, S>>;

// Whether an int32 mask is without KeyPos, as lengths of the keys are, and a float mask has it.
template <class M, class KeyPos>
inline constexpr bool is_along_keys = false;
template <expression M, class KeyPos>
inline constexpr bool is_along_keys<M, KeyPos> =
    std::same_as<element_t<M>, bool> ||
    has_axis<KeyPos, shape_t<M>> == std::same_as<element_t<M>, float>;
template <class... M, class KeyPos>
inline constexpr bool is_along_keys<mask_list<M...>, KeyPos> = (is_along_keys<M, KeyPos> && ...);

// Whether a mask that tells its keys from its queries tells other ones.
template <class M, class KeyPos>
inline constexpr bool has_other_keys = false;
template <class X, class Keys, class KeyPos>
inline constexpr bool has_other_keys<mask_of_keys<X, Keys>, KeyPos> = !std::same_as<Keys, KeyPos>;
template <class... M, class KeyPos>
inline constexpr bool has_other_keys<mask_list<M...>, KeyPos> = (has_other_keys<M, KeyPos> || ...);

template <class M, class S, class KeyPos>
constexpr rule rule_of_mask() {
  if (!std::same_as<surplus<M, S>, only_the_mask_has<>>) return rule::surplus;
  if (has_other_keys<M, KeyPos>) return rule::mask_order;
  return is_along_keys<M, KeyPos> ? rule::none : rule::mask_keys;
}

template <class KeyPos, expression M>
constexpr auto as_visible(const M& m) {
  if constexpr (std::same_as<element_t<M>, bool>)
    return m;
  else if constexpr (std::same_as<element_t<M>, std::int32_t>)
    return valid<KeyPos>(m);
  else
    return no_term{};
}
template <expression M>
constexpr auto as_bias(const M& m) {
  if constexpr (std::same_as<element_t<M>, float>)
    return m;
  else
    return no_term{};
}

template <expression S>
constexpr S mask_out(no_term, const S& scores) {
  return scores;
}
template <expression M, expression S>
constexpr auto mask_out(const M& visible, const S& scores) {
  return where(visible, scores, -infinity);
}

// The masked scores: one sum and one selection for any number of masks, which is the pattern that
// is fused with the softmax and the values.
template <class KeyPos, expression S, class... M>
constexpr auto masked(const S& scores, const mask_list<M...>& all) {
  return hana::unpack(all.items, [&](const auto&... m) {
    const auto bias = (no_term{} + ... + as_bias(m));
    return mask_out((no_term{} && ... && as_visible<KeyPos>(m)), scores + bias);
  });
}
template <class KeyPos, expression S, expression M>
constexpr auto masked(const S& scores, const M& mask) {
  return masked<KeyPos>(scores, masks(mask));
}

template <expression S, class M, class KeyPos>
constexpr rule rule_of_masked_softmax() {
  if (!has_axis<KeyPos, shape_t<S>>) return rule::missing;
  if (!weft::detail::floating<S>) return rule::elements;
  return rule_of_mask<M, shape_t<S>, KeyPos>();
}

}  // namespace detail

// The softmax over the visible keys: scores float [..., KeyPos] to weights of the same axes, 0 for
// hidden keys. The mask has axes of the scores only. Misuse does not compile: see the WEFT_REJECT
// overloads.
template <class KeyPos, expression S, detail::mask_like M = mask_list<>>
requires(detail::rule_of_masked_softmax<S, M, KeyPos>() ==
         rule::none) constexpr auto masked_softmax(const S& scores, const M& mask = {}) {
  return softmax<KeyPos>(detail::masked<KeyPos>(scores, mask));
}
WEFT_REJECT_IF((class KeyPos, expression S, detail::mask_like M = mask_list<>,
                class Surplus = detail::surplus<M, shape_t<S>>),
               (detail::rule_of_masked_softmax<S, M, KeyPos>()),
               masked_softmax(const S&, const M& = {}),
               (missing, "nn::masked_softmax: the scores have no such axis of keys"),
               (elements,
                "nn::masked_softmax: the scores are not float; convert with weft::cast<float>"),
               WEFT_MASK_RULES("nn::masked_softmax"))

}  // namespace weft::nn
#include "weft/header_end.hpp"
