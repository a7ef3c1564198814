#include "weft/io/safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "byte_source.hpp"
#include "half.hpp"
#include "new_file.hpp"
#include "shortened.hpp"
#include "weft/run/error.hpp"

namespace weft {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

namespace {

using json = nlohmann::json;

// A dtype of the format.
struct type_entry {
  std::string_view name;
  std::size_t bits;
};
// The first entries are in the order of weft::stored_type, up to its `other`.
constexpr std::array<type_entry, 22> types{
    {{"F64", 64},    {"F32", 32},    {"F16", 16},        {"BF16", 16},       {"I64", 64},
     {"I32", 32},    {"BOOL", 8},    {"U8", 8},          {"I8", 8},          {"I16", 16},
     {"U16", 16},    {"U32", 32},    {"U64", 64},        {"C64", 64},        {"F8_E4M3", 8},
     {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"F6_E2M3", 6},
     {"F6_E3M2", 6}, {"F4", 4}}};

std::string_view name_of(stored_type type) {
  return types.at(static_cast<std::size_t>(type)).name;
}
std::size_t bytes_of(stored_type type) {
  return types.at(static_cast<std::size_t>(type)).bits / 8;
}

constexpr std::size_t most_in_header = 100'000'000;  // the limit of the format's reference reader

// A number of elements or bytes, with overflow detection.
struct checked_size {
  std::size_t value = 1;
  bool fits = true;
  void times(std::size_t n) {
    fits = fits && (n == 0 || value <= std::numeric_limits<std::size_t>::max() / n);
    value *= n;
  }
};
checked_size elements_of(const std::vector<std::size_t>& shape) {
  checked_size n;
  for (std::size_t const extent : shape) n.times(extent);
  return n;
}

// Lists at most 16 values, so that messages stay short.
std::string to_string(const std::vector<std::size_t>& numbers) {
  constexpr std::size_t most = 16;
  std::string text = "[";
  for (std::size_t i = 0; i < numbers.size() && i < most; ++i)
    text += (i > 0 ? ", " : "") + std::to_string(numbers[i]);
  return text + (numbers.size() > most ? ", ...]" : "]");
}
std::string in_quotes(std::string_view text) {
  return "'" + detail::shortened(text) + "'";
}

using texts = std::map<std::string, std::string, std::less<>>;

// Receives the parts of a header as the JSON library parses them. The library's own tree of values
// would drop the first of two equal keys, and would be a second copy of the header.
class header_reader : public nlohmann::json_sax<json> {
 public:
  header_reader(const std::string& file, std::vector<stored_tensor>& tensors, texts& metadata)
      : file_(file), tensors_(tensors), metadata_(metadata) {}

  bool null() override { return other_value(); }
  bool boolean(bool) override { return other_value(); }
  bool number_integer(std::int64_t) override { return other_value(); }
  bool number_float(double, const std::string&) override { return other_value(); }
  bool binary(json::binary_t&) override { return other_value(); }
  bool number_unsigned(std::uint64_t number) override {
    if (numbers_ == nullptr || !std::in_range<std::size_t>(number)) return other_value();
    numbers_->push_back(static_cast<std::size_t>(number));
    return true;
  }
  bool string(std::string& text) override {
    if (depth_ == 2 && in_metadata_)
      metadata_.find(key_)->second = std::move(text);
    else if (depth_ == 2 && key_ == "dtype")
      tensors_.back().type_name = std::move(text);
    else
      return other_value();
    return true;
  }
  bool key(std::string& name) override {
    if (depth_ > 2) return true;  // inside an ignored value
    key_ = std::move(name);
    if (depth_ == 1) {
      in_metadata_ = key_ == "__metadata__";
      if (in_metadata_ && std::exchange(has_metadata_, true)) twice();
      if (in_metadata_) return true;
      tensors_.emplace_back().name = key_;
      has_.fill(false);
      offsets_.clear();
    } else if (depth_ == 2 && in_metadata_) {
      if (!metadata_.emplace(key_, "").second) twice();
    } else if (depth_ == 2) {
      auto const found = std::find(keys.begin(), keys.end(), key_);
      if (found != keys.end() &&
          std::exchange(has_[static_cast<std::size_t>(found - keys.begin())], true))
        twice();
    }
    return true;
  }
  bool start_object(std::size_t) override {
    if (depth_ >= 2) other_value();
    return deeper();
  }
  bool end_object() override {
    if (--depth_ == 1 && !in_metadata_) end_tensor();
    return true;
  }
  bool start_array(std::size_t) override {
    bool const of_tensor = depth_ == 2 && !in_metadata_;
    if (of_tensor && key_ == "shape")
      numbers_ = &tensors_.back().shape;
    else if (of_tensor && key_ == "data_offsets")
      numbers_ = &offsets_;
    else
      other_value();
    return deeper();
  }
  bool end_array() override {
    --depth_;
    numbers_ = nullptr;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception& e) override {
    throw error(file_ + ": the header is not JSON: " + detail::shortened(e.what(), 300));
  }

 private:
  static constexpr std::array<std::string_view, 3> keys{"dtype", "shape", "data_offsets"};

  bool deeper() {
    if (++depth_ > 3) throw error(file_ + ": the header is nested deeper than the format allows");
    return true;
  }
  // Ignores the value of a key that the format does not define; throws weft::error for any other,
  // which then is not of the type that the format requires.
  bool other_value() const {
    if (in_metadata_) throw error(file_ + ": '__metadata__' is not an object of strings");
    if (depth_ == 1) throw error(where() + " is not described by an object");
    if (numbers_ != nullptr || std::find(keys.begin(), keys.end(), key_) != keys.end()) lacks(key_);
    return true;
  }
  void end_tensor() {
    for (std::size_t k = 0; k < keys.size(); ++k)
      if (!has_[k]) lacks(keys[k]);
    if (offsets_.size() != 2 || offsets_[0] > offsets_[1])
      throw error(where() + " has the data_offsets " + to_string(offsets_) +
                  ", which are not a begin and an end");
    tensors_.back().offset = offsets_[0];
    tensors_.back().bytes = offsets_[1] - offsets_[0];
  }
  [[noreturn]] void lacks(std::string_view key) const {
    throw error(where() + " has no '" + std::string(key) + "', a " +
                (key == "dtype" ? "string" : "list of non-negative integers"));
  }
  [[noreturn]] void twice() const {
    throw error(file_ + ": the header has the name " + in_quotes(key_) + " twice");
  }
  std::string where() const { return file_ + ": tensor " + in_quotes(tensors_.back().name); }

  const std::string& file_;
  std::vector<stored_tensor>& tensors_;
  texts& metadata_;
  int depth_ = 0;
  std::string key_;  // the last key at depth 1 or 2
  bool in_metadata_ = false, has_metadata_ = false;
  std::array<bool, keys.size()> has_{};
  std::vector<std::size_t> offsets_;
  std::vector<std::size_t>* numbers_ = nullptr;  // the list that is being read
};

// Sets the type. Throws weft::error unless the tensor lies within the `data` bytes after the
// header, from which its offset counts, and has as many bytes as its type and shape need.
void check(stored_tensor& t, std::size_t data, const std::string& file) {
  std::string const where = file + ": tensor " + in_quotes(t.name);
  auto const type = std::find_if(types.begin(), types.end(),
                                 [&](const type_entry& e) { return e.name == t.type_name; });
  if (type == types.end())
    throw error(where + " has the dtype " + in_quotes(t.type_name) +
                ", which the format does not have");
  t.type = static_cast<stored_type>(
      std::min<std::ptrdiff_t>(type - types.begin(), static_cast<int>(stored_type::other)));
  if (t.offset > data || t.bytes > data - t.offset)
    throw error(where + " has the data_offsets " + to_string({t.offset, t.offset + t.bytes}) +
                ", and the file has " + std::to_string(data) + " bytes of data");
  checked_size bits = elements_of(t.shape);
  bits.times(type->bits);
  if (!bits.fits || bits.value % 8 != 0 || bits.value / 8 != t.bytes)
    throw error(where + ", " + t.description() + ", has " + std::to_string(t.bytes) +
                " bytes, and needs " +
                (!bits.fits            ? "more than any file has"
                 : bits.value % 8 != 0 ? std::to_string(bits.value) + " bits"
                                       : std::to_string(bits.value / 8)));
}

// Throws weft::error unless the tensors fill the `data` bytes after the header without gaps or
// overlaps.
void check_layout(const std::vector<stored_tensor>& tensors, std::size_t data,
                  const std::string& file) {
  std::vector<const stored_tensor*> order;
  for (auto const& t : tensors) order.push_back(&t);
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) {
    return std::pair(a->offset, a->bytes) < std::pair(b->offset, b->bytes);
  });
  std::size_t next = 0;
  for (auto const* t : order) {
    if (t->offset != next)
      throw error(file + ": tensor " + in_quotes(t->name) +
                  (t->offset < next ? " overlaps another one" : " comes after a gap"));
    next += t->bytes;
  }
  if (next != data) throw error(file + ": there are bytes after the last tensor");
}

// Returns the header. Throws weft::error unless it begins with '{' and ends with '}', after which
// there may be spaces.
std::string read_header(const detail::byte_source& source) {
  std::string const& file = source.name();
  std::uint64_t size = 0;
  if (source.size() < sizeof size)
    throw error(file + ": the file has " + std::to_string(source.size()) +
                " bytes, and the length of the header takes 8");
  source.read(0, std::as_writable_bytes(std::span(&size, 1)));
  std::size_t const rest = source.size() - sizeof size;
  if (size > rest)
    throw error(file + ": the header has " + std::to_string(size) + " bytes, and the file has " +
                std::to_string(rest) + " for it and the data");
  if (size > most_in_header)
    throw error(file + ": the header has " + std::to_string(size) +
                " bytes, and the format allows " + std::to_string(most_in_header));
  std::string header(static_cast<std::size_t>(size), '\0');
  source.read(sizeof size, std::as_writable_bytes(std::span(header)));
  if (!header.starts_with('{')) throw error(file + ": the header does not begin with '{'");
  if (header[header.find_last_not_of(' ')] != '}')
    throw error(file + ": the header does not end with '}' and optional spaces");
  // The JSON library would take a zero byte for the end of the header.
  if (auto const zero = header.find('\0'); zero != header.npos)
    throw error(file + ": the header is not JSON: its byte " + std::to_string(zero) + " is zero");
  return header;
}

// Reads elements that are stored as S, and calls f(i, element i) for each.
template <class S, class F>
void for_each_stored(const stored_tensor& t, F f) {
  constexpr std::size_t most = 8192;  // at a time, so that the tensor is not in memory twice
  std::size_t const size = t.size();
  std::vector<S> some(std::min(size, most));
  for (std::size_t i = 0; i < size; i += some.size()) {
    std::span const now(some.data(), std::min(some.size(), size - i));
    t.source->read(t.offset + i * sizeof(S), std::as_writable_bytes(now));
    for (std::size_t k = 0; k < now.size(); ++k) f(i + k, now[k]);
  }
}

// Calls f(S(), value), where S is the type of the stored elements and value(S) is what one stands
// for. Does nothing for stored_type::other, which weft does not read.
template <class F>
void with_stored(stored_type type, F f) {
  auto const same = [](auto x) { return x; };
  switch (type) {
    case stored_type::float64:
      return f(double(), same);
    case stored_type::float32:
      return f(float(), same);
    case stored_type::float16:
      return f(std::uint16_t(), from_float16);
    case stored_type::bfloat16:
      return f(std::uint16_t(), from_bfloat16);
    case stored_type::int64:
      return f(std::int64_t(), same);
    case stored_type::int32:
      return f(std::int32_t(), same);
    case stored_type::boolean:
      return f(std::uint8_t(), [](std::uint8_t x) { return x != 0; });
    case stored_type::other:
      return;
  }
}

// Whether elements of this type can be read as T.
template <class T>
constexpr bool is_read_as(stored_type type) {
  if (std::same_as<T, bool>) return type == stored_type::boolean;
  if (std::same_as<T, float>) return type <= stored_type::bfloat16;
  if (std::same_as<T, double>) return type < stored_type::other;
  return type == stored_type::int64 || type == stored_type::int32;
}

std::string place(const stored_tensor& t) {
  return t.source->name() + ": tensor " + in_quotes(t.name) + ", " + t.description();
}

template <class T>
void check_kind(const stored_tensor& t) {
  if (is_read_as<T>(t.type)) return;
  char const* const kind = std::same_as<T, bool>     ? "booleans"
                           : std::same_as<T, float>  ? "floating-point numbers"
                           : std::same_as<T, double> ? "numbers"
                                                     : "integers";
  throw error(place(t) + ", is read as " + kind);
}

}  // namespace

std::size_t stored_tensor::size() const {
  return elements_of(shape).value;
}

std::string stored_tensor::description() const {
  return type_name + " " + to_string(shape);
}

template <class T>
void stored_tensor::read(std::span<T> into) const {
  check_kind<T>(*this);
  if (into.size() != size())
    throw error(place(*this) + ", is read into " + std::to_string(into.size()) + " elements");
  with_stored(type, [&]<class S>(S, auto number) {
    using N = decltype(number(S()));
    // Elements that are stored as T need no conversion, and so no buffer.
    if constexpr (std::same_as<S, T>) return source->read(offset, std::as_writable_bytes(into));
    for_each_stored<S>(*this, [&](std::size_t i, S stored) {
      N const x = number(stored);
      if constexpr (std::same_as<N, std::int64_t> && std::same_as<T, std::int32_t>)
        if (!std::in_range<T>(x))
          throw error(place(*this) + ": element " + std::to_string(i) + " is " + std::to_string(x) +
                      ", which does not fit");
      into[i] = static_cast<T>(x);
    });
  });
}
template void stored_tensor::read(std::span<float>) const;
template void stored_tensor::read(std::span<double>) const;
template void stored_tensor::read(std::span<std::int32_t>) const;
template void stored_tensor::read(std::span<std::int64_t>) const;
template void stored_tensor::read(std::span<bool>) const;

template <class T>
requires(!std::same_as<T, bool>) std::vector<T> stored_tensor::values()
const {
  check_kind<T>(*this);
  std::vector<T> all(size());
  read(std::span(all));
  return all;
}
template std::vector<float> stored_tensor::values() const;
template std::vector<double> stored_tensor::values() const;
template std::vector<std::int32_t> stored_tensor::values() const;
template std::vector<std::int64_t> stored_tensor::values() const;

tensor_file::tensor_file(const std::filesystem::path& path)
    : tensor_file(std::make_shared<const detail::byte_source>(path)) {}

tensor_file::tensor_file(std::vector<std::byte> bytes, std::string name)
    : tensor_file(std::make_shared<const detail::byte_source>(std::move(bytes), std::move(name))) {}

tensor_file::tensor_file(std::shared_ptr<const detail::byte_source> source)
    : name_(source->name()) {
  std::string const header = read_header(*source);
  std::size_t const begin = sizeof(std::uint64_t) + header.size();
  header_reader reader(name_, tensors_, metadata_);
  json::sax_parse(header, &reader);
  for (auto& t : tensors_) check(t, source->size() - begin, name_);
  std::sort(tensors_.begin(), tensors_.end(),
            [](auto const& a, auto const& b) { return a.name < b.name; });
  auto const twice = std::adjacent_find(tensors_.begin(), tensors_.end(),
                                        [](auto& a, auto& b) { return a.name == b.name; });
  if (twice != tensors_.end())
    throw error(name_ + ": the header has the name " + in_quotes(twice->name) + " twice");
  check_layout(tensors_, source->size() - begin, name_);
  for (auto& t : tensors_) {
    t.offset += begin;
    t.source = source;
  }
}

const stored_tensor* tensor_file::find(std::string_view name) const {
  auto const found =
      std::lower_bound(tensors_.begin(), tensors_.end(), name,
                       [](const stored_tensor& t, std::string_view n) { return t.name < n; });
  return found != tensors_.end() && found->name == name ? &*found : nullptr;
}

const stored_tensor& tensor_file::operator[](std::string_view name) const {
  if (auto const* const t = find(name)) return *t;
  throw error(name_ + ": there is no tensor " + in_quotes(name));
}

namespace {

// Writes elements converted to their stored type.
class writer {
 public:
  explicit writer(detail::new_file& out) : out_(out) {}

  void write(const tensor_to_store& t) {
    std::visit([&](auto values) { write(values, t.type); }, t.values);
  }

 private:
  void write(std::span<const float> values, stored_type type) {
    switch (type) {
      case stored_type::float64:
        return each(values, [](float x) { return static_cast<double>(x); });
      case stored_type::float16:
        return each(values, to_float16);
      case stored_type::bfloat16:
        return each(values, to_bfloat16);
      default:
        return raw(values);
    }
  }
  void write(std::span<const std::int32_t> values, stored_type type) {
    if (type == stored_type::int32) return raw(values);
    each(values, [](std::int32_t x) { return static_cast<std::int64_t>(x); });
  }
  void write(std::span<const bool> values, stored_type) {
    each(values, [](bool x) { return static_cast<std::uint8_t>(x); });
  }

  template <class T>
  void raw(std::span<const T> values) {
    out_.write(std::as_bytes(values));
  }
  // In chunks, so that a model is not in memory twice.
  template <class T, class F>
  void each(std::span<const T> values, F convert) {
    std::array<decltype(convert(T{})), 8192> some;
    while (!values.empty()) {
      std::size_t const n = std::min(values.size(), some.size());
      std::transform(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n), some.begin(),
                     convert);
      raw(std::span<const typename decltype(some)::value_type>(some.data(), n));
      values = values.subspan(n);
    }
  }

  detail::new_file& out_;
};

bool becomes(const tensor_to_store& t) {
  if (std::holds_alternative<std::span<const float>>(t.values))
    return t.type <= stored_type::bfloat16;
  if (std::holds_alternative<std::span<const bool>>(t.values))
    return t.type == stored_type::boolean;
  return t.type == stored_type::int64 || t.type == stored_type::int32;
}

std::string header_of(const std::vector<const tensor_to_store*>& tensors,
                      const std::map<std::string, std::string, std::less<>>& metadata,
                      const std::string& file) {
  json header = json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t offset = 0;
  for (auto const* t : tensors) {
    std::string const where = file + ": tensor '" + t->name + "'";
    std::size_t const count = std::visit([](auto values) { return values.size(); }, t->values);
    checked_size const size = elements_of(t->shape);
    if (!size.fits || size.value != count)
      throw error(where + " has the shape " + to_string(t->shape) + " and " +
                  std::to_string(count) + " elements");
    if (!becomes(*t)) throw error(where + ": its elements are not stored as that type");
    if (t->name == "__metadata__" || header.contains(t->name))
      throw error(where + ": the name is taken");
    std::size_t const end = offset + count * bytes_of(t->type);
    header[t->name] = {
        {"dtype", name_of(t->type)}, {"shape", t->shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception& e) {  // names that are not UTF-8
    throw error(file + ": " + e.what());
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

void write_tensors(const std::filesystem::path& path, const std::vector<tensor_to_store>& tensors,
                   const std::map<std::string, std::string, std::less<>>& metadata) {
  // In order of decreasing element size, which aligns all tensors.
  std::vector<const tensor_to_store*> order;
  for (auto const& t : tensors) order.push_back(&t);
  auto const width = [](auto const* t) {
    return t->type == stored_type::other ? 0 : bytes_of(t->type);
  };
  std::ranges::sort(order, [&](auto* a, auto* b) {
    return width(a) != width(b) ? width(a) > width(b) : a < b;  // else as they were given
  });
  std::string const text = header_of(order, metadata, path.string());
  std::uint64_t const size = text.size();
  detail::new_file out(path);
  out.write(std::as_bytes(std::span(&size, 1)));
  out.write(std::as_bytes(std::span(text)));
  writer all(out);
  for (auto const* t : order) all.write(*t);
  out.commit();
}

}  // namespace weft
