// Compiled by tests/run/nonblocking.py: a run is called where clang lets nothing block.
#include <memory>
#include <mutex>
#include <weft/weft.hpp>

#include "benchmarks/models/frames.hpp"

namespace {

using weft::arg;

float hear(weft::module<frames::detector>& net,
           const weft::array<float, frames::Sample>& x) noexcept [[clang::nonblocking]] {
#ifdef ALLOCATES
  const auto more = std::make_unique<float>(1.0f);
  return *more * net(arg<"x">(x))(0);
#elif defined(LOCKS)
  static std::mutex one;
  const std::lock_guard guard(one);
#elif defined(FREEZES)
  net.freeze();
#endif
  return net(arg<"x">(x))(0);
}

struct Rows : weft::axis<weft::up_to<9>> {};
// With what binding checks: a length, an index and a write.
struct looks_up {
  constexpr auto operator()(weft::scope s) const {
    auto rows = s.input<"rows", std::int32_t, Rows>();
    return weft::results(
        weft::as<"y">(weft::gather<frames::Window>(s.param<"table", frames::Window>(), rows)));
  }
};
float look(weft::module<looks_up>& net, const weft::array<std::int32_t, Rows>& rows) noexcept
    [[clang::nonblocking]] {
  return net(arg<"rows">(rows)).get<"y">()(0);
}

}  // namespace

int main() {
  weft::module<frames::detector> net;
  weft::module<looks_up> other;
  return hear(net, weft::array<float, frames::Sample>()) >
         look(other, weft::array<std::int32_t, Rows>(2));
}
