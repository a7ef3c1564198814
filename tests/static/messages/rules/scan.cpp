#include "weft/ops/scan.hpp"

#include "../../words.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/convert.hpp"

using namespace words;
using weft::next;

constexpr floats<Batch, Embed> h0{};
constexpr integers<Batch> count{};
constexpr floats<Level<0>, Level<1>, Level<2>, Level<3>, Level<4>, Level<5>, Level<6>, Level<7>>
    eight{};
constexpr auto same = [](auto h, auto x) { return h + x; };
constexpr auto alone = [](auto h) { return h; };
constexpr auto two = [](auto h, auto) { return next(h, h); };
constexpr auto second = [](auto, auto x) { return x; };
constexpr auto first = [](auto h, auto) { return h; };
constexpr auto floating = [](auto n, auto) { return weft::cast<float>(n); };

void wrong() {
  // error: scan: name the axis to run along, as in scan<Pos>(h0, x, body)
  weft::scan<int>(h0, x, same);
  // errors: scan: initial values and operands are tensors, or std::tuples of them
  weft::scan<Pos>(1.0f, x, same);
  weft::scan<Pos>(h0, 1, same);
  // errors: scan: an operand has no such axis to run along
  weft::scan<KeyPos>(h0, x, same);
  weft::scan<Heads>(h0, x, same);
  // error: scan: no initial value or operand comes from a model's input or parameter
  weft::scan<Pos>(weft::constant(1.0f), std::tuple{}, alone);
  // errors: scan: the body takes the carries, then an element of each operand, and returns what the
  // carries become: a tensor, or weft::next(...)
  weft::scan<Pos>(h0, x, alone);
  weft::scan<Pos>(h0, x, [](auto, auto) { return 1; });
  // errors: scan: the body returns another number of carries than there are initial values
  weft::scan<Pos>(h0, x, two);
  weft::scan<Pos>(std::tuple{h0, h0}, x, [](auto h, auto, auto) { return h; });
  // errors: scan: the body returns a carry with other axes than its initial value
  // note: carry_becomes
  weft::scan<Pos>(count, x, second);
  weft::scan<Pos>(h0, x, [](auto h, auto) { return h * w; });
  // errors: scan: the body returns a carry with other elements than its initial value; convert with
  // weft::cast
  // note: carry_becomes
  weft::scan<Pos>(count, x, floating);
  // errors: scan: an output has the scan's axis already; rename it, or name other outputs with
  // next(...).with(...)
  weft::scan<Pos>(x, x, first);
  // errors: scan: the outputs of all steps have more than 8 axes
  weft::scan<Pos>(eight, x, first);
}
