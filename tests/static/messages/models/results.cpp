// The message names what the results are, where one is unknown.
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

float of_a_module(const weft::array<float, Batch, Embed>& x) {
  // error: module: the model has no result of this name
  // note: logit
  // note: logits: float [Batch]
  weft::module<model, "logit"> net;
  const auto y = net(weft::arg<"x">(x)).get<"logit">();
  return y(0);
}

float of_a_run(const weft::array<float, Batch, Embed>& x) {
  weft::module<model, "logits"> net;
  // error: results: this module does not compute a result of this name
  // note: logits: float [Batch]
  const auto y = net(weft::arg<"x">(x)).get<"y">();
  return y(0);
}

float of_a_trainer(const weft::array<float, Batch, Embed>& x, const weft::array<float, Batch>& y) {
  // error: trainer: the model has no result with the name of the loss
  // note: loss
  // note: error: float []
  // note: logits: float [Batch]
  weft::trainer<model> trainer(weft::adamw{.learning_rate = 1}, {.clip_norm = 1});
  weft::module<model, "logits"> net(trainer.parameters());
  const float loss = trainer.step(weft::arg<"x">(x), weft::arg<"y">(y));
  return loss + net(weft::arg<"x">(x)).get<"logits">()(0);
}
