// Safetensors files: written tensors are read back, and invalid files are refused.
#include "weft/files/safetensors.hpp"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <limits>
#include <thread>

#include "support/golden_init.hpp"
#include "support/temporary.hpp"
#include "support/thrown_by.hpp"
#include "weft/run/error.hpp"

namespace {

using weft::stored_type, weft::tensor_file, weft::testing::refuses, weft::testing::temporary;

// A file's bytes: a header, and `data` zero bytes of data.
std::vector<std::byte> bytes(const std::string& header, std::size_t data = 0) {
  const std::uint64_t size = header.size();
  std::vector<std::byte> all(sizeof size + size + data);
  std::memcpy(all.data(), &size, sizeof size);
  std::memcpy(all.data() + sizeof size, header.data(), header.size());
  return all;
}

void refused(const std::string& header, std::size_t data, const std::string& sentence) {
  refuses([&] { tensor_file(bytes(header, data), "x"); }, sentence);
}

struct flags {
  bool at[3]{true, false, true};
};

void write_example(const std::filesystem::path& path) {
  static constexpr flags mask;
  const std::vector<float> x{1, -2.5f, 3};
  const std::vector<std::int32_t> i{-7, 1 << 30};
  weft::save_tensors({{"mask", {3}, std::span<const bool>(mask.at), stored_type::boolean},
                      {"whole", {1, 2}, std::span<const std::int32_t>(i), stored_type::int32},
                      {"wide", {2}, std::span<const std::int32_t>(i), stored_type::int64},
                      {"double", {3}, std::span<const float>(x), stored_type::float64},
                      {"single", {3, 1}, std::span<const float>(x), stored_type::float32},
                      {"half", {3}, std::span<const float>(x), stored_type::float16},
                      {"brain", {3}, std::span<const float>(x), stored_type::bfloat16},
                      {"number", {}, std::span<const float>(x).first(1), stored_type::float32},
                      {"nothing", {4, 0}, std::span<const float>(), stored_type::float32}},
                     path, {{"made by", "a \"test\""}});
}

std::vector<std::byte> content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  std::vector<std::byte> all(text.size());
  std::memcpy(all.data(), text.data(), text.size());
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(safetensors)

BOOST_AUTO_TEST_CASE(written_tensors_are_read_back) {
  const temporary path("weft_safetensors_test");
  write_example(path);
  const tensor_file file(path);
  const std::vector<float> x{1, -2.5f, 3};
  const std::vector<double> exact{1, -2.5, 3};
  for (const auto* name : {"double", "single", "half", "brain"}) {
    BOOST_TEST(file[name].values<float>() == x, name);
    BOOST_TEST(file[name].values<double>() == exact, name);
  }
  const std::vector<std::int32_t> i{-7, 1 << 30};
  BOOST_TEST(file["whole"].values<std::int32_t>() == i);
  BOOST_TEST((file["whole"].values<double>() == std::vector<double>{-7, 1 << 30}));
  BOOST_TEST((file["mask"].values<double>() == std::vector<double>{1, 0, 1}));
  BOOST_TEST(file["wide"].values<std::int32_t>() == i);
  flags mask{{false, false, false}};
  file["mask"].read(std::span<bool>(mask.at));
  BOOST_TEST((mask.at[0] && !mask.at[1] && mask.at[2]));
  BOOST_TEST(file["number"].values<float>() == std::vector<float>{1});
  BOOST_TEST(file["nothing"].values<float>().empty());
  BOOST_TEST(file["single"].description() == "F32 [3, 1]");
  BOOST_TEST(file["brain"].description() == "BF16 [3]");
  BOOST_TEST(file.tensors().size() == 9u);
  BOOST_TEST(file.metadata().at("made by") == "a \"test\"");
  BOOST_TEST(file.find("other") == nullptr);
  refuses([&] { file["other"]; }, "no tensor 'other'");
}

BOOST_AUTO_TEST_CASE(elements_are_aligned_in_the_file) {
  const temporary path("weft_safetensors_test");
  write_example(path);
  const auto all = content(path);
  const tensor_file file(all, "x");
  for (const auto& t : file.tensors())
    if (t.size() > 0) BOOST_TEST(t.offset % (t.bytes / t.size()) == 0u, t.name);
  std::uint64_t size = 0;
  std::memcpy(&size, all.data(), sizeof size);
  BOOST_TEST(size % 8 == 0u);
}

BOOST_AUTO_TEST_CASE(reading_another_type_or_size_than_stored_is_refused) {
  const temporary path("weft_safetensors_test");
  write_example(path);
  const tensor_file file(path);
  refuses([&] { file["whole"].values<float>(); },
          "tensor 'whole', I32 [1, 2], is read as floating-point numbers");
  BOOST_CHECK_THROW(file["single"].values<std::int32_t>(), weft::error);
  BOOST_CHECK_THROW(file["mask"].values<std::int32_t>(), weft::error);
  flags mask;
  BOOST_CHECK_THROW(file["single"].read(std::span<bool>(mask.at)), weft::error);
  std::vector<float> two(2);
  refuses([&] { file["single"].read(std::span(two)); }, "is read into 2 elements");
}

BOOST_AUTO_TEST_CASE(an_integer_that_does_not_fit_is_refused) {
  auto all = bytes(R"({"i":{"dtype":"I64","shape":[2],"data_offsets":[0,16]}})", 16);
  const std::int64_t large = std::int64_t{1} << 31;
  std::memcpy(all.data() + all.size() - sizeof large, &large, sizeof large);
  const tensor_file file(all, "x");
  BOOST_TEST(file["i"].values<std::int64_t>()[1] == large);
  refuses([&] { file["i"].values<std::int32_t>(); }, "element 1 is 2147483648");
}

BOOST_AUTO_TEST_CASE(a_file_may_have_tensors_of_types_that_weft_does_not_support) {
  const tensor_file file(bytes(R"({"u":{"dtype":"F8_E5M2","shape":[3],"data_offsets":[0,3]},)"
                               R"("f":{"dtype":"F4","shape":[2,3],"data_offsets":[3,6]}})",
                               6),
                         "x");
  BOOST_TEST((file["u"].type == stored_type::other));
  refuses([&] { file["u"].values<float>(); },
          "F8_E5M2 [3], has elements of a type that weft does not read");
  BOOST_TEST(file["f"].description() == "F4 [2, 3]");
  BOOST_TEST(file["f"].size() == 6u);
  BOOST_CHECK_THROW(file["f"].values<double>(), weft::error);
  refused(R"({"u":{"dtype":"U8","shape":[3],"data_offsets":[0,4]}})", 4, "U8 [3], has 4 bytes");
  refused(R"({"f":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}})", 2, "F4 [3], has 2 bytes");
  refused(R"({"q":{"dtype":"Q4","shape":[3],"data_offsets":[0,2]}})", 2,
          "the dtype 'Q4', which the format does not have");
}

// The format says that a header begins with '{' and may be padded with spaces at its end.
BOOST_AUTO_TEST_CASE(a_header_is_one_object_and_optional_trailing_spaces) {
  BOOST_TEST(tensor_file(bytes("{}"), "x").tensors().empty());
  BOOST_TEST(tensor_file(bytes("{}      "), "x").tensors().empty());
  refused("", 0, "does not begin with '{'");
  refused(" {}", 0, "does not begin with '{'");
  refused("\xef\xbb\xbf{}", 0, "does not begin with '{'");
  refused("[1]", 0, "does not begin with '{'");
  refused("{\"a\":", 0, "does not end with '}'");
  refused("{}\n", 0, "does not end with '}'");
  refused("{} x", 0, "does not end with '}'");
  refused({"{}\0", 3}, 0, "does not end with '}'");
  refused({"{}\0garbage}", 11}, 0, "its byte 2 is zero");
  refused("{}{}", 0, "not JSON");
  refused("{}}", 0, "not JSON");
}

BOOST_AUTO_TEST_CASE(keys_that_the_format_does_not_define_are_ignored) {
  const tensor_file file(
      bytes(R"({"a":{"x":null,"dtype":"F32","y":{"dtype":3,"shape":"z"},"shape":[1],)"
            R"("z":[1,-2,true],"data_offsets":[0,4]}})",
            4),
      "x");
  BOOST_TEST(file["a"].description() == "F32 [1]");
}

BOOST_AUTO_TEST_CASE(messages_shorten_long_names_and_values) {
  const std::string name(100000, 'n');
  try {
    tensor_file(bytes("{\"" + name + "\":3}"), "x");
    BOOST_ERROR("the file is not refused");
  } catch (const weft::error& e) {
    BOOST_TEST(std::string(e.what()).size() < 200u);
  }
  try {
    tensor_file(bytes("{\"a\":" + std::string(100000, '1') + "x}"), "x");
    BOOST_ERROR("the file is not refused");
  } catch (const weft::error& e) {
    BOOST_TEST(std::string(e.what()).size() < 400u);
  }
}

namespace {

// Writes a file with a header and `data` payload bytes, which are a hole and use no disk space.
void write_sparse(const std::filesystem::path& path, const std::string& header,
                  std::uintmax_t data) {
  const auto begin = bytes(header);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(begin.data()), std::ssize(begin));
  std::filesystem::resize_file(path, begin.size() + data);
}

// Overwrites the first bytes of a file.
void overwrite(const std::filesystem::path& path, std::span<const std::byte> first) {
  std::fstream(path, std::ios::binary | std::ios::in | std::ios::out)
      .write(reinterpret_cast<const char*>(first.data()), std::ssize(first));
}

constexpr std::uintmax_t terabyte = std::uintmax_t{1} << 40;

}  // namespace

// The file has 1 TiB, more than the memory of most machines, so it cannot be read whole.
BOOST_AUTO_TEST_CASE(only_the_requested_tensors_of_a_large_file_are_read) {
  const temporary path("weft_safetensors_test");
  write_sparse(path,
               R"({"all":{"dtype":"F32","shape":[274877906944],"data_offsets":[4,1099511627780]},)"
               R"("one":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
               terabyte + 4);
  const tensor_file file(path);
  BOOST_TEST(file["one"].values<float>() == std::vector<float>{0});
  BOOST_TEST(file["all"].size() * 4 == terabyte);
}

BOOST_AUTO_TEST_CASE(the_length_of_a_header_is_checked_before_memory_is_allocated) {
  const temporary path("weft_safetensors_test");
  write_sparse(path, "{}", terabyte);
  const auto claim = [&](std::uint64_t size) {
    overwrite(path, std::as_bytes(std::span(&size, 1)));
  };
  claim(100'000'001);
  refuses([&] { tensor_file{path}; }, "the format allows 100000000");
  claim(terabyte);
  refuses([&] { tensor_file{path}; }, "the format allows 100000000");
  claim(terabyte + 3);
  refuses([&] { tensor_file{path}; }, "and the file has");
  claim(std::numeric_limits<std::uint64_t>::max());
  refuses([&] { tensor_file{path}; }, "and the file has");
}

// About a second; it would be many minutes if each tensor were compared with every other one.
BOOST_AUTO_TEST_CASE(a_header_of_300000_tensors_is_read_in_seconds) {
  std::string header = "{";
  constexpr std::size_t count = 300000;
  for (std::size_t i = 0; i < count; ++i)
    header += (i ? ",\"" : "\"") + std::to_string(i * 7919 % count) +
              R"(.weight":{"dtype":"F32","shape":[1],"data_offsets":[)" + std::to_string(4 * i) +
              "," + std::to_string(4 * i + 4) + "]}";
  auto all = bytes(header + "}", 4 * count);
  const auto begin = std::clock();  // of this process: other load does not count
  const tensor_file file(std::move(all), "x");
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  BOOST_TEST_MESSAGE(seconds << " s");
  BOOST_TEST(file.tensors().size() == count);
  BOOST_TEST(file.find("299999.weight") != nullptr);
  BOOST_TEST(seconds < 30);
}

BOOST_AUTO_TEST_CASE(a_file_that_is_written_to_while_it_is_read_is_refused) {
  const temporary path("weft_safetensors_test");
  write_example(path);
  const tensor_file cut(path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  refuses([&] { cut["mask"].values<double>(); }, "was cut off");
  refuses([&] { cut["double"].values<double>(); }, "was written to");

  write_example(path);
  const tensor_file rewritten(path);
  const auto whole = content(path);
  // Modification times advance in steps of a few milliseconds.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  overwrite(path, whole);
  refuses([&] { rewritten["double"].values<double>(); }, "was written to");

  const tensor_file replaced(path);
  weft::save_tensors({}, path);  // renames a new file to that path
  BOOST_TEST(replaced["double"].values<double>().size() == 3u);
  BOOST_TEST(tensor_file(path).tensors().empty());
}

BOOST_AUTO_TEST_CASE(a_tensor_can_be_read_after_its_file_is_removed) {
  const temporary path("weft_safetensors_test");
  write_example(path);
  const weft::stored_tensor t = tensor_file(path)["double"];
  std::filesystem::remove(path);
  BOOST_TEST(t.values<double>().size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_pipe_is_refused_without_waiting_for_a_writer) {
  const temporary path("weft_safetensors_test");
  BOOST_TEST_REQUIRE(::mkfifo(static_cast<const std::filesystem::path&>(path).c_str(), 0600) == 0);
  refuses([&] { tensor_file{path}; }, "it is not a regular file");
}

BOOST_AUTO_TEST_CASE(invalid_files_are_refused_with_the_reason) {
  refuses([&] { tensor_file("/there/is/no/such/file"); }, "cannot be read");
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  refuses([&] { tensor_file{folder}; }, "cannot be read");
  refuses([&] { tensor_file({std::byte{1}}, "x"); }, "the file has 1 bytes");
  auto long_header = bytes("{}");
  long_header[0] = std::byte{3};
  refuses([&] { tensor_file(long_header, "x"); }, "the header has 3 bytes, and the file has 2");
  long_header[7] = std::byte{255};
  BOOST_CHECK_THROW(tensor_file(long_header, "x"), weft::error);
  refused("{\"a\":}", 0, "not JSON");
  refused("{\"a\xff\":1}", 0, "not JSON");
  refused(R"({"a":{"x":[[1]]}})", 0, "nested deeper");
  refused(R"({"a":3})", 0, "tensor 'a' is not described by an object");
  refused(R"({"a":{"shape":[],"data_offsets":[0,4]}})", 4, "no 'dtype'");
  refused(R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4, "no 'shape'");
  refused(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "no 'shape'");
  refused(R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4, "no 'shape'");
  refused(R"({"a":{"dtype":"F32","shape":[1]}})", 4, "no 'data_offsets'");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4, "data_offsets [0]");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4, "data_offsets [4, 0]");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", 4, "data_offsets [0, 8]");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,18446744073709551616]}})", 4,
          "no 'data_offsets'");
  refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "F32 [2], has 4 bytes");
  refused(R"({"a":{"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]}})", 4,
          "has 4 bytes");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
          R"("b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
          6, "tensor 'b' overlaps another one");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
          R"("b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
          4, "overlaps another one");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
          R"("b":{"dtype":"F32","shape":[1],"data_offsets":[6,10]}})",
          10, "tensor 'b' comes after a gap");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 5,
          "bytes after the last tensor");
  refused(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
          R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
          4, "the name 'a' twice");
  refused(R"({"__metadata__":{"a":3}})", 0, "not an object of strings");
  refused(R"({"__metadata__":["a"]})", 0, "not an object of strings");
  refused(R"({"__metadata__":{"a":null}})", 0, "not an object of strings");
}

// In its own build, the address sanitizer checks these reads as well.
BOOST_AUTO_TEST_CASE(damaged_files_are_refused_or_read) {
  const temporary path("weft_safetensors_test");
  write_example(path);
  const auto whole = content(path);
  std::size_t loaded = 0, wrong = 0;
  const auto attempt = [&](std::vector<std::byte> damaged) {
    try {
      const tensor_file file(std::move(damaged), "x");
      ++loaded;
      for (const auto& t : file.tensors()) {
        if (t.type < stored_type::other) BOOST_TEST(t.values<double>().size() == t.size());
      }
    } catch (const weft::error&) {
      ++wrong;
    }
  };
  for (std::size_t size = 0; size < whole.size(); ++size)
    attempt({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
  BOOST_TEST(loaded == 0u);  // no truncated file is valid
  for (std::size_t i = 0; i < 20000; ++i) {
    auto damaged = whole;
    std::size_t next = i * 16;
    const auto random = [&](std::size_t below) {
      return weft::golden::hash("damage", next++) % below;
    };
    for (std::size_t times = 1 + random(3); times-- > 0;) {
      // Most damage is in the header, and half of it consists of digits and punctuation.
      const std::size_t at = random(4) ? 8 + random(whole.size() * 3 / 4) : random(whole.size());
      constexpr std::string_view likely = "0123456789[]{}\",:-eE. ";
      const auto byte = random(2) ? static_cast<std::byte>(likely[random(likely.size())])
                                  : static_cast<std::byte>(random(256));
      switch (random(3)) {
        case 0:
          damaged.at(at % damaged.size()) = byte;
          break;
        case 1:
          damaged.insert(damaged.begin() + static_cast<std::ptrdiff_t>(at % damaged.size()), byte);
          break;
        default:
          damaged.erase(damaged.begin() + static_cast<std::ptrdiff_t>(at % damaged.size()));
      }
    }
    attempt(std::move(damaged));
  }
  BOOST_TEST(loaded > 100u);  // names and elements may change
  BOOST_TEST(wrong > 10000u);
}

BOOST_AUTO_TEST_CASE(a_failed_write_leaves_the_old_file) {
  const temporary path("weft_safetensors_test");
  write_example(path);
  const auto before = content(path);
  const std::vector<float> x{1};
  const std::span<const float> one(x);
  using tensors = std::vector<weft::tensor_to_store>;
  for (const auto& wrong :
       {tensors{{"a", {2}, one, stored_type::float32}},
        tensors{{"a", {1}, one, stored_type::int32}}, tensors{{"a", {1}, one, stored_type::other}},
        tensors{{"__metadata__", {1}, one, stored_type::float32}},
        tensors{{"a\xff", {1}, one, stored_type::float32}},
        tensors{{"a", {1}, one, stored_type::float32}, {"a", {1}, one, stored_type::float32}}}) {
    BOOST_CHECK_THROW(weft::save_tensors(wrong, path), weft::error);
    BOOST_TEST((content(path) == before));
  }
  refuses([&] { weft::save_tensors({}, "/there/is/no/such/folder/x"); }, "cannot be written");
}

BOOST_AUTO_TEST_CASE(metadata_that_is_null_is_none) {
  const tensor_file file(
      bytes(R"({"__metadata__":null,"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4),
      "x");
  BOOST_TEST(file.metadata().empty());
  BOOST_TEST(file["a"].values<float>()[0] == 0);
}

BOOST_AUTO_TEST_SUITE_END()
