// Operands that are not expressions: a requires-expression sees that there is no such use, rather
// than an error within the library.
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/compare.hpp"
#include "weft/ops/concatenate.hpp"
#include "weft/ops/dot.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/gather.hpp"
#include "weft/ops/mask.hpp"
#include "weft/ops/normalize.hpp"
#include "weft/ops/reduce.hpp"
#include "weft/ops/rotate.hpp"
#include "weft/ops/view.hpp"
#include "weft/ops/windows.hpp"
#include "words.hpp"

namespace {

using namespace words;

struct foreign {};

template <class T>
concept has_operators = requires(T t) {
  x + t;
}
|| requires(T t) {
  t* x;
}
|| requires(T t) {
  x < t;
}
|| requires(T t) {
  t == x;
};
static_assert(!has_operators<foreign> && has_operators<float>);

template <class T>
concept is_operand = requires(T t) {
  weft::exp(t);
}
|| requires(T t) {
  weft::sum<Embed>(t);
}
|| requires(T t) {
  weft::softmax<Embed>(t);
}
|| requires(T t) {
  weft::log_softmax<Embed>(t);
}
|| requires(T t) {
  weft::normalize<Embed>(t);
}
|| requires(T t) {
  weft::layer_norm<Embed>(x, t, t);
}
|| requires(T t) {
  weft::rms_norm<Embed>(t, t);
}
|| requires(T t) {
  weft::dot<Embed>(x, t);
}
|| requires(T t) {
  weft::dot<Embed>(t, x);
}
|| requires(T t) {
  weft::rename<Embed, KeyPos>(t);
}
|| requires(T t) {
  weft::split<Embed, KeyPos>(t);
}
|| requires(T t) {
  weft::merge<Embed, KeyPos>(t);
}
|| requires(T t) {
  weft::slice<Embed, KeyPos>(t);
}
|| requires(T t) {
  weft::gather<Embed>(t, t);
}
|| requires(T t) {
  weft::gather<Embed>(x, t);
}
|| requires(T t) {
  weft::segment_sum<Embed, KeyPos>(x, t);
}
|| requires(T t) {
  weft::cross_entropy<Embed>(x, t);
}
|| requires(T t) {
  weft::where(t, x, x);
};
static_assert(!is_operand<foreign> && !is_operand<const char*> && is_operand<decltype(x)>);

}  // namespace
