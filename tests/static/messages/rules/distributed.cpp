#include <weft/mpi/distributed.hpp>
#include <weft/weft.hpp>

#include "../../words.hpp"

using namespace words;

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto y = weft::dot<Embed>(s.input<"x", float, Batch, Embed>(), s.param<"w", Embed>());
    return weft::results(weft::as<"error">(weft::mean<Batch>(y * y)));
  }
};

using without_loss = weft::distributed<model, Batch>;

void wrong(const weft::communicator& ranks, const weft::array<float, Batch, Embed>& x) {
  // error: distributed: no input of the loss has the axis that batches are cut along
  weft::distributed<model, Heads, weft::adamw, "error"> heads(ranks, {}, {.clip_norm = 1});
  heads.step(weft::arg<"x">(x));
  weft::module<model> net(heads.parameters());
  // error: trainer: the model has no result with the name of the loss
  // note: error: float []
  without_loss trainer(ranks);
  trainer.step(weft::arg<"x">(x));
}
