// The mistake stands inside an expression, or what it gives has a name, and is used: what follows
// from it comes after the message, if at all.
#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct KeyPos : weft::alias<Pos> {};
struct SourcePos : weft::axis<weft::up_to<512>> {};
struct Embed : weft::axis<384> {};
struct Heads : weft::axis<6> {};

struct within_functions {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    auto w = s.param<"w", Embed, Heads>();
    // error: dot: the left operand has no such axis to contract
    // note: shape<Batch, Pos, Embed>
    auto y = x + gelu(dot<Heads>(x, w)) * 2;
    return weft::mean<Batch, Pos>(y);
  }
};

struct along_an_axis {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, KeyPos>();
    auto mask = s.param<"mask", Pos, KeyPos>();
    // error: where: the condition is a mask of booleans, such as a comparison gives
    // note: shape<Pos, KeyPos>
    return weft::softmax<KeyPos>(where(mask, x, -1e9));
  }
};

struct with_a_name {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    // error: rename: the two axes' lengths differ; declare one as weft::alias of the other
    auto source = weft::rename<Pos, SourcePos>(x);
    auto y = weft::sum<SourcePos>(source);
    return dot<Embed>(x, source + y);
  }
};

float run(const std::vector<float>& x) {
  weft::module<within_functions> first;
  weft::module<along_an_axis> second;
  weft::module<with_a_name> third;
  return first(weft::arg<"x">(x)).data()[0] + second(weft::arg<"x">(x)).data()[0] +
         third(weft::arg<"x">(x)).data()[0];
}
