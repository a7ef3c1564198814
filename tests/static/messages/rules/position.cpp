#include "weft/nn/position.hpp"

#include "../../words.hpp"

using namespace words;
using namespace weft::nn;

constexpr integers<Batch> lengths{};

void wrong(weft::scope s) {
  // error: nn::positioned: the operand has not both Pos and Embed
  positioned<KeyPos, Embed>(s, x, position::sinusoidal());
  // error: nn::positioned: the operand has not both Pos and Embed
  positioned<Pos, HeadDim>(s, x, position::sinusoidal(), tokens);
  // error: nn::positioned: the elements are not float; convert with weft::cast<float>
  positioned<Batch, Pos>(s, tokens, position::sinusoidal());
  // error: nn::positioned: the elements are not float; convert with weft::cast<float>
  positioned<Batch, Pos>(s, tokens, position::sinusoidal(), lengths);
  // error: nn::positioned: the places are not int32 over Pos and other axes of the operand
  positioned<Pos, Embed>(s, x, position::sinusoidal(), lengths);
  // error: nn::positioned: the encoding is none; derive from weft::nn::encoding
  positioned<Pos, Embed>(s, x, 3, 0.1);
  // error: nn::position::learned: where positions are not 0, 1, 2 and so on, name an axis of all
  // that there may be, as in learned<Longest>
  position::learned<>().embedding<Pos, Embed>(s, tokens);
  // error: nn::position::relative_index: where positions are not 0, 1, 2 and so on, name the axis
  // that has the sequence's length, as in relative_index<Cache>
  position::relative_index<>().embedding<Pos, Embed>(s, tokens);
  // error: nn::rotary: numbers are turned in pairs; name an even number of them, as in
  // rotary<HeadDim, rotary_pairs::halves, 4>(x, at)
  rotary<HeadDim, rotary_pairs::halves, 3>(query, tokens);
  // error: nn::rotary: the operand has no such axis
  rotary<Embed>(query, tokens);
}
