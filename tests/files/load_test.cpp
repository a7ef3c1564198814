// Saving parameters and training states to files, and loading them.
#include "weft/files/load.hpp"
#include "files/extents.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>

#include "support/temporary.hpp"
#include "support/thrown_by.hpp"
#include "weft/weft.hpp"

namespace {

using weft::stored_type, weft::tensor_file, weft::testing::refuses, weft::testing::says,
    weft::testing::temporary, weft::testing::thrown_by;

struct Batch : weft::axis<4> {};
struct Embed : weft::axis<6> {};
struct Heads : weft::axis<2> {};
struct HeadDim : weft::axis<3> {};
struct One : weft::axis<1> {};
template <class Axis>
struct Other : weft::axis<Axis::extent> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Embed>();
    auto heads = weft::nn::linear<Embed, weft::shape<Heads, HeadDim>>(s / "query", x);
    auto out = weft::nn::linear<weft::shape<Heads, HeadDim>, One>(s / "out", heads);
    auto y = weft::sum<One>(tanh(out));
    return weft::results(weft::as<"loss">(weft::mean<Batch>(y * y)), weft::as<"y">(y));
  }
};

template <int Layers, class Width = Embed>
struct stack {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Width>();
    using out = weft::shape<Other<Width>>;
    for (int i = 0; i < Layers; ++i) {
      auto h = weft::nn::linear<Width, out>(s / "layer" / i / "first", x);
      x = x + weft::nn::linear<out, Width>(s / "layer" / i / "second", h);
    }
    return weft::results(weft::as<"loss">(weft::sum<Batch, Width>(x * x)), weft::as<"y">(x));
  }
};

std::vector<float> numbers(std::size_t size, float first) {
  std::vector<float> all(size);
  for (std::size_t i = 0; i < size; ++i) all[i] = first + static_cast<float>(i) / 64;
  return all;
}

bool equal(const weft::parameter_block& a, const weft::parameter_block& b) {
  return std::ranges::equal(a.floats(), b.floats());
}

weft::tensor_to_store of(std::string name, std::vector<std::size_t> shape,
                         const std::vector<float>& values) {
  return {std::move(name), std::move(shape), std::span<const float>(values), stored_type::float32};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(load)

BOOST_AUTO_TEST_CASE(a_saved_module_is_loaded) {
  const temporary path("weft_load_test");
  const weft::module<model> saved({.seed = 7});
  weft::module<model> loaded({.seed = 8});
  weft::save(saved, path);
  BOOST_TEST(!equal(saved.parameters(), loaded.parameters()));
  BOOST_TEST(weft::load(loaded, path).empty());
  BOOST_TEST(equal(saved.parameters(), loaded.parameters()));

  weft::module<model, "y"> part({.seed = 9});  // has one result of the same model
  weft::load(part, path);
  BOOST_TEST(equal(saved.parameters(), part.parameters()));
}

BOOST_AUTO_TEST_CASE(try_load_returns_what_load_throws) {
  const temporary file("tried.safetensors");
  weft::module<model> net({.seed = 1}), other({.seed = 2});
  const auto missing = weft::try_load(other, file);
  BOOST_TEST(!missing);
  BOOST_TEST(missing.error().what() == thrown_by([&] { weft::load(other, file); }));
  weft::save(net, file);
  const auto ignored = weft::try_load(other, file);
  BOOST_TEST(ignored.has_value());
  BOOST_TEST(ignored->empty());
  BOOST_TEST(equal(net.parameters(), other.parameters()));
}

BOOST_AUTO_TEST_CASE(what_is_saved_to_memory_is_the_content_of_the_file) {
  const temporary path("weft_load_test");
  const weft::parameters<model> parameters({.seed = 7}), loaded({.seed = 8});
  const weft::save_options options{.metadata = {{"format", "pt"}}};
  weft::save(parameters, path, options);
  auto content = weft::saved(parameters, options);
  std::ifstream file(std::filesystem::path(path), std::ios::binary);
  const std::string in_file(std::istreambuf_iterator<char>(file), {});
  BOOST_TEST((std::ranges::equal(std::as_bytes(std::span(in_file)), content)));
  weft::load(loaded, tensor_file(std::move(content), "memory"));
  BOOST_TEST(equal(parameters, loaded));
}

BOOST_AUTO_TEST_CASE(saving_in_16_bits_rounds_each_value) {
  const temporary path("weft_load_test");
  const weft::parameters<model> saved({.seed = 7}), loaded({.seed = 8});
  for (const auto& [type, unit] :
       {std::pair{stored_type::float16, 0x1p-11f}, {stored_type::bfloat16, 0x1p-8f}}) {
    weft::save(saved, path, {.type = type, .metadata = {{"format", "pt"}}});
    const tensor_file file(path);
    BOOST_TEST(file.metadata().at("format") == "pt");
    weft::load(loaded, file);
    for (std::size_t i = 0; i < saved.floats().size(); ++i)
      BOOST_TEST(std::abs(loaded.floats()[i] - saved.floats()[i]) <=
                 unit * std::abs(saved.floats()[i]) + 0x1p-25f);
  }
}

// torch.nn.Linear(6, 6) has a weight [6, 6], rows first, for [Heads, HeadDim, Embed].
BOOST_AUTO_TEST_CASE(an_extent_in_the_file_may_merge_several_axes) {
  const temporary path("weft_load_test");
  const auto weight = numbers(36, 1), bias = numbers(6, 2), out = numbers(6, 3);
  const std::vector<float> out_bias{4};
  weft::save_tensors({of("query.weight", {6, 6}, weight), of("query.bias", {6}, bias),
                      of("out.weight", {1, 6}, out), of("out.bias", {1}, out_bias)},
                     path);
  const weft::parameters<model> p;
  weft::load(p, tensor_file(path));
  BOOST_TEST((std::ranges::equal(p.find("query.weight").values, weight)));
  BOOST_TEST((std::ranges::equal(p.find("query.bias").values, bias)));
  BOOST_TEST((std::ranges::equal(p.find("out.weight").values, out)));
  BOOST_TEST((p.get<"query.weight", Heads, HeadDim, Embed>()(1, 2, 3) == weight[5 * 6 + 3]));
}

BOOST_AUTO_TEST_CASE(every_missing_different_or_unknown_tensor_is_listed) {
  const temporary path("weft_load_test");
  const auto weight = numbers(36, 1);
  const std::vector<std::int32_t> whole(6);
  weft::save_tensors({of("query.weight", {4, 9}, weight),
                      {"query.bias", {6}, std::span<const std::int32_t>(whole), stored_type::int32},
                      of("out.weight", {6, 1}, numbers(6, 1)),
                      of("extra", {6, 6}, weight)},
                     path);
  weft::module<model> net({.seed = 1});
  const weft::parameters<model> before({.seed = 1});
  const std::string told = thrown_by([&] { weft::load(net, path); });
  const std::filesystem::path& name = path;
  BOOST_TEST(told ==
             name.string() +
                 ": not the parameters of the model, which has 4, while the file has 4 tensors: "
                 "1 missing, 3 different, 1 unknown"
                 "\n  missing: out.bias, [1] floating"
                 "\n  different: query.weight, [2, 3, 6] floating, is F32 [4, 9] in the file"
                 "\n  different: query.bias, [2, 3] floating, is I32 [6] in the file"
                 "\n  different: out.weight, [1, 2, 3] floating, is F32 [6, 1] in the file"
                 "\n  unknown: extra, F32 [6, 6]");
  BOOST_TEST(equal(net.parameters(), before));
}

BOOST_AUTO_TEST_CASE(missing_or_unknown_layers_share_one_line) {
  const temporary short_path("weft_load_test"), long_path("weft_load_test");
  weft::save(weft::module<stack<3>, "y">({.seed = 1}), short_path);
  weft::save(weft::module<stack<12>, "y">({.seed = 1}), long_path);
  const auto name = [](const std::filesystem::path& path) { return path.string(); };
  weft::module<stack<12>, "y"> deep;
  BOOST_TEST(thrown_by([&] { weft::load(deep, short_path); }) ==
             name(short_path) +
                 ": not the parameters of the model, which has 48, while the file has 12 tensors: "
                 "36 missing"
                 "\n  missing: layer.3 to layer.11, each of 4 parameters: first.weight, [6, 6] "
                 "floating; first.bias, [6] floating; and 2 more");
  weft::module<stack<3>, "y"> shallow;
  BOOST_TEST(thrown_by([&] { weft::load(shallow, long_path); }) ==
             name(long_path) +
                 ": not the parameters of the model, which has 12, while the file has 48 tensors: "
                 "36 unknown"
                 "\n  unknown: layer.3 to layer.11, each of 4 tensors: first.bias, F32 [6]; "
                 "first.weight, F32 [6, 6]; and 2 more");
  weft::trainer<stack<12>> trainer;  // the optimizer's state lacks them as well
  weft::save(weft::trainer<stack<3>>(), short_path);
  const std::string told = thrown_by([&] { weft::load(trainer, short_path); });
  BOOST_TEST(std::count(told.begin(), told.end(), '\n') == 2, told);
}

BOOST_AUTO_TEST_CASE(different_layers_share_one_line) {
  const temporary path("weft_load_test");
  weft::save(weft::module<stack<12, One>, "y">({.seed = 1}), path);
  weft::module<stack<12>, "y"> net;
  const std::filesystem::path& name = path;
  BOOST_TEST(thrown_by([&] { weft::load(net, path); }) ==
             name.string() +
                 ": not the parameters of the model, which has 48, while the file has 48 tensors: "
                 "48 different"
                 "\n  different: layer.0 to layer.11, each of 4 parameters: first.weight, [6, 6] "
                 "floating, is F32 [1, 1] in the file; first.bias, [6] floating, is F32 [1] in the "
                 "file; and 2 more");
}

BOOST_AUTO_TEST_CASE(names_are_grouped_by_their_first_number) {
  using lines = std::vector<std::string>;
  const auto grouped = [](const std::vector<weft::detail::remark>& all, std::size_t most) {
    return weft::detail::grouped(all, "names", most);
  };
  BOOST_TEST(grouped({}, 3).empty());
  BOOST_TEST((grouped({{"a", "x"}, {"b.c", "y"}}, 3) == lines{"a, x", "b.c, y"}));
  BOOST_TEST((grouped({{"w.10", "x"}, {"w.9", "x"}, {"w.12", "x"}, {"w.13", "y"}}, 3) ==
              lines{"w.9 to w.10, each: x", "w.12, x", "w.13, y"}));
  BOOST_TEST((grouped({{"l.0.a", "x"}, {"l.0.b", "y"}, {"m.0.a", "x"}, {"l.1.a", "x"}}, 3) ==
              lines{"l.0, 2 names: a, x; b, y", "l.1.a, x", "m.0.a, x"}));
  BOOST_TEST((grouped({{"0.h.1", "x"}, {"1.h.1", "x"}, {"x2.y", "x"}}, 2) ==
              lines{"0 to 1, each: h.1, x", "x2.y, x"}));
  BOOST_TEST((grouped({{"1", "x"}, {"01", "x"}, {"2..", "x"}, {"99999999999", "x"}}, 3) ==
              lines{"01, x", "1, x", "and 2 more names"}));
}

BOOST_AUTO_TEST_CASE(a_message_has_at_most_ten_lines) {
  const temporary path("weft_load_test");
  const auto six = numbers(6, 1);
  std::vector<weft::tensor_to_store> tensors;
  for (int i = 0; i < 1000; ++i)
    tensors.push_back(of("x" + std::to_string(i) + std::string(1000, 'x'), {6}, six));
  for (const char* one : {"1", "3", "5"})  // every other layer
    tensors.push_back(of(std::string("layer.") + one + ".first.bias", {2, 3}, six));
  weft::save_tensors(tensors, path);
  weft::module<stack<12>, "y"> net;
  const std::string told = thrown_by([&] { weft::load(net, path); });
  BOOST_TEST(std::count(told.begin(), told.end(), '\n') <= 9, told);
  BOOST_TEST(told.size() < 2500u, told);
  says(told, "45 missing, 3 different, 1000 unknown");
  says(told, "unknown: and 998 more tensors");
}

BOOST_AUTO_TEST_CASE(a_file_that_is_truncated_while_it_is_read_changes_no_parameter) {
  const temporary path("weft_load_test");
  weft::save(weft::module<model>({.seed = 7}), path);
  const tensor_file file(path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 4);
  const weft::parameters<model> loaded({.seed = 8}), before({.seed = 8});
  refuses([&] { weft::load(loaded, file); }, "while it was read");
  BOOST_TEST(equal(loaded, before));
}

BOOST_AUTO_TEST_CASE(names_may_differ_and_other_tensors_may_be_ignored) {
  const temporary path("weft_load_test");
  const auto weight = numbers(36, 1), bias = numbers(6, 2), out = numbers(6, 3);
  const std::vector<float> out_bias{4};
  weft::save_tensors({of("m.query.weight", {6, 6}, weight), of("m.query.bias", {6}, bias),
                      of("m.out.weight", {6}, out), of("m.out.bias", {1}, out_bias),
                      of("buffer", {2, 3}, bias), of("query.bias", {6}, out)},
                     path);
  const auto within = [](const std::string& name) { return "m." + name; };
  weft::module<model> net;
  BOOST_CHECK_THROW(weft::load(net, path, {.name_in_file = within}), weft::error);
  BOOST_CHECK_THROW(weft::load(net, path, {.ignore_others = true}), weft::error);  // missing
  const auto ignored = weft::load(net, path, {.name_in_file = within, .ignore_others = true});
  BOOST_TEST((ignored == std::vector<std::string>{"buffer", "query.bias"}));
  BOOST_TEST((std::ranges::equal(net.parameters().find("query.bias").values, bias)));
}

BOOST_AUTO_TEST_CASE(a_checkpoint_takes_metadata_and_gives_it) {
  const temporary path("weft_load_test");
  weft::trainer<model> trainer;
  weft::save(trainer, path, {.metadata = {{"vocabulary", "abc"}, {"note", "\u00e9"}}});
  const weft::tensor_file file(path);
  BOOST_TEST(file.metadata().at("vocabulary") == "abc");
  BOOST_TEST(file.metadata().at("note") == "\u00e9");
  weft::load(trainer, path);
  refuses(
      [&] {
        weft::save(trainer, path, {.metadata = {{"weft.steps", "1"}}});
      },
      "the metadata 'weft.steps' are the trainer's");
  refuses([&] { weft::save(trainer, path, {.type = weft::stored_type::bfloat16}); },
          "is kept in float32");
}

BOOST_AUTO_TEST_CASE(training_resumes_from_a_file_to_the_bit) {
  const temporary path("weft_load_test");
  const auto x = numbers(24, -1);
  const auto steps = [&](auto& trainer, int n) {
    for (int i = 0; i < n; ++i) trainer.step(weft::arg<"x">(x));
  };
  const auto make = [](std::uint64_t seed) {
    return weft::trainer<model>(
        weft::adamw{.learning_rate = 0.1},
        {.schedule = weft::warmup_cosine{.warmup = 3, .total = 20}, .seed = seed});
  };
  auto whole = make(1);
  steps(whole, 5);
  weft::save(whole, path);
  steps(whole, 5);
  auto resumed = make(2);
  weft::load(resumed, path);
  BOOST_TEST(resumed.steps() == 5);
  steps(resumed, 5);
  BOOST_TEST(equal(whole.parameters(), resumed.parameters()));

  weft::module<model, "y"> net;  // skips the optimizer's moments
  BOOST_TEST(weft::load(net, path).empty());
  auto again = make(3);
  weft::load(again, path);
  BOOST_TEST(equal(net.parameters(), again.parameters()));

  weft::trainer<model, weft::sgd> other;
  refuses([&] { weft::load(other, path); }, "is by 'adamw', and the trainer's is by");
  weft::save(whole.parameters(), path);
  BOOST_CHECK_THROW(weft::load(resumed, path), weft::error);
}

BOOST_AUTO_TEST_SUITE_END()
