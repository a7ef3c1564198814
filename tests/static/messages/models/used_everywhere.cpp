#include <weft/weft.hpp>

#include <weft/files/load.hpp>

struct Batch : weft::axis<8> {};
struct Embed : weft::axis<384> {};
struct Hidden : weft::axis<1536> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Hidden>();
    // error: dot: the right operand has no such axis to contract
    // note: shape<Embed>
    auto loss = weft::dot<Batch, Hidden>(x, s.param<"w", Embed>());
    return weft::results(weft::as<"loss">(loss), weft::as<"x">(x));
  }
};

// Nothing that takes the model prints a further message.
constexpr weft::graph g = weft::trace<model>();
static_assert(weft::cost<model>.workspace_bytes <= 1 << 20);
static_assert(weft::training_cost<model>.flops < 1e9);

struct application {
  weft::module<model, "loss"> part{weft::generated<model, "loss">()};
  weft::monte_carlo<model> sample;
  weft::trainer<model> trainer{weft::adamw{}, {.seed = 1}, weft::generated_training<model>()};
};

float run(application& a, const weft::array<float, Batch, Hidden>& x) {
  weft::module<model, "loss"> net(a.trainer.parameters());
  weft::load(net, "model.safetensors");
  weft::save(a.trainer, "training.safetensors");
  weft::explain<model>();
  net.freeze();
  a.sample.draw_from({.seed = 1, .sample = 2});
  a.trainer.parameters().get<"w", Embed>()(0) = 1;
  for (int i = 0; i < 3; ++i) a.trainer.step(weft::arg<"x">(x));
  const weft::view<const float, weft::shape<Batch>> y =
      net(weft::arg<"x">(x), weft::arg<"y">(1.0f)).get<"loss">();
  return y(0) + a.sample(weft::arg<"x">(x)).get<"x">().data()[0];
}
