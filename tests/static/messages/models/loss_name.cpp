// expect: trainer: the model has no result with the name of the loss
// expect: loss
// expect: error: float []
// expect: logits: float [Batch]
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Embed : weft::axis<384> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto logits = weft::dot<Embed>(s.input<"x", float, Batch, Embed>(), s.param<"w", Embed>());
    auto error = logits - s.input<"y", float, Batch>();
    return weft::results(weft::as<"error">(weft::mean<Batch>(error * error)),
                         weft::as<"logits">(logits));
  }
};

float run(const weft::array<float, Batch, Embed>& x, const weft::array<float, Batch>& y) {
  weft::trainer<model> trainer(weft::adamw{.learning_rate = 1}, {.clip_norm = 1});  // error here
  weft::module<model, "logits"> net(trainer.parameters());
  float const loss = trainer.step(weft::arg<"x">(x), weft::arg<"y">(y));
  return loss + net(weft::arg<"x">(x)).get<"logits">()(0);
}
