// Files of packed weights: modules made from them, on the machine that packed them and on others.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "kernels/targets.hpp"
#include "support/temporary.hpp"
#include "support/thrown_by.hpp"
#include "weft/files/load.hpp"
#include "weft/run/mixed.hpp"
#include "weft/weft.hpp"

namespace {

using weft::arg, weft::precision, weft::stored_type, weft::tensor_file, weft::testing::temporary,
    weft::testing::thrown_by;

struct Words : weft::axis<53> {};
struct Heads : weft::axis<3> {};
struct HeadDim : weft::axis<7> {};
struct Width : weft::axis<21> {};
struct Half : weft::axis<40> {};
struct Both : weft::axis<80> {};
struct Wide : weft::axis<64> {};

// A table that is gathered from and contracted with, one that is gathered from alone, weights with
// two axes of columns, one that is packed in two parts, one whose columns are contiguous, and
// parameters that are read as they are.
template <std::size_t Most>
struct model {
  struct Pos : weft::axis<weft::up_to<Most>> {};
  constexpr auto operator()(weft::scope s) const {
    using weft::shape;
    auto table = weft::nn::tied_embedding<Words, Width>(s / "words");
    auto words = s.input<"words", std::int32_t, Pos>();
    auto x = table.embed(words) * s.param<"gain", Width>(weft::init::uniform(1, 2));
    x = x + weft::nn::linear<Wide, Width>(s / "narrow",
                                          weft::nn::embedding<Words, Wide>(s / "untied", words));
    auto heads = weft::nn::linear<Width, shape<Heads, HeadDim>>(s / "heads", x);
    auto wide = weft::dot<Heads, HeadDim>(
        heads, s.param<"wide", Heads, HeadDim, Both>(weft::init::normal(0, 0.3)));
    auto parts = s.param<"parts", Both, Width>(weft::init::normal(0, 0.3));
    auto y = weft::dot<Half>(weft::slice<Both, Half, 0>(wide), weft::slice<Both, Half, 0>(parts)) +
             weft::dot<Half>(tanh(weft::slice<Both, Half, 40>(wide)),
                             weft::slice<Both, Half, 40>(parts));
    return weft::results(weft::as<"logits">(table.logits(y)));
  }
};
using whole = model<5>;

template <class Net>
std::vector<float> run(Net& net) {
  const std::vector<std::int32_t> words{52, 0, 7};
  const auto y = net(arg<"words">(words)).template get<"logits">();
  return {y.data(), y.data() + y.size()};
}

constexpr precision all[]{precision::float32, precision::bfloat16, precision::bfloat16_products,
                          precision::q8_0,    precision::q4_0,     precision::int8_products};

std::string content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Replaces one text in a file by another of the same length.
void replace(const std::filesystem::path& path, const std::string& from, const std::string& to) {
  std::string text = content(path);
  BOOST_TEST_REQUIRE(from.size() == to.size());
  const auto at = text.find(from);
  BOOST_TEST_REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(packed, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(a_module_made_from_packed_weights_is_the_one_that_packed_them) {
  const temporary file("weft_packed_source"), packed("weft_packed_test");
  weft::save(weft::parameters<whole>({.seed = 3}), file);
  weft::kernels::on_every_target([&](const weft::kernels::table&) {
    for (const auto p : all) {
      weft::module<whole> first(tensor_file(file), p);
      weft::save(first.packed(), packed);
      weft::module<whole> mapped(tensor_file(packed), p);
      BOOST_TEST((run(mapped) == run(first)));
      BOOST_TEST(mapped.parameters().is_partial());
      BOOST_TEST(std::ranges::equal(mapped.parameters().find("gain").values,
                                    first.parameters().find("gain").values));
      const std::string bytes = content(packed);
      std::vector<std::byte> buffer(bytes.size());
      std::ranges::transform(bytes, buffer.begin(), [](char c) { return std::byte(c); });
      weft::module<whole> copied(tensor_file(std::move(buffer), "buffer"), p);
      BOOST_TEST((run(copied) == run(first)));
      // What it has mapped can be saved again.
      weft::save(mapped.packed(), packed);
      BOOST_TEST((content(packed) == bytes));
    }
  });
}

BOOST_AUTO_TEST_CASE(packed_weights_keep_the_precision_of_each) {
  const temporary file("weft_packed_source"), packed("weft_packed_test");
  weft::save(weft::parameters<whole>({.seed = 3}), file);
  const weft::mixed_precision rules{
      precision::q4_0,
      {{"words.*", precision::q8_0}, {"heads.*", precision::int8_products}, {"w*", all[1]}}};
  weft::kernels::on_every_target([&](const weft::kernels::table&) {
    weft::module<whole> first(tensor_file(file), rules), frozen({.seed = 3});
    frozen.freeze(rules);
    weft::save(first.packed(), packed);
    const std::string bytes = content(packed);
    weft::module<whole> mapped(tensor_file(packed), precision::stored);
    weft::module<whole> asked(tensor_file(packed), rules);
    BOOST_TEST((run(mapped) == run(first)));
    BOOST_TEST((run(asked) == run(first)));
    BOOST_TEST(mapped.parameters().is_partial());
    weft::save(frozen.packed(), packed);
    BOOST_TEST((content(packed) == bytes));
  });
}

BOOST_AUTO_TEST_CASE(a_frozen_module_with_all_parameters_saves_the_same_file) {
  const temporary file("weft_packed_source"), packed("weft_packed_test");
  const weft::parameters<whole> parameters({.seed = 3});
  weft::save(parameters, file);
  weft::module<whole> first(tensor_file(file), precision::float32), frozen(parameters);
  frozen.freeze();
  weft::save(first.packed(), packed);
  const std::string expected = content(packed);
  weft::save(frozen.packed(), packed);
  BOOST_TEST((content(packed) == expected));
}

BOOST_AUTO_TEST_CASE(weights_packed_for_another_target_are_packed_anew_with_the_same_bits) {
  const temporary file("weft_packed_source");
  weft::save(weft::parameters<whole>({.seed = 3}), file);
  std::map<std::string, temporary> made;
  for (const auto p : all) {
    weft::kernels::on_every_target([&](const weft::kernels::table&) {
      const temporary& path = made.try_emplace(std::to_string(made.size()),
                                               "weft_packed_" + std::to_string(made.size()))
                                  .first->second;
      weft::module<whole> first(tensor_file(file), p);
      weft::save(first.packed(), path);
    });
    weft::kernels::on_every_target([&](const weft::kernels::table&) {
      weft::module<whole> first(tensor_file(file), p);
      for (const auto& [name, path] : made) {
        weft::module<whole> other(tensor_file(path), p);
        BOOST_TEST((run(other) == run(first)), name);
      }
    });
    made.clear();
  }
}

BOOST_AUTO_TEST_CASE(a_model_with_other_bounds_takes_the_same_file) {
  const temporary file("weft_packed_source"), packed("weft_packed_test");
  weft::save(weft::parameters<whole>({.seed = 3}), file);
  weft::module<whole> first(tensor_file(file), precision::bfloat16);
  weft::save(first.packed(), packed);
  weft::module<model<300>> longer(tensor_file(packed), precision::bfloat16);
  BOOST_TEST((run(longer) == run(first)));
}

struct wider {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Width>();
    return weft::results(weft::as<"y">(weft::nn::linear<Width, Both>(s / "wide", x)));
  }
};

BOOST_AUTO_TEST_CASE(wrong_files_are_refused_by_name) {
  const temporary path("weft_packed_test");
  const std::string name = static_cast<const std::filesystem::path&>(path).string();
  const auto save = [&] {
    weft::module<whole> first({.seed = 3});
    first.freeze(precision::bfloat16);
    weft::save(first.packed(), path);
  };
  const auto told = [&](precision p = precision::bfloat16) {
    return thrown_by([&] { weft::module<whole> net(tensor_file(path), p); });
  };
  const auto names_it = [&](const std::string& message, const char* what) {
    BOOST_TEST(message.starts_with(name), message);
    weft::testing::says(message, what);
  };
  save();
  BOOST_TEST(told() == "");
  names_it(told(precision::float32), "packed in bfloat16");
  names_it(thrown_by([&] { weft::module<wider> net(tensor_file(path), precision::bfloat16); }),
           "another model");
  weft::module<whole> net;
  names_it(thrown_by([&] { weft::load(net, path); }), "packed");
  names_it(thrown_by([&] { weft::parameters<whole>{tensor_file(path)}; }),
           "packed in bfloat16; make");
  names_it(thrown_by([&] { weft::module<whole>{tensor_file(path)}; }), "packed in bfloat16; make");
  replace(path, "\"bfloat16\"", "\"bfloat17\"");
  names_it(told(), "'bfloat17' is no precision");
  save();
  replace(path, "tiles of ", "tiles in ");
  names_it(told(), "is no layout");
  save();
  replace(path, "\"weft.packed\"", "\"weft.packet\"");
  names_it(told(), "'weft.packed'");
  save();
  replace(path, "\"gain\"", "\"pain\"");
  names_it(told(), "'gain'");
  BOOST_TEST(thrown_by([] { weft::module<whole>().packed(); }) ==
             "packed: the module is not frozen");
}

BOOST_AUTO_TEST_SUITE_END()
