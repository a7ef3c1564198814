#include "weft/ops/scan.hpp"

#include "weft/ops/arithmetic.hpp"
#include "weft/ops/convert.hpp"
#include "words.hpp"

using namespace words;
using weft::next;

constexpr floats<Batch, Embed> h0{};
constexpr auto same = [](auto h, auto x) { return h + x; };

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

// The state may have the scanned axis where it is no output.
constexpr auto other = [](auto h, auto y) { return next(h).with(y); };
static_assert(is<decltype(scan_along_pos<decltype(x), decltype(x), decltype(other)>::all),
                 floats<Batch, Pos, Embed>>);
