#include "weft/nn/recurrent.hpp"

#include "../../words.hpp"

using namespace words;
using namespace weft::nn;

constexpr floats<Batch, Hidden> h0{};

void wrong(weft::scope s) {
  // errors: nn::rnn: name three axes, of fixed extents but the first, as in rnn<Pos, In, Hidden>(s,
  // x)
  rnn<Pos, Embed, Pos>(s, x);
  rnn<int, Embed, Hidden>(s, x);
  // errors: nn::rnn: the operand has no such axis
  rnn<KeyPos, Embed, Hidden>(s, x);
  rnn<Pos, Hidden, Hidden>(s, x, h0);
  // error: nn::rnn: the elements are not float; convert with weft::cast<float>
  rnn<Pos, Batch, Hidden>(s, tokens);
  // errors: nn::gru: name three axes, of fixed extents but the first, as in gru<Pos, In, Hidden>(s,
  // x)
  gru<int, Embed, Hidden>(s, x);
  gru<Pos, int, Hidden>(s, x, h0);
  gru<Pos, Embed, Pos>(s, x);
  // errors: nn::gru: the operand has no such axis
  gru<Pos, Hidden, Hidden>(s, x);
  gru<KeyPos, Embed, Hidden>(s, x);
  gru<Pos, Hidden, Hidden>(s, x, h0);
  // errors: nn::gru: the elements are not float; convert with weft::cast<float>
  gru<Pos, Batch, Hidden>(s, tokens, h0);
  gru<Pos, Batch, Hidden>(s, tokens);
  // errors: nn::rnn: the initial state is float, with the hidden axis and those of x that are
  // neither read nor run along
  rnn<Pos, Embed, Hidden>(s, x, floats<Batch, Embed>{});
  rnn<Pos, Embed, Hidden>(s, x, h0, h0);
  // errors: nn::gru: the initial state is float, with the hidden axis and those of x that are
  // neither read nor run along
  gru<Pos, Embed, Hidden>(s, x, floats<Hidden>{});
  gru<Pos, Embed, Hidden>(s, x, 0.0f);
  gru<Pos, Embed, Hidden>(s, x, floats<Batch, Embed>{});
}
