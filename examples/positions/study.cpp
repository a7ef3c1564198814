#include "study.hpp"

#include <time.h>

#include <atomic>
#include <future>
#include <mutex>

namespace positions {

namespace {

// CPU seconds of this thread, which exclude other processes.
double worked() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double measured(learner& net, const task& t, std::size_t size, std::uint64_t seed) {
  constexpr int batches = 16;
  random_engine random(seed);
  double sum = 0;
  for (int i = 0; i < batches; ++i) {
    const auto found = net.measured(draw_to_measure(t, size, random));
    sum += t.nats ? found.loss : found.accuracy;
  }
  return sum / batches;
}

outcome learnt(const contestant& c, const task& t, const settings& s,
               const std::function<void(float)>& stepped) {
  // All encodings are trained on the same samples, and measured on none of them.
  random_engine random(2 * s.seed);
  const auto net = c.begin(s.steps, s.seed);
  double seconds = 0;
  for (long i = 0; i < s.steps; ++i) {
    const batch b = draw_to_learn(t, random);
    const double begin = worked();
    const float loss = net->learn(b);
    seconds += worked() - begin;
    stepped(loss);
  }
  return {measured(*net, t, t.most, 2 * s.seed + 1), measured(*net, t, 2 * t.most, 2 * s.seed + 1),
          seconds / static_cast<double>(s.steps), net->added(Pos::extent)};
}

}  // namespace

outcomes run_study(const settings& s, const std::function<void(long done, float loss)>& progress) {
  const std::size_t columns = s.tasks.size(), count = s.contestants.size() * columns;
  outcomes found(s.contestants.size(), std::vector<outcome>(columns));
  std::atomic<std::size_t> next = 0;
  std::mutex telling;
  long done = 0;
  const auto work = [&] {
    for (std::size_t i; (i = next++) < count;)
      found[i / columns][i % columns] =
          learnt(s.contestants[i / columns], s.tasks[i % columns], s, [&](float loss) {
            const std::lock_guard one(telling);
            progress(++done, loss);
          });
  };
  std::vector<std::future<void>> others;
  for (int i = 1; i < s.threads; ++i) others.push_back(std::async(std::launch::async, work));
  work();
  for (auto& other : others) other.get();
  return found;
}

}  // namespace positions
