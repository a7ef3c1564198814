// Sequences of unlike lengths without padding: one after another along one axis, so that a run
// takes as long as its tokens do.
//
//   auto sentences = nn::segments<Sentence, Pos, KeyPos>(begins, ends);
//   auto e = nn::embedding<Place, Embed>(s / "positions", sentences.positions);
//   auto y = nn::attention<KeyPos>(scores, v, sentences.visible).output;
//   auto mean = sentences.mean(y);
//
// A linear layer, a norm and an embedding work on the tokens as they are. Fused attention skips the
// keys of other sequences, as it skips those outside of a window.
#pragma once
#include "weft/header_begin.hpp"

#include <concepts>
#include <cstdint>

#include "weft/graph/reject.hpp"
#include "weft/nn/mask.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/compare.hpp"
#include "weft/ops/convert.hpp"
#include "weft/ops/gather.hpp"
#include "weft/ops/mask.hpp"
#include "weft/ops/reduce.hpp"
#include "weft/ops/sources.hpp"
#include "weft/ops/view.hpp"

namespace weft::nn {

// Segment s has the positions [begins[s], ends[s]): see nn::segments.
template <class Segment, class Pos, class Visible, class Positions, class Index, class Count>
struct segment_list {
  Visible visible;      // bool [KeyPos, Pos]: whether a key is in the segment of a position
  Positions positions;  // int32 [Pos]: the index of a position in its segment; 0 in none
  Index index;          // int32 [Pos]: the segment of a position; -1 in none
  Count count;          // int32 [Segment]: the positions of each segment

  // The mean over the positions of each segment: float [..., Pos, ...] to [..., Segment, ...]; NaN
  // for a segment without positions. The positions of a segment are added one after another, so
  // that its mean has the same bits whatever other segments there are.
  template <expression X>
  constexpr auto mean(const X& x) const {
    const auto sums = [&](const auto& all) {
      return weft::detail::segment_sum_with<false, Pos, Segment>(all, index);
    };
    if constexpr (subset<shape_t<Index>, shape_t<X>>)
      return sums(x) / cast<float>(count);
    else
      return sums(append<float, united<shape_t<X>, shape_t<Index>>>(make_node(op::copy), x)) /
             cast<float>(count);
  }
};

namespace detail {

template <class Segment, class Pos, class KeyPos, expression B, expression E>
constexpr rule rule_of_segments() {
  if (!queries_and_keys<Pos, KeyPos>) return rule::not_an_axis;
  if (!std::same_as<element_t<B>, std::int32_t> || !std::same_as<element_t<E>, std::int32_t>)
    return rule::elements;
  if (!has_axis<Segment, shape_t<B>> || !has_axis<Segment, shape_t<E>>) return rule::missing;
  return rule::none;
}

}  // namespace detail

// Segments, int32 [Segment, ...] each: the first position of each, and the one after its last. They
// are in any order and do not overlap; positions may be in none of them, and then see no key. There
// are at most 2^24 segments. Begins and ends that are inputs are not negative and at most the
// length of Pos, or weft::error says so before a run. Misuse does not compile: see the WEFT_REJECT
// overload.
template <class Segment, class Pos, class KeyPos, expression B, expression E>
requires(detail::rule_of_segments<Segment, Pos, KeyPos, B, E>() ==
         rule::none) constexpr auto segments(const B& first, const E& last) {
  const auto begins = weft::detail::within<Pos, true>(first);
  const auto ends = weft::detail::within<Pos, true>(last);
  auto inside = begins <= positions<Pos>() && positions<Pos>() < ends;
  // The greatest of the one segment that has a position and of -1, which float32 has exactly.
  auto index = cast<std::int32_t>(
      max<Segment>(where(inside, cast<float>(positions<Segment>()), constant(-1.0f))));
  // What a position's segment has; 0 in none.
  auto begin = weft::detail::gather_with<false, Segment>(begins, index);
  auto end = weft::detail::gather_with<false, Segment>(ends, index);
  auto visible = begin <= positions<KeyPos>() && positions<KeyPos>() < end;
  auto place = where(positions<Pos>() < end, positions<Pos>() - begin, 0);
  auto count = ends - begins;
  return segment_list<Segment, Pos, decltype(visible), decltype(place), decltype(index),
                      decltype(count)>{visible, place, index, count};
}
WEFT_REJECT_IF(
    (class Segment, class Pos, class KeyPos, expression B, expression E),
    (detail::rule_of_segments<Segment, Pos, KeyPos, B, E>()), segments(const B&, const E&),
    (not_an_axis,
     "nn::segments: name the segments' axis, that of the positions and another for the keys, as in "
     "segments<Segment, Pos, KeyPos>(begins, ends)"),
    (elements, "nn::segments: begins and ends are not int32"),
    (missing, "nn::segments: begins and ends do not both have the segments' axis"))

}  // namespace weft::nn
#include "weft/header_end.hpp"
