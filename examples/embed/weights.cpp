// Writes weights for the encoder, which a project has from its training, and the first elements of
// the vector that weft::module computes with them: weights <weights.safetensors> <expected.txt>
#include <cstdio>
#include <string_view>
#include <vector>
#include <weft/files/load.hpp>
#include <weft/weft.hpp>

#include "encoder.hpp"

int main(int, char** arguments) {
  weft::module<app::encoder> net({.seed = 1});
  weft::save(net, arguments[1]);
  net.freeze();
  constexpr std::string_view text = "A model in C.";
  const auto y = net(weft::arg<"tokens">(std::vector<std::int32_t>(text.begin(), text.end())));
  std::FILE* const file = std::fopen(arguments[2], "w");
  for (std::size_t i = 0; i < 4; ++i) std::fprintf(file, "%.9g\n", double{y(i)});
  return std::fclose(file);
}
