// Files in the program.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "support/temporary.hpp"
#include "weft/files/embedded.hpp"
#include "weft/files/load.hpp"
#include "weft/nn/linear.hpp"

namespace {

struct Row : weft::axis<2> {};
struct Embed : weft::axis<16> {};
struct Wide : weft::axis<5> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Row, Embed>();
    return weft::results(weft::as<"y">(weft::nn::linear<Embed, Wide>(s, x)));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(embedded)

BOOST_AUTO_TEST_CASE(an_embedded_file_has_the_tensors_of_the_file) {
  const auto content = weft::embedded<"encoder_layer.safetensors">();
  BOOST_TEST(reinterpret_cast<std::uintptr_t>(content.data()) % 64 == 0u);
  const weft::tensor_file file(WEFT_EMBEDDED_FILE);
  const weft::tensor_file within(content, "encoder_layer.safetensors");
  BOOST_TEST(within.name() == "encoder_layer.safetensors");
  BOOST_TEST_REQUIRE(within.tensors().size() == file.tensors().size());
  BOOST_TEST(!file.tensors().empty());
  for (const auto& t : file.tensors())
    BOOST_TEST((within[t.name].values<float>() == t.values<float>()), t.name);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_made_while_building_is_embedded) {
  const auto made = weft::embedded<"made.txt">();
  BOOST_TEST(std::string_view(reinterpret_cast<const char*>(made.data()), made.size()) == "made");
}

BOOST_AUTO_TEST_CASE(parameters_in_memory_are_those_that_modules_read) {
  const weft::testing::temporary path("weft_embedded_test");
  weft::save(weft::parameters<model>({.seed = 3}), path);
  weft::module<model> right{weft::tensor_file(path)};
  std::vector<std::byte> content(std::filesystem::file_size(path));
  std::ifstream(static_cast<const std::filesystem::path&>(path), std::ios::binary)
      .read(reinterpret_cast<char*>(content.data()), std::ssize(content));
  const weft::tensor_file file(std::span<std::byte>(content), "memory");
  weft::module<model> first{file}, second{file};
  const std::vector<float> x(32, 0.5f);
  const auto run = [&](weft::module<model>& net) {
    const auto y = net(weft::arg<"x">(x)).get<"y">();
    return std::vector<float>(y.data(), y.data() + y.size());
  };
  BOOST_TEST((run(first) == run(right)));
  auto* const weight =
      reinterpret_cast<std::byte*>(first.parameters().find("weight").values.data());
  BOOST_TEST((weight >= content.data() && weight < content.data() + content.size()));
  for (float& w : first.parameters().find("bias").values) w += 1;
  BOOST_TEST((run(second) == run(first)));
  BOOST_TEST((run(second) != run(right)));
}

BOOST_AUTO_TEST_CASE(memory_of_any_alignment_holds_a_file) {
  const weft::testing::temporary path("weft_embedded_test");
  weft::module<model> right({.seed = 3});
  right.freeze();
  const std::vector<float> x(32, 0.5f);
  const auto run = [&](weft::module<model>& net) {
    const auto y = net(weft::arg<"x">(x)).get<"y">();
    return std::vector<float>(y.data(), y.data() + y.size());
  };
  for (const bool packed : {false, true}) {
    if (packed)
      weft::save(right.packed(), path);
    else
      weft::save(right, path);
    const auto size = std::filesystem::file_size(path);
    for (const std::size_t at : std::vector<std::size_t>{0, 1, 4, 32}) {
      std::vector<std::byte> memory(size + 64);
      const std::span<std::byte> content = std::span(memory).subspan(at, size);
      std::ifstream(static_cast<const std::filesystem::path&>(path), std::ios::binary)
          .read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(size));
      weft::module<model> net(weft::tensor_file(content, "memory"), weft::precision::float32);
      BOOST_TEST((run(net) == run(right)), "at " << at);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
