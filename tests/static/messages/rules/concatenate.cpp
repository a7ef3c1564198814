#include "weft/ops/concatenate.hpp"

#include "../../words.hpp"

using namespace words;
using weft::shape;

struct Prefix : weft::axis<4> {};
struct Rest : weft::axis<12> {};
struct Joint : weft::axis<16> {};
struct Cache : weft::axis<weft::up_to<100>> {};
struct Present : weft::axis<weft::up_to<612>> {};
struct Two : weft::axis<2> {};
struct Nine : weft::axis<9> {};
struct AtMostTwo : weft::axis<weft::up_to<2>> {};
constexpr floats<Batch, Pos, Embed, Vocab, Level<0>, Level<1>, Level<2>, Heads> eight{};
constexpr floats<Batch, Prefix> a{};
constexpr floats<Rest, Batch> b{};
constexpr integers<Batch, Prefix> i{};

void wrong() {
  // errors: concatenate: name one axis for each operand, as in concatenate<Whole, shape<Left,
  // Right>>(a, b); at most 8
  weft::concatenate<Joint, shape<Prefix>>(a, b);
  weft::concatenate<Joint, shape<Prefix, Rest>>(a);
  weft::concatenate<Joint, shape<>>();
  weft::concatenate<Joint, shape<Prefix, Rest, Prefix>>(a, b);
  // errors: concatenate: an operand has no such axis
  weft::concatenate<Joint, shape<Rest, Prefix>>(a, b);
  weft::concatenate<Joint, shape<Rest, Prefix>>(i, b);
  // errors: concatenate: the operands' elements differ; convert with weft::cast
  weft::concatenate<Joint, shape<Prefix, Rest>>(i, b);
  weft::concatenate<Joint, shape<Prefix, Rest>>(a, integers<Rest, Batch>{});
  // errors: concatenate: the operands' other axes differ
  weft::concatenate<Joint, shape<Prefix, Rest>>(a, floats<Rest>{});
  weft::concatenate<Batch, shape<Prefix, Rest>>(a, b);
  weft::concatenate<Joint, shape<Prefix, Rest>>(a, floats<Rest, Heads>{});
  weft::concatenate<Joint, shape<Prefix, Rest>>(floats<Joint, Prefix>{}, floats<Joint, Rest>{});
  // errors: concatenate: the extent of the whole is not the sum of the parts'
  weft::concatenate<HeadDim, shape<Prefix, Rest>>(a, b);
  weft::concatenate<Heads, shape<Prefix, Rest>>(a, b);
  weft::concatenate<Present, shape<Cache, Pos, Prefix>>(integers<Batch, Cache>{}, tokens,
                                                        integers<Batch, Prefix>{});
  // errors: concatenate: the parts' axes are a list, as in concatenate<Whole, shape<Left,
  // Right>>(a, b)
  weft::concatenate<Joint, Prefix>(a);
  weft::concatenate<Joint, Prefix, Rest>(a, b);
  weft::concatenate<Joint>(a, b);
  weft::concatenate<Joint, int>(a);
  // errors: concatenate: the whole is not an axis
  weft::concatenate<shape<Joint>, shape<Prefix, Rest>>(a, b);
  weft::concatenate<int, shape<Prefix, Rest>>(a, b);
  // errors: stack: there are 1 to 8 operands
  weft::stack<Two>();
  weft::stack<Nine>(x, x, x, x, x, x, x, x, x);
  // error: stack: what is to be new is not an axis
  weft::stack<int>(x, x);
  // error: stack: the operands' elements differ; convert with weft::cast
  weft::stack<Two>(a, i);
  // errors: stack: the operands' axes differ, or one is the new axis
  weft::stack<Two>(x, gain);
  weft::stack<Two>(floats<Two>{}, floats<Two>{});
  // errors: stack: the new axis's extent is not the number of operands
  weft::stack<Two>(x, x, x);
  weft::stack<AtMostTwo>(x, x);
  // error: stack: the result has more than 8 axes
  weft::stack<Two>(eight, eight);
}
