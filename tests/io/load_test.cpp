// Parameters and training into files and back.
#include "weft/io/load.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "support/temporary.hpp"
#include "weft/nn/linear.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/reduce.hpp"
#include "weft/run/error.hpp"

namespace {

using weft::stored_type;
using weft::tensor_file;
using weft::testing::temporary;

struct Batch : weft::axis<4> {};
struct Embed : weft::axis<6> {};
struct Heads : weft::axis<2> {};
struct HeadDim : weft::axis<3> {};
struct One : weft::axis<1> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Embed>();
    auto heads = weft::nn::linear<weft::shape<Embed>, weft::shape<Heads, HeadDim>>(s / "query", x);
    auto out = weft::nn::linear<weft::shape<Heads, HeadDim>, weft::shape<One>>(s / "out", heads);
    auto y = weft::sum<One>(tanh(out));
    return weft::results(weft::as<"loss">(weft::mean<Batch>(y * y)), weft::as<"y">(y));
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

std::string message(const auto& f) {
  try {
    f();
  } catch (const weft::error& e) {
    return e.what();
  }
  return "";
}

weft::tensor_to_store of(std::string name, std::vector<std::size_t> shape,
                         const std::vector<float>& values) {
  return {std::move(name), std::move(shape), std::span<const float>(values), stored_type::float32};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(load)

BOOST_AUTO_TEST_CASE(a_module_that_is_saved_is_loaded) {
  temporary const path("weft_load_test");
  weft::module<model> const saved(7);
  weft::module<model> loaded(8);
  weft::save(saved, path);
  BOOST_TEST(!equal(saved.parameters(), loaded.parameters()));
  BOOST_TEST(weft::load(loaded, path).empty());
  BOOST_TEST(equal(saved.parameters(), loaded.parameters()));

  weft::module<model, "y"> part(9);  // of the same model
  weft::load(part, path);
  BOOST_TEST(equal(saved.parameters(), part.parameters()));
}

BOOST_AUTO_TEST_CASE(in_half_the_memory_each_number_is_rounded) {
  temporary const path("weft_load_test");
  weft::parameters<model> const saved(7), loaded(8);
  for (auto const& [type, unit] :
       {std::pair{stored_type::float16, 0x1p-11f}, {stored_type::bfloat16, 0x1p-8f}}) {
    weft::save(saved, path, {.type = type, .metadata = {{"format", "pt"}}});
    tensor_file const file(path);
    BOOST_TEST(file.metadata().at("format") == "pt");
    weft::load(loaded, file);
    for (std::size_t i = 0; i < saved.floats().size(); ++i)
      BOOST_TEST(std::abs(loaded.floats()[i] - saved.floats()[i]) <=
                 unit * std::abs(saved.floats()[i]) + 0x1p-25f);
  }
}

// torch.nn.Linear(6, 6) has a weight [6, 6], rows first, for [Heads, HeadDim, Embed].
BOOST_AUTO_TEST_CASE(a_number_of_the_file_may_stand_for_several_axes) {
  temporary const path("weft_load_test");
  auto const weight = numbers(36, 1), bias = numbers(6, 2), out = numbers(6, 3);
  std::vector<float> const out_bias{4};
  weft::write_tensors(path, {of("query.weight", {6, 6}, weight), of("query.bias", {6}, bias),
                             of("out.weight", {1, 6}, out), of("out.bias", {1}, out_bias)});
  weft::parameters<model> const p;
  weft::load(p, tensor_file(path));
  BOOST_TEST((std::ranges::equal(p.find("query.weight").values, weight)));
  BOOST_TEST((std::ranges::equal(p.find("query.bias").values, bias)));
  BOOST_TEST((std::ranges::equal(p.find("out.weight").values, out)));
  BOOST_TEST((p.get<"query.weight", Heads, HeadDim, Embed>()(1, 2, 3) == weight[5 * 6 + 3]));
}

BOOST_AUTO_TEST_CASE(all_that_is_missing_too_many_or_different_is_listed) {
  temporary const path("weft_load_test");
  auto const weight = numbers(36, 1);
  std::vector<std::int32_t> const whole(6);
  weft::write_tensors(
      path, {of("query.weight", {4, 9}, weight),
             {"query.bias", {6}, std::span<const std::int32_t>(whole), stored_type::int32},
             of("out.weight", {6, 1}, numbers(6, 1)),
             of("extra", {6, 6}, weight)});
  weft::module<model> net(1);
  weft::parameters<model> const before(1);
  std::string const told = message([&] { weft::load(net, path); });
  std::filesystem::path const& name = path;
  BOOST_TEST(told ==
             name.string() +
                 ": not the parameters of the model"
                 "\n  different: query.weight, [2, 3, 6] floating, is F32 [4, 9] in the file"
                 "\n  different: query.bias, [2, 3] floating, is I32 [6] in the file"
                 "\n  different: out.weight, [1, 2, 3] floating, is F32 [6, 1] in the file"
                 "\n  missing: out.bias, [1] floating"
                 "\n  too many: extra, F32 [6, 6]");
  BOOST_TEST(equal(net.parameters(), before));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_cut_off_while_it_is_read_changes_no_parameter) {
  temporary const path("weft_load_test");
  weft::save(weft::module<model>(7), path);
  tensor_file const file(path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 4);
  weft::parameters<model> const loaded(8), before(8);
  BOOST_TEST(message([&] { weft::load(loaded, file); }).find("while it was read") !=
             std::string::npos);
  BOOST_TEST(equal(loaded, before));
}

BOOST_AUTO_TEST_CASE(names_may_differ_and_others_be_left_alone) {
  temporary const path("weft_load_test");
  auto const weight = numbers(36, 1), bias = numbers(6, 2), out = numbers(6, 3);
  std::vector<float> const out_bias{4};
  weft::write_tensors(path, {of("m.query.weight", {6, 6}, weight), of("m.query.bias", {6}, bias),
                             of("m.out.weight", {6}, out), of("m.out.bias", {1}, out_bias),
                             of("buffer", {2, 3}, bias), of("query.bias", {6}, out)});
  auto const within = [](const std::string& name) { return "m." + name; };
  weft::module<model> net;
  BOOST_CHECK_THROW(weft::load(net, path, {.name_in_file = within}), weft::error);
  BOOST_CHECK_THROW(weft::load(net, path, {.ignore_others = true}), weft::error);  // missing
  auto const ignored = weft::load(net, path, {.name_in_file = within, .ignore_others = true});
  BOOST_TEST((ignored == std::vector<std::string>{"buffer", "query.bias"}));
  BOOST_TEST((std::ranges::equal(net.parameters().find("query.bias").values, bias)));
}

BOOST_AUTO_TEST_CASE(training_goes_on_where_it_was_saved_to_the_bit) {
  temporary const path("weft_load_test");
  auto const x = numbers(24, -1);
  auto const steps = [&](auto& trainer, int n) {
    for (int i = 0; i < n; ++i) trainer.step(weft::arg<"x">(x));
  };
  auto const make = [](std::uint64_t seed) {
    return weft::trainer<model>(weft::adamw{.learning_rate = 0.1},
                                {.schedule = weft::warmup_cosine{3, 20}}, seed);
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

  weft::module<model, "y"> net;  // passes over the optimizer's moments
  BOOST_TEST(weft::load(net, path).empty());
  auto again = make(3);
  weft::load(again, path);
  BOOST_TEST(equal(net.parameters(), again.parameters()));

  weft::trainer<model, weft::sgd> other;
  BOOST_TEST(message([&] {
               weft::load(other, path);
             }).find("is by 'adamw', and the trainer's is by") != std::string::npos);
  weft::save(whole.parameters(), path);
  BOOST_CHECK_THROW(weft::load(resumed, path), weft::error);
}

BOOST_AUTO_TEST_SUITE_END()
