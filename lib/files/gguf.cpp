// Reading the header of a GGUF file: nothing is believed before it is compared with the file's
// size.
#include "weft/files/gguf.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "extents.hpp"
#include "gguf_content.hpp"
#include "weft/run/error.hpp"
#include "weft/weights/formats.hpp"

namespace weft {

namespace {

using detail::byte_source;
using detail::cursor;
using detail::find_entry;
using detail::gguf_entry;
using detail::in_quotes;
using detail::value_at;
using detail::value_bytes;
using detail::value_type;

constexpr std::string_view magic = "GGUF";
constexpr std::uint32_t newest_version = 3;  // version 2 has the same layout
constexpr std::size_t most_axes = 4;

value_type type_of_value(cursor& c, std::string_view where) {
  const auto number = c.number<std::uint32_t>(where);
  if (number >= value_bytes.size())
    c.fail(std::string(where) + " has the type " + std::to_string(number) +
           ", and the format has 0 to 12");
  return static_cast<value_type>(number);
}

// Goes past `count` values of a type.
void skip_values(cursor& c, value_type type, std::uint64_t count, const std::string& where) {
  if (type == value_type::list) c.fail(where + " is a list of lists, which is not supported");
  if (type == value_type::text) {
    // Each takes 8 bytes or more, so that a large count soon ends at the end of the file.
    for (; count > 0; --count) c.text(where);
    return;
  }
  const std::size_t bytes = value_bytes[static_cast<std::size_t>(type)];
  if (count > c.left() / bytes)
    c.fail(where + " has " + std::to_string(count) + " values of " + std::to_string(bytes) +
           " bytes, and the file has " + std::to_string(c.left()) + " more bytes");
  if (type != value_type::boolean) return c.skip(static_cast<std::size_t>(count) * bytes);
  for (; count > 0; --count)
    if (const auto flag = c.number<std::uint8_t>(where); flag > 1)
      c.fail(where + " is a flag, and is " + std::to_string(flag));
}

gguf_entry read_entry(cursor& c) {
  constexpr std::size_t longest_key = 65535;
  gguf_entry e{};
  e.key = c.text("a key of the metadata");
  if (e.key.size() > longest_key)
    c.fail("a key of the metadata has " + std::to_string(e.key.size()) +
           " bytes, and the format allows " + std::to_string(longest_key));
  const std::string where = "metadata " + in_quotes(e.key);
  e.type = type_of_value(c, where);
  e.is_list = e.type == value_type::list;
  if (e.is_list) e.type = type_of_value(c, where);
  std::uint64_t count = 1;
  if (e.is_list) count = c.number<std::uint64_t>(where);
  e.offset = c.at();
  e.count = static_cast<std::size_t>(count);
  skip_values(c, e.type, count, where);
  return e;
}

stored_tensor read_tensor(cursor& c) {
  stored_tensor t{};
  t.name = c.text("the name of a tensor");
  const std::string where = "tensor " + in_quotes(t.name);
  const auto axes = c.number<std::uint32_t>(where);
  if (axes > most_axes)
    c.fail(where + " has " + std::to_string(axes) + " axes, and the format allows " +
           std::to_string(most_axes));
  for (std::uint32_t a = 0; a < axes; ++a) {
    const auto extent = c.number<std::uint64_t>(where);
    if (!std::in_range<std::size_t>(extent))
      c.fail(where + " has the extent " + std::to_string(extent));
    t.shape.insert(t.shape.begin(), static_cast<std::size_t>(extent));
  }
  const auto number = c.number<std::uint32_t>(where);
  // A file may have tensors of later types: whoever asks for the elements of one gets the error.
  const std::string unknown = "type " + std::to_string(number);
  const auto* const known = detail::find_in_gguf(number);
  const detail::stored_info of = known ? *known : detail::stored_info{unknown, -1, 1, 0};
  t.type = of.type;
  t.type_name = of.name;
  const auto offset = c.number<std::uint64_t>(where);
  const std::size_t row = t.shape.empty() ? 1 : t.shape.back();
  if (row % of.block != 0)
    c.fail(where + ", " + t.description() + ", has rows that are no multiple of " +
           std::to_string(of.block) + " elements");
  detail::checked_size size = detail::elements_of(t.shape);
  const std::size_t count = size.value / of.block;
  detail::checked_size bytes{count, size.fits};
  bytes.times(of.bits / 8);
  if (!bytes.fits || !std::in_range<std::size_t>(offset))
    c.fail(where + ", " + t.description() + ", needs more bytes than any file has");
  t.bytes = bytes.value;
  t.offset = static_cast<std::size_t>(offset);
  return t;
}

// Sets the offset of each tensor in the file. The data begins at the first multiple of the
// alignment after the header. Throws weft::error where a tensor is not aligned, or ends after the
// file.
void place_tensors(detail::gguf_content& content, const cursor& c, std::size_t alignment) {
  auto& tensors = content.tensors.tensors;
  const std::size_t padding = (alignment - c.at() % alignment) % alignment;
  const std::size_t begin = c.at() + std::min(padding, c.left());
  const std::size_t data = content.file.bytes.size() - begin;
  for (auto& t : tensors) {
    const std::string where = "tensor " + in_quotes(t.name) + ", " + t.description() + ",";
    if (t.offset % alignment != 0)
      c.fail(where + " is at offset " + std::to_string(t.offset) + ", no multiple of " +
             std::to_string(alignment));
    if (t.offset > data || t.bytes > data - t.offset)
      c.fail(where + " takes " + std::to_string(t.bytes) + " bytes at offset " +
             std::to_string(t.offset) + ", and the file has " + std::to_string(data) +
             " bytes of data");
    t.source = content.source;
  }
  // A type that weft does not know has elements of unknown size: they may end where others begin.
  std::vector<std::size_t> begins{data};
  for (const auto& t : tensors) begins.push_back(t.offset);
  std::ranges::sort(begins);
  for (auto& t : tensors)
    if (t.type == stored_type::other && t.bytes == 0 && t.offset < data)
      t.bytes = *std::ranges::upper_bound(begins, t.offset) - t.offset;
  for (auto& t : tensors) t.offset += begin;
  sort_by_name(content.tensors);
}

std::uint32_t alignment_of(const detail::gguf_content& content, const cursor& c) {
  constexpr std::string_view key = "general.alignment";
  const gguf_entry* const e = find_entry(content, key);
  if (e == nullptr) return 32;
  if (e->is_list || e->type != value_type::uint32)
    c.fail("metadata 'general.alignment' is not a uint32");
  const auto alignment = value_at<std::uint32_t>(content, e->offset);
  if (!std::has_single_bit(alignment))
    c.fail("metadata 'general.alignment' is " + std::to_string(alignment) +
           ", and no power of two");
  return alignment;
}

void check_magic(cursor& c, std::span<const std::byte> bytes) {
  c.need(magic.size(), "the magic number");
  if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
    c.fail("this is no GGUF file, which begins with 'GGUF'");
  c.skip(magic.size());
  const auto version = c.number<std::uint32_t>("the version");
  if (version < 2 || version > newest_version)
    c.fail("the version is " + std::to_string(version) + ", and weft reads 2 and 3" +
           (version % 65536 == 0 ? ", little-endian" : ""));
}

detail::gguf_content read(std::shared_ptr<const byte_source> source) {
  detail::gguf_content content;
  content.name = content.tensors.name = source->name();
  content.file = source->all();
  content.source = std::move(source);
  cursor c(content.file.bytes, content.name);
  check_magic(c, content.file.bytes);
  const auto tensors = c.number<std::uint64_t>("the number of tensors");
  const auto entries = c.number<std::uint64_t>("the number of keys");
  // Neither number is believed: each key and tensor takes some bytes, and the file ends.
  for (std::uint64_t i = 0; i < entries; ++i)
    content.keys.push_back(content.entries.emplace_back(read_entry(c)).key);
  std::ranges::sort(content.entries, {}, &gguf_entry::key);
  const auto twice = std::ranges::adjacent_find(content.entries, {}, &gguf_entry::key);
  if (twice != content.entries.end())
    c.fail("the metadata has the key " + in_quotes(twice->key) + " twice");
  for (std::uint64_t i = 0; i < tensors; ++i) content.tensors.tensors.push_back(read_tensor(c));
  place_tensors(content, c, alignment_of(content, c));
  return content;
}

}  // namespace

const detail::gguf_entry* detail::find_entry(const gguf_content& content, std::string_view key) {
  const auto found = std::ranges::lower_bound(content.entries, key, {}, &gguf_entry::key);
  return found != content.entries.end() && found->key == key ? &*found : nullptr;
}

bool detail::is_gguf(const byte_source& source) {
  std::array<char, magic.size()> begin{};
  if (source.size() < begin.size()) return false;
  source.read(0, std::as_writable_bytes(std::span(begin)));
  return std::string_view(begin.data(), begin.size()) == magic;
}

detail::file_content detail::read_gguf(std::shared_ptr<const byte_source> source) {
  return read(std::move(source)).tensors;
}

gguf_file::gguf_file(detail::gguf_content content)
    : tensor_file(std::move(content.tensors)),
      content_(std::make_shared<const detail::gguf_content>(std::move(content))) {}

gguf_file::gguf_file(const std::filesystem::path& path)
    : gguf_file(read(std::make_shared<const byte_source>(path))) {}

gguf_file::gguf_file(std::vector<std::byte> bytes, std::string name)
    : gguf_file(read(std::make_shared<const byte_source>(std::move(bytes), std::move(name)))) {}

}  // namespace weft
