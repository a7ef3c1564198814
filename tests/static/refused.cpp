// A requires-expression knows that a use is refused, rather than that there is an error within the
// library. Every use that messages/rules has is refused in one of the first ways here.
#include <cmath>

#include "weft/weft.hpp"

#include "words.hpp"

using namespace words;

extern const weft::scope s;

// Whether a use, as a function of one operand, takes Right and none of Wrong.
template <class Right, class... Wrong>
constexpr bool takes(auto use) {
  return std::invocable<decltype(use), Right> && !(std::invocable<decltype(use), Wrong> || ...);
}

// By a deleted function, operator or member; by clang, one with an attribute.
static_assert(takes<floats<Embed>, floats<Pos>, integers<Embed>>(
    [](auto a) -> decltype(weft::dot<Embed>(x, a)) {}));
static_assert(takes<floats<Pos>, integers<Pos>, masks<Pos>>([](auto a) -> decltype(x + a) {}));
static_assert(takes<floats<Embed>, floats<Pos>, integers<Embed>>(
    [](auto a) -> decltype(weft::nn::layer_norm<Embed>(s, a)) {}));
constexpr auto is_axis_beside_embed = []<class A>(A) -> decltype(s.param<"weight", Embed, A>()) {};
static_assert(takes<Heads, Embed, int>(is_axis_beside_embed));
static_assert(takes<bool, masks<>, floats<Pos>>([](auto a) -> decltype(a ? 1 : 2) {}));
static_assert(takes<float, integers<>, floats<Pos>>([](auto a) -> decltype(std::exp(a)) {}));
static_assert(!std::convertible_to<floats<>, double> && !std::constructible_from<double, floats<>>);
// By a private member, and by clang, one with an attribute that depends on the object.
struct model {
  constexpr auto operator()(weft::scope s) const {
    return s.input<"x", float, Pos>() * s.param<"w", Pos>();
  }
};
template <class A>
concept is_assigned = requires(floats<Pos>& variable, A a) {
  variable = a;
};
template <weft::fixed_string Name, class A>
concept is_argument = requires(weft::module<model>& net, A a) {
  net(weft::arg<Name>(a));
};
template <weft::fixed_string Name>
concept is_result = requires {
  weft::module<model, Name>();
};
static_assert(is_assigned<floats<Pos>> && !is_assigned<floats<Embed>> && !is_assigned<float>);
using positions = weft::array<float, Pos>;
static_assert(is_argument<"x", positions> && !is_argument<"y", positions> &&
              !is_argument<"x", weft::array<float, Embed>>);
static_assert(is_result<"result"> && !is_result<"none">);

// Operands that are none.
struct foreign {};
template <class Right>
constexpr bool takes_operands(auto use) {
  return takes<Right, foreign, const char*>(use);
}
using any = floats<Batch, Pos, Embed>;
static_assert(takes_operands<float>([](auto a) -> decltype(x + a) {}));
static_assert(takes_operands<float>([](auto a) -> decltype(a * x) {}));
static_assert(takes_operands<float>([](auto a) -> decltype(x < a) {}));
static_assert(takes_operands<float>([](auto a) -> decltype(a == x) {}));
static_assert(takes_operands<any>([](auto a) -> decltype(weft::exp(a)) {}));
static_assert(takes_operands<any>([](auto a) -> decltype(weft::sum<Embed>(a)) {}));
static_assert(takes_operands<any>([](auto a) -> decltype(weft::softmax<Embed>(a)) {}));
static_assert(takes_operands<any>([](auto a) -> decltype(weft::log_softmax<Embed>(a)) {}));
static_assert(takes_operands<any>([](auto a) -> decltype(weft::normalize<Embed>(a)) {}));
static_assert(takes_operands<any>([](auto a) -> decltype(weft::layer_norm<Embed>(x, a, a)) {}));
static_assert(takes_operands<any>([](auto a) -> decltype(weft::rms_norm<Embed>(a, a)) {}));
static_assert(takes_operands<any>([](auto a) -> decltype(weft::dot<Embed>(x, a)) {}));
static_assert(takes_operands<any>([](auto a) -> decltype(weft::dot<Embed>(a, x)) {}));
static_assert(!takes_operands<float>([](auto a) -> decltype(weft::dot<Embed>(x, a)) {}));
static_assert(takes_operands<any>([](auto a) -> decltype(weft::rename<Pos, KeyPos>(a)) {}));
static_assert(takes_operands<any>([](auto a) -> decltype(weft::split<Embed, Heads, HeadDim>(a)) {
}));
static_assert(takes_operands<floats<Heads, HeadDim>>(
    [](auto a) -> decltype(weft::merge<Embed, Heads, HeadDim>(a)) {}));
static_assert(takes_operands<any>([](auto a) -> decltype(weft::slice<Embed, Heads>(a)) {}));
static_assert(takes_operands<any>([](auto a) -> decltype(weft::gather<Embed>(a, tokens)) {}));
static_assert(takes_operands<integers<Pos>>([](auto a) -> decltype(weft::gather<Embed>(x, a)) {}));
static_assert(
    takes_operands<integers<Pos>>([](auto a) -> decltype(weft::segment_sum<Pos, KeyPos>(x, a)) {}));
static_assert(
    takes_operands<integers<Pos>>([](auto a) -> decltype(weft::cross_entropy<Embed>(x, a)) {}));
static_assert(takes_operands<masks<Pos>>([](auto a) -> decltype(weft::where(a, x, x)) {}));
