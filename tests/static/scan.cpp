#include "weft/ops/scan.hpp"

#include "weft/ops/arithmetic.hpp"
#include "weft/ops/convert.hpp"
#include "words.hpp"

using namespace words;
using weft::next;

constexpr floats<Batch, Embed> h0{};
constexpr integers<Batch> count{};
constexpr auto same = [](auto h, auto x) { return h + x; };

template <class A>
constexpr auto scans = [](auto initial, auto operands, auto body) {
  return requires {
    weft::scan<A>(initial, operands, body);
  };
};
template <class Initial, class Operands, class Body>
using scan_along_pos = decltype(weft::scan<Pos>(std::declval<Initial>(), std::declval<Operands>(),
                                                std::declval<Body>()));

// The outputs have the scanned axis where the first operand has it.
using one = scan_along_pos<decltype(h0), decltype(x), decltype(same)>;
static_assert(is<decltype(one::last), floats<Batch, Embed>>);
static_assert(is<decltype(one::all), floats<Batch, Pos, Embed>>);
constexpr auto several = [](auto h, auto n, auto, auto) {
  return next(h, n + 1).with(h, n, weft::cast<float>(n));
};
using many =
    scan_along_pos<std::tuple<floats<Embed, Batch>, integers<Batch>>,
                   std::tuple<floats<Batch, Pos, Embed>, integers<Batch, Pos>>, decltype(several)>;
static_assert(is<decltype(many::last), std::tuple<floats<Embed, Batch>, integers<Batch>>>);
static_assert(is<decltype(many::all),
                 std::tuple<floats<Embed, Batch, Pos>, integers<Batch, Pos>, floats<Batch, Pos>>>);
constexpr auto alone = [](auto h) { return h + 1; };
static_assert(is<decltype(scan_along_pos<decltype(h0), std::tuple<>, decltype(alone)>::all),
                 floats<Pos, Batch, Embed>>);

static_assert(scans<Pos>(h0, x, same));
static_assert(!scans<int>(h0, x, same));                                   // not an axis
static_assert(!scans<Pos>(1.0f, x, same) && !scans<Pos>(h0, 1, same));     // not tensors
static_assert(!scans<KeyPos>(h0, x, same) && !scans<Heads>(h0, x, same));  // no such axis
static_assert(!scans<Pos>(weft::constant(1.0f), std::tuple{}, alone));  // no operand is in a graph
static_assert(!scans<Pos>(h0, x, alone));  // the body does not take the operands
static_assert(!scans<Pos>(h0, x, [](auto, auto) { return 1; }));
static_assert(!scans<Pos>(h0, x, [](auto h, auto) { return next(h, h); }));  // number of carries
static_assert(!scans<Pos>(std::tuple{h0, h0}, x, [](auto h, auto, auto) { return h; }));
static_assert(!scans<Pos>(count, x, [](auto, auto x) { return x; }));  // axes of a carry
static_assert(!scans<Pos>(h0, x, [](auto h, auto) { return h * w; }));
static_assert(!scans<Pos>(count, x,
                          [](auto n, auto) { return weft::cast<float>(n); }));  // dtype of a carry
static_assert(!scans<Pos>(x, x, [](auto h, auto) { return h; }));  // the output has the axis
static_assert(scans<Pos>(x, x, [](auto h, auto y) { return next(h).with(y); }));
static_assert(!scans<Pos>(
    floats<Level<0>, Level<1>, Level<2>, Level<3>, Level<4>, Level<5>, Level<6>, Level<7>>{}, x,
    [](auto h, auto) { return h; }));  // rank
