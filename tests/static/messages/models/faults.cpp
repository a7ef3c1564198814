// What only tracing finds, with the name that it is about: one error each, at the line that takes
// the model.
#include <weft/weft.hpp>

struct Pos : weft::axis<weft::up_to<512>> {};
struct Embed : weft::axis<384> {};

struct not_constexpr {
  auto operator()(weft::scope s) const { return s.input<"x", float, Embed>(); }
};
int next_seed();
template <class T>
constexpr T seed(T x) {
  return x + T(next_seed());
}
template <int Layers>
struct calls_what_is_not {
  constexpr auto operator()(weft::scope s) const {
    return s.input<"x", float, Embed>() + seed(Layers);
  }
};
struct scan_in_a_scan {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, Embed>();
    auto sum = [](auto a, auto b) { return a + b; };
    auto rows = [&](auto a, auto row) { return a + weft::scan<Embed>(a * 0.0f, row, sum).last; };
    return weft::scan<Pos>(s.param<"start">(), x, rows).last;
  }
};
struct out_of_body {
  constexpr auto operator()(weft::scope s) const {
    auto start = s.param<"start", Embed>();
    auto kept = start;
    auto body = [&](auto a, auto row) { return kept = a + row; };
    weft::scan<Pos>(start, s.input<"x", float, Pos, Embed>(), body);
    return kept;
  }
};
template <int PerCent>
struct dropped {
  constexpr auto operator()(weft::scope s) const {
    return weft::dropout(s.input<"x", float, Embed>(), PerCent / 100.0);
  }
};
struct Million : weft::axis<1'000'000> {};
struct Thousands : weft::axis<10'000> {};
struct much_dropped {
  constexpr auto operator()(weft::scope s) const {
    return weft::dropout(s.input<"x", float, Million, Thousands>(), 0.1);
  }
};
struct integer {
  constexpr auto operator()(weft::scope s) const {
    return s.input<"n", std::int32_t>() + 3'000'000'000;
  }
};
template <bool Large>
struct number {
  constexpr auto operator()(weft::scope s) const {
    return s.input<"x", float, Embed>() * (Large ? -1e39 : 1e-50);
  }
};
struct two_updates {
  constexpr auto operator()(weft::scope s) const {
    auto count = (s / "cache").state<"count", float>();
    for (int i = 0; i < 2; ++i) s.update(count, count + 1);
    return count;
  }
};
struct update_of_a_sum {
  constexpr auto operator()(weft::scope s) const {
    auto count = s.state<"count", float>() + 1;
    s.update(count, count);
    return count;
  }
};
struct long_name {
  constexpr auto operator()(weft::scope s) const {
    auto deep = s / "model";
    for (int i = 0; i < 30; ++i) deep = deep / "attention";
    return deep.param<"weight", Embed>();
  }
};
struct base {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, Embed>();
    return weft::nn::rotary<Embed>(x, weft::positions<Pos>(), {.base = -1e4});
  }
};
struct wave_length {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, Embed>();
    return weft::nn::add_positions<Pos, Embed>(s, x, weft::nn::position::sinusoidal({.base = 0}));
  }
};

struct trained {
  constexpr auto operator()(weft::scope s) const {
    auto y = weft::nn::linear<Embed, weft::shape<>>(s / "line", s.input<"x", float, Embed>());
    return weft::as<"loss">(y * y);
  }
};

void run() {
  // errors: model: its operator() is not evaluated while compiling; mend the errors in it, or
  // declare it constexpr and call only what is; constexpr auto g = weft::trace<Model>() says what
  // stops it
  weft::module<not_constexpr> a;
  weft::trainer<calls_what_is_not<3>> b;
  // error: scan: a scan stands in the body of another; move it in front of the outer one, or make
  // one scan of both with weft::merge
  // note: Embed
  weft::module<scan_in_a_scan> c;
  // error: scan: a tensor of its body is used outside of it; return it with next(...).with(y), and
  // take it from .all
  weft::monte_carlo<out_of_body> d;
  // errors: dropout: the rate is not between 0 and 1
  weft::module<dropped<150>> e;
  weft::module<dropped<-1>> f;
  // error: dropout: the operand has more than 2^32 elements
  weft::module<much_dropped> g;
  // error: a number: it does not fit into int32, the elements that it is combined with
  weft::module<integer> h;
  // error: a number: it is infinite as float; write a smaller one, or infinity
  weft::module<number<true>> i;
  // error: a number: it is zero as float; write a larger one, or 0
  weft::module<number<false>> j;
  // error: update: a state is updated twice; update it once, with the last value
  // note: cache.count
  weft::module<two_updates> k;
  // error: update: what is updated is no state, as s.state<...>() gives it
  weft::module<update_of_a_sum> l;
  // error: scope: a name of more than 240 characters; give its parts shorter ones
  // note: model.attention.attention
  weft::trainer<long_name> m(weft::adamw{}, {.clip_norm = 1});
  // errors: frequencies: a base, a factor or a length is not positive
  weft::module<base> n;
  weft::module<wave_length> o;
  // error: trainer: a pattern stands for no parameter of the model
  // note: *.lora_*
  weft::trainer<weft::train_only<trained, "line.w*", "*.lora_*">> p;
  weft::trainer<weft::train_except<trained, "line.w*">> right;
}
