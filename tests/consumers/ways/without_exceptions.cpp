// A program that is compiled with -fno-exceptions: <program> attempts | handler | abort
#include <cstdlib>
#include <string_view>
#include <weft/weft.hpp>

#include "model.hpp"

#ifdef __cpp_exceptions
#error "This file has exceptions"
#endif

namespace {

weft::module<product> net;
weft::array<float, Pos> x(3), of_another_length(4);

bool runs() {
  for (float& v : x) v = 2;
  const auto y = net.try_run(weft::arg<"x">(x), weft::arg<"y">(x));
  return y && (*y)() == 12;
}
bool says_the_lengths(std::string_view error) {
  return error.find("axis Pos has length 4") != error.npos;
}

}  // namespace

int main(int, char** argv) {
  const std::string_view what = argv[1];
  if (!runs()) return 1;
  if (what == "attempts") {
    const auto y = net.try_run(weft::arg<"x">(x), weft::arg<"y">(of_another_length));
    if (y || !says_the_lengths(y.error().what())) return 2;
    const auto state = weft::attempt([] { return net.states().find("cache"); });
    return !state && runs() ? 0 : 3;
  }
  if (what == "handler")
    weft::set_error_handler([](const char* error) { std::_Exit(says_the_lengths(error) ? 0 : 4); });
  net(weft::arg<"x">(x), weft::arg<"y">(of_another_length));
  return 5;
}
