// expect: trainer: the model has no result with the name of the loss
// expect: error: float []
#include <weft/mpi/distributed.hpp>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Embed : weft::axis<384> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto y = weft::dot<Embed>(s.input<"x", float, Batch, Embed>(), s.param<"w", Embed>());
    return weft::results(weft::as<"error">(weft::mean<Batch>(y * y)));
  }
};

float run(const weft::communicator& ranks, const weft::array<float, Batch, Embed>& x) {
  weft::distributed<model, Batch> trainer(ranks);  // error here
  return trainer.step(weft::arg<"x">(x));
}
