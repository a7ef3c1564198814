#include "model.hpp"

#include <cstdio>
#include <weft/weft.hpp>
#ifdef WITH_FILES
#include <weft/files/embedded.hpp>
#include <weft/files/load.hpp>
#include <weft/weft.hpp>
#endif
#ifdef WITH_MPI
#include <weft/mpi/checkpoint.hpp>
#endif
#ifdef WITH_PICTURES
#include <weft/pictures/grid.hpp>
#include <weft/pictures/heat_map.hpp>
#endif
#ifdef WITH_TBB
#include <weft/run/threads.hpp>
#endif

#ifdef WITH_MPI
// Of one rank, as nothing has started more.
bool trains(const weft::communicator& ranks) {
  weft::distributed<product, Batch> trainer(ranks);
  weft::array<float, Batch, Columns> x(2, 100);
  return ranks.size() == 1 && trainer.step(weft::arg<"x">(x)) == 0;
}
#endif

int main([[maybe_unused]] int argc, [[maybe_unused]] char** argv) {
  weft::module<sums> net(weft::generated<sums>());
#ifdef WITH_TBB
  net.run_on(weft::threads(2));
#endif
  for (float& w : net.parameters().floats()) w = 2;
  weft::array<float, Rows, Columns> x(7);
  for (std::size_t c = 0; c < 7; ++c) x(1, c) = static_cast<float>(c);
  const auto y = net(weft::arg<"x">(x));
  if (y(0) != 0 || y(1) != 42) return 1;
#ifdef WITH_FILES
  weft::save(net, "consumer.safetensors");
  weft::load(net, "consumer.safetensors");
  if (weft::embedded<"model.hpp">().empty()) return 1;
#endif
#ifdef WITH_MPI
  if (weft::mpi_main(argc, argv, [](const auto& ranks) { return trains(ranks) ? 0 : 1; }) != 0)
    return 1;
#endif
  std::puts("consumer: right");
}
