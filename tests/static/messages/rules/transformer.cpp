// Each layer of a transformer checks what it is given itself: no error is within another layer.
#include "weft/nn/transformer.hpp"

#include "weft/nn/causal_block.hpp"

#include "../../words.hpp"

using namespace words;
using namespace weft::nn;

struct Hidden : weft::axis<16> {};
struct Odd : weft::axis<63> {};
struct OtherPos : weft::axis<weft::up_to<512>> {};
struct SourcePos : weft::axis<weft::up_to<512>> {};
struct SourceKeyPos : weft::alias<SourcePos> {};

constexpr floats<Batch, SourcePos, Embed> source{};
constexpr floats<Batch, KeyPos, Embed> keys{};
constexpr words::masks<OtherPos> foreign{};
constexpr words::masks<SourcePos, Pos> visible{};

void wrong(weft::scope s) {
  // errors: nn::multi_head_attention: after the value come the mask, options and
  // nn::for_queries<Pos>(encoding), in this order; write {} in the place of one that is not there
  multi_head_attention<KeyPos, Embed, Heads, HeadDim>(s, x, keys, keys, attention_options{});
  multi_head_attention<KeyPos, Embed, Heads, HeadDim>(s, x, keys, keys, {}, {}, position::rotary());
  // error: nn::multi_head_attention: the encoding turns pairs of a head's elements; give HeadDim an
  // even extent
  multi_head_attention<KeyPos, Embed, Heads, Odd>(s, x, keys, keys, {}, {},
                                                  for_queries<Pos>(position::rotary()));
  // errors: nn::self_attention: the encoding turns pairs of a head's elements; give HeadDim an even
  // extent
  self_attention<Pos, KeyPos, Embed, Heads, Odd>(s, x, {}, {}, position::xpos());
  self_attention<Pos, KeyPos, Embed, Heads, Odd>(s, x, {}, {}, shared(s, position::long_rotary()));
  self_attention<Pos, KeyPos, Embed, Heads, head_dims<Odd, HeadDim>>(s, x, {}, {},
                                                                     position::learned_rotary());
  // errors: nn::encoder_block: name axes that are not the same, as in encoder_block<Pos, KeyPos,
  // Embed, Heads, HeadDim, Hidden>(s, x)
  encoder_block<Pos, KeyPos, Embed, Heads, HeadDim, Embed>(s, x);
  encoder_block<Pos, Pos, Embed, Heads, HeadDim, Hidden>(s, x);
  // error: nn::encoder_block: the operand has not both Pos and Embed
  encoder_block<Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s, tokens);
  // error: nn::encoder_block: KeyPos is not an alias of Pos, or the operand has it already
  encoder_block<Pos, OtherPos, Embed, Heads, HeadDim, Hidden>(s, x);
  // error: nn::encoder_block: the elements are not float; convert with weft::cast<float>
  encoder_block<Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s, integers<Pos, Embed>{});
  // error: nn::encoder_block: the mask has an axis that the scores have not
  // note: only_the_mask_has<
  encoder_block<Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s, x, foreign);
  // error: nn::encoder_block: the mask has its keys along another axis; name that of the queries
  // first, as in causal<Pos, KeyPos>()
  encoder_block<Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s, x, weft::nn::causal<KeyPos, Pos>());
  // error: nn::encoder_block: a mask of floats is added and needs the keys' axis; valid lengths are
  // std::int32_t, without it
  encoder_block<Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s, x, floats<Batch>{});
  // error: nn::encoder_block: the encoding turns pairs of a head's elements; give HeadDim an even
  // extent
  encoder_block<Pos, KeyPos, Embed, Heads, Odd, Hidden>(s, x, {}, {}, position::rotary());
  // error: nn::encoder: name axes that are not the same, as in encoder<Pos, KeyPos, Embed, Heads,
  // HeadDim, Hidden>(s, x, layers)
  encoder<Pos, KeyPos, Embed, Heads, HeadDim, int>(s, x, 2);
  // errors: nn::encoder: the operand has not both Pos and Embed
  encoder<Pos, KeyPos, Vocab, Heads, HeadDim, Hidden>(s, x, 2);
  encoder<Pos, KeyPos, Vocab, Heads, HeadDim, Hidden>(s, x, 2, {}, {.norm_first = true});
  // error: nn::encoder: KeyPos is not an alias of Pos, or the operand has it already
  encoder<Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s, floats<Pos, KeyPos, Embed>{}, 2);
  // error: nn::encoder: the elements are not float; convert with weft::cast<float>
  encoder<Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s, integers<Pos, Embed>{}, 2);
  // error: nn::encoder: the mask has an axis that the scores have not
  // note: only_the_mask_has<
  encoder<Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s, x, 2,
                                                      weft::nn::masks(words::causal, foreign));
  // error: nn::encoder: the mask has its keys along another axis; name that of the queries
  // first, as in causal<Pos, KeyPos>()
  encoder<Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s, x, 2, weft::nn::causal<KeyPos, Pos>());
  // error: nn::encoder: a mask of floats is added and needs the keys' axis; valid lengths are
  // std::int32_t, without it
  encoder<Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s, x, 2, floats<Heads>{});
  // error: nn::encoder: the encoding turns pairs of a head's elements; give HeadDim an even extent
  encoder<Pos, KeyPos, Embed, Heads, Odd, Hidden>(s, x, 2, {}, {}, position::rotary());
  // error: nn::decoder_block: name axes that are not the same, as in decoder_block<Pos, KeyPos,
  // MemoryPos, Embed, Heads, HeadDim, Hidden>(s, x, memory)
  decoder_block<Pos, KeyPos, SourcePos, Embed, Heads, HeadDim, Embed>(s, x, source);
  // error: nn::decoder_block: the operand has not both Pos and Embed
  decoder_block<Pos, KeyPos, SourcePos, Vocab, Heads, HeadDim, Hidden>(s, x, source);
  // error: nn::decoder_block: KeyPos is not an alias of Pos, or the operand has it already
  decoder_block<Pos, OtherPos, SourcePos, Embed, Heads, HeadDim, Hidden>(s, x, source);
  // errors: nn::decoder_block: the memory has not both MemoryPos and Embed, or the operand has
  // MemoryPos
  decoder_block<Pos, KeyPos, SourcePos, Embed, Heads, HeadDim, Hidden>(s, x, x);
  decoder_block<Pos, KeyPos, SourcePos, Embed, Heads, HeadDim, Hidden>(s, x, floats<SourcePos>{});
  // error: nn::decoder_block: operand or memory is not float; convert with weft::cast<float>
  decoder_block<Pos, KeyPos, SourcePos, Embed, Heads, HeadDim, Hidden>(
      s, x, integers<SourcePos, Embed>{});
  // errors: nn::decoder_block: a mask has an axis that its scores have not
  // note: only_the_mask_has<
  decoder_block<Pos, KeyPos, SourcePos, Embed, Heads, HeadDim, Hidden>(s, x, source, foreign);
  decoder_block<Pos, KeyPos, SourcePos, Embed, Heads, HeadDim, Hidden>(s, x, source, {}, foreign);
  // error: nn::decoder_block: a mask has its keys along another axis; name that of the queries
  // first, as in causal<Pos, KeyPos>()
  decoder_block<Pos, KeyPos, SourcePos, Embed, Heads, HeadDim, Hidden>(
      s, x, source, weft::nn::causal<KeyPos, Pos>());
  // error: nn::decoder_block: a mask of floats is added and needs the keys' axis; valid lengths are
  // std::int32_t, without it
  decoder_block<Pos, KeyPos, SourcePos, Embed, Heads, HeadDim, Hidden>(s, x, source, {},
                                                                       floats<Batch>{});
  // error: nn::decoder_block: the encoding turns pairs of a head's elements; give HeadDim an even
  // extent
  decoder_block<Pos, KeyPos, SourcePos, Embed, Heads, Odd, Hidden>(s, x, source, {}, {}, {},
                                                                   position::rotary());
  // error: nn::decoder: name axes that are not the same, as in decoder<Pos, KeyPos, MemoryPos,
  // Embed, Heads, HeadDim, Hidden>(s, x, memory, layers)
  decoder<Pos, KeyPos, SourcePos, Embed, Heads, Heads, Hidden>(s, x, source, 2);
  // error: nn::decoder: the operand has not both Pos and Embed
  decoder<Pos, KeyPos, SourcePos, Vocab, Heads, HeadDim, Hidden>(s, x, source, 2);
  // error: nn::decoder: KeyPos is not an alias of Pos, or the operand has it already
  decoder<Pos, OtherPos, SourcePos, Embed, Heads, HeadDim, Hidden>(s, x, source, 2);
  // error: nn::decoder: the memory has not both MemoryPos and Embed, or the operand has MemoryPos
  decoder<Pos, KeyPos, SourcePos, Embed, Heads, HeadDim, Hidden>(s, x, x, 2);
  // error: nn::decoder: operand or memory is not float; convert with weft::cast<float>
  decoder<Pos, KeyPos, SourcePos, Embed, Heads, HeadDim, Hidden>(s, integers<Pos, Embed>{}, source,
                                                                 2);
  // errors: nn::decoder: a mask has an axis that its scores have not
  // note: only_the_mask_has<
  decoder<Pos, KeyPos, SourcePos, Embed, Heads, HeadDim, Hidden>(s, x, source, 2, visible);
  decoder<Pos, KeyPos, SourcePos, Embed, Heads, HeadDim, Hidden>(s, x, source, 2, {},
                                                                 words::causal);
  // error: nn::decoder: a mask has its keys along another axis; name that of the queries
  // first, as in causal<Pos, KeyPos>()
  decoder<Pos, KeyPos, SourcePos, Embed, Heads, HeadDim, Hidden>(s, x, source, 2,
                                                                 weft::nn::causal<KeyPos, Pos>());
  // error: nn::decoder: a mask of floats is added and needs the keys' axis; valid lengths are
  // std::int32_t, without it
  decoder<Pos, KeyPos, SourcePos, Embed, Heads, HeadDim, Hidden>(s, x, source, 2, floats<Batch>{});
  // error: nn::decoder: the encoding turns pairs of a head's elements; give HeadDim an even extent
  decoder<Pos, KeyPos, SourcePos, Embed, Heads, Odd, Hidden>(s, x, source, 2, {}, {}, {},
                                                             position::rotary());
  // error: nn::transformer: name axes that are not the same, as in transformer<SourcePos,
  // SourceKeyPos, Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s, source, target, 6, 6)
  transformer<SourcePos, SourcePos, Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s, source, x, 2, 2);
  // errors: nn::transformer: the source has not both SourcePos and Embed, or the target not both
  // Pos and Embed
  transformer<SourcePos, SourceKeyPos, Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(s, x, source, 2,
                                                                                   2);
  transformer<SourcePos, SourceKeyPos, Pos, KeyPos, Vocab, Heads, HeadDim, Hidden>(s, source, x, 2,
                                                                                   2);
  // error: nn::transformer: SourceKeyPos is not an alias of SourcePos, or KeyPos of Pos, or an
  // operand has it already
  transformer<SourcePos, SourceKeyPos, Pos, OtherPos, Embed, Heads, HeadDim, Hidden>(s, source, x,
                                                                                     2, 2);
  // error: nn::transformer: the target has the axis SourcePos
  transformer<SourcePos, SourceKeyPos, Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(
      s, source, floats<Pos, SourcePos, Embed>{}, 2, 2);
  // error: nn::transformer: source or target is not float; convert with weft::cast<float>
  transformer<SourcePos, SourceKeyPos, Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(
      s, integers<SourcePos, Embed>{}, x, 2, 2);
  // errors: nn::transformer: a mask has an axis that its scores have not
  // note: only_the_mask_has<
  transformer<SourcePos, SourceKeyPos, Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(
      s, source, x, 2, 2, words::causal);
  transformer<SourcePos, SourceKeyPos, Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(
      s, source, x, 2, 2, {}, {}, words::causal);
  // error: nn::transformer: a mask has its keys along another axis; name that of the queries
  // first, as in causal<Pos, KeyPos>()
  transformer<SourcePos, SourceKeyPos, Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(
      s, source, x, 1, 1, {}, weft::nn::causal<KeyPos, Pos>());
  // error: nn::transformer: a mask of floats is added and needs the keys' axis; valid lengths are
  // std::int32_t, without it
  transformer<SourcePos, SourceKeyPos, Pos, KeyPos, Embed, Heads, HeadDim, Hidden>(
      s, source, x, 2, 2, floats<Batch>{});
  // error: nn::transformer: the encoding turns pairs of a head's elements; give HeadDim an even
  // extent
  transformer<SourcePos, SourceKeyPos, Pos, KeyPos, Embed, Heads, Odd, Hidden>(
      s, source, x, 2, 2, {}, {}, {}, {}, position::rotary());
}

void wrong(weft::scope s, const cache_position<Pos, integers<Batch>, all_positions>& at) {
  // error: nn::causal_attention: the encoding turns pairs of a head's elements; give HeadDim an
  // even extent
  causal_attention<KeyPos, Embed, Heads, Odd>(s, x, at);
  // error: nn::causal_block: the encoding turns pairs of a head's elements; give HeadDim an even
  // extent
  causal_block<KeyPos, Embed, Heads, Odd, Hidden>(s, x, at);
  // error: nn::causal_layer: the encoding turns pairs of a head's elements; give HeadDim an even
  // extent
  causal_layer<KeyPos, Embed, Heads, Odd, Hidden>(s, x, at, causal_options{}, position::rotary());
}
