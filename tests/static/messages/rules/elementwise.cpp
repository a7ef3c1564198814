#include "weft/ops/elementwise.hpp"

#include "../../words.hpp"

using namespace words;

constexpr floats<Batch> f{};
constexpr integers<Batch> i{};
constexpr masks<Batch> b{};

void wrong() {
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
  // error: divide: integers are not divided; convert with weft::cast<float>
  void(i / i);
  // error: divide: integers are not divided; convert with weft::cast<float>
  void(i / 2);
  // error: divide: integers are not divided; convert with weft::cast<float>
  void(2 / i);
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
}
