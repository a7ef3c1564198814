#include "weft/ops/concatenate.hpp"

#include "../../words.hpp"

using namespace words;
using weft::shape;

struct Prefix : weft::axis<4> {};
struct Rest : weft::axis<12> {};
struct Joint : weft::axis<16> {};
constexpr floats<Batch, Prefix> a{};
constexpr floats<Rest, Batch> b{};
constexpr integers<Batch, Prefix> i{};

void wrong() {
  // error: concatenate: name one axis for each operand, as in concatenate<Whole, shape<Left,
  // Right>>(a, b); at most 8
  weft::concatenate<Joint, shape<Prefix>>(a, b);
  // error: concatenate: name one axis for each operand, as in concatenate<Whole, shape<Left,
  // Right>>(a, b); at most 8
  weft::concatenate<Joint, shape<Prefix, Rest>>(a);
  // error: concatenate: an operand has no such axis
  weft::concatenate<Joint, shape<Rest, Prefix>>(a, b);
  // error: concatenate: an operand has no such axis
  weft::concatenate<Joint, shape<Rest, Prefix>>(i, b);
  // error: concatenate: the operands' elements differ; convert with weft::cast
  weft::concatenate<Joint, shape<Prefix, Rest>>(i, b);
  // error: concatenate: the operands' other axes differ
  weft::concatenate<Joint, shape<Prefix, Rest>>(a, floats<Rest>{});
  // error: concatenate: the operands' other axes differ
  weft::concatenate<Batch, shape<Prefix, Rest>>(a, b);
  // error: concatenate: the extent of the whole is not the sum of the parts'
  weft::concatenate<HeadDim, shape<Prefix, Rest>>(a, b);
  // error: concatenate: the parts' axes are a list, as in concatenate<Whole, shape<Left, Right>>(a,
  // b)
  weft::concatenate<Joint, Prefix>(a);
  // error: concatenate: the parts' axes are a list, as in concatenate<Whole, shape<Left, Right>>(a,
  // b)
  weft::concatenate<Joint, Prefix, Rest>(a, b);
  // error: concatenate: the parts' axes are a list, as in concatenate<Whole, shape<Left, Right>>(a,
  // b)
  weft::concatenate<Joint>(a, b);
  // error: concatenate: the whole is not an axis
  weft::concatenate<shape<Joint>, shape<Prefix, Rest>>(a, b);
}
