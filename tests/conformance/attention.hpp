// ONNX Attention (opsets 23 to 25).
#pragma once

#include "conformance/header.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/compare.hpp"
#include "weft/ops/concatenate.hpp"
#include "weft/ops/convert.hpp"
#include "weft/ops/dot.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/mask.hpp"
#include "weft/ops/normalize.hpp"
#include "weft/ops/sources.hpp"
#include "weft/ops/view.hpp"

namespace weft::conformance {

template <const header& H>
struct attention {
  static constexpr tensor_facts q = H.input("Q"), k = H.input("K"), v = H.input("V"),
                                mask = H.input("attn_mask");
  static constexpr bool flat = q.rank == 3;  // [batch, position, heads × size]
  static constexpr std::size_t query_heads = flat ? H.extent("q_num_heads") : q.shape[1];
  static constexpr std::size_t key_heads = flat ? H.extent("kv_num_heads") : k.shape[1];
  static constexpr std::size_t past = H.input("past_key").from_behind(1);
  static constexpr bool has_past = H.has_input("past_key"), is_causal = H.number("is_causal") != 0;

  struct Batch : axis<q.shape[0]> {};
  struct QueryHeads : axis<query_heads> {};
  struct KeyHeads : axis<key_heads> {};
  struct Group : axis<query_heads / key_heads> {};  // the query heads that share a key head
  struct Query : axis<q.from_behind(1)> {};
  struct New : axis<k.from_behind(1)> {};
  struct Past : axis<past> {};
  struct Key : axis<New::extent + (has_past ? past : 0)> {};
  struct HeadDim : axis<q.last() / (flat ? query_heads : 1)> {};
  struct ValueDim : axis<v.last() / (flat ? key_heads : 1)> {};
  struct Together : axis<query_heads * ValueDim::extent> {};  // all heads' values in one axis

  constexpr auto operator()(scope s) const {
    const auto query =
        split<QueryHeads, KeyHeads, Group>(input_in_heads<"Q", QueryHeads, Query, HeadDim>(s));
    const auto key =
        with_past<"past_key", HeadDim>(s, input_in_heads<"K", KeyHeads, New, HeadDim>(s));
    const auto value =
        with_past<"past_value", ValueDim>(s, input_in_heads<"V", KeyHeads, New, ValueDim>(s));

    const auto scores = dot<HeadDim>(query, key) * scale();
    const auto capped = cap(scores);
    const auto masked = hide(s, capped);
    const auto weights = softmax<Key>(masked);
    const auto y = dot<Key>(weights, value);

    const auto matrix = [&] {
      constexpr int mode = static_cast<int>(H.number("qk_matmul_output_mode"));
      if constexpr (mode == 0) return scores;
      if constexpr (mode == 1) return capped;
      if constexpr (mode == 2) return masked;
      if constexpr (mode == 3) return weights;
    }();
    return results_in_file<H>(as<"Y">(joined(y)), as<"present_key">(key),
                              as<"present_value">(value),
                              as<"qk_matmul_output">(merge<QueryHeads, KeyHeads, Group>(matrix)));
  }

  // The axes of an output in the file; the model's results may have them in another order.
  static constexpr axis_list axes_in_file(std::string_view output) {
    if (output == "present_key") return axes_of(shape<Batch, KeyHeads, Key, HeadDim>{});
    if (output == "present_value") return axes_of(shape<Batch, KeyHeads, Key, ValueDim>{});
    if (output == "qk_matmul_output") return axes_of(shape<Batch, QueryHeads, Query, Key>{});
    return flat ? axes_of(shape<Batch, Query, Together>{})
                : axes_of(shape<Batch, QueryHeads, Query, ValueDim>{});
  }

 private:
  // [Batch, Heads, Pos, Size], or [Batch, Pos, Heads, Size] if the file has all heads in one axis.
  template <fixed_string Name, class Heads, class Pos, class Size>
  static constexpr auto input_in_heads(scope s) {
    if constexpr (flat) {
      struct All : axis<Heads::extent * Size::extent> {};
      return split<All, Heads, Size>(input<H, Name>(s, shape<Batch, Pos, All>{}));
    } else {
      return input<H, Name>(s, shape<Batch, Heads, Pos, Size>{});
    }
  }
  template <fixed_string Name, class Size, expression X>
  static constexpr auto with_past(scope s, const X& x) {
    if constexpr (has_past)
      return concatenate<Key, shape<Past, New>>(
          input<H, Name>(s, shape<Batch, KeyHeads, Past, Size>{}), x);
    else
      return rename<New, Key>(x);
  }
  static constexpr auto scale() {
    if constexpr (H.has("scale"))
      return constant(static_cast<float>(H.number("scale")));
    else
      return 1 / sqrt(HeadDim{});
  }
  template <expression X>
  static constexpr auto cap(const X& scores) {
    constexpr auto most = static_cast<float>(H.number("softcap"));
    if constexpr (most > 0)
      return most * tanh(scores / most);
    else
      return scores;
  }
  template <expression Y>
  static constexpr auto joined(const Y& y) {
    if constexpr (flat)
      return merge<Together, KeyHeads, Group, ValueDim>(y);
    else
      return merge<QueryHeads, KeyHeads, Group>(y);
  }

  // A float mask is added; keys that a boolean mask, the causal order or the lengths hide have
  // weight 0.
  template <expression X>
  static constexpr auto hide(scope s, const X& scores) {
    if constexpr (!H.has_input("attn_mask"))
      return where(in_reach(s), scores, -infinity);
    else if constexpr (kind_of(mask.type) == kind::logical)
      return where(given_mask(s, false) && in_reach(s), scores, -infinity);
    else
      return where(in_reach(s), scores + given_mask(s, -infinity), -infinity);
  }

  // The mask, with those of the axes [Batch, KeyHeads, Group, Query, Key] that it has. Keys beyond
  // its end are hidden.
  template <class T>
  static constexpr auto given_mask(scope s, T hidden) {
    struct MaskKey : axis<mask.last()> {};
    const auto rows = broadcast_axes<H, "attn_mask", 1>(shape<Batch, QueryHeads, Query>{});
    const auto last = in_heads(input<H, "attn_mask">(s, rows + shape<MaskKey>{}));
    if constexpr (MaskKey::extent == Key::extent) {
      return rename<MaskKey, Key>(last);
    } else {
      struct Rest : axis<Key::extent - MaskKey::extent> {};
      using Mask = std::remove_const_t<decltype(last)>;
      const auto rest = beyond<Rest>(without<shape_t<Mask>, shape<MaskKey>>{}, hidden);
      return concatenate<Key, shape<MaskKey, Rest>>(last, rest);
    }
  }
  template <expression M>
  static constexpr auto in_heads(const M& m) {
    if constexpr (has_axis<QueryHeads, shape_t<M>>)
      return split<QueryHeads, KeyHeads, Group>(m);
    else
      return m;
  }
  template <class Rest, class T, class... Axes>
  static constexpr auto beyond(shape<Axes...>, T value) {
    return broadcast<Axes..., Rest>(constant(value));
  }

  // The keys that the lengths, the causal order and the window let a query see.
  static constexpr auto in_reach(scope s) {
    const auto own = positions<Query>() + (has_past ? past : 0);
    if constexpr (H.has_input("nonpad_kv_seqlen")) {
      const auto valid = input<H, "nonpad_kv_seqlen">(s, shape<Batch>{});
      const auto real = positions<Key>() < valid;
      if constexpr (has_past)
        return near(real, own);
      else  // the last query is at the last valid key
        return near(real, positions<Query>() + (valid - Query::extent));
    } else {
      return near(positions<Key>() >= 0, own);
    }
  }
  // Those of the visible keys that are near enough to the query's own position.
  template <expression M, expression P>
  static constexpr auto near(const M& visible, const P& own) {
    constexpr auto before = static_cast<int>(H.number("left_window_size", -1));
    constexpr auto after = is_causal ? 0 : static_cast<int>(H.number("right_window_size", -1));
    const auto not_after = [&] {
      if constexpr (after >= 0)
        return visible && positions<Key>() <= own + after;
      else
        return visible;
    }();
    if constexpr (before >= 0)
      return not_after && positions<Key>() >= own - before;
    else
      return not_after;
  }
};

// What the header asks for that the model above does not support; empty if it supports all of it.
constexpr std::string_view refusal_of_attention(const header& h) {
  const tensor_facts q = h.input("Q"), k = h.input("K"), v = h.input("V");
  if ((q.rank != 3 && q.rank != 4) || k.rank != q.rank || v.rank != q.rank)
    return "Q, K and V have 3 or 4 axes, all as many";
  const bool flat = q.rank == 3;
  const std::size_t query_heads = flat ? h.extent("q_num_heads") : q.shape[1];
  const std::size_t key_heads = flat ? h.extent("kv_num_heads") : k.shape[1];
  if (key_heads == 0 || query_heads == 0 || query_heads % key_heads != 0)
    return "the heads of Q are as many as those of K, or a multiple";
  if (flat &&
      (q.last() % query_heads != 0 || k.last() % key_heads != 0 || v.last() % key_heads != 0))
    return "the heads do not divide the width";
  const std::size_t depth = q.last() / (flat ? query_heads : 1);
  if (k.last() / (flat ? key_heads : 1) != depth || k.shape[0] != q.shape[0] ||
      v.shape[0] != q.shape[0] || v.from_behind(1) != k.from_behind(1) ||
      (!flat && v.shape[1] != key_heads))
    return "Q, K and V do not fit together";
  if (h.has_input("past_key") != h.has_input("past_value"))
    return "past_key and past_value come together";
  if (h.has_input("past_key") && (h.input("past_key").rank != 4 || h.input("past_value").rank != 4))
    return "past_key and past_value have 4 axes";
  const tensor_facts mask = h.input("attn_mask");
  const std::size_t keys =
      k.from_behind(1) + (h.has_input("past_key") ? h.input("past_key").from_behind(1) : 0);
  if (h.has_input("attn_mask") &&
      (mask.rank < 1 || mask.last() > keys ||
       !broadcasts(mask, q.shape[0], query_heads, q.from_behind(1), mask.last())))
    return "attn_mask does not broadcast to [batch, heads, queries, keys]";
  if (const double mode = h.number("qk_matmul_output_mode"); mode < 0 || mode > 3)
    return "qk_matmul_output_mode is 0, 1, 2 or 3";
  if (h.number("softmax_precision") == 11) return "softmax in double precision";
  return "";
}

}  // namespace weft::conformance
