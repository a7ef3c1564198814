// Access to the metadata of a GGUF file.
#include <array>
#include <concepts>
#include <utility>

#include "extents.hpp"
#include "gguf_content.hpp"
#include "weft/files/gguf.hpp"

namespace weft {

namespace {

using detail::find_entry;
using detail::gguf_content;
using detail::gguf_entry;
using detail::in_quotes;
using detail::value_at;
using detail::value_bytes;
using detail::value_type;

// Calls f(number) with the value at an offset, if its type is a number's.
template <class F>
void with_number(const gguf_content& content, value_type type, std::size_t offset, F f) {
  using enum value_type;
  const auto call = [&]<class T>(value_type of, T) {
    if (type == of) f(value_at<T>(content, offset));
    return type == of;
  };
  call(uint8, std::uint8_t()) || call(int8, std::int8_t()) || call(uint16, std::uint16_t()) ||
      call(int16, std::int16_t()) || call(uint32, std::uint32_t()) || call(int32, std::int32_t()) ||
      call(uint64, std::uint64_t()) || call(int64, std::int64_t()) || call(float32, float()) ||
      call(float64, double());
}

constexpr std::array<std::string_view, 3> kinds{"a text", "a flag", "a number"};

std::string_view kind_of(value_type type) {
  return type == value_type::text ? kinds[0] : type == value_type::boolean ? kinds[1] : kinds[2];
}

// Throws weft::error unless the key is there, and its value is a list or not, and of that kind.
const gguf_entry& expect(const gguf_content& content, std::string_view key, bool list,
                         std::string_view kind) {
  const std::string where = content.name + ": metadata " + in_quotes(key);
  const gguf_entry* const e = find_entry(content, key);
  if (e == nullptr) detail::raise(where + " is not there");
  if (e->is_list != list || kind_of(e->type) != kind)
    detail::raise(where + " is " + (e->is_list ? "a list, each element " : "") +
                  std::string(kind_of(e->type)) + ", and is read as " +
                  (list ? "a list, each element " : "") + std::string(kind));
  return *e;
}

std::int64_t integer_at(const gguf_content& content, const gguf_entry& e, std::size_t offset) {
  std::int64_t result = 0;
  with_number(content, e.type, offset, [&](auto x) {
    bool fits = false;
    if constexpr (std::integral<decltype(x)>) fits = std::in_range<std::int64_t>(x);
    if (!fits)
      detail::raise(content.name + ": metadata " + in_quotes(e.key) + " has the value " +
                    std::to_string(x) + ", and is read as an integer of 64 bits");
    result = static_cast<std::int64_t>(x);
  });
  return result;
}

double number_at(const gguf_content& content, const gguf_entry& e, std::size_t offset) {
  double result = 0;
  with_number(content, e.type, offset, [&](auto x) { result = static_cast<double>(x); });
  return result;
}

// The values of a list that have a fixed size each.
template <class F>
auto each_of(const gguf_entry& e, F f) {
  std::vector<decltype(f(std::size_t()))> values;
  values.reserve(e.count);
  const std::size_t bytes = value_bytes[static_cast<std::size_t>(e.type)];
  for (std::size_t i = 0; i < e.count; ++i) values.push_back(f(e.offset + i * bytes));
  return values;
}

}  // namespace

const std::vector<std::string_view>& gguf_file::keys() const {
  return content_->keys;
}

bool gguf_file::contains(std::string_view key) const {
  return detail::find_entry(*content_, key) != nullptr;
}

std::string_view gguf_file::text(std::string_view key) const {
  const detail::gguf_entry& e = expect(*content_, key, false, kinds[0]);
  return detail::cursor(content_->file.bytes.subspan(e.offset), name()).text(key);
}

std::int64_t gguf_file::integer(std::string_view key) const {
  const detail::gguf_entry& e = expect(*content_, key, false, kinds[2]);
  return integer_at(*content_, e, e.offset);
}

double gguf_file::number(std::string_view key) const {
  const detail::gguf_entry& e = expect(*content_, key, false, kinds[2]);
  return number_at(*content_, e, e.offset);
}

bool gguf_file::flag(std::string_view key) const {
  const detail::gguf_entry& e = expect(*content_, key, false, kinds[1]);
  return detail::value_at<std::uint8_t>(*content_, e.offset) != 0;
}

std::vector<std::string_view> gguf_file::texts(std::string_view key) const {
  const detail::gguf_entry& e = expect(*content_, key, true, kinds[0]);
  detail::cursor c(content_->file.bytes.subspan(e.offset), name());
  std::vector<std::string_view> all;
  all.reserve(e.count);
  for (std::size_t i = 0; i < e.count; ++i) all.push_back(c.text(key));
  return all;
}

std::vector<std::int64_t> gguf_file::integers(std::string_view key) const {
  const detail::gguf_entry& e = expect(*content_, key, true, kinds[2]);
  return each_of(e, [&](std::size_t at) { return integer_at(*content_, e, at); });
}

std::vector<double> gguf_file::numbers(std::string_view key) const {
  const detail::gguf_entry& e = expect(*content_, key, true, kinds[2]);
  return each_of(e, [&](std::size_t at) { return number_at(*content_, e, at); });
}

}  // namespace weft
