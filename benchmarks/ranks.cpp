// The time of a training step on the ranks of mpirun: see ranks.py.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>
#include <weft/mpi/distributed.hpp>
#include <weft/train.hpp>
#ifdef WEFT_WITH_TBB
#include <weft/run/threads.hpp>
#endif

#include "examples/char_lm/model.hpp"

namespace bench {
namespace {

// That of training/step, with batches of any size.
struct axes : char_lm::axes {
  struct Batch : weft::axis<weft::up_to<8>> {};
  struct Pos : weft::axis<128> {};
  struct KeyPos : weft::alias<Pos> {};
  struct Vocab : weft::axis<96> {};
};
using language_model = char_lm::model<4, axes>;

struct options {
  std::size_t texts = 8;
  int shards = 8, threads = 1, steps = 40;
  bool divides_state = false, trainer = false, alone = false;
};

template <class F>
double milliseconds(F f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

double median(std::vector<double> v) {
  std::ranges::nth_element(v, v.begin() + std::ssize(v) / 2);
  return v[v.size() / 2];
}

template <class Trainer>
void run_on(Trainer& t, int threads) {
#ifdef WEFT_WITH_TBB
  if (threads > 1) t.run_on(weft::threads(threads));
#endif
  (void)t, (void)threads;
}

// Half the time of a message there and back between the first two ranks, in microseconds.
double message(const weft::communicator& ranks, int bytes) {
  std::vector<char> data(static_cast<std::size_t>(bytes));
  const int other = 1 - ranks.rank();
  const auto send = [&] { MPI_Send(data.data(), bytes, MPI_BYTE, other, 0, ranks.handle()); };
  const auto receive = [&] {
    MPI_Recv(data.data(), bytes, MPI_BYTE, other, 0, ranks.handle(), MPI_STATUS_IGNORE);
  };
  std::vector<double> times;
  for (int i = 0; i < 50 && other >= 0; ++i)
    times.push_back(1e3 / 2 * milliseconds([&] {
                      ranks.rank() == 0 ? send() : receive();
                      ranks.rank() == 0 ? receive() : send();
                    }));
  MPI_Barrier(ranks.handle());
  return times.empty() ? 0 : median(times);
}

void measure(const weft::communicator& ranks, const options& o) {
  using Batch = axes::Batch;
  const auto part = weft::detail::part_of(o.texts, ranks.rank(), ranks.size(), o.shards);
  weft::array<std::int32_t, Batch, axes::Pos> tokens(part.size()), targets(part.size());
  std::int32_t next = 0;
  for (std::int32_t& t : tokens) t = next = (next * 29 + 17) % 96;
  for (std::int32_t& t : targets) t = next = (next * 29 + 17) % 96;
  const weft::adamw optimizer{.learning_rate = 1e-3, .weight_decay = 1e-2};
  const auto time = [&](auto& trainer) {
    run_on(trainer, o.threads);
    std::vector<double> times;
    for (int s = 0; s < o.steps + 3; ++s) {
      const double ms = milliseconds(
          [&] { trainer.step(weft::arg<"tokens">(tokens), weft::arg<"targets">(targets)); });
      if (s >= 3) times.push_back(ms);  // the first ones allocate
    }
    return median(times);
  };
  double ms = 0;
  if (o.trainer) {
    weft::trainer<language_model> t(optimizer);
    ms = time(t);
  } else {
    // Alone, each rank computes its shards and exchanges nothing.
    const weft::sharding_options sharding{o.alone ? o.shards / ranks.size() : o.shards,
                                          o.divides_state};
    weft::distributed<language_model, Batch> t(o.alone ? weft::communicator(MPI_COMM_SELF) : ranks,
                                               optimizer, {}, sharding);
    ms = time(t);
  }
  const double small = message(ranks, 8), large = message(ranks, 1 << 20);
  if (ranks.rank() == 0)
    std::printf("{\"ms\": %.4f, \"bytes\": %zu, \"message_us\": %.3f, \"megabyte_us\": %.3f}\n", ms,
                weft::parameters<language_model>::bytes, small, large);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  CLI::App app(
      "A step's median time in milliseconds, the bytes of gradients, and the time of messages.");
  bench::options o;
  app.add_option("--texts", o.texts, "of a batch, all ranks together");
  app.add_option("--shards", o.shards);
  app.add_option("--threads", o.threads, "of each rank");
  app.add_option("--steps", o.steps);
  app.add_flag("--divide", o.divides_state, "divide the optimizer's state");
  app.add_flag("--alone", o.alone, "each rank trains by itself, on its part of the texts");
  app.add_flag("--trainer", o.trainer, "a weft::trainer on each rank, without the others");
  CLI11_PARSE(app, argc, argv);
  return weft::mpi_main(argc, argv, [&](const weft::communicator& ranks) {
    bench::measure(ranks, o);
    return 0;
  });
}
