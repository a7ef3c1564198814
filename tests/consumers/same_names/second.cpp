#include <weft/weft.hpp>

struct Pos : weft::axis<4> {};
struct Shared : weft::axis<8> {};
struct model {
  constexpr auto operator()(weft::scope s) const {
    return weft::sum<Pos>(s.input<"x", float, Pos>() * 3.0f);
  }
};
struct of_axis {
  constexpr auto operator()(weft::scope s) const {
    return weft::sum<Shared>(s.input<"x", float, Shared>());
  }
};
struct trained {
  constexpr auto operator()(weft::scope s) const {
    return weft::as<"loss">(weft::sum<Pos>(s.param<"w", Pos>(weft::init::constant(2))));
  }
};
namespace second {
struct model {
  constexpr auto operator()(weft::scope s) const { return s.input<"x", float>() * 3.0f; }
};
}  // namespace second

float model_of_second() {
  weft::module<model> net;
  return net(weft::arg<"x">(weft::array<float, Pos>()))();
}
float axis_of_second() {
  weft::module<of_axis> net({.seed = 7});
  return net(weft::arg<"x">(weft::array<float, Shared>()))();
}
float trainer_of_second() {
  weft::trainer<trained> trainer({.learning_rate = 1});
  return trainer.step();
}
float named_of_second() {
  weft::module<second::model> net;
  return net(weft::arg<"x">(1.0f))();
}
