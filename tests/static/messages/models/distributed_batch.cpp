// expect: distributed: no input of the loss has the axis that batches are cut along
// expect: Steps
#include <weft/mpi/distributed.hpp>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Steps : weft::axis<3> {};
struct Embed : weft::axis<384> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto y = weft::dot<Embed>(s.input<"x", float, Batch, Embed>(), s.param<"w", Embed>());
    return weft::results(weft::as<"loss">(weft::mean<Batch>(y * y)));
  }
};

float run(const weft::communicator& ranks, const weft::array<float, Batch, Embed>& x) {
  weft::distributed<model, Steps> trainer(ranks, weft::adamw{}, {.clip_norm = 1});  // error here
  weft::module<model> net(trainer.parameters());
  return trainer.step(weft::arg<"x">(x)) + net(weft::arg<"x">(x)).get<"loss">()();
}
