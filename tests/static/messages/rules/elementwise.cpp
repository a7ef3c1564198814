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

struct foreign {
} none;

void wrong() {
  // error: add: an operand is no tensor and no number; what comes with a run is an input, as in
  // s.input<"x", float, Embed>()
  void(f + none);
  // error: multiply: an operand is no tensor and no number; what comes with a run is an input, as
  // in s.input<"x", float, Embed>()
  void(none * f);
  // error: less: an operand is no tensor and no number; what comes with a run is an input, as in
  // s.input<"x", float, Embed>()
  void(f < none);
  // error: equal: an operand is no tensor and no number; what comes with a run is an input, as in
  // s.input<"x", float, Embed>()
  void(i == "one");
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
  // errors: add: the operands' elements differ; convert one with weft::cast
  void(f + i);
  void(0.5 + i);
  void(b + 1);
  void(i + f);
  void(i + 0.5);
  void(f + b);
  void(b + true);
  void(f + weft::positions<Pos>());
  // error: add: booleans have no arithmetic; choose with weft::where
  void(b + b);
  // errors: subtract: the operands' elements differ; convert one with weft::cast
  void(f - i);
  void(0.5 - i);
  void(b - 1);
  // error: subtract: booleans have no arithmetic; choose with weft::where
  void(b - b);
  // errors: multiply: the operands' elements differ; convert one with weft::cast
  void(f * i);
  void(0.5 * i);
  void(b * 1);
  void(f * b);
  void(i * f);
  // error: multiply: booleans have no arithmetic; choose with weft::where
  void(b * b);
  // errors: divide: the operands' elements differ; convert one with weft::cast
  void(f / i);
  void(0.5 / i);
  void(b / 1);
  // error: divide: booleans have no arithmetic; choose with weft::where
  void(b / b);
  // errors: divide: the elements are integers; convert with weft::cast<float>
  void(i / i);
  void(i / 2);
  void(2 / i);
  // error: pow: the elements are integers; convert with weft::cast<float>
  pow(i, 2);
  // error: pow: the operands' elements differ; convert one with weft::cast
  pow(f, i);
  // errors: maximum: the operands' elements differ; convert one with weft::cast
  maximum(f, i);
  maximum(i, 0.5);
  weft::maximum(b, f);
  // errors: minimum: the operands' elements differ; convert one with weft::cast
  minimum(f, i);
  minimum(i, 0.5);
  weft::minimum(b, f);
  // errors: less: the operands' elements differ; convert one with weft::cast
  void(f < i);
  void(i < 0.5);
  void(b < f);
  void(b < i);
  // errors: less_equal: the operands' elements differ; convert one with weft::cast
  void(f <= i);
  void(i <= 0.5);
  void(b <= f);
  void(b <= i);
  // errors: greater: the operands' elements differ; convert one with weft::cast
  void(f > i);
  void(i > 0.5);
  void(b > f);
  void(b > i);
  // errors: greater_equal: the operands' elements differ; convert one with weft::cast
  void(f >= i);
  void(i >= 0.5);
  void(b >= f);
  void(b >= i);
  // errors: equal: the operands' elements differ; convert one with weft::cast
  void(f == i);
  void(i == 0.5);
  void(b == f);
  void(b == i);
  // errors: not_equal: the operands' elements differ; convert one with weft::cast
  void(f != i);
  void(i != 0.5);
  void(b != f);
  void(b != i);
  // errors: and: both operands are masks of booleans
  void(b && i);
  void(f && b);
  void(i && f);
  // errors: or: both operands are masks of booleans
  void(b || i);
  void(f || b);
  void(i || f);
  // errors: not: the operand is a mask of booleans
  void(!f);
  void(!i);
  // errors: where: the condition is a mask of booleans, such as a comparison gives
  where(i, f, f);
  where(f, f, i);
  weft::where(f, f, f);
  weft::where(i, f, i);
  // errors: where: the two choices' elements differ; convert one with weft::cast
  where(b, f, i);
  where(b, 0.5, i);
  // error: negate: a mask is turned round with !
  void(-b);
  // errors: exp: the elements are not float; convert with weft::cast<float>
  weft::exp(i);
  weft::exp(b);
  // errors: log: the elements are not float; convert with weft::cast<float>
  weft::log(i);
  weft::log(b);
  // errors: sqrt: the elements are not float; convert with weft::cast<float>
  weft::sqrt(i);
  weft::sqrt(b);
  // errors: tanh: the elements are not float; convert with weft::cast<float>
  weft::tanh(i);
  weft::tanh(b);
  // errors: erf: the elements are not float; convert with weft::cast<float>
  weft::erf(i);
  weft::erf(b);
  // errors: sin: the elements are not float; convert with weft::cast<float>
  weft::sin(i);
  weft::sin(b);
  // errors: cos: the elements are not float; convert with weft::cast<float>
  weft::cos(i);
  weft::cos(b);
  // errors: sigmoid: the elements are not float; convert with weft::cast<float>
  weft::sigmoid(i);
  weft::sigmoid(b);
  // errors: relu: the elements are not float; convert with weft::cast<float>
  weft::relu(i);
  weft::relu(b);
  // errors: gelu: the elements are not float; convert with weft::cast<float>
  weft::gelu(i);
  weft::gelu(b);
  // errors: gelu_tanh: the elements are not float; convert with weft::cast<float>
  weft::gelu_tanh(i);
  weft::gelu_tanh(b);
  // error: expm1: the elements are not float; convert with weft::cast<float>
  weft::expm1(i);
  // error: log1p: the elements are not float; convert with weft::cast<float>
  weft::log1p(i);
  // error: rsqrt: the elements are not float; convert with weft::cast<float>
  weft::rsqrt(i);
  // error: abs: the elements are not float; convert with weft::cast<float>
  weft::abs(i);
  // error: sign: the elements are not float; convert with weft::cast<float>
  weft::sign(i);
  // error: round: the elements are not float; convert with weft::cast<float>
  weft::round(i);
  // error: floor: the elements are not float; convert with weft::cast<float>
  weft::floor(i);
  // error: ceil: the elements are not float; convert with weft::cast<float>
  weft::ceil(i);
  // error: isnan: the elements are not float; convert with weft::cast<float>
  weft::isnan(i);
  // error: isfinite: the elements are not float; convert with weft::cast<float>
  weft::isfinite(i);
  // error: softplus: the elements are not float; convert with weft::cast<float>
  weft::softplus(i);
  // error: elu: the elements are not float; convert with weft::cast<float>
  weft::elu(i, 1);
  // error: leaky_relu: the elements are not float; convert with weft::cast<float>
  weft::leaky_relu(i);
  // error: clamp: the elements are not float; convert with weft::cast<float>
  weft::clamp(i, 0, 1);
  // errors: silu: the elements are not float; convert with weft::cast<float>
  weft::silu(i);
  weft::silu(b);
  // errors: add: the operands have more than 8 axes between them
  void(five<float> + five_more<float>);
  void(five<float> + five_more<bool>);
  // error: subtract: the operands have more than 8 axes between them
  void(five<float> - five_more<float>);
  // error: multiply: the operands have more than 8 axes between them
  void(five<float> * five_more<float>);
  // errors: divide: the operands have more than 8 axes between them
  void(five<float> / five_more<float>);
  void(five<std::int32_t> / five_more<std::int32_t>);
  // errors: less: the operands have more than 8 axes between them
  void(five<float> < five_more<float>);
  void(five<bool> < five_more<bool>);
  // errors: less_equal: the operands have more than 8 axes between them
  void(five<float> <= five_more<float>);
  void(five<bool> <= five_more<bool>);
  // errors: greater: the operands have more than 8 axes between them
  void(five<float> > five_more<float>);
  void(five<bool> > five_more<bool>);
  // errors: greater_equal: the operands have more than 8 axes between them
  void(five<float> >= five_more<float>);
  void(five<bool> >= five_more<bool>);
  // errors: equal: the operands have more than 8 axes between them
  void(five<float> == five_more<float>);
  void(five<bool> == five_more<bool>);
  // errors: not_equal: the operands have more than 8 axes between them
  void(five<bool> != five_more<bool>);
  void(five<float> != five_more<float>);
  // error: and: the operands have more than 8 axes between them
  void(five<bool> && five_more<bool>);
  // error: or: the operands have more than 8 axes between them
  void(five<bool> || five_more<bool>);
  // error: maximum: the operands have more than 8 axes between them
  maximum(five<float>, five_more<float>);
  // error: maximum: booleans have no arithmetic; choose with weft::where
  maximum(b, b);
  // error: minimum: the operands have more than 8 axes between them
  minimum(five<float>, five_more<float>);
  // error: minimum: booleans have no arithmetic; choose with weft::where
  minimum(b, b);
  // errors: less: booleans have no order; combine masks with && and ||
  void(b < b);
  void(b < causal);
  // errors: less_equal: booleans have no order; combine masks with && and ||
  void(b <= b);
  void(b <= causal);
  // errors: greater: booleans have no order; combine masks with && and ||
  void(b > b);
  void(b > causal);
  // errors: greater_equal: booleans have no order; combine masks with && and ||
  void(b >= b);
  void(b >= causal);
  // errors: where: the operands have more than 8 axes between them
  where(five<bool>, five_more<float>, 0);
  where(b, five<float>, five_more<float>);
  // errors: cast: the new elements are float, std::int32_t, bool or weft::bfloat16, as in
  // cast<float>(x)
  weft::cast<double>(i);
  weft::cast<double>(f);
  weft::cast<long>(i);
  // error: broadcast: name axes, as in broadcast<Batch, Pos>(x)
  weft::broadcast<int>(i);
  // error: broadcast: an axis is named twice
  weft::broadcast<Pos, Pos>(i);
  // errors: broadcast: the result has more than 8 axes
  weft::broadcast<Batch, Pos, Embed, Heads>(five<float>);
  weft::broadcast<Pos, Heads, Batch, Embed>(five<float>);
}
