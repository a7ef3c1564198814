// Modules made from GGUF files, whose blocks they keep bit for bit.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <tuple>

#include "kernels/targets.hpp"
#include "support/gguf_builder.hpp"
#include "support/golden_file.hpp"
#include "support/temporary.hpp"
#include "support/thrown_by.hpp"
#include "weft/files/gguf.hpp"
#include "weft/files/load.hpp"
#include "weft/run/mixed.hpp"
#include "weft/weft.hpp"
#include "weft/weights/formats.hpp"

namespace {

using weft::gguf_file, weft::stored_type, weft::tensor_file, weft::testing::golden_file,
    weft::testing::refuses, weft::testing::says, weft::testing::thrown_by;

std::vector<std::byte> content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

template <int Count>
struct Rows : weft::axis<Count> {};
struct Columns : weft::axis<96> {};
struct Out : weft::axis<1> {};

template <int Count = 2>
struct product {
  constexpr auto operator()(weft::scope s) const {
    return weft::dot<Columns>(s.input<"x", float, Columns>(),
                              s.param<"Q8_0", Rows<Count>, Columns>());
  }
};

// The types of blocks that share scales.
constexpr auto is_block = []<int... Type>(std::integer_sequence<int, Type...>) {
  return std::array{
      weft::detail::shares_scales<weft::detail::format<static_cast<stored_type>(Type)>>...};
}
(weft::detail::stored_types());
constexpr auto blocks = [] {
  std::array<stored_type, std::count(is_block.begin(), is_block.end(), true)> some{};
  std::size_t n = 0;
  for (std::size_t type = 0; type < is_block.size(); ++type)
    if (is_block[type]) some[n++] = static_cast<stored_type>(type);
  return some;
}();
// Calls f(std::integral_constant<stored_type, …>()...) with them.
template <class F>
constexpr auto with_blocks(F f) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return f(std::integral_constant<stored_type, blocks[I]>()...);
  }
  (std::make_index_sequence<blocks.size()>());
}
template <stored_type Type>
constexpr auto name_of = [] {
  constexpr auto name = weft::detail::format<Type>::name;
  weft::fixed_string<name.size() + 1> text;
  name.copy(text.chars, name.size());
  return text;
}();
// Three blocks.
template <stored_type Type>
struct Depth : weft::axis<3 * static_cast<int>(weft::detail::format<Type>::block)> {};
constexpr auto in_table = stored_type::q6_k;

// A parameter of each format along the depth, of which one is a table that is gathered from, too;
// and one of F16.
struct Three : weft::axis<3> {};
struct One : weft::axis<1> {};
struct formats {
  constexpr auto operator()(weft::scope s) const {
    const auto table =
        weft::nn::tied_embedding<Rows<2>, Depth<in_table>>(s / name_of<in_table>.chars);
    return with_blocks([&]<stored_type... Type>(std::integral_constant<stored_type, Type>...) {
      const auto product = [&]<stored_type One>(std::integral_constant<stored_type, One>) {
        const auto x = s.input<"x." + name_of<One>, float, Depth<One>>();
        if constexpr (One == in_table)
          return table.logits(x);
        else
          return weft::dot<Depth<One>>(x, s.param<name_of<One>, Rows<2>, Depth<One>>());
      };
      return weft::results(
          weft::as<name_of<Type>>(product(std::integral_constant<stored_type, Type>()))...,
          weft::as<"row">(table.embed(s.input<"at", std::int32_t, One>())),
          weft::as<"f16">(weft::dot<Three>(s.input<"three", float, Three>(),
                                           s.param<"f16", Rows<2>, Three>())));
    });
  }
};

// A table of each that only a gather reads.
struct gathered {
  constexpr auto operator()(weft::scope s) const {
    const auto at = s.input<"at", std::int32_t, One>();
    return with_blocks([&]<stored_type... Type>(std::integral_constant<stored_type, Type>...) {
      return weft::results(
          weft::as<name_of<Type>>(
              weft::gather<Rows<2>>(s.param<name_of<Type>, Rows<2>, Depth<Type>>(), at))...,
          weft::as<"f16">(weft::gather<Rows<2>>(s.param<"f16", Rows<2>, Three>(), at)));
    });
  }
};

// The number of elements of a module of these that are not those of the file: each is a product
// with a row of a unit matrix.
int wrong_elements(weft::module<formats>& net, const tensor_file& file) {
  int wrong = 0;
  const auto compare = [&](const auto& result, std::string_view name, std::size_t k, double most) {
    const auto* const right = file.find("expected." + std::string(name));
    const auto values = right->template values<float>();
    for (std::size_t row = 0; row < 2; ++row) {
      const auto r = static_cast<double>(values[row * right->shape[1] + k]);
      wrong += std::abs(static_cast<double>(result(row)) - r) > most * std::abs(r);
    }
  };
  const auto table = file["expected.Q6_K"].values<float>();
  for (std::size_t k = 0; k < 768; ++k) {
    with_blocks([&]<stored_type... Type>(std::integral_constant<stored_type, Type>...) {
      const auto unit = [&](std::size_t size) {
        std::vector<float> x(size);
        x[k % size] = 1;
        return x;
      };
      const std::vector<std::int32_t> at{static_cast<std::int32_t>(k % 2)};
      const std::tuple x(unit(Depth<Type>::extent)...);
      const auto three = unit(3);
      const auto y = std::apply(
          [&](const auto&... each) {
            return net(weft::arg<"x." + name_of<Type>>(each)..., weft::arg<"at">(at),
                       weft::arg<"three">(three));
          },
          x);
      const auto one = [&]<stored_type One>(std::integral_constant<stored_type, One>) {
        if (k < Depth<One>::extent)
          compare(y.template get<name_of<One>>(), name_of<One>.view(), k, 0);
      };
      (one(std::integral_constant<stored_type, Type>()), ...);
      if (k < 3) compare(y.template get<"f16">(), "f16", k, 0x1p-8);
      if (k < 2)
        for (std::size_t i = 0; i < 768; ++i)
          wrong += y.template get<"row">()(0, i) != table[k * 768 + i];
    });
  }
  return wrong;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gguf_blocks)

BOOST_AUTO_TEST_CASE(a_module_is_made_from_a_file_of_blocks) {
  const std::string path = golden_file("blocks.gguf");
  weft::module<product<>> mapped{weft::weights(path, {.ignore_others = true})};
  weft::module<product<>> loaded;
  const auto ignored = weft::load(loaded, path, {.ignore_others = true});
  BOOST_TEST(ignored.size() + 1 == tensor_file(path).tensors().size());
  const std::vector<float> x(96, 1);
  const auto y = mapped(weft::arg<"x">(x));
  const auto z = loaded(weft::arg<"x">(x));
  BOOST_TEST((std::equal(y.data(), y.data() + 2, z.data())));
  BOOST_TEST(y(0u) != 0);
}

BOOST_AUTO_TEST_CASE(blocks_of_q8_0_are_packed_as_they_are) {
  auto bytes = content(golden_file("blocks.gguf"));
  const gguf_file file(bytes, "x");
  const std::vector<float> right = file["expected.Q8_0"].values<float>();
  weft::module<product<>> one{weft::weights(file, {.ignore_others = true}), weft::precision::q8_0};
  // Twice the same tensor, joined.
  weft::module<product<4>> two{
      weft::weights(file, {.joined_in_file =
                               [](const std::string&) {
                                 return std::vector<std::string>{"Q8_0", "Q8_0"};
                               },
                           .ignore_others = true}),
      weft::precision::q8_0};
  int wrong = 0;
  for (std::size_t k = 0; k < 96; ++k) {
    std::vector<float> x(96);
    x[k] = 1;
    const auto y = one(weft::arg<"x">(x));
    const auto z = two(weft::arg<"x">(x));
    for (std::size_t row = 0; row < 4; ++row)
      wrong += z(row) != right[row % 2 * 96 + k] || (row < 2 && y(row) != z(row));
  }
  BOOST_TEST(wrong == 0);
  BOOST_TEST(one.parameters().is_partial());

  bytes[file["Q8_0"].offset + 4 * 34 + 1] = std::byte{0x7c};
  refuses(
      [&] {
        weft::module<product<>>{weft::weights(gguf_file(bytes, "x"), {.ignore_others = true}),
                                weft::precision::q8_0};
      },
      "x: tensor 'Q8_0', Q8_0 [2, 96]: the scale of block 4 is NaN or infinite");
  // Also where they are read as floats; the one byte of MXFP4 is NaN if all bits are ones.
  bytes[file["MXFP4"].offset + 3 * 17] = std::byte{0xff};
  const gguf_file damaged(bytes, "x");
  refuses([&] { damaged["Q8_0"].values<float>(); },
          "'Q8_0', Q8_0 [2, 96]: the scale of block 4 is");
  refuses([&] { damaged["MXFP4"].values<float>(); },
          "'MXFP4', MXFP4 [2, 96]: the scale of block 3 is NaN or infinite");
}

BOOST_AUTO_TEST_CASE(each_parameter_stays_in_the_format_that_the_file_has) {
  const gguf_file file(golden_file("blocks.gguf"));
  const auto name_in_file = [](const std::string& name) { return name.substr(0, name.find('.')); };
  const weft::weights all(file, {.name_in_file = name_in_file, .ignore_others = true});
  const weft::testing::temporary packed("weft_packed_stored");
  weft::kernels::on_every_target([&](const auto&) {
    using net = weft::module<formats>;
    net first(all, weft::precision::stored);
    // Room for 16 rows of 3 blocks of each, of 32 blocks or a multiple, for their places, and to
    // align them.
    std::size_t most = 0;
    for (const auto& t : file.tensors())
      if (file.find("expected." + t.name) != nullptr)
        most += t.bytes * (weft::detail::entry_of(t.type).block == 32 ? 64 : 48) / 6 + 64 + 16;
    BOOST_TEST(first.packed().memory.size() <= most);
    BOOST_TEST(first.parameters().is_partial());
    const net chosen(all, weft::mixed_precision{weft::precision::stored, {}});
    BOOST_TEST(std::ranges::equal(chosen.packed().memory, first.packed().memory));
    weft::save(first.packed(), packed);
    net mapped(weft::tensor_file(packed), weft::precision::stored);
    BOOST_TEST(wrong_elements(first, file) == 0);
    BOOST_TEST(wrong_elements(mapped, file) == 0);
  });

  auto bytes = content(golden_file("blocks.gguf"));
  bytes[file["Q6_K"].offset + 2 * 210 - 1] = std::byte{0x7c};
  refuses(
      [&] {
        weft::module<formats>{weft::weights(gguf_file(bytes, "x"),
                                            {.name_in_file = name_in_file, .ignore_others = true}),
                              weft::precision::stored};
      },
      "x: tensor 'Q6_K', Q6_K [2, 768]: the scale of block 1 is NaN or infinite");
  // Another type, and a place beyond the end.
  for (const std::size_t at : {8u, 1u}) {
    weft::save(weft::module<formats>(all, weft::precision::stored).packed(), packed);
    auto damaged = content(std::filesystem::path(packed).string());
    const auto begin = weft::tensor_file(packed)["weft.packed"].offset;
    damaged[begin + 16 + at] ^= std::byte{1};
    const tensor_file bad(damaged, "y");
    BOOST_TEST(thrown_by([&] {
                 weft::module<formats>{bad, weft::precision::stored};
               }) ==
               "y: the list with which tensor 'weft.packed' begins, of where each parameter is and "
               "in which type, is damaged; save it anew from the file that the weights come from");
  }
}

BOOST_AUTO_TEST_CASE(rows_are_gathered_from_the_blocks_of_each_format) {
  const gguf_file file(golden_file("blocks.gguf"));
  weft::module<gathered> net(weft::weights(file, {.ignore_others = true}), weft::precision::stored);
  std::size_t most = 2048 + (blocks.size() + 2) * 16;  // of F16, and their places
  for (const auto type : blocks) most += weft::detail::bytes_of(type, 2048) + 64;
  BOOST_TEST(net.packed().memory.size() <= most);
  for (const std::int32_t row : {0, 1}) {
    const std::vector<std::int32_t> at{row};
    const auto y = net(weft::arg<"at">(at));
    const auto compare = [&](const auto& result, std::string_view name) {
      const auto values = file["expected." + std::string(name)].values<float>();
      const auto from = values.begin() + row * static_cast<std::ptrdiff_t>(result.size());
      BOOST_TEST(std::equal(result.data(), result.data() + result.size(), from), name);
    };
    with_blocks([&]<stored_type... Type>(std::integral_constant<stored_type, Type>...) {
      (compare(y.template get<name_of<Type>>(), name_of<Type>.view()), ...);
    });
    compare(y.get<"f16">(), "f16");
  }
}

BOOST_AUTO_TEST_CASE(blocks_packed_for_another_processor_are_refused) {
  const weft::weights file(golden_file("blocks.gguf"), {.ignore_others = true});
  const weft::testing::temporary packed("weft_packed_blocks");
  using net = weft::module<product<>>;
  weft::save(net(file, weft::precision::stored).packed(), packed);
  const auto layout = weft::kernels::layout_of_packed();
  weft::kernels::on_every_target([&](const auto&) {
    const std::string told =
        thrown_by([&] { net(weft::tensor_file(packed), weft::precision::stored); });
    if (layout == weft::kernels::layout_of_packed())
      BOOST_TEST(told == "");
    else
      says(told,
           ": the weights are packed for another processor; save them anew from the file that they "
           "come from");
  });
}

BOOST_AUTO_TEST_CASE(a_parameter_of_blocks_that_weft_does_not_read_is_refused) {
  weft::testing::gguf_builder b(1);
  const tensor_file unknown(b.tensor("Q8_0", {256}, 10, 0).pad().zeros(84).bytes(), "x");
  refuses([&] { weft::module<product<>>{unknown}; },
          "different: Q8_0, [2, 96] floating, is Q2_K [256] in the file, which weft does not read");
}

BOOST_AUTO_TEST_SUITE_END()
