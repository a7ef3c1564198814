#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Embed : weft::axis<384> {};
struct Long : weft::axis<2147483647> {};
struct Wide : weft::axis<1024> {};

// Found by tracing.
struct many_parameters {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Embed>();
    for (int i = 0; i < 8200; ++i) x = x * (s / "layers" / i).param<"weight", Embed>();
    return weft::as<"loss">(weft::mean<Embed>(x));
  }
};
// By a pass: gradients are more operations.
struct many_operations {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Embed>();
    auto w = s.param<"w", Embed>();
    for (int i = 0; i < 10500; ++i) x = x * w;
    return weft::as<"loss">(weft::mean<Embed>(x));
  }
};
// By lowering.
struct large {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Long, Wide>();
    return weft::as<"loss">(weft::mean<Batch, Long, Wide>(x * s.param<"w", Wide>()));
  }
};

void run(const weft::array<float, Embed>& x) {
  // error: model: more than 8192 parameters
  // note: layers.8192.weight
  weft::module<many_parameters> net;
  net.freeze();
  weft::explain<many_parameters>();
  const auto y = net(weft::arg<"x">(x)).get<"loss">();

  // error: model: more than 40960 operations, those of gradients included
  weft::trainer<many_operations> of_operations;
  of_operations.step(weft::arg<"x">(x));

  // error: model: a tensor of more than 1099511627776 elements, or more memory than addresses reach
  weft::trainer<large> of_large;

  // error: model: a tensor of more than 1099511627776 elements, or more memory than addresses reach
  weft::module<large> of_too_large;
  of_too_large.freeze();
  y();
}
