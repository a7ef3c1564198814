// Weights of 8 and 4 bits whose scales are tensors of their own, in safetensors: each element is
// its number times its scale, in double.
#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "support/temporary.hpp"
#include "support/thrown_by.hpp"
#include "weft/files/load.hpp"
#include "weft/weft.hpp"
#include "weft/weights/float16.hpp"

namespace {

using weft::stored_type, weft::tensor_file, weft::testing::says, weft::testing::thrown_by;

using shape = std::vector<std::size_t>;

std::string text_of(const shape& extents) {
  std::string text = "[";
  for (const std::size_t n : extents) text += (text.size() > 1 ? "," : "") + std::to_string(n);
  return text + "]";
}

// Makes a safetensors file.
class builder {
 public:
  template <class T>
  builder& add(const std::string& name, const std::string& type, const shape& extents,
               const std::vector<T>& values) {
    const std::size_t begin = data_.size();
    const auto bytes = std::as_bytes(std::span(values));
    data_.insert(data_.end(), bytes.begin(), bytes.end());
    header_ += (header_.empty() ? "{\"" : ",\"") + name + "\":{\"dtype\":\"" + type +
               "\",\"shape\":" + text_of(extents) +
               ",\"data_offsets\":" + text_of({begin, data_.size()}) + "}";
    return *this;
  }
  std::vector<std::byte> bytes() const {
    const std::string header = header_ + "}";
    const std::uint64_t size = header.size();
    std::vector<std::byte> all(sizeof size + header.size());
    std::memcpy(all.data(), &size, sizeof size);
    std::memcpy(all.data() + sizeof size, header.data(), header.size());
    all.insert(all.end(), data_.begin(), data_.end());
    return all;
  }
  tensor_file file() const { return {bytes(), "x"}; }

 private:
  std::string header_;
  std::vector<std::byte> data_;
};

// E4M3 by its definition: sign, 4 bits of exponent, 3 of fraction.
double e4m3(int bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  if (exponent == 15 && fraction == 7) return std::nan("");
  const double size =
      exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return bits & 128 ? -size : size;
}

// How numbers are stored.
enum class kind { int8, e4m3, four_bits, eight_bits };

// A weight of a file, with random numbers, and what its elements are.
struct weight {
  builder file;
  std::vector<double> values;
};

// Each scale is for `of[0]` x `of[1]` elements, and a number of `type`; `extents` is the
// shape of the scales.
weight weight_of(kind k, std::size_t rows, std::size_t columns, const shape& of,
                 const shape& extents, const std::string& type,
                 const std::string& suffix = "_scale") {
  std::mt19937 random(1);
  weight w;
  const std::size_t in_row = (columns + of[1] - 1) / of[1];
  std::vector<float> scales((rows + of[0] - 1) / of[0] * in_row);
  std::vector<std::uint16_t> halves;
  for (float& s : scales) {
    s = std::uniform_real_distribution<float>(0.001f, 1)(random) * (random() % 2 ? 1 : -1);
    if (type == "BF16") s = weft::bfloat16(s);
    if (type == "F16") s = weft::from_float16(weft::to_float16(s));
    halves.push_back(type == "F16" ? weft::to_float16(s) : weft::bfloat16(s).bits);
  }
  std::vector<std::uint8_t> bytes;
  const unsigned bits = k == kind::four_bits ? 4 : 8;
  const std::size_t row_bytes =
      k == kind::int8 || k == kind::e4m3 ? columns : (columns * bits + 31) / 32 * 4;
  bytes.resize(rows * row_bytes);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) {
      auto n = static_cast<std::uint8_t>(random() % (1u << bits));
      if (k == kind::e4m3 && (n & 127) == 127) n = 0;
      bytes[r * row_bytes + c * bits / 8] |= static_cast<std::uint8_t>(n << c * bits % 8);
      const double number = k == kind::int8        ? static_cast<std::int8_t>(n)
                            : k == kind::e4m3      ? e4m3(n)
                            : k == kind::four_bits ? n - 8
                                                   : n - 128;
      w.values.push_back(number * static_cast<double>(scales[r / of[0] * in_row + c / of[1]]));
    }
  if (k == kind::int8 || k == kind::e4m3) {
    w.file.add("w", k == kind::int8 ? "I8" : "F8_E4M3", {rows, columns}, bytes);
  } else {
    w.file.add("w_packed", "I32", {rows, row_bytes / 4}, bytes);
    w.file.add("w_shape", "I64", {2},
               std::vector<std::int64_t>{std::int64_t(rows), std::int64_t(columns)});
  }
  if (type == "F32")
    w.file.add("w" + suffix, type, extents, scales);
  else
    w.file.add("w" + suffix, type, extents, halves);
  return w;
}

struct Rows : weft::axis<6> {};
struct Columns : weft::axis<128> {};
struct model {
  constexpr auto operator()(weft::scope s) const {
    return weft::dot<Columns>(s.input<"x", float, Columns>(), s.param<"w", Rows, Columns>());
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(scaled_weights)

BOOST_AUTO_TEST_CASE(every_number_of_e4m3_is_what_its_definition_says) {
  std::vector<std::uint8_t> all(256);
  for (std::size_t i = 0; i < 256; ++i) all[i] = static_cast<std::uint8_t>(i);
  const auto file = builder().add("w", "F8_E4M3", {256}, all).file();
  const auto values = file["w"].values<float>();
  for (int i = 0; i < 256; ++i) {
    const double right = e4m3(i), got = static_cast<double>(values[static_cast<std::size_t>(i)]);
    BOOST_TEST((std::isnan(right) ? std::isnan(got) : got == right), i);
    BOOST_TEST(std::signbit(got) == (i >= 128), i);
  }
}

BOOST_AUTO_TEST_CASE(elements_are_their_numbers_times_their_scales) {
  struct {
    kind k;
    std::size_t rows, columns;
    shape of, extents;
    const char* type;
    stored_type as;
  } const cases[]{
      {kind::int8, 6, 128, {1, 128}, {6, 1}, "BF16", stored_type::q8_0},
      {kind::int8, 6, 128, {1, 128}, {6}, "F16", stored_type::q8_0},
      {kind::int8, 6, 128, {6, 128}, {}, "F16", stored_type::q8_0},
      {kind::int8, 6, 128, {6, 128}, {1}, "F16", stored_type::q8_0},
      {kind::int8, 6, 128, {1, 128}, {6, 1}, "F32", stored_type::float64},
      {kind::int8, 6, 100, {1, 100}, {6, 1}, "F16", stored_type::float64},
      {kind::int8, 6, 128, {1, 16}, {6, 8}, "F16", stored_type::float64},
      {kind::four_bits, 6, 128, {1, 32}, {6, 4}, "F16", stored_type::q4_0},
      {kind::four_bits, 6, 128, {1, 64}, {6, 2}, "BF16", stored_type::q4_0},
      {kind::four_bits, 6, 128, {1, 128}, {6, 1}, "BF16", stored_type::q4_0},
      {kind::four_bits, 6, 128, {1, 32}, {6, 4}, "F32", stored_type::float64},
      {kind::four_bits, 3, 101, {1, 32}, {3, 4}, "F16", stored_type::float64},
      {kind::eight_bits, 6, 128, {1, 32}, {6, 4}, "F16", stored_type::q8_0},
      {kind::eight_bits, 3, 101, {1, 32}, {3, 4}, "F16", stored_type::float64},
      {kind::e4m3, 6, 128, {6, 128}, {}, "F32", stored_type::float64},
      {kind::e4m3, 6, 128, {6, 128}, {1}, "BF16", stored_type::float64},
      {kind::e4m3, 6, 100, {1, 100}, {6, 1}, "F32", stored_type::float64},
      {kind::e4m3, 200, 300, {128, 128}, {2, 3}, "F32", stored_type::float64},
  };
  for (const auto& c : cases) {
    const std::string name = std::to_string(&c - cases);
    const weight w = weight_of(c.k, c.rows, c.columns, c.of, c.extents, c.type,
                               c.k == kind::e4m3 && c.rows > 6 ? "_scale_inv" : "_scale");
    const tensor_file file = w.file.file();
    BOOST_TEST_REQUIRE(file.tensors().size() == 1u, name);
    const auto& t = file["w"];
    BOOST_TEST((t.shape == shape{c.rows, c.columns}), name);
    BOOST_TEST((t.type == c.as), name);
    BOOST_TEST((t.values<double>() == w.values), name);
    const auto rounded = t.values<float>();
    BOOST_TEST(std::ranges::equal(rounded, w.values, {}, {},
                                  [](double x) { return static_cast<float>(x); }),
               name);
    for (const std::size_t first : {std::size_t{1}, c.columns - 1, w.values.size() - 5}) {
      std::vector<float> part(5);
      t.read_part(first, part);
      BOOST_TEST(std::equal(part.begin(), part.end(), rounded.begin() + std::ptrdiff_t(first)),
                 name);
    }
  }
}

BOOST_AUTO_TEST_CASE(numbers_and_scales_may_be_in_two_files) {
  const weft::testing::temporary folder("weft_scaled_weights");
  const std::filesystem::path path = folder;
  std::filesystem::create_directory(path);
  const auto write = [&](const char* name, const std::vector<std::byte>& bytes) {
    std::ofstream(path / name, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  };
  write("a.safetensors", builder().add("w", "I8", {1, 2}, std::vector<std::int8_t>{3, -4}).bytes());
  write("b.safetensors", builder().add("w_scale", "F32", {1}, std::vector<float>{0.5f}).bytes());
  std::ofstream(path / "index.json")
      << R"({"weight_map": {"w": "a.safetensors", "w_scale": "b.safetensors"}})";
  const tensor_file file(path / "index.json");
  BOOST_TEST(file.tensors().size() == 1u);
  BOOST_TEST((file["w"].values<float>() == std::vector<float>{1.5f, -2}));
}

BOOST_AUTO_TEST_CASE(a_module_keeps_what_is_a_block_and_rounds_the_others) {
  struct {
    kind k;
    shape of, extents;
    std::size_t bytes;  // of 32 weights, at rest
    double error;
  } const cases[]{{kind::int8, {1, 128}, {6, 1}, 34, 0},
                  {kind::four_bits, {1, 32}, {6, 4}, 18, 0},
                  {kind::e4m3, {1, 128}, {6, 1}, 64, 0x1p-8}};
  for (const auto& c : cases) {
    const weight w = weight_of(c.k, 6, 128, c.of, c.extents, "F16");
    weft::module<model> whole{w.file.file()}, kept(w.file.file(), weft::precision::stored);
    // Room for 16 rows, and for the places of two.
    BOOST_TEST(kept.packed().memory.size() == 16 * 128 / 32 * c.bytes + 64);
    for (std::size_t k = 0; k < 128; ++k) {
      std::vector<float> x(128);
      x[k] = 1;
      const auto y = whole(weft::arg<"x">(x)), z = kept(weft::arg<"x">(x));
      for (std::size_t row = 0; row < 6; ++row) {
        const double right = w.values[row * 128 + k];
        BOOST_TEST(y(row) == static_cast<float>(right));
        BOOST_TEST(std::abs(static_cast<double>(z(row)) - right) <= c.error * std::abs(right));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(weights_that_do_not_fit_are_refused_in_one_sentence) {
  const std::vector<std::uint8_t> bytes(256);
  const std::vector<std::int64_t> extents{2, 64}, wrong{2, 63};
  const std::vector<float> two{1, 2}, odd{1, INFINITY};
  const auto refused = [](const builder& b, const std::string& sentence) {
    const std::string told = thrown_by([&] { b.file(); });
    BOOST_TEST(told.starts_with("x: tensor 'w"), told);
    BOOST_TEST(std::ranges::count(told, '\n') == 0);
    says(told, sentence);
  };
  const auto int8 = [&] { return builder().add("w", "I8", {4, 64}, bytes); };
  refused(int8().add("w_scale", "F32", {2, 1}, odd),
          "'w_scale', F32 [2, 1]: scale 1 is NaN or infinite");
  refused(int8().add("w_scale", "F32", {1, 1, 2}, two),
          "'w_scale', F32 [1, 1, 2], does not fit tensor 'w', I8 [4, 64]");
  refused(int8().add("w_scale", "F32", {0, 2}, std::vector<float>()), "does not fit");
  refused(int8().add("w_scale", "I32", {2, 1}, two), "does not fit");
  refused(builder().add("w", "I8", {4, 0}, std::vector<int>()).add("w_scale", "F32", {2}, two),
          "does not fit");
  refused(int8()
              .add("w_scale", "F32", {2, 1}, two)
              .add("w_zero_point", "I8", {2, 1}, std::vector<std::uint8_t>(2)),
          "'w_zero_point', I8 [2, 1]: weft reads weights that are quantised symmetrically");
  const auto packed = [&] { return builder().add("w_packed", "I32", {2, 32}, bytes); };
  refused(packed().add("w_scale", "F32", {2, 1}, two), "has no tensor 'w_shape'");
  refused(packed().add("w_scale", "F32", {2, 1}, two).add("w_shape", "I64", {2}, extents),
          "'w_packed', I32 [2, 32], does not have the extents in tensor 'w_shape', I64 [2]");
  refused(packed().add("w_scale", "F32", {2, 1}, two).add("w_shape", "I64", {1, 2}, wrong),
          "does not have the extents");
  // Without scales, these are what they are.
  BOOST_TEST(int8().file()["w"].values<std::int32_t>().size() == 256u);
}

BOOST_AUTO_TEST_CASE(what_gptq_and_awq_have_is_refused_by_name) {
  const std::vector<std::int32_t> numbers(6 * 16);
  const std::vector<float> scales(6 * 4);
  const auto told = [&](const shape& extents, const shape& of_scales) {
    const auto file = builder()
                          .add("l.qweight", "I32", extents, numbers)
                          .add("l.scales", "F32", of_scales, scales)
                          .file();
    return thrown_by([&] {
      weft::module<model>{weft::weights(
          file,
          {.name_in_file = [](const std::string&) { return "l.weight"; }, .ignore_others = true})};
    });
  };
  BOOST_TEST(told({16, 6}, {4, 6}) ==
             "x: tensor 'l.qweight' has the weights of GPTQ, which weft does not read; take the "
             "model's GGUF file, or one quantised by compressed-tensors");
  BOOST_TEST(told({32, 3}, {1, 24}) ==
             "x: tensor 'l.qweight' has the weights of AWQ, which weft does not read; take the "
             "model's GGUF file, or one quantised by compressed-tensors");
}

BOOST_AUTO_TEST_SUITE_END()
