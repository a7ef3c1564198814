// A program of ranks of which one ends: fault WHAT FILE, see fault.cmake.
#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "mpi/model.hpp"

int main(int argc, char** argv) {
  using namespace weft::testing;
  const std::string what = argc > 1 ? argv[1] : "", file = argc > 2 ? argv[2] : "";
  if (what == "reads") {
    weft::trainer<plain_next_token> t;
    weft::load(t, file);
    return t.steps() == 3 ? 0 : 1;
  }
  const auto train = [&](const weft::communicator& ranks) {
    weft::distributed<plain_next_token, Batch> t(ranks, {}, {.seed = 1});
    for (int step = 0; step < 1000; ++step) {
      const auto part = t.part(8);
      weft::array<std::int32_t, Batch, Pos> x(part.size(), 3), y(part.size(), 3);
      if (step == 3 && ranks.rank() == 1) {
        if (what == "killed") std::raise(SIGKILL);
        if (what == "throws" || what == "caught" || what == "own")
          throw std::runtime_error("the disk of this rank is full");
        if (what == "wrong") x(0, 0) = -1;
      }
      t.step(weft::arg<"tokens">(x), weft::arg<"targets">(y));
      weft::save(t, file);
    }
    return 0;
  };
  if (what == "own") {  // without mpi_main
    MPI_Init(&argc, &argv);
    try {
      train(weft::communicator(MPI_COMM_WORLD));
    } catch (const std::exception&) {
    }
    MPI_Finalize();
    return 1;
  }
  return weft::mpi_main(argc, argv, [&](const weft::communicator& ranks) {
    if (what != "caught") return train(ranks);
    try {
      return train(ranks);
    } catch (const std::exception&) {
      return 1;
    }
  });
}
