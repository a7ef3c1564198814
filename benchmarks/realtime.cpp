// Frames in a thread that must not wait: how long one takes, beside a loop that does nothing, which
// shows what the machine itself takes away; what first frames cost, prepared and not; and frames of
// denormals.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>
#include <weft/run.hpp>

#include "benchmarks/models/frames.hpp"
#include "models/silero.hpp"

namespace {

using clock_of_frames = std::chrono::steady_clock;

template <class F>
double microseconds(F f) {
  const auto begin = clock_of_frames::now();
  f();
  return std::chrono::duration<double, std::micro>(clock_of_frames::now() - begin).count();
}

template <class F>
void print(const std::string& name, double first, F frame) {
  std::vector<double> times(100'000);
  for (double& t : times) t = microseconds(frame);
  std::sort(times.begin(), times.end());
  std::printf("%-36s %9.1f %9.1f %9.1f %9.1f\n", name.c_str(), first, times[times.size() / 2],
              times[times.size() / 1000 * 999], times.back());
}

template <weft::fixed_string Input, class Model, class... Axes>
void measure(const std::string& name) {
  weft::array<float, Axes...> x;
  for (int i = 0; float& v : x) v = static_cast<float>(++i * 37 % 101) / 50 - 1;
  for (const char* const how : {"plain", "frozen", "prepared", "prepared and locked"}) {
    weft::module<Model> net;
    const std::string_view of = how;
    if (of == "frozen") net.freeze();
    if (of.starts_with("prepared")) try {
        net.prepare({.lock = of != "prepared"});
      } catch (const weft::error& e) {
        std::printf("%s\n", e.what());
        continue;
      }
    const auto frame = [&] { net(weft::arg<Input>(x)); };
    const double first = microseconds(frame);
    print("realtime/" + name + ", " + how, first, frame);
  }
  weft::module<Model> net;
  net.prepare();
  for (float& v : x) v *= 1e-39f;
  const auto frame = [&] { net(weft::arg<Input>(x)); };
  print("realtime/" + name + ", denormals", microseconds(frame), frame);
  const weft::flush_denormals guard;
  print("realtime/" + name + ", flushed", microseconds(frame), frame);
}

}  // namespace

int main() {
  std::printf("%-36s %9s %9s %9s %9s\n", "us", "first", "median", "p99.9", "worst");
  print("realtime/nothing", microseconds([] {}), [] {});
  measure<"x", frames::detector, frames::Sample>("detector");
  measure<"x", frames::windowed, frames::Frame, frames::Embed>("windowed");
  measure<"frame", models::silero, models::silero::Frame>("silero");
}
