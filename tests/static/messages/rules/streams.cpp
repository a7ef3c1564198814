#include "weft/nn/rolling.hpp"
#include "weft/nn/streamed.hpp"

#include "../../words.hpp"

using namespace words;
using namespace weft::nn;

struct Recent : rolling<Pos, 8> {};
struct Other : rolling<Pos, 9> {};
struct Out : weft::axis<5> {};
struct Ten : weft::axis<10> {};
constexpr rolling_position<Recent, all_positions, Batch> at{};
constexpr weft::window three = causal_window(3);

void wrong(weft::scope s) {
  // errors: nn::rolling_state: name an axis that derives from nn::rolling, then those of the batch,
  // as in rolling_state<Recent, Batch>(s)
  rolling_state<Pos, Batch>(s);
  rolling_state<Recent, Pos>(s);
  // errors: nn::rolling_state: name an axis that derives from nn::rolling, then those of the batch,
  // as in rolling_state<Recent, Batch>(s, count)
  rolling_state<Pos, Batch>(s, integers<Batch>{});
  rolling_state<Recent, Pos>(s, integers<Batch>{});
  // error: nn::rolling_state: the count is not int32
  rolling_state<Recent, Batch>(s, floats<Batch>{});
  // error: nn::rolling_state: the count has an axis that is none of the batch
  rolling_state<Recent, Batch>(s, tokens);
  // errors: nn::rolling_state: window and sinks are int32 without axes
  rolling_state<Recent, Batch>(s, rolling_options{floats<>{}, no_term{}});
  rolling_state<Recent, Batch>(s, integers<Batch>{}, rolling_options{no_term{}, integers<Pos>{}});
  // errors: nn::rolling_cache: name the axis of its nn::rolling_state, which keys and values do not
  // have, as in rolling_cache<Recent>(s, at, k, v)
  rolling_cache<Other>(s, at, query, query);
  rolling_cache<int>(s, at, query, query);
  // error: nn::rolling_cache: keys and values have the axis of the run's positions
  rolling_cache<Recent>(s, at, query, key);
  // error: nn::rolling_cache: keys and values have all axes of the batch
  rolling_cache<Recent>(s, at, floats<Pos, HeadDim>{}, query);
  // error: nn::kv_cache: name the cache's axis, which keys and values do not have, as in
  // kv_cache<Cache>(s, at, k, v)
  kv_cache<Other>(s, at, query, query);
  // errors: nn::streamed_convolution: name channels and axes to run along with their taps, as in
  // streamed_convolution<In, Out, nn::along<Pos, 3, nn::causal_window(3)>>(s, x)
  streamed_convolution<Embed, Out>(s, x);
  streamed_convolution<Embed, Out, Pos>(s, x);
  // error: nn::streamed_convolution: In and what it runs over are different axes of the operand,
  // and Out is one
  streamed_convolution<Embed, Out, along<Embed, 3, three>>(s, x);
  // error: nn::streamed_convolution: stride and dilation are at least 1
  streamed_convolution<Embed, Out, along<Pos, 3, weft::window{.dilation = 0}>>(s, x);
  // error: nn::streamed_convolution: the taps reach further than the padded axis
  streamed_convolution<Embed, Out, along<Ten, 13>>(s, floats<Embed, Ten>{});
  // error: nn::streamed_convolution: the number of groups does not divide In and Out
  streamed_convolution<in_groups<Embed, 5>, Embed, along<Pos, 3, three>>(s, x);
  // error: nn::streamed_convolution: the windows have more than 8 axes
  streamed_convolution<Batch, Out, along<Ten, 5, causal_window(5)>>(
      s, floats<Level<0>, Level<1>, Level<2>, Level<3>, Level<4>, Level<7>, Batch, Ten>{});
  // error: nn::streamed_convolution: an axis is named twice; give the second role a name of its own
  // with weft::alias
  streamed_convolution<Embed, Batch, along<Pos, 3, three>>(s, x);
  // error: nn::streamed_convolution: the elements are not float; convert with weft::cast<float>
  streamed_convolution<Batch, Out, along<Pos, 3, three>>(s, tokens);
  // errors: nn::streamed_convolution: frames are whole strides along the first axis, whose windows
  // are an nn::causal_window(taps)
  streamed_convolution<Embed, Out, along<Pos, 3>>(s, x);
  streamed_convolution<Embed, Out, along<Ten, 4, causal_window(4, {.stride = 4})>>(
      s, floats<Embed, Ten>{});
  // errors: nn::streamed_gru: name three axes, of fixed extents but the first, as in
  // streamed_gru<Pos, In, Hidden>(s, x)
  streamed_gru<int, Embed, Hidden>(s, x);
  streamed_gru<Pos, Embed, Pos>(s, x);
  // error: nn::streamed_gru: a stream has no end to run backwards from
  streamed_gru<Pos, Embed, Hidden, recurrence{.bidirectional = true}>(s, x);
  // error: nn::streamed_gru: layers have the numbers 0 to 99, and there is at least one
  streamed_gru<Pos, Embed, Hidden, recurrence{.layers = 0}>(s, x);
  // error: nn::streamed_gru: the operand has no such axis
  streamed_gru<KeyPos, Embed, Hidden>(s, x);
  // error: nn::streamed_gru: the elements are not float; convert with weft::cast<float>
  streamed_gru<Pos, Batch, Hidden>(s, tokens);
  // error: nn::streamed_lstm: name three axes, of fixed extents but the first, as in
  // streamed_lstm<Pos, In, Hidden>(s, x)
  streamed_lstm<int, Embed, Hidden>(s, x);
  // error: nn::streamed_lstm: a stream has no end to run backwards from
  streamed_lstm<Pos, Embed, Hidden, recurrence{.direction = weft::backwards}>(s, x);
  // error: nn::streamed_lstm: layers have the numbers 0 to 99, and there is at least one
  streamed_lstm<Pos, Embed, Hidden, recurrence{.layers = 0}>(s, x);
  // error: nn::streamed_lstm: the operand has no such axis
  streamed_lstm<KeyPos, Embed, Hidden>(s, x);
  // error: nn::streamed_lstm: the elements are not float; convert with weft::cast<float>
  streamed_lstm<Pos, Batch, Hidden>(s, tokens);
}
