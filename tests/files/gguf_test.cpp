// GGUF files: those that another writer made are read bit for bit, and invalid ones are refused.
#include "weft/files/gguf.hpp"

#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "support/gguf_builder.hpp"
#include "support/golden_file.hpp"
#include "support/thrown_by.hpp"

namespace {

using weft::gguf_file, weft::stored_type, weft::tensor_file, weft::testing::golden_file,
    weft::testing::refuses, weft::testing::says, weft::testing::thrown_by;

using builder = weft::testing::gguf_builder;

void refused(const builder& b, const std::string& sentence) {
  const std::string told = thrown_by([&] { gguf_file(b.bytes(), "x.gguf"); });
  BOOST_TEST(told.starts_with("x.gguf: "), told);
  says(told, sentence);
}

std::vector<std::byte> content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

constexpr std::uint32_t f32 = 0, q8_0 = 8, uint32 = 4, boolean = 7, text = 8, list = 9;

}  // namespace

BOOST_AUTO_TEST_SUITE(gguf)

// tests/golden/gguf_blocks.py
BOOST_AUTO_TEST_CASE(every_block_format_has_the_bits_that_ggml_gives) {
  const tensor_file file(golden_file("blocks.gguf"));
  int compared = 0;
  for (const auto& t : file.tensors()) {
    const auto* const expected = file.find("expected." + t.name);
    if (expected == nullptr) continue;
    BOOST_TEST((t.shape == expected->shape));
    const auto values = t.values<float>(), right = expected->values<float>();
    BOOST_TEST(values.size() == right.size());
    BOOST_TEST((std::ranges::equal(values, right, {}, std::bit_cast<std::uint32_t, float>,
                                   std::bit_cast<std::uint32_t, float>)),
               t.name);
    const auto wide = t.values<double>();
    BOOST_TEST((std::ranges::equal(wide, right)), t.name);
    ++compared;
  }
  BOOST_TEST(compared >= 10);
  BOOST_TEST(file["Q6_K"].description() == "Q6_K [2, 768]");
  BOOST_TEST(weft::is_floating(file["Q6_K"].type));
  BOOST_CHECK_THROW(file["Q6_K"].values<std::int32_t>(), weft::error);
}

BOOST_AUTO_TEST_CASE(metadata_is_read_by_its_kind) {
  const std::string path = golden_file("blocks.gguf");
  for (const gguf_file& file : {gguf_file(path), gguf_file(content(path), "buffer")}) {
    BOOST_TEST(file.text("general.architecture") == "test");
    BOOST_TEST(file.text("text") == "Grüße, 世界");
    BOOST_TEST(file.integer("number.uint8") == 200);
    BOOST_TEST(file.integer("number.int8") == -100);
    BOOST_TEST(file.integer("number.uint16") == 60000);
    BOOST_TEST(file.integer("number.int16") == -30000);
    BOOST_TEST(file.integer("number.uint32") == 4000000000);
    BOOST_TEST(file.integer("number.int32") == -2000000000);
    BOOST_TEST(file.integer("number.int64") == -(std::int64_t{1} << 62));
    BOOST_TEST(file.number("number.uint64") == 0x1p63);
    BOOST_TEST(file.number("number.float32") == 0.5);
    BOOST_TEST(file.number("number.float64") == 0.1);
    BOOST_TEST(file.number("number.int8") == -100);
    BOOST_TEST(file.flag("flag"));
    BOOST_TEST((file.texts("texts") == std::vector<std::string_view>{"", "a", "ab\n"}));
    BOOST_TEST((file.integers("integers") == std::vector<std::int64_t>{3, -1, 2}));
    BOOST_TEST((file.numbers("numbers") == std::vector<double>{0.25, -1.5}));
    BOOST_TEST((file.numbers("integers") == std::vector<double>{3, -1, 2}));
    BOOST_TEST(file.keys().size() == 16u);
    BOOST_TEST(file.keys()[1] == "number.uint8");
    BOOST_TEST(file.contains("flag"));
    BOOST_TEST(!file.contains("flags"));

    refuses([&] { file.text("flags"); }, "metadata 'flags' is not there");
    refuses([&] { file.text("flag"); }, "metadata 'flag' is a flag, and is read as a text");
    refuses([&] { file.integer("texts"); },
            "metadata 'texts' is a list, each element a text, and is read as a number");
    refuses([&] { file.texts("numbers"); },
            "is a list, each element a number, and is read as a list, each element a text");
    refuses([&] { file.integer("number.float32"); }, "is read as an integer");
    refuses([&] { file.integer("number.uint64"); }, "has the value 9223372036854775808");
    refuses([&] { file.integers("numbers"); }, "is read as an integer");
  }
}

BOOST_AUTO_TEST_CASE(shapes_are_outermost_first_and_tensors_may_be_empty) {
  builder b(3);
  b.tensor("b", {3, 2}, f32, 32).tensor("a", {}, f32, 0).tensor("c", {0, 5}, f32, 64).pad();
  b.add(1.5f).zeros(28);
  for (int i = 0; i < 6; ++i) b.add(static_cast<float>(i));
  b.pad();
  const gguf_file file(b.bytes(), "x");
  BOOST_TEST(file.tensors().size() == 3u);
  BOOST_TEST(file["a"].values<float>()[0] == 1.5f);
  BOOST_TEST((file["b"].shape == std::vector<std::size_t>{2, 3}));
  BOOST_TEST(file["b"].values<float>()[5] == 5);
  BOOST_TEST(file["c"].values<float>().empty());
}

BOOST_AUTO_TEST_CASE(the_alignment_is_that_of_the_metadata) {
  builder b(2, 1);
  b.key("general.alignment", uint32).add(std::uint32_t{8});
  b.tensor("a", {2}, f32, 0).tensor("b", {2}, f32, 8).pad(8);
  b.add(1.0f).add(2.0f).add(3.0f).add(4.0f);
  const gguf_file file(b.bytes(), "x");
  BOOST_TEST(file["b"].values<float>()[1] == 4);
  for (const std::uint32_t wrong : {0u, 24u}) {
    builder c(0, 1);
    refused(c.key("general.alignment", uint32).add(wrong), "no power of two");
  }
  builder d(0, 1);
  refused(d.key("general.alignment", boolean).add(std::uint8_t{1}), "is not a uint32");
}

BOOST_AUTO_TEST_CASE(no_file_of_another_kind_or_version_is_read) {
  BOOST_TEST(thrown_by([] { gguf_file({}, "x"); }) ==
             "x: the magic number at byte 0 takes 4 bytes, and the file has 0 more");
  std::vector<std::byte> other(100, std::byte{'a'});
  BOOST_TEST(thrown_by([&] { gguf_file(other, "x"); }) ==
             "x: this is no GGUF file, which begins with 'GGUF'");
  refused(builder(0, 0, 1), "the version is 1, and weft reads 2 and 3");
  refused(builder(0, 0, 4), "the version is 4");
  refused(builder(0, 0, 3u << 24), "little-endian");
  BOOST_TEST(gguf_file(builder(0, 0, 2).bytes(), "x").tensors().empty());
  BOOST_TEST(gguf_file(builder().bytes(), "x").keys().empty());
}

BOOST_AUTO_TEST_CASE(counts_and_lengths_beyond_the_file_are_refused) {
  constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
  refused(builder(huge), "the name of a tensor at byte 24 takes 8 bytes, and the file has 0 more");
  refused(builder(0, huge), "a key of the metadata");
  refused(builder(0, 1).add(huge).raw("abc"), "takes 18446744073709551615 bytes");
  builder of_texts(0, 1);
  refused(of_texts.key("a", list).add(text).add(huge).text("b"), "metadata 'a'");
  builder of_numbers(0, 1);
  refused(of_numbers.key("a", list).add(uint32).add(huge).zeros(64),
          "has 18446744073709551615 values of 4 bytes");
  builder long_key(0, 1);
  refused(long_key.key(std::string(65536, 'a'), uint32).add(1u), "has 65536 bytes");
  // A file that is cut off anywhere.
  const auto whole = content(golden_file("blocks.gguf"));
  for (std::size_t size = 0; size < whole.size(); size += size < 2000 ? 1 : 111)
    BOOST_TEST(
        !thrown_by([&] {
           gguf_file({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}, "x");
         }).empty());
}

BOOST_AUTO_TEST_CASE(metadata_that_is_wrong_is_refused) {
  builder type(0, 1);
  refused(type.key("a", 13), "metadata 'a' has the type 13, and the format has 0 to 12");
  builder nested(0, 1);
  refused(nested.key("a", list).add(list).add(std::uint64_t{0}), "is a list of lists");
  builder flag(0, 1);
  refused(flag.key("a", boolean).add(std::uint8_t{2}), "is a flag, and is 2");
  builder twice(0, 2);
  refused(twice.key("a", uint32).add(1u).key("a", uint32).add(1u), "the key 'a' twice");
}

BOOST_AUTO_TEST_CASE(tensors_that_are_wrong_are_refused) {
  const auto with = [](auto add) {
    builder b(1);
    add(b);
    return b.pad().zeros(64);
  };
  constexpr std::uint64_t huge = std::uint64_t{1} << 62;
  refused(with([](builder& b) {
            b.tensor("a", {1, 1, 1, 1, 1}, f32, 0);
          }),
          "tensor 'a' has 5 axes, and the format allows 4");
  refused(with([](builder& b) { b.tensor("a", {33}, q8_0, 0); }),
          "tensor 'a', Q8_0 [33], has rows that are no multiple of 32 elements");
  refused(with([](builder& b) {
            b.tensor("a", {huge, huge}, f32, 0);
          }),
          "more bytes than any file");
  refused(with([](builder& b) { b.tensor("a", {huge}, f32, 0); }), "more bytes than any file");
  refused(with([](builder& b) { b.tensor("a", {17}, f32, 0); }),
          "takes 68 bytes at offset 0, and the file has 64 bytes of data");
  refused(with([](builder& b) { b.tensor("a", {1}, f32, 96); }), "at offset 96");
  refused(with([](builder& b) { b.tensor("a", {1}, f32, 0 - std::uint64_t{32}); }), "at offset");
  refused(with([](builder& b) { b.tensor("a", {1}, f32, 4); }),
          "is at offset 4, no multiple of 32");
  builder twice(2);
  refused(twice.tensor("a", {1}, f32, 0).tensor("a", {1}, f32, 32).pad().zeros(64),
          "the name 'a' twice");
  builder other(1);
  const tensor_file unknown(other.tensor("a", {256}, 10, 0).pad().zeros(84).bytes(), "x");
  BOOST_TEST((unknown["a"].type == stored_type::other));
  refuses([&] { unknown["a"].values<float>(); }, "Q2_K");
}

BOOST_AUTO_TEST_CASE(a_tensor_of_a_later_type_is_an_error_only_where_it_is_asked_for) {
  builder b(3);
  b.tensor("later", {5, 7}, 99, 32).tensor("w", {2}, f32, 0).tensor("last", {3}, 98, 96).pad();
  b.add(1.5f).add(2.5f).zeros(24).zeros(64).zeros(40);
  const tensor_file file(b.bytes(), "x.gguf");
  BOOST_TEST(file["w"].values<float>()[1] == 2.5f);
  BOOST_TEST(file["later"].description() == "type 99 [7, 5]");
  BOOST_TEST(file["later"].bytes == 64);  // up to the next tensor
  BOOST_TEST(file["last"].bytes == 40);
  for (const auto* name : {"later", "last"}) {
    const std::string told = thrown_by([&] { file[name].values<float>(); });
    says(told, "tensor '" + std::string(name) + "', type 9");
    says(told, "has elements of a type that weft does not read");
  }
  builder outside(1);
  refused(outside.tensor("a", {1}, 99, 96).pad().zeros(64), "at offset 96");
}

BOOST_AUTO_TEST_SUITE_END()
