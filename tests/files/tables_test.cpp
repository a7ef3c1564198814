// Tables that only gathers read, in modules that are frozen.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/targets.hpp"
#include "support/gguf_builder.hpp"
#include "support/temporary.hpp"
#include "support/thrown_by.hpp"
#include "weft/files/gguf.hpp"
#include "weft/files/load.hpp"
#include "weft/run/mixed.hpp"
#include "weft/weft.hpp"
#include "weft/weights/formats.hpp"

namespace {

using weft::arg, weft::precision, weft::mixed_precision, weft::stored_type, weft::tensor_file,
    weft::testing::refuses, weft::testing::temporary;

struct Words : weft::axis<53> {};
struct Embed : weft::axis<96> {};
struct Odd : weft::axis<21> {};
struct Halves : weft::axis<2> {};
struct Pos : weft::axis<weft::up_to<5>> {};

// A model with its own output projection: a table that is gathered from twice, one whose rows no
// block makes up, one that is read as a matrix too, and one of three axes.
struct untied {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    auto at = s.input<"at", std::int32_t, Pos>();
    auto words = s.param<"words", Words, Embed>(init::normal());
    auto x = gather<Words>(words, at);
    auto odd = gather<Words>(s.param<"odd", Words, Odd>(init::normal()), at);
    auto both = s.param<"both", Words, Embed>(init::normal());
    auto cube = s.param<"cube", Words, Halves, Embed>(init::normal());
    return results(as<"x">(x), as<"first">(gather<Words>(words, constant(0))), as<"odd">(odd),
                   as<"both">(gather<Words>(both, at) + sum<Words>(both)),
                   as<"cube">(gather<Words>(cube, at)),
                   as<"y">(dot<Embed>(nn::rms_norm<Embed>(s / "norm", x),
                                      s.param<"head", Words, Embed>(init::normal()))));
  }
};
using net = weft::module<untied>;

// The head of 64 lines, and the tables in blocks, of which the odd one has none, in full 1024
// elements.
static_assert(net::packed_bytes(precision::float32) == 4 * 64 * 96);
static_assert(weft::cost<untied>.packed_bytes == net::packed_bytes());
static_assert(net::packed_bytes(precision::q8_0) == 34 * (3 * 64 + 160));
static_assert(net::packed_bytes(precision::bfloat16) == 2 * (64 * 96 + 5 * 1024 + 2 * 1024));

template <weft::fixed_string Result>
std::vector<float> run(net& n) {
  const std::vector<std::int32_t> at{52, 0, 7};
  const auto y = n(arg<"at">(at)).template get<Result>();
  return {y.data(), y.data() + y.size()};
}
std::vector<std::vector<float>> all_results(net& n) {
  return {run<"x">(n), run<"first">(n), run<"odd">(n), run<"both">(n), run<"cube">(n), run<"y">(n)};
}

// The values that a type stands for.
std::vector<float> rounded(std::span<const float> x, stored_type as) {
  std::vector<std::byte> bytes(weft::detail::bytes_of(as, x.size()));
  std::vector<float> y(x.size());
  weft::detail::encode(x.data(), x.size(), as, bytes.data());
  weft::detail::decode(as, bytes.data(), 0, y.size(), y.data(), 1);
  return y;
}

// What each table is kept in; float32: the rows are no blocks.
constexpr struct {
  precision as;
  stored_type words, odd;
} kept[]{{precision::bfloat16, stored_type::bfloat16, stored_type::bfloat16},
         {precision::bfloat16_products, stored_type::bfloat16, stored_type::bfloat16},
         {precision::q8_0, stored_type::q8_0, stored_type::float32},
         {precision::q4_0, stored_type::q4_0, stored_type::float32},
         {precision::int8_products, stored_type::int8_block, stored_type::float32}};

mixed_precision tables_as_floats(precision others) {
  return {others, {{"words", precision::float32}, {"odd", precision::float32}}};
}

// A file of the model with a format for each parameter.
std::vector<std::byte> gguf_of(const weft::parameters<untied>& values) {
  struct {
    const char* name;
    std::vector<std::uint64_t> extents;
    stored_type type;
  } const all[]{
      {"words", {96, 53}, stored_type::q8_0},      {"odd", {21, 53}, stored_type::float16},
      {"both", {96, 53}, stored_type::bfloat16},   {"cube", {96, 2, 53}, stored_type::q8_0},
      {"norm.weight", {96}, stored_type::float16}, {"head", {96, 53}, stored_type::q4_0}};
  weft::testing::gguf_builder b(std::size(all));
  std::vector<std::byte> data;
  for (const auto& t : all) {
    const auto x = values.find(t.name).values;
    const std::size_t begin = data.size();
    b.tensor(t.name, t.extents, static_cast<std::uint32_t>(weft::detail::entry_of(t.type).gguf),
             begin);
    data.resize(begin + (weft::detail::bytes_of(t.type, x.size()) + 31) / 32 * 32);
    weft::detail::encode(x.data(), x.size(), t.type, data.data() + begin);
  }
  std::vector<std::byte> bytes = b.pad().bytes();
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tables)

BOOST_AUTO_TEST_CASE(a_table_is_gathered_from_what_a_precision_keeps_of_it) {
  const temporary file("weft_tables"), packed("weft_tables_packed");
  const weft::parameters<untied> parameters({.seed = 3});
  weft::save(parameters, file);
  weft::kernels::on_every_target([&](const auto&) {
    for (const auto& [as, words, odd] : kept) {
      const auto values = parameters.copy();
      const auto round = [&](const char* name, stored_type type) {
        const auto all = values.find(name).values;
        if (type != stored_type::float32) std::ranges::copy(rounded(all, type), all.begin());
      };
      round("words", words);
      round("odd", odd);
      net right(values), frozen(parameters), made(tensor_file(file), as);
      right.freeze(tables_as_floats(as));
      frozen.freeze(as);
      const auto expected = all_results(right);
      BOOST_TEST((all_results(frozen) == expected));
      BOOST_TEST((all_results(made) == expected));
      BOOST_TEST(made.packed().memory.size() == net::packed_bytes(as));
      weft::save(made.packed(), packed);
      net mapped(tensor_file(packed), as), shared(weft::sharing(mapped));
      BOOST_TEST((all_results(mapped) == expected));
      BOOST_TEST((all_results(shared) == expected));
    }
  });
}

BOOST_AUTO_TEST_CASE(a_table_stays_in_the_blocks_of_a_file) {
  const temporary packed("weft_tables_packed");
  const tensor_file file = weft::gguf_file(gguf_of(weft::parameters<untied>({.seed = 3})), "x");
  weft::kernels::on_every_target([&](const auto&) {
    net made(file, precision::stored), right(file, tables_as_floats(precision::stored));
    const auto expected = all_results(right);
    BOOST_TEST((all_results(made) == expected));
    // The head of 64 lines in Q4_0; the tables as they are in the file; and where these are.
    BOOST_TEST(made.packed().memory.size() <=
               64 * 3 * 18 + file["words"].bytes + file["odd"].bytes + 2 * 2048 + 7 * 16 + 64);
    for (const char* const name : {"words", "odd"}) {
      BOOST_TEST(
          std::ranges::equal(right.parameters().find(name).values, file[name].values<float>()));
      refuses([&] { made.parameters().find(name); }, "is kept only as the module has packed it");
    }
    refuses([&] { made.parameters().floats(); }, "which are not trained");
    for (net* const n : {&made, &right}) {
      weft::save(n->packed(), packed);
      net mapped(tensor_file(packed), precision::stored);
      BOOST_TEST((all_results(mapped) == expected));
      BOOST_TEST(std::ranges::equal(mapped.packed().memory, n->packed().memory));
    }
  });
}

BOOST_AUTO_TEST_CASE(float32_reads_a_table_where_it_is) {
  const weft::parameters<untied> parameters({.seed = 3});
  const tensor_file file(weft::saved(parameters), "x");
  net live(parameters), frozen(file, precision::float32);
  live.freeze();
  BOOST_TEST((all_results(frozen) == all_results(live)));
  BOOST_TEST(frozen.packed().memory.size() == weft::cost<untied>.packed_bytes);
  const float before = run<"x">(live)[0];
  live.parameters().get<"words", Words, Embed>()(52, 0) += 1;
  BOOST_TEST(run<"x">(live)[0] == before + 1);
}

BOOST_AUTO_TEST_SUITE_END()
