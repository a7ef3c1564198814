// What a model's function returns is no tensor, or the struct is no model: one error each.
#include <weft/weft.hpp>

struct Pos : weft::axis<weft::up_to<512>> {};
struct KeyPos : weft::alias<Pos> {};
struct Embed : weft::axis<384> {};
struct Heads : weft::axis<6> {};
struct HeadDim : weft::axis<64> {};
struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
};

template <class X>
constexpr auto attention(weft::scope s, const X& x) {
  return weft::nn::self_attention<axes>(s, x);
}
struct with_a_name {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, Embed>();
    // error: as: it names a tensor; of what a layer or a scan returns, take one, such as .output,
    // .last or .all
    return weft::results(weft::as<"x">(x), weft::as<"y">(attention(s, x)));
  }
};
struct without_names {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, Embed>();
    // error: results: name each tensor, as in results(as<"logits">(x), ...)
    return weft::results(weft::as<"y">(x * 2), x);
  }
};
struct layer {
  constexpr auto operator()(weft::scope s) const {
    return attention(s, s.input<"x", float, Pos, Embed>());
  }
};
struct no_return {
  constexpr auto operator()(weft::scope s) const {
    attention(s, s.input<"x", float, Pos, Embed>());
  }
};
struct not_const {
  constexpr auto operator()(weft::scope s) { return s.input<"x", float, Pos, Embed>(); }
};
struct of_a_reference {
  constexpr auto operator()(weft::scope& s) const { return s.input<"x", float, Pos, Embed>(); }
};
struct built {
  int layers;
  constexpr explicit built(int n) : layers(n) {}
  constexpr auto operator()(weft::scope s) const { return s.input<"x", float, Pos>() * layers; }
};
struct counter {
  constexpr auto operator()(weft::scope s) const {
    auto count = s.state<"count", float>();
    // error: update: it takes a state and a tensor, such as weft::constant(1.0f)
    s.update(count, 1.0f);
    return count;
  }
};
struct condition {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float>();
    // error: condition: what a tensor holds comes with a run; choose with weft::where(mask, a, b)
    if (x > 0) x = -x;
    return x;
  }
};

void run() {
  weft::module<with_a_name> a;
  weft::module<without_names> b;
  // errors: model: its operator() returns no tensor; return one, of what a layer returns such as
  // .output, or weft::results(weft::as<"name">(x), ...)
  weft::module<layer> c;
  weft::trainer<no_return> d;
  // errors: model: it has no operator() that takes a scope; write constexpr auto
  // operator()(weft::scope s) const
  weft::module<not_const> e;
  weft::module<of_a_reference, "result"> f;
  // error: model: it cannot be made without arguments; give its members initial values, or make
  // what differs a template parameter
  weft::module<built> g;

  weft::module<counter> h;
  h();
  weft::module<condition> i;
  i(weft::arg<"x">(1.0f));
}
