// Each layer of a transformer checks what it is given itself: no error is within another layer.
#include "weft/nn/transformer.hpp"

#include "weft/nn/causal_block.hpp"

#include "../../words.hpp"

using namespace words;
using namespace weft::nn;

struct Odd : weft::axis<63> {};
struct OtherPos : weft::axis<weft::up_to<512>> {};
struct SourcePos : weft::axis<weft::up_to<512>> {};
struct SourceKeyPos : weft::alias<SourcePos> {};
struct decoder_axes : axes {
  using memory = SourcePos;
  using cache = KeyPos;
};
struct odd : decoder_axes {
  using head_dim = Odd;
};
struct odd_keys : odd {
  using value_dim = HeadDim;
};
struct wide : decoder_axes {
  using embed = Vocab;
};
struct other_keys : decoder_axes {
  using keys = OtherPos;
};
struct source_axes : axes {
  using positions = SourcePos;
  using keys = SourceKeyPos;
};

constexpr floats<Batch, SourcePos, Embed> source{};
constexpr floats<Batch, KeyPos, Embed> keys{};
constexpr words::masks<OtherPos> foreign{};
constexpr words::masks<SourcePos, Pos> visible{};
constexpr floats<Level<0>, Level<1>, Level<2>, Level<3>, Level<4>, Pos, Embed> seven{};

void wrong(weft::scope s) {
  // errors: nn::multi_head_attention: one struct names the axes, and {} stands for what is not
  // there, as in multi_head_attention<axes>(s, query, key, value, mask, options,
  // nn::for_queries<Pos>(encoding))
  multi_head_attention<axes>(s, x, keys, keys, multi_head_options{});
  multi_head_attention<axes>(s, x, keys, keys, {}, {}, position::rotary());
  multi_head_attention<KeyPos, Embed, Heads, HeadDim>(s, x, keys, keys);
  // error: nn::multi_head_attention: the encoding turns pairs of a head's elements; give head_dim
  // an even extent
  multi_head_attention<odd>(s, x, keys, keys, {}, {}, for_queries<Pos>(position::rotary()));
  // errors: nn::self_attention: the encoding turns pairs of a head's elements; give head_dim an
  // even extent
  self_attention<odd>(s, x, {}, {}, position::xpos());
  self_attention<odd>(s, x, {}, {}, shared(s, position::long_rotary()));
  self_attention<odd_keys>(s, x, {}, {}, position::learned_rotary());
  // error: nn::encoder_block: an operand lacks the axis of its role; see fault<>
  // note: roles::embed
  encoder_block<axes>(s, tokens);
  // error: nn::encoder_block: keys is no alias of positions; see fault<>
  encoder_block<other_keys>(s, x);
  // error: nn::encoder_block: an operand has the axis of a role already; see fault<>
  // note: roles::hidden
  encoder_block<axes>(s, floats<Hidden, Pos, Embed>{});
  // error: nn::encoder_block: the operands have more than 8 axes between them
  encoder_block<axes>(s, seven);
  // error: nn::encoder_block: an operand is not float; convert with weft::cast<float>
  encoder_block<axes>(s, integers<Pos, Embed>{});
  // error: nn::encoder_block: a mask has an axis that its scores lack
  // note: only_the_mask_has<
  encoder_block<axes>(s, x, foreign);
  // error: nn::encoder_block: a mask has its keys along another axis; name that of the queries
  // first, as in causal<Pos, KeyPos>()
  encoder_block<axes>(s, x, weft::nn::causal<KeyPos, Pos>());
  // error: nn::encoder_block: a mask of floats is added and needs the keys' axis; valid lengths are
  // std::int32_t, without it
  encoder_block<axes>(s, x, floats<Batch>{});
  // error: nn::encoder_block: the encoding turns pairs of a head's elements; give head_dim an even
  // extent
  encoder_block<odd>(s, x, {}, {}, position::rotary());
  // errors: nn::encoder: an operand lacks the axis of its role; see fault<>
  // note: roles::embed
  encoder<wide>(s, x, 2);
  encoder<wide>(s, x, 2, {}, {.norm_first = true});
  // error: nn::encoder: an operand has the axis of a role already; see fault<>
  // note: roles::keys
  encoder<axes>(s, floats<Pos, KeyPos, Embed>{}, 2);
  // error: nn::encoder: an operand is not float; convert with weft::cast<float>
  encoder<axes>(s, integers<Pos, Embed>{}, 2);
  // error: nn::encoder: a mask has an axis that its scores lack
  // note: only_the_mask_has<
  encoder<axes>(s, x, 2, weft::nn::masks(words::causal, foreign));
  // error: nn::encoder: a mask has its keys along another axis; name that of the queries first, as
  // in causal<Pos, KeyPos>()
  encoder<axes>(s, x, 2, weft::nn::causal<KeyPos, Pos>());
  // error: nn::encoder: a mask of floats is added and needs the keys' axis; valid lengths are
  // std::int32_t, without it
  encoder<axes>(s, x, 2, floats<Heads>{});
  // error: nn::encoder: the encoding turns pairs of a head's elements; give head_dim an even extent
  encoder<odd>(s, x, 2, {}, {}, position::rotary());
  // error: nn::decoder_block: an operand lacks the axis of its role; see fault<>
  // note: roles::embed
  decoder_block<wide>(s, x, source);
  // error: nn::decoder_block: keys is no alias of positions; see fault<>
  decoder_block<other_keys>(s, x, source);
  // error: nn::decoder_block: an operand lacks the axis of its role; see fault<>
  // note: roles::memory
  decoder_block<decoder_axes>(s, x, x);
  // error: nn::decoder_block: an operand lacks the axis of its role; see fault<>
  // note: roles::embed
  decoder_block<decoder_axes>(s, x, floats<SourcePos>{});
  // error: nn::decoder_block: an operand has the axis of a role already; see fault<>
  // note: roles::memory
  decoder_block<decoder_axes>(s, floats<Pos, SourcePos, Embed>{}, source);
  // error: nn::decoder_block: an operand is not float; convert with weft::cast<float>
  decoder_block<decoder_axes>(s, x, integers<SourcePos, Embed>{});
  // errors: nn::decoder_block: a mask has an axis that its scores lack
  // note: only_the_mask_has<
  decoder_block<decoder_axes>(s, x, source, foreign);
  decoder_block<decoder_axes>(s, x, source, {}, foreign);
  // error: nn::decoder_block: a mask has its keys along another axis; name that of the queries
  // first, as in causal<Pos, KeyPos>()
  decoder_block<decoder_axes>(s, x, source, weft::nn::causal<KeyPos, Pos>());
  // error: nn::decoder_block: a mask of floats is added and needs the keys' axis; valid lengths are
  // std::int32_t, without it
  decoder_block<decoder_axes>(s, x, source, {}, floats<Batch>{});
  // error: nn::decoder_block: the encoding turns pairs of a head's elements; give head_dim an even
  // extent
  decoder_block<odd>(s, x, source, {}, {}, {}, position::rotary());
  // error: nn::decoder: an operand lacks the axis of its role; see fault<>
  // note: roles::embed
  decoder<wide>(s, x, source, 2);
  // error: nn::decoder: keys is no alias of positions; see fault<>
  decoder<other_keys>(s, x, source, 2);
  // error: nn::decoder: an operand lacks the axis of its role; see fault<>
  // note: roles::memory
  decoder<decoder_axes>(s, x, x, 2);
  // error: nn::decoder: an operand is not float; convert with weft::cast<float>
  decoder<decoder_axes>(s, integers<Pos, Embed>{}, source, 2);
  // errors: nn::decoder: a mask has an axis that its scores lack
  // note: only_the_mask_has<
  decoder<decoder_axes>(s, x, source, 2, visible);
  decoder<decoder_axes>(s, x, source, 2, {}, words::causal);
  // error: nn::decoder: a mask has its keys along another axis; name that of the queries first, as
  // in causal<Pos, KeyPos>()
  decoder<decoder_axes>(s, x, source, 2, weft::nn::causal<KeyPos, Pos>());
  // error: nn::decoder: a mask of floats is added and needs the keys' axis; valid lengths are
  // std::int32_t, without it
  decoder<decoder_axes>(s, x, source, 2, floats<Batch>{});
  // error: nn::decoder: the encoding turns pairs of a head's elements; give head_dim an even extent
  decoder<odd>(s, x, source, 2, {}, {}, {}, position::rotary());
  // error: nn::transformer: an operand lacks the axis of its role; see fault<>
  // note: roles::positions, SourcePos
  transformer<source_axes, axes>(s, x, source, 2, 2);
  // error: nn::transformer: an operand lacks the axis of its role; see fault<>
  // note: roles::embed, Vocab
  transformer<source_axes, wide>(s, source, x, 2, 2);
  // error: nn::transformer: keys is no alias of positions; see fault<>
  transformer<source_axes, other_keys>(s, source, x, 2, 2);
  // error: nn::transformer: an operand has the axis of a role already; see fault<>
  // note: roles::memory, SourcePos
  transformer<source_axes, axes>(s, source, floats<Pos, SourcePos, Embed>{}, 2, 2);
  // error: nn::transformer: an operand is not float; convert with weft::cast<float>
  transformer<source_axes, axes>(s, integers<SourcePos, Embed>{}, x, 2, 2);
  // errors: nn::transformer: a mask has an axis that its scores lack
  // note: only_the_mask_has<
  transformer<source_axes, axes>(s, source, x, 2, 2, words::causal);
  transformer<source_axes, axes>(s, source, x, 2, 2, {}, {}, words::causal);
  // error: nn::transformer: a mask has its keys along another axis; name that of the queries first,
  // as in causal<Pos, KeyPos>()
  transformer<source_axes, axes>(s, source, x, 1, 1, {}, weft::nn::causal<KeyPos, Pos>());
  // error: nn::transformer: a mask of floats is added and needs the keys' axis; valid lengths are
  // std::int32_t, without it
  transformer<source_axes, axes>(s, source, x, 2, 2, floats<Batch>{});
  // error: nn::transformer: the encoding turns pairs of a head's elements; give head_dim an even
  // extent
  transformer<source_axes, odd>(s, source, x, 2, 2, {}, {}, {}, {}, position::rotary());
}

void wrong(weft::scope s, const cache_position<Pos, integers<Batch>, all_positions>& at) {
  // error: nn::causal_attention: the encoding turns pairs of a head's elements; give head_dim an
  // even extent
  causal_attention<odd>(s, x, at);
  // error: nn::causal_block: the encoding turns pairs of a head's elements; give head_dim an even
  // extent
  causal_block<odd>(s, x, at);
  // error: nn::causal_layer: the encoding turns pairs of a head's elements; give head_dim an even
  // extent
  causal_layer<odd>(s, x, at, causal_options{}, position::rotary());
}
