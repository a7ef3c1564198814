// Models for weft_add_model: extents of one vector and of many, with and without a remainder, of
// fixed axes and of axes whose length a run determines.
#pragma once

#include "weft/model.hpp"

namespace weft::generating {

template <int Rows, int Depth, int Columns>
struct product {
  struct Row : axis<Rows> {};
  struct In : axis<Depth> {};
  struct Out : axis<Columns> {};

  // With weights in both axis orders, each with possible epilogues: `forward` [In, Out], `backward`
  // [Out, In], as in torch.nn.Linear.
  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Row, In>();
    const auto residual = s.input<"residual", float, Row, Out>();
    const auto forward = dot<In>(x, s.param<"forward", In, Out>());
    const auto backward = dot<In>(x, s.param<"backward", Out, In>());
    const auto row = s.param<"row", Row>();
    const auto bias = s.param<"bias", Out>();
    return results(as<"plain">(forward), as<"turned">(backward),
                   as<"both">(dot<In>(x * 0.5, s.param<"other", In, Out>()) + bias + residual),
                   as<"gelu">(gelu(dot<In>(x, s.param<"third", Out, In>()) + row)),
                   as<"tanh">(weft::tanh(dot<In>(x, s.param<"fourth", In, Out>()) + bias)),
                   as<"sigmoid">(sigmoid(dot<In>(x, s.param<"fifth", In, Out>()) * 0.25)),
                   as<"gelu_tanh">(gelu_tanh(dot<In>(x, s.param<"sixth", In, Out>()))),
                   as<"relu">(relu(dot<In>(x, s.param<"seventh", In, Out>()))));
  }
};
using one = product<1, 1, 1>;
using narrow = product<3, 5, 3>;
using vectors = product<8, 16, 16>;
using odd = product<20, 3, 5>;
using wide = product<5, 20, 100>;
using deep = product<3, 100, 20>;
using tall = product<100, 5, 33>;

// A step of decoding: its state is written by kernels of the kernel table, its contractions are
// generated.
struct decoding_step {
  struct Batch : axis<2> {};
  struct Pos : axis<1> {};
  struct Cache : axis<9> {};
  struct Embed : axis<16> {};
  struct Heads : axis<2> {};
  struct HeadDim : axis<8> {};

  constexpr auto operator()(scope s) const {
    using Inner = shape<Heads, HeadDim>;
    const auto x = s.input<"x", float, Batch, Pos, Embed>();
    const auto at = nn::decode_state<Pos, Batch>(s);
    const auto key = nn::linear<Embed, Inner>(s / "key", x);
    const auto value = nn::linear<Embed, Inner>(s / "value", x);
    const auto past = nn::kv_cache<Cache>(s, at, key, value);
    const auto query = nn::linear<Embed, Inner>(s / "query", x);
    const auto weights =
        nn::attention_weights<HeadDim, Cache>(query, past.keys, nn::causal_cache_mask<Cache>(at));
    return dot<Cache>(weights, past.values);
  }
};

template <int Batch_, int Length>
struct rows {
  struct Batch : axis<Batch_> {};
  struct Pos : axis<Length> {};

  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Batch, Pos>();
    const auto hidden = positions<Pos>() >= positions<Batch>();  // a full row if Batch > Length
    return results(
        as<"softmax">(softmax<Pos>(x)), as<"normal">(normalize<Pos>(x, {.epsilon = 1e-5})),
        as<"rms">(weft::rms_norm<Pos>(x)), as<"across">(softmax<Batch>(x)),
        as<"masked">(softmax<Pos>(where(hidden, x, -std::numeric_limits<float>::infinity()))));
  }
};
using short_rows = rows<7, 3>;
using vector_rows = rows<2, 16>;
using awkward_rows = rows<3, 20>;
using long_rows = rows<3, 100>;

// Elementwise operations alone and in fusion groups, of operands with and without each axis.
template <int Rows, int Columns>
struct elements {
  struct Row : axis<Rows> {};
  struct Col : axis<Columns> {};

  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Row, Col>();
    const auto y = s.input<"y", float, Row, Col>();
    const auto row = s.param<"row", Row>();
    const auto column = s.param<"column", Col>();
    const auto positive = x * x + 0.25;
    return results(as<"sum">(x + column), as<"less">(x - row),
                   as<"exp">(exp(x * 0.5 + column) * row - y), as<"log">(log(positive) / positive),
                   as<"sqrt">(sqrt(positive) * row), as<"waves">(sin(x * 3.0) + cos(y) * column),
                   as<"gated">(x * sigmoid(y) * weft::tanh(row)), as<"erf">(-weft::erf(x) * y),
                   as<"bounds">(maximum(minimum(x, y), column)),
                   as<"activations">(relu(x) + gelu(y) * gelu_tanh(x)));
  }
};
using single_element = elements<1, 1>;
using few_elements = elements<7, 3>;
using vectors_of_elements = elements<2, 16>;
using awkward_elements = elements<3, 20>;
using many_elements = elements<5, 100>;

// Comparisons and selections of NaN, within and between generated instructions.
struct special_elements {
  struct Row : axis<5> {};
  struct Col : axis<20> {};

  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Row, Col>();
    const auto y = s.input<"y", float, Row, Col>();
    const auto w = s.input<"w", float, Col>();
    return results(as<"missing">(x != x), as<"ordered">(!(x < y) && cast<bool>(y)),
                   as<"filled">(relu(where(x == x, x, y)) * w), as<"bounds">(maximum(x, y) * w),
                   as<"clamped">(minimum(maximum(x, y), w) + x), as<"relu">(relu(x) * 2 + y),
                   as<"row">(relu(dot<Col>(x, w))));
  }
};

// Rows of a table at computed indices.
struct computed_rows {
  struct Row : axis<3> {};
  struct Col : axis<20> {};
  struct Vocab : axis<5> {};

  constexpr auto operator()(scope s) const {
    const auto i = s.input<"i", std::int32_t, Row>();
    return gather<Vocab>(s.param<"table", Vocab, Col>(), i * 2);
  }
};

// Attention that is fused into one operation; `causal` hides keys after the query.
template <int Queries, int Keys, int Depth, int Width, bool causal = false>
struct attending {
  struct Heads : axis<2> {};
  struct Query : axis<Queries> {};
  struct Key : axis<Keys> {};
  struct Dim : axis<Depth> {};
  struct Value : axis<Width> {};

  constexpr auto operator()(scope s) const {
    const auto query = s.input<"query", float, Query, Heads, Dim>();
    const auto key = s.input<"key", float, Key, Heads, Dim>();
    const auto value = s.input<"value", float, Key, Heads, Value>();
    if constexpr (causal)
      return dot<Key>(
          nn::attention_weights<Dim, Key>(query, key, positions<Key>() <= positions<Query>()),
          value);
    else
      return dot<Key>(nn::attention_weights<Dim, Key>(query, key), value);
  }
};
using square_attention = attending<16, 16, 16, 16>;
using awkward_attention = attending<7, 5, 3, 20>;
using blocks_of_queries = attending<100, 9, 5, 3>;
using causal_attention = attending<20, 20, 8, 5, true>;
using single_attention = attending<1, 1, 1, 1>;

// Sequences of different lengths, with a bias for each query and key.
template <int Queries, int Keys>
struct padded_attending {
  struct Batch : axis<3> {};
  struct Heads : axis<2> {};
  struct Query : axis<Queries> {};
  struct Key : axis<Keys> {};
  struct Dim : axis<5> {};

  constexpr auto operator()(scope s) const {
    const auto query = s.input<"query", float, Batch, Query, Heads, Dim>();
    const auto key = s.input<"key", float, Batch, Key, Heads, Dim>();
    const auto value = s.input<"value", float, Batch, Key, Heads, Dim>();
    const auto lengths = s.input<"lengths", std::int32_t, Batch>();  // any int32
    const auto mask =
        nn::masks(positions<Key>() < lengths, s.input<"bias", float, Heads, Query, Key>());
    return dot<Key>(nn::attention_weights<Dim, Key>(query, key, mask), value);
  }
};
using padded_attention = padded_attending<16, 16>;
using padded_awkward_attention = padded_attending<35, 7>;
using padded_single_attention = padded_attending<1, 3>;

// A bias for each head and distance.
template <class Order>
struct placed_attending {
  struct Batch : axis<2> {};
  struct Pos : axis<11> {};
  struct KeyPos : alias<Pos> {};
  struct Embed : axis<10> {};
  struct Heads : axis<2> {};
  struct HeadDim : axis<5> {};
  struct axes {
    using positions = Pos;
    using keys = KeyPos;
    using embed = Embed;
    using heads = Heads;
    using head_dim = HeadDim;
  };

  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Batch, Pos, Embed>();
    const auto lengths = s.input<"lengths", std::int32_t, Batch>();
    return nn::self_attention<axes>(s, x, lengths, {}, Order()).output;
  }
};
using t5_attention = placed_attending<nn::position::t5<>>;
using alibi_attention = placed_attending<nn::position::alibi>;

// An embedding whose rows are rotated.
template <int Length, int Numbers>
struct turning {
  struct Batch : axis<2> {};
  struct Pos : axis<Length> {};
  struct Vocab : axis<12> {};
  struct Embed : axis<Numbers> {};

  constexpr auto operator()(scope s) const {
    const auto tokens = s.input<"tokens", std::int32_t, Batch, Pos>();
    const auto x = gather<Vocab>(s.param<"table", Vocab, Embed>(), tokens);
    const auto at = positions<Pos>();
    constexpr auto some = std::size_t{(Numbers + 2) / 4 * 2};
    return results(as<"embedded">(x),
                   as<"neighbours">(nn::rotary<Embed, rotary_pairs::interleaved>(x, at)),
                   as<"halves">(nn::rotary<Embed, rotary_pairs::half_split>(x, at)),
                   as<"part">(nn::rotary<Embed, rotary_pairs::half_split, some>(x, at)));
  }
};
using turning_vectors = turning<3, 32>;
using turning_few = turning<5, 2>;
using turning_awkward = turning<4, 22>;

// A loss and its gradients.
struct perceptron {
  struct Batch : axis<6> {};
  struct In : axis<20> {};
  struct Hidden : axis<5> {};
  struct Out : axis<3> {};

  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Batch, In>();
    const auto hidden = relu(nn::linear<In, Hidden>(s / "first", x));
    const auto y = nn::linear<Hidden, Out>(s / "second", hidden);
    return results(as<"loss">(sum<Batch, Out>(y * y)));
  }
};
// Of which a bias trains alone.
using held_perceptron = weft::train_only<perceptron, "first.bias">;

// Simplification removes every use of the input `flag`.
struct simplified_away {
  struct Rows : axis<up_to<5>> {};
  struct Columns : axis<3> {};

  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Rows, Columns>() * s.param<"p", Columns>();
    const auto flag = s.input<"flag", bool, Rows>();
    const auto factor = s.input<"factor", float, Columns>();
    return results(as<"loss">(sum<Rows, Columns>(where(flag, x, x) + factor * 0)));
  }
};

// A scan: its program has loops.
struct recurrent {
  struct Batch : axis<3> {};
  struct Pos : axis<up_to<4>> {};
  struct In : axis<2> {};
  struct Hidden : axis<5> {};

  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Batch, Pos, In>();
    const auto h = nn::rnn<Pos, In, Hidden>(s, x).last;
    return results(as<"loss">(sum<Batch, Hidden>(h * h)));
  }
};

// torch.nn.TransformerEncoderLayer.
template <class Length, int Embed_, int Heads_, int Hidden_>
struct encoder {
  struct Batch : axis<2> {};
  struct Pos : Length {};
  struct KeyPos : alias<Pos> {};
  struct Embed : axis<Embed_> {};
  struct Heads : axis<Heads_> {};
  struct HeadDim : axis<Embed_ / Heads_> {};
  struct Hidden : axis<Hidden_> {};
  struct axes {
    using positions = Pos;
    using keys = KeyPos;
    using embed = Embed;
    using heads = Heads;
    using head_dim = HeadDim;
  };

  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Batch, Pos, Embed>();
    const auto attended = nn::self_attention<axes>(s / "self_attn", x);
    const auto between = nn::layer_norm<Embed>(s / "norm1", x + attended.output);
    const auto fed = nn::feed_forward<Embed, Hidden>(s, between);
    const auto y = nn::layer_norm<Embed>(s / "norm2", between + fed);
    return results(as<"y">(y), as<"attended">(attended.output));
  }
};
// Invariant values: sines and cosines that are added, and those of a rotary encoding.
template <class Length>
struct waves {
  struct Batch : axis<2> {};
  struct Pos : Length {};
  struct Embed : axis<20> {};
  struct Out : axis<6> {};

  constexpr auto operator()(scope s) const {
    const auto x =
        s.input<"x", float, Batch, Pos, Embed>() + nn::sinusoidal<Embed>(positions<Pos>());
    const auto y = nn::linear<Embed, Out>(s, x);
    return results(as<"y">(nn::rotary<Out>(y, positions<Pos>())),
                   as<"table">(nn::sinusoidal<Embed>(positions<Pos>())));
  }
};
using fixed_waves = waves<axis<7>>;
using bounded_waves = waves<axis<up_to<9>>>;

using fixed_encoder = encoder<axis<7>, 20, 5, 33>;
using bounded_encoder = encoder<axis<up_to<9>>, 16, 2, 32>;

}  // namespace weft::generating
