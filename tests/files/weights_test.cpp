// Modules that are made from files: what is mapped, what is converted, and what is refused.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "support/temporary.hpp"
#include "support/thrown_by.hpp"
#include "weft/files/load.hpp"
#include "weft/weft.hpp"

namespace {

using weft::arg, weft::stored_type, weft::tensor_file, weft::weights, weft::testing::refuses,
    weft::testing::says, weft::testing::temporary, weft::testing::thrown_by;

struct Batch : weft::axis<2> {};
struct Embed : weft::axis<5> {};
struct Wide : weft::axis<21> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Embed>();
    auto h = weft::nn::linear<Embed, Wide>(s / "up", x);
    auto y = weft::nn::linear<Wide, Embed>(s / "down", tanh(h));
    return weft::results(weft::as<"y">(y), weft::as<"loss">(weft::mean<Batch, Embed>(y * y)));
  }
};
using net = weft::module<model, "y">;

std::vector<float> run(net& n) {
  const std::vector<float> x{1, 2, -3, 4, 5, 0, -1, 3, 2, 1};
  const auto y = n(arg<"x">(x)).get<"y">();
  return {y.data(), y.data() + y.size()};
}

bool equal(const weft::parameter_block& a, const weft::parameter_block& b) {
  for (std::size_t i = 0; i < a.count(); ++i)
    if (!std::ranges::equal(a[i].values, b[i].values)) return false;
  return true;
}

std::vector<std::byte> content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> chars(std::istreambuf_iterator<char>(in), {});
  const auto bytes = std::as_bytes(std::span(chars));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(weights_)

BOOST_AUTO_TEST_CASE(a_module_made_from_a_file_is_that_which_loads_it) {
  const temporary path("weft_weights_test");
  net saved({.seed = 7});
  for (const auto type : {stored_type::float32, stored_type::float64, stored_type::bfloat16}) {
    net loaded({.seed = 8});
    weft::save(saved, path, {.type = type});
    weft::load(loaded, path);
    net mapped{tensor_file(path)};
    BOOST_TEST((run(mapped) == run(loaded)));
    BOOST_TEST(equal(mapped.parameters(), loaded.parameters()));
    for (net* const n : {&mapped, &loaded}) n->freeze();
    BOOST_TEST((run(mapped) == run(loaded)));
  }
}

BOOST_AUTO_TEST_CASE(the_same_holds_for_a_file_in_a_buffer_and_for_values_anywhere) {
  const temporary path("weft_weights_test");
  net saved({.seed = 7});
  weft::save(saved, path);
  const auto bytes = content(path);
  net in_memory{tensor_file(bytes, "buffer")};
  BOOST_TEST((run(in_memory) == run(saved)));

  // With each number of spaces after the header, most values are where no float can be.
  for (std::size_t spaces = 1; spaces < 5; ++spaces) {
    const std::size_t header = static_cast<std::size_t>(bytes[0]) + 256 * std::size_t(bytes[1]);
    std::vector<std::byte> moved(bytes.begin(), bytes.begin() + 8 + std::ptrdiff_t(header));
    moved[0] = std::byte((header + spaces) % 256);
    moved[1] = std::byte((header + spaces) / 256);
    moved.insert(moved.end(), spaces, std::byte{' '});
    moved.insert(moved.end(), bytes.begin() + 8 + std::ptrdiff_t(header), bytes.end());
    std::ofstream(static_cast<const std::filesystem::path&>(path), std::ios::binary)
        .write(reinterpret_cast<const char*>(moved.data()), std::ssize(moved));
    net shifted{tensor_file(path)};
    BOOST_TEST((run(shifted) == run(saved)));
  }
}

BOOST_AUTO_TEST_CASE(changes_of_mapped_parameters_stay_in_the_module) {
  const temporary path("weft_weights_test");
  net saved({.seed = 7});
  weft::save(saved, path);
  const auto before = content(path);
  net first{tensor_file(path)}, second{tensor_file(path)}, sharing(first.parameters());
  first.parameters().get<"up.weight", Wide, Embed>()(3, 2) += 1;
  BOOST_TEST((run(second) == run(saved)));
  BOOST_TEST((run(first) != run(saved)));
  BOOST_TEST((run(sharing) == run(first)));
  BOOST_TEST((content(path) == before));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_replaced_or_removed_stays_mapped) {
  const temporary path("weft_weights_test");
  net saved({.seed = 7});
  weft::save(saved, path);
  net mapped{tensor_file(path)};
  weft::save(net({.seed = 9}), path);
  BOOST_TEST((run(mapped) == run(saved)));
  std::filesystem::remove(path);
  BOOST_TEST((run(mapped) == run(saved)));
}

BOOST_AUTO_TEST_CASE(training_needs_a_copy_of_mapped_parameters) {
  const temporary path("weft_weights_test");
  weft::save(net({.seed = 7}), path);
  const weft::parameters<model> mapped(tensor_file{path});
  refuses([&] { weft::trainer<model> t(mapped); }, "copy()");
  weft::trainer<model> t(mapped.copy());
  BOOST_TEST(equal(t.parameters(), mapped));
  const std::vector<float> x(10, 1);
  t.step(arg<"x">(x));
  BOOST_TEST(!equal(t.parameters(), mapped));
  const net packed(tensor_file{path}, weft::precision::q8_0);
  refuses([&] { weft::trainer<model> u(packed.parameters()); },
          "parameters: some are kept only as a module has packed them, which are not trained");
}

// The table is gathered from and contracted with, `slices` is read in two parts, `gain` as it is.
template <int Words>
struct tied_words {
  struct Word : weft::axis<Words> {};
  struct Width : weft::axis<80> {};
  struct Half : weft::axis<40> {};
  constexpr auto operator()(weft::scope s) const {
    auto table = weft::nn::tied_embedding<Word, Width>(s / "words");
    auto x = table.embed(s.input<"words", std::int32_t, Batch>());
    x = x * s.param<"gain", Width>(weft::init::uniform(1, 2));
    auto both = s.param<"slices", Width, Embed>(weft::init::normal());
    auto first = weft::slice<Width, Half, 0>(both), second = weft::slice<Width, Half, 40>(both);
    auto y = weft::dot<Half>(weft::slice<Width, Half, 0>(x), first) +
             weft::dot<Half>(weft::slice<Width, Half, 40>(x), second);
    return weft::results(weft::as<"y">(y), weft::as<"logits">(table.logits(x)));
  }
};

template <int Words>
void check_one_copy(const weft::parameter_source& file, std::int32_t last) {
  using words = weft::module<tied_words<Words>>;
  using weft::precision;
  const weft::executor threads(3, [](int n, weft::job f) {
    for (int i = n; i-- > 0;) f(i);
  });
  const std::vector<std::int32_t> some{last, 1};
  for (const auto p : {precision::float32, precision::bfloat16, precision::bfloat16_products,
                       precision::q8_0, precision::q4_0, precision::int8_products}) {
    words whole{file}, one(file, p), parallel(file, p, threads), other(weft::sharing(one));
    whole.freeze(p);
    const auto results = [&](words& net) {
      const auto all = net(arg<"words">(some));
      const auto y = all.template get<"y">();
      const auto logits = all.template get<"logits">();
      std::vector<float> values(y.data(), y.data() + y.size());
      values.insert(values.end(), logits.data(), logits.data() + logits.size());
      return values;
    };
    // Rows of the table are rounded where only the packed ones are kept.
    const auto right = results(whole), got = results(one);
    BOOST_TEST((results(parallel) == got));
    BOOST_TEST((results(other) == got));
    float most = 0, off = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
      most = std::max(most, std::abs(right[i]));
      off = std::max(off, std::abs(right[i] - got[i]));
    }
    const float bound = p == precision::float32         ? 0
                        : p == precision::q4_0          ? 0x1p-3f
                        : p == precision::int8_products ? 0x1p-7f + 2.0f / 127  // of both products
                                                        : 0x1p-7f;
    BOOST_TEST(off <= bound * most);

    const auto kept = one.parameters();
    BOOST_TEST(kept.is_partial());
    BOOST_TEST(kept.find("gain").values.size() == 80u);
    BOOST_CHECK_THROW(kept.find("words.weight"), weft::error);
    BOOST_CHECK_THROW(words{kept}, weft::error);
    BOOST_CHECK_THROW(one.freeze(p), weft::error);
    BOOST_CHECK_THROW(weft::save(one, "not_written"), weft::error);
  }
}

BOOST_AUTO_TEST_CASE(packed_weights_are_the_only_copy) {
  const temporary path("weft_weights_test");
  weft::save(weft::parameters<tied_words<37>>({.seed = 3}), path);
  check_one_copy<37>(tensor_file(path), 36);
  check_one_copy<37>(tensor_file(content(path), "buffer"), 35);
  weft::save(weft::parameters<tied_words<37>>({.seed = 3}), path, {.type = stored_type::bfloat16});
  check_one_copy<37>(tensor_file(path), 5);
  // A table that is packed in parts.
  weft::save(weft::parameters<tied_words<30011>>({.seed = 4}), path);
  for (const std::int32_t last : {13823, 13824, 30010})
    check_one_copy<30011>(tensor_file(path), last);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_cut_off_while_it_is_packed_is_an_error) {
  const temporary path("weft_weights_test");
  weft::save(weft::parameters<tied_words<37>>({.seed = 3}), path);
  const tensor_file file(path);
  std::filesystem::resize_file(path, 1000);
  const std::string told =
      thrown_by([&] { weft::module<tied_words<37>> net(file, weft::precision::bfloat16); });
  BOOST_TEST(told.find(static_cast<const std::filesystem::path&>(path).string()) == 0u, told);
}

// up.weight [21, 5] of three tensors, one of them without rows, and up.bias of two.
BOOST_AUTO_TEST_CASE(a_parameter_may_be_joined_of_several_tensors) {
  const temporary path("weft_weights_test");
  net saved({.seed = 7});
  const auto p = saved.parameters();
  const auto part = [&](const char* parameter, std::string name, std::vector<std::size_t> shape,
                        std::size_t first, stored_type type) {
    std::size_t size = 1;
    for (const std::size_t n : shape) size *= n;
    const std::span<const float> values = p.find(parameter).values;
    return weft::tensor_to_store{std::move(name), std::move(shape), values.subspan(first, size),
                                 type};
  };
  std::vector<weft::tensor_to_store> all{
      part("up.weight", "q", {8, 5}, 0, stored_type::float32),
      part("up.weight", "k", {0, 5}, 40, stored_type::float32),
      part("up.weight", "v", {13, 5}, 40, stored_type::float64),
      part("up.bias", "a", {20}, 0, stored_type::float64),
      part("up.bias", "b", {1}, 20, stored_type::float32),
      part("down.weight", "down.weight", {5, 21}, 0, stored_type::float32),
      part("down.bias", "down.bias", {5}, 0, stored_type::float32)};
  const auto joined = [](const std::string& name) -> std::vector<std::string> {
    if (name == "up.weight") return {"q", "k", "v"};
    if (name == "up.bias") return {"a", "b"};
    return {};
  };
  weft::save_tensors(all, path);
  for (int frozen = 0; frozen < 2; ++frozen) {
    net made{weights(path, {.joined_in_file = joined})}, loaded({.seed = 3});
    weft::load(loaded, path, {.joined_in_file = joined});
    BOOST_TEST(equal(made.parameters(), p));
    BOOST_TEST(equal(loaded.parameters(), p));
    if (frozen == 1)
      made.freeze(weft::precision::bfloat16), saved.freeze(weft::precision::bfloat16);
    BOOST_TEST((run(made) == run(saved)));
  }
  weft::module<model, "y"> packed(weights(path, {.joined_in_file = joined}),
                                  weft::precision::bfloat16);
  BOOST_TEST((run(packed) == run(saved)));

  const auto told = [&] {
    weft::save_tensors(all, path);
    return thrown_by([&] { net(weights(path, {.joined_in_file = joined})); });
  };
  all[2].shape = {5, 13};
  const std::string across = told();
  says(across, "3 different");
  says(across, "a part of [21, 5] floating");
  all[2] = part("up.weight", "v", {12, 5}, 40, stored_type::float32);
  const std::string too_few = told();
  says(too_few, "3 different");
  all.erase(all.begin() + 2);
  const std::string missing = told();
  says(missing, "1 missing");
}

BOOST_AUTO_TEST_CASE(names_are_mapped_and_wrong_files_are_refused_as_in_load) {
  const temporary path("weft_weights_test");
  net saved({.seed = 7});
  weft::trainer<model> trainer(weft::adamw{}, {.seed = 7});
  weft::save(trainer, path);
  net of_trainer{tensor_file(path)};
  BOOST_TEST((run(of_trainer) == run(saved)), "the optimizer's state is ignored");

  std::vector<weft::tensor_to_store> all;
  const auto p = saved.parameters();
  for (std::size_t i = 0; i < p.count(); ++i)
    all.push_back({"model." + std::string(p[i].name),
                   {p[i].extents.begin(), p[i].extents.end()},
                   std::span<const float>(p[i].values),
                   i % 2 == 0 ? stored_type::float32 : stored_type::float64});
  const std::vector<float> more(3);
  all.push_back({"other", {3}, std::span<const float>(more), stored_type::float32});
  weft::save_tensors(all, path);
  const auto in_file = [](const std::string& name) { return "model." + name; };
  net renamed{weights(path, {.name_in_file = in_file, .ignore_others = true})};
  BOOST_TEST((run(renamed) == run(saved)));

  const std::string unknown = thrown_by([&] { net(weights(path, {.name_in_file = in_file})); });
  says(unknown, "unknown: other");
  const std::string missing = thrown_by([&] { net{tensor_file(path)}; });
  says(missing, "4 missing");
  all[0].shape = {all[0].shape.back(), all[0].shape.front()};
  weft::save_tensors(all, path);
  const std::string different =
      thrown_by([&] { net(weights(path, {.name_in_file = in_file, .ignore_others = true})); });
  says(different, "1 different");
}

BOOST_AUTO_TEST_SUITE_END()
