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
  // errors: nn::rnn: the initial state is float, with the axes of x that are neither read nor run
  // along, then the hidden one; of several layers or directions, there is one of each
  rnn<Pos, Embed, Hidden>(s, x, floats<Batch, Embed>{});
  rnn<Pos, Embed, Hidden>(s, x, h0, h0);
  rnn<Pos, Embed, Hidden, recurrence{.layers = 2}>(s, x, h0);
  // errors: nn::gru: the initial state is float, with the axes of x that are neither read nor run
  // along, then the hidden one; of several layers or directions, there is one of each
  gru<Pos, Embed, Hidden>(s, x, floats<Hidden>{});
  gru<Pos, Embed, Hidden>(s, x, 0.0f);
  gru<Pos, Embed, Hidden, recurrence{.bidirectional = true}>(s, x, h0);
  // errors: nn::lstm: the initial state is std::tuple{h0, c0}, both float, with the axes of x that
  // are neither read nor run along, then the hidden one; of several layers or directions, there is
  // one of each
  lstm<Pos, Embed, Hidden>(s, x, h0);
  lstm<Pos, Embed, Hidden>(s, x, h0, h0);
  lstm<Pos, Embed, Hidden>(s, x, std::tuple{h0, floats<Batch, Embed>{}});
  // error: nn::lstm: name three axes, of fixed extents but the first, as in lstm<Pos, In,
  // Hidden>(s, x)
  lstm<Pos, Embed, Pos>(s, x);
  // error: nn::lstm: the operand has no such axis
  lstm<KeyPos, Embed, Hidden>(s, x);
  // error: nn::lstm: the elements are not float; convert with weft::cast<float>
  lstm<Pos, Batch, Hidden>(s, tokens);
  // error: nn::lstm: layers have the numbers 0 to 99, and there is at least one
  lstm<Pos, Embed, Hidden, recurrence{.layers = 0}>(s, x);
  // error: nn::gru: layers have the numbers 0 to 99, and there is at least one
  gru<Pos, Embed, Hidden, recurrence{.first = 100}>(s, x);
  // error: nn::rnn: layers have the numbers 0 to 99, and there is at least one
  rnn<Pos, Embed, Hidden, recurrence{.layers = 2, .first = 99}>(s, x);
}
