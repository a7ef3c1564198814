// Models that between them have every operation.
#pragma once

#include "ops/samples.hpp"
#include "weft/weft.hpp"

namespace weft::testing::bits {

struct Two : axis<2> {};
struct Three : axis<3> {};
struct Twenty : axis<20> {};
struct Long : axis<9001> {};
template <int Length>
struct Row : axis<Length> {};

// Each elementwise operation whose operands are all of T.
template <class T>
struct elementwise {
  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", T, Long>(), y = s.input<"y", T, Long>(),
               z = s.input<"z", T, Long>();
    return operations_where<sample::is_elementwise_of<T>>::apply(
        [&](auto... k) { return results(as<named<k()>()>(sample::apply<k(), T>(x, y, z))...); });
  }
};

// Those of several types, and groups that are computed in one pass.
struct mixed {
  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Long>(), y = s.input<"y", float, Long>();
    const auto n = s.input<"n", std::int32_t, Long>();
    const auto c = s.input<"c", bool, Long>();
    const auto h = cast<bfloat16>(x);
    return results(as<"to int32">(cast<std::int32_t>(x)), as<"to bool">(cast<bool>(x)),
                   as<"to bfloat16">(h), as<"from bfloat16">(cast<float>(h)),
                   as<"from int32">(cast<float>(n)), as<"from bool">(cast<float>(c)),
                   as<"where">(where(c, x, y)), as<"positions">(n + positions<Long>()),
                   as<"dropout">(dropout(x, 0.3)), as<"group">(exp(x * 0.5 + y) * y - x),
                   as<"gated">(x * sigmoid(y) * weft::tanh(x + 1.0)),
                   as<"waves">(sin(x * 3.0) + cos(y) * x), as<"root">(sqrt(x * x + y * y) / y),
                   as<"activations">(relu(x) + gelu(y) * gelu_tanh(x) + weft::erf(x)));
  }
};

// Rowwise operations and reductions over rows that are contiguous and not, with what they can take.
template <int Length>
struct rows {
  using A = Row<Length>;
  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Three, A>(), y = s.input<"y", float, Three, A>();
    const auto across = s.input<"across", float, A, Three>();
    const auto mask = s.input<"mask", bool, Three, A>();
    const auto gain = s.input<"gain", float, A>(), bias = s.input<"bias", float, A>();
    return sample::rowwise::operations::apply([&](auto... k) {
      return results(
          as<named<k()>() + fixed_string(".inner")>(sample::rowwise::along<k(), A>(x))...,
          as<named<k()>() + fixed_string(".outer")>(sample::rowwise::along<k(), A>(across))...,
          as<"masked">(softmax<A>(where(mask, x, -infinity))),
          as<"layer_norm">(layer_norm<A>(x + y, gain, bias)),
          as<"rms_norm">(rms_norm<A>(x + y, gain)), as<"sum">(sum<A>(x)),
          as<"sum_outer">(sum<A>(across)), as<"sum_all">(sum<Three, A>(x)),
          as<"sum_product">(sum<A>(x * y)), as<"max">(max<A>(x)), as<"max_outer">(max<A>(across)),
          as<"mean">(mean<A>(x)), as<"squares">(sum<A>(x * x)));
    });
  }
};
// Their gradients.
template <int Length>
struct row_gradients {
  using A = Row<Length>;
  constexpr auto operator()(scope s) const {
    const auto x = s.param<"x", Three, A>(), y = s.param<"y", Three, A>();
    const auto g = s.input<"g", float, Three, A>();
    const auto of_all = sample::rowwise::operations::apply([&](auto... k) {
      return (sum<Three, A>(sample::rowwise::along<k(), A>(x * as_number<k()>) * g) + ...);
    });
    const auto with_gain = layer_norm<A>(x + y, s.param<"gain", A>(), s.param<"bias", A>());
    const auto rms = rms_norm<A>(x + y, s.param<"rms_gain", A>());
    const auto picked = cross_entropy<A>(y, s.input<"picked", std::int32_t, Three>());
    return as<"loss">(of_all + sum<Three, A>(with_gain * g + rms * g) + sum<Three>(picked) +
                      sum<Three>(max<A>(x)));
  }
  // So that no two rows are one expression.
  template <op K>
  static constexpr double as_number = 1 + static_cast<int>(K) / 64.0;
};

// x [M, K] times w in both orders, with what contractions apply to their results.
template <int M, int K, int N>
struct products {
  struct Rows : axis<M> {};
  struct In : axis<K> {};
  struct Out : axis<N> {};
  struct has_epilogue {
    template <op O>
    constexpr bool operator()() const {
      return (info(O).flags & op_flag::epilogue) != 0;
    }
  };
  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Rows, In>();
    const auto turned = s.input<"turned", float, In, Rows>();
    const auto residual = s.input<"residual", float, Rows, Out>();
    const auto w = s.param<"w", In, Out>();
    const auto v = s.param<"v", Out, In>();
    const auto bias = s.param<"bias", Out>();
    return operations_where<has_epilogue>::apply([&](auto... k) {
      return results(
          as<named<k()>()>(sample::apply<k(), float>(dot<In>(x, v) + bias, bias, bias))...,
          as<"plain">(dot<In>(x, w)), as<"transposed">(dot<In>(x, v)),
          as<"columns">(dot<In>(turned, w)), as<"both">(dot<In>(turned, v)),
          as<"of inputs">(dot<In>(x, turned * 0.5)),
          as<"residual">(dot<In>(x, w) * 0.5 + bias + residual),
          as<"loss">(sum<Rows, Out>(dot<In>(x, w) * residual) + sum<Rows, Out>(dot<In>(x, v))));
    });
  }
};

// Indices, writes, rotations, parts, windows and recurrence.
struct indexed {
  struct Pos : axis<up_to<33>> {};
  struct Vocab : axis<7> {};
  struct Embed : axis<20> {};
  struct Cache : axis<up_to<64>> {};
  struct Half : axis<10> {};
  struct Both : axis<40> {};
  struct First : alias<Embed> {};
  struct Part : axis<5> {};
  struct Most : axis<4> {};
  struct Hidden : alias<Embed> {};

  constexpr auto operator()(scope s) const {
    using namespace nn;
    const auto tokens = s.input<"tokens", std::int32_t, Pos>();
    const auto x = gather<Vocab>(s.param<"table", Vocab, Embed>(), tokens);
    const auto angle = s.param<"angle", Half>() * cast<float>(positions<Pos>());
    const auto turned = rotate<Embed, Half>(x, cos(angle), sin(angle)) +
                        rotate<Embed, Half, rotary_pairs::interleaved>(x, cos(angle), sin(angle));
    const auto both = concatenate<Both, shape<First, Embed>>(rename<Embed, First>(x), turned * x);
    const auto mixed =
        convolution<Embed, Embed, nn::along<Pos, 3, window{.left = 1, .right = 1}>>(s / "mixed", x);
    const auto part = slice<Embed, Part, 3>(turned);
    const auto seen = rename<Hidden, Embed>(gru<Pos, Embed, Hidden>(s / "recurrent", x).all);
    const auto greatest = top_k<Embed, Most>(x);
    return results(as<"x">(x), as<"turned">(turned), as<"both">(both), as<"mixed">(mixed),
                   as<"seen">(seen), as<"greatest">(greatest.values), as<"at">(greatest.indices),
                   as<"added">(segment_sum<Pos, Vocab>(x, tokens)),
                   as<"divided">(x / cast<float>(weft::length<Pos>())),
                   as<"loss">(sum<Pos, Both>(both * both) + sum<Pos, Embed>(mixed * seen) +
                              sum<Pos, Part>(part) + sum<Pos, Most>(greatest.values)));
  }
};

// Attention of positions among themselves, with all that it can take, and in a narrow band.
template <int Length>
struct attending {
  struct Batch : axis<2> {};
  struct Pos : axis<up_to<Length>> {};
  struct KeyPos : alias<Pos> {};
  struct Embed : axis<20> {};
  struct Heads : axis<2> {};
  struct Group : axis<2> {};
  struct HeadDim : axis<9> {};
  struct axes {
    using positions = Pos;
    using keys = KeyPos;
    using embed = Embed;
    using heads = Heads;
    using head_dim = HeadDim;
  };
  struct grouped : axes {
    using group = Group;
  };
  constexpr auto operator()(scope s) const {
    using namespace nn;
    const auto x = s.input<"x", float, Batch, Pos, Embed>() * s.param<"scale", Embed>();
    const auto valid = s.input<"valid", std::int32_t, Batch>();
    const auto bias = s.param<"bias", Pos, KeyPos>();
    const auto causal = self_attention<axes>(s / "causal", x, nn::causal<Pos, KeyPos>()).output;
    const auto capped =
        self_attention<grouped>(
            s / "capped", x,
            masks(sliding_window<Pos, KeyPos>({.left = 11, .right = 3}), valid, bias),
            {.scale = 0.3, .soft_cap = 5, .dropout = 0.1})
            .output;
    const auto placed = self_attention<axes>(s / "placed", x, nn::causal<Pos, KeyPos>(),
                                             {.dropout = 0.25}, position::t5<>())
                            .output;
    const auto weighed = masked_softmax<KeyPos>(dot<Embed>(x, rename<Pos, KeyPos>(x)), valid);
    return results(as<"causal">(causal), as<"capped">(capped), as<"placed">(placed),
                   as<"weights">(weighed),
                   as<"loss">(sum<Batch, Pos, Embed>((causal + capped + placed) * x)));
  }
};

// Positions of a sequence after those that are kept.
struct decoding {
  struct Pos : axis<up_to<8>> {};
  struct Cache : axis<up_to<300>> {};
  struct Embed : axis<20> {};
  struct Heads : axis<2> {};
  struct Group : axis<2> {};
  struct HeadDim : axis<10> {};
  struct axes {
    using cache = Cache;
    using embed = Embed;
    using heads = Heads;
    using group = Group;
    using head_dim = HeadDim;
  };
  constexpr auto operator()(scope s) const {
    const auto at = nn::decode_state<Pos>(s / "decoding");
    const nn::causal_options options{.qkv_bias = true, .sinks = true, .window = 40};
    return as<"y">(nn::causal_attention<axes>(s, s.input<"x", float, Pos, Embed>(), at, options,
                                              nn::position::rotary())
                       .output);
  }
};

}  // namespace weft::testing::bits
