#include "weft/nn/position.hpp"

#include "weft/nn/causal_block.hpp"
#include "weft/nn/transformer.hpp"

#include "../../words.hpp"

using namespace words;
using namespace weft::nn;

struct MemoryPos : weft::axis<weft::up_to<512>> {};
struct SourcePos : weft::axis<weft::up_to<512>> {};
struct SourceKeyPos : weft::alias<SourcePos> {};
struct decoder_axes : axes {
  using memory = MemoryPos;
};
struct source_axes : axes {
  using positions = SourcePos;
  using keys = SourceKeyPos;
};

constexpr integers<Batch> lengths{};
constexpr cache_position<Pos, integers<Batch>, all_positions> at{};
constexpr floats<Batch, Level<0>, MemoryPos, Embed> wide_memory{};
constexpr floats<Level<0>, SourcePos, Embed> wide_source{};

void wrong(weft::scope s) {
  // errors: nn::add_positions: the operand lacks Pos or Embed
  add_positions<KeyPos, Embed>(s, x, position::sinusoidal());
  add_positions<Pos, HeadDim>(s, x, position::sinusoidal(), tokens);
  // errors: nn::add_positions: the elements are not float; convert with weft::cast<float>
  add_positions<Batch, Pos>(s, tokens, position::sinusoidal());
  add_positions<Batch, Pos>(s, tokens, position::sinusoidal(), lengths);
  // errors: nn::add_positions: the positions are not int32 over Pos and other axes of the operand
  add_positions<Pos, Embed>(s, x, position::sinusoidal(), lengths);
  add_positions<Pos, Embed>(s, x, position::sinusoidal(), x);
  add_positions<Pos, Embed>(s, x, position::sinusoidal(), integers<Pos, KeyPos>{});
  // errors: nn::add_positions: the encoding is none; derive from weft::nn::encoding
  add_positions<Pos, Embed>(s, x, 3, 0.1);
  add_positions<Pos, Embed>(s, x, 3);
  add_positions<Pos, Embed>(s, x, 3, tokens);
  // error: nn::self_attention: one struct names the axes, and {} stands for what is not there, as
  // in self_attention<axes>(s, x, mask, options, encoding)
  self_attention<axes>(s, x, {}, {}, 3);
  // error: nn::encoder_block: one struct names the axes, and {} stands for what is not there, as
  // in encoder_block<axes>(s, x, mask, options, encoding)
  encoder_block<axes>(s, x, transformer_options{});
  // error: nn::encoder: one struct names the axes, and {} stands for what is not there, as in
  // encoder<axes>(s, x, layers, mask, options, encoding)
  encoder<axes>(s, x, 2, position::rotary());
  // error: nn::decoder_block: one struct names the axes, and {} stands for what is not there, as
  // in decoder_block<axes>(s, x, memory, mask, memory_mask, options, encoding)
  decoder_block<decoder_axes>(s, x, x, {}, {}, position::rotary());
  // error: nn::decoder: one struct names the axes, and {} stands for what is not there, as in
  // decoder<axes>(s, x, memory, layers, mask, memory_mask, options, encoding)
  decoder<decoder_axes>(s, x, x, 2, {}, transformer_options{});
  // error: nn::transformer: one struct names the axes, and {} stands for what is not there, as in
  // transformer<source, target>(s, x, y, encoder_layers, decoder_layers, source_mask, mask,
  // memory_mask, options, encoding)
  transformer<source_axes, axes>(s, x, x, 2, 2, {}, {}, {}, position::rotary());
  // errors: nn::causal_block: one struct names the axes, and {} stands for what is not there, as in
  // causal_block<axes>(s, x, at, options, encoding)
  causal_block<axes>(s, x, at, position::rotary());
  causal_block<axes>(s, x, at, {}, 3);
  // error: nn::decoder_block: the memory has an axis that the operand lacks; see surplus<>
  // note: surplus<Level
  decoder_block<decoder_axes>(s, x, wide_memory);
  // error: nn::decoder: the memory has an axis that the operand lacks; see surplus<>
  // note: surplus<Level
  decoder<decoder_axes>(s, x, wide_memory, 2);
  // error: nn::transformer: the memory has an axis that the operand lacks; see surplus<>
  // note: surplus<Level
  transformer<source_axes, axes>(s, wide_source, x, 2, 2);
  // error: nn::position::learned: where positions are not 0, 1, 2 and so on, name an axis of all
  // that there may be, as in learned<Longest>
  position::learned<>().embedding<Pos, Embed>(s, tokens);
  // error: nn::position::relative_index: where positions are not 0, 1, 2 and so on, name the axis
  // that has the sequence's length, as in relative_index<Cache>
  position::relative_index<>().embedding<Pos, Embed>(s, tokens);
  // errors: nn::rotary: elements are rotated in pairs; name an even number of them, as in
  // rotary<HeadDim, rotary_pairs::half_split, 4>(x, at)
  rotary<HeadDim, rotary_pairs::half_split, 3>(query, tokens);
  rotary<HeadDim, rotary_pairs::half_split, 66>(query, tokens);
  // errors: nn::rotary: the positions are a tensor of int32, such as weft::positions<Pos>(), or
  // nn::position_ids(at) of a decode state
  rotary<HeadDim>(query, at);
  rotary<HeadDim, rotary_pairs::interleaved, 4>(query, at, {.base = 500});
  rotary<HeadDim>(query, at, floats<Hidden>{});
  rotary<HeadDim>(query, 0);
  // errors: nn::add_positions: the positions are a tensor of int32, such as weft::positions<Pos>(),
  // or nn::position_ids(at) of a decode state; a rate is {.dropout = 0.1}
  add_positions<Pos, Embed>(s, x, position::sinusoidal(), 0.1);
  add_positions<Pos, Embed>(s, x, position::sinusoidal(), at);
  // errors: nn::rotary: the operand has no such axis
  rotary<Embed>(query, tokens);
  rotary<Embed, rotary_pairs::half_split, 2>(query, tokens);
}
