#include "weft/ops/arithmetic.hpp"
#include "weft/ops/compare.hpp"
#include "weft/ops/convert.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/mask.hpp"

#include "../../words.hpp"

using namespace words;

constexpr floats<Batch> f{};
constexpr integers<Batch> i{};
constexpr masks<Batch> b{};
constexpr weft::tensor<weft::bfloat16, weft::shape<Batch>> h{};

void wrong() {
  // error: add: bfloat16 has no arithmetic; convert with weft::cast<float>
  void(h + h);
  // error: subtract: bfloat16 has no arithmetic; convert with weft::cast<float>
  void(h - f);
  // error: multiply: bfloat16 has no arithmetic; convert with weft::cast<float>
  void(2 * h);
  // error: divide: bfloat16 has no arithmetic; convert with weft::cast<float>
  void(h / h);
  // error: maximum: bfloat16 has no arithmetic; convert with weft::cast<float>
  maximum(h, h);
  // error: minimum: bfloat16 has no arithmetic; convert with weft::cast<float>
  minimum(h, f);
  // error: pow: bfloat16 has no arithmetic; convert with weft::cast<float>
  pow(h, 2);
  // error: negate: bfloat16 has no arithmetic; convert with weft::cast<float>
  void(-h);
  // error: less: bfloat16 has no comparisons; convert with weft::cast<float>
  void(h < f);
  // error: less_equal: bfloat16 has no comparisons; convert with weft::cast<float>
  void(h <= h);
  // error: greater: bfloat16 has no comparisons; convert with weft::cast<float>
  void(h > 1);
  // error: greater_equal: bfloat16 has no comparisons; convert with weft::cast<float>
  void(h >= h);
  // error: equal: bfloat16 has no comparisons; convert with weft::cast<float>
  void(h == h);
  // error: not_equal: bfloat16 has no comparisons; convert with weft::cast<float>
  void(f != h);
  // error: add: the operands' elements differ; convert one with weft::cast
  void(f + i);
  // error: add: the operands' elements differ; convert one with weft::cast
  void(0.5 + i);
  // error: add: the operands' elements differ; convert one with weft::cast
  void(b + 1);
  // error: add: booleans have no arithmetic; choose with weft::where
  void(b + b);
  // error: subtract: the operands' elements differ; convert one with weft::cast
  void(f - i);
  // error: subtract: the operands' elements differ; convert one with weft::cast
  void(0.5 - i);
  // error: subtract: the operands' elements differ; convert one with weft::cast
  void(b - 1);
  // error: subtract: booleans have no arithmetic; choose with weft::where
  void(b - b);
  // error: multiply: the operands' elements differ; convert one with weft::cast
  void(f * i);
  // error: multiply: the operands' elements differ; convert one with weft::cast
  void(0.5 * i);
  // error: multiply: the operands' elements differ; convert one with weft::cast
  void(b * 1);
  // error: multiply: booleans have no arithmetic; choose with weft::where
  void(b * b);
  // error: divide: the operands' elements differ; convert one with weft::cast
  void(f / i);
  // error: divide: the operands' elements differ; convert one with weft::cast
  void(0.5 / i);
  // error: divide: the operands' elements differ; convert one with weft::cast
  void(b / 1);
  // error: divide: booleans have no arithmetic; choose with weft::where
  void(b / b);
  // error: divide: the elements are integers; convert with weft::cast<float>
  void(i / i);
  // error: divide: the elements are integers; convert with weft::cast<float>
  void(i / 2);
  // error: divide: the elements are integers; convert with weft::cast<float>
  void(2 / i);
  // error: pow: the elements are integers; convert with weft::cast<float>
  pow(i, 2);
  // error: pow: the operands' elements differ; convert one with weft::cast
  pow(f, i);
  // error: maximum: the operands' elements differ; convert one with weft::cast
  maximum(f, i);
  // error: maximum: the operands' elements differ; convert one with weft::cast
  maximum(i, 0.5);
  // error: minimum: the operands' elements differ; convert one with weft::cast
  minimum(f, i);
  // error: minimum: the operands' elements differ; convert one with weft::cast
  minimum(i, 0.5);
  // error: less: the operands' elements differ; convert one with weft::cast
  void(f < i);
  // error: less: the operands' elements differ; convert one with weft::cast
  void(i < 0.5);
  // error: less: the operands' elements differ; convert one with weft::cast
  void(b < f);
  // error: less_equal: the operands' elements differ; convert one with weft::cast
  void(f <= i);
  // error: less_equal: the operands' elements differ; convert one with weft::cast
  void(i <= 0.5);
  // error: less_equal: the operands' elements differ; convert one with weft::cast
  void(b <= f);
  // error: greater: the operands' elements differ; convert one with weft::cast
  void(f > i);
  // error: greater: the operands' elements differ; convert one with weft::cast
  void(i > 0.5);
  // error: greater: the operands' elements differ; convert one with weft::cast
  void(b > f);
  // error: greater_equal: the operands' elements differ; convert one with weft::cast
  void(f >= i);
  // error: greater_equal: the operands' elements differ; convert one with weft::cast
  void(i >= 0.5);
  // error: greater_equal: the operands' elements differ; convert one with weft::cast
  void(b >= f);
  // error: equal: the operands' elements differ; convert one with weft::cast
  void(f == i);
  // error: equal: the operands' elements differ; convert one with weft::cast
  void(i == 0.5);
  // error: equal: the operands' elements differ; convert one with weft::cast
  void(b == f);
  // error: not_equal: the operands' elements differ; convert one with weft::cast
  void(f != i);
  // error: not_equal: the operands' elements differ; convert one with weft::cast
  void(i != 0.5);
  // error: not_equal: the operands' elements differ; convert one with weft::cast
  void(b != f);
  // error: and: both operands are masks of booleans
  void(b && i);
  // error: and: both operands are masks of booleans
  void(f && b);
  // error: or: both operands are masks of booleans
  void(b || i);
  // error: or: both operands are masks of booleans
  void(f || b);
  // error: not: the operand is a mask of booleans
  void(!f);
  // error: where: the condition is a mask of booleans, such as a comparison gives
  where(i, f, f);
  // error: where: the condition is a mask of booleans, such as a comparison gives
  where(f, f, i);
  // error: where: the two choices' elements differ; convert one with weft::cast
  where(b, f, i);
  // error: where: the two choices' elements differ; convert one with weft::cast
  where(b, 0.5, i);
  // error: negate: a mask is turned round with !
  void(-b);
  // error: exp: the elements are not float; convert with weft::cast<float>
  weft::exp(i);
  // error: log: the elements are not float; convert with weft::cast<float>
  weft::log(i);
  // error: sqrt: the elements are not float; convert with weft::cast<float>
  weft::sqrt(i);
  // error: tanh: the elements are not float; convert with weft::cast<float>
  weft::tanh(i);
  // error: erf: the elements are not float; convert with weft::cast<float>
  weft::erf(i);
  // error: sin: the elements are not float; convert with weft::cast<float>
  weft::sin(i);
  // error: cos: the elements are not float; convert with weft::cast<float>
  weft::cos(i);
  // error: sigmoid: the elements are not float; convert with weft::cast<float>
  weft::sigmoid(i);
  // error: relu: the elements are not float; convert with weft::cast<float>
  weft::relu(i);
  // error: gelu: the elements are not float; convert with weft::cast<float>
  weft::gelu(i);
  // error: gelu_tanh: the elements are not float; convert with weft::cast<float>
  weft::gelu_tanh(i);
  // error: silu: the elements are not float; convert with weft::cast<float>
  weft::silu(i);
  // error: add: the operands have more than 8 axes between them
  void(five<float> + five_more<float>);
  // error: subtract: the operands have more than 8 axes between them
  void(five<float> - five_more<float>);
  // error: multiply: the operands have more than 8 axes between them
  void(five<float> * five_more<float>);
  // error: divide: the operands have more than 8 axes between them
  void(five<float> / five_more<float>);
  // error: less: the operands have more than 8 axes between them
  void(five<float> < five_more<float>);
  // error: less_equal: the operands have more than 8 axes between them
  void(five<float> <= five_more<float>);
  // error: greater: the operands have more than 8 axes between them
  void(five<float> > five_more<float>);
  // error: greater_equal: the operands have more than 8 axes between them
  void(five<float> >= five_more<float>);
  // error: equal: the operands have more than 8 axes between them
  void(five<float> == five_more<float>);
  // error: not_equal: the operands have more than 8 axes between them
  void(five<bool> != five_more<bool>);
  // error: and: the operands have more than 8 axes between them
  void(five<bool> && five_more<bool>);
  // error: or: the operands have more than 8 axes between them
  void(five<bool> || five_more<bool>);
  // error: add: the operands have more than 8 axes between them
  void(five<float> + five_more<bool>);
  // error: maximum: the operands have more than 8 axes between them
  maximum(five<float>, five_more<float>);
  // error: maximum: booleans have no arithmetic; choose with weft::where
  maximum(b, b);
  // error: minimum: the operands have more than 8 axes between them
  minimum(five<float>, five_more<float>);
  // error: minimum: booleans have no arithmetic; choose with weft::where
  minimum(b, b);
  // error: less: booleans have no order; combine masks with && and ||
  void(b < b);
  // error: less_equal: booleans have no order; combine masks with && and ||
  void(b <= b);
  // error: greater: booleans have no order; combine masks with && and ||
  void(b > b);
  // error: greater_equal: booleans have no order; combine masks with && and ||
  void(b >= b);
  // error: where: the operands have more than 8 axes between them
  where(five<bool>, five_more<float>, 0);
  // error: where: the operands have more than 8 axes between them
  where(b, five<float>, five_more<float>);
  // error: cast: the new elements are float, std::int32_t, bool or weft::bfloat16, as in
  // cast<float>(x)
  weft::cast<double>(i);
  // error: broadcast: name axes, as in broadcast<Batch, Pos>(x)
  weft::broadcast<int>(i);
  // error: broadcast: an axis is named twice
  weft::broadcast<Pos, Pos>(i);
  // error: broadcast: the result has more than 8 axes
  weft::broadcast<Batch, Pos, Embed, Heads>(five<float>);
}
