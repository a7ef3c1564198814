#include "weft/io/safetensors.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <utility>

#include "half.hpp"
#include "weft/run/error.hpp"

namespace weft {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

namespace {

using json = nlohmann::json;

struct type_entry {
  const char* name;
  std::size_t bytes;
};
// In the order of weft::stored_type; `other` has no entry.
constexpr std::array<type_entry, 7> types{
    {{"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8}, {"I32", 4}, {"BOOL", 1}}};

const type_entry& entry(stored_type type) {
  return types.at(static_cast<std::size_t>(type));
}
stored_type type_of(std::string_view name) {
  auto const found =
      std::find_if(types.begin(), types.end(), [&](auto const& t) { return t.name == name; });
  return static_cast<stored_type>(found - types.begin());
}

constexpr std::size_t most_in_header = 100'000'000;  // what the format's own reader takes

// The number of elements, or of bytes; none where it does not fit into a size_t.
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

std::string to_string(const std::vector<std::size_t>& shape) {
  std::string text = "[";
  for (std::size_t const extent : shape)
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

// A header, in which no object names a thing twice: the JSON library would take the last one.
json parse_header(std::string_view text, const std::string& file) {
  std::vector<std::set<std::string>> names;
  auto const watch = [&](int depth, json::parse_event_t event, const json& parsed) {
    using is = json::parse_event_t;
    if (depth > 3) throw error(file + ": the header is nested deeper than the format has it");
    if (event == is::object_start) names.emplace_back();
    if (event == is::object_end) names.pop_back();
    if (event == is::key && !names.back().insert(parsed.get<std::string>()).second)
      throw error(file + ": the header has the name '" + parsed.get<std::string>() + "' twice");
    return true;
  };
  try {
    return json::parse(text.begin(), text.end(), watch);
  } catch (const json::exception& e) {
    throw error(file + ": the header is not JSON: " + e.what());
  }
}

std::vector<std::size_t> whole_numbers(const json& entry, const char* key,
                                       const std::string& where) {
  auto const found = entry.find(key);
  bool const good = found != entry.end() && found->is_array() &&
                    std::all_of(found->begin(), found->end(),
                                [](const json& n) { return n.is_number_unsigned(); });
  if (!good) throw error(where + " has no '" + key + "', a list of whole numbers");
  return found->get<std::vector<std::size_t>>();
}

stored_tensor read_entry(const std::string& name, const json& entry,
                         std::span<const std::byte> data, const std::string& file) {
  std::string const where = file + ": tensor '" + name + "'";
  if (!entry.is_object()) throw error(where + " is not described by an object");
  auto const type_name = entry.find("dtype");
  if (type_name == entry.end() || !type_name->is_string())
    throw error(where + " has no 'dtype', a text");
  stored_tensor t;
  t.name = name;
  t.type_name = type_name->get<std::string>();
  t.type = type_of(t.type_name);
  t.shape = whole_numbers(entry, "shape", where);
  auto const offsets = whole_numbers(entry, "data_offsets", where);
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data.size())
    throw error(where + " has the data_offsets " + to_string(offsets) + ", and the file has " +
                std::to_string(data.size()) + " bytes of data");
  t.bytes = data.subspan(offsets[0], offsets[1] - offsets[0]);
  checked_size size = elements_of(t.shape);
  if (t.type != stored_type::other) size.times(weft::entry(t.type).bytes);
  if (!size.fits || (t.type != stored_type::other && size.value != t.bytes.size()))
    throw error(where + ", " + t.description() + ", has " + std::to_string(t.bytes.size()) +
                " bytes");
  return t;
}

// The tensors' elements fill the file's data, one tensor behind the other.
void check_layout(const std::vector<stored_tensor>& tensors, std::span<const std::byte> data,
                  const std::string& file) {
  std::vector<const stored_tensor*> order;
  for (auto const& t : tensors) order.push_back(&t);
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) {
    return std::pair(a->bytes.data(), a->bytes.size()) <
           std::pair(b->bytes.data(), b->bytes.size());
  });
  std::byte const* next = data.data();
  for (auto const* t : order) {
    if (t->bytes.data() != next)
      throw error(file + ": tensor '" + t->name + "' " +
                  (t->bytes.data() < next ? "overlaps another one" : "lies behind a gap"));
    next += t->bytes.size();
  }
  if (next != data.data() + data.size())
    throw error(file + ": behind the tensors are bytes of no tensor");
}

std::vector<std::byte> read_all(const std::filesystem::path& path) {
  std::error_code failed;
  std::uintmax_t const size = std::filesystem::file_size(path, failed);
  std::ifstream in(path, std::ios::binary);
  std::vector<std::byte> bytes(failed ? 0 : size);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (failed || !in) throw error(path.string() + ": the file cannot be read");
  return bytes;
}

template <class T>
T at(const std::byte* bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
  return value;
}

// Calls f(i, element i) for the elements of a tensor that T can be made of; gives whether it can.
template <class T, class F>
bool for_each_element(const stored_tensor& t, F f) {
  constexpr bool any = std::same_as<T, double>, logical = std::same_as<T, bool>;
  constexpr bool floating = any || std::same_as<T, float>;
  constexpr bool whole = any || (std::integral<T> && !logical);
  std::byte const* const from = t.bytes.data();
  auto const each = [&](bool of_this_kind, auto element) {
    for (std::size_t i = 0; of_this_kind && i < t.size(); ++i) f(i, element(i));
    return of_this_kind;
  };
  switch (t.type) {
    case stored_type::float64:
      return each(floating, [&](std::size_t i) { return at<double>(from, i); });
    case stored_type::float32:
      return each(floating, [&](std::size_t i) { return at<float>(from, i); });
    case stored_type::float16:
      return each(floating,
                  [&](std::size_t i) { return from_float16(at<std::uint16_t>(from, i)); });
    case stored_type::bfloat16:
      return each(floating,
                  [&](std::size_t i) { return from_bfloat16(at<std::uint16_t>(from, i)); });
    case stored_type::int64:
      return each(whole, [&](std::size_t i) { return at<std::int64_t>(from, i); });
    case stored_type::int32:
      return each(whole, [&](std::size_t i) { return at<std::int32_t>(from, i); });
    case stored_type::boolean:
      return each(any || logical, [&](std::size_t i) { return from[i] != std::byte{0}; });
    case stored_type::other:
      return false;
  }
  return false;
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
  std::string const where = "tensor '" + name + "', " + description();
  if (into.size() != size())
    throw error(where + ", is read into " + std::to_string(into.size()) + " elements");
  bool const fits = for_each_element<T>(*this, [&](std::size_t i, auto x) {
    if constexpr (std::same_as<decltype(x), std::int64_t> && std::same_as<T, std::int32_t>)
      if (!std::in_range<T>(x))
        throw error(where + ": element " + std::to_string(i) + " is " + std::to_string(x) +
                    ", which does not fit");
    into[i] = static_cast<T>(x);
  });
  if (!fits) {
    char const* const kind = std::same_as<T, bool>     ? "booleans"
                             : std::same_as<T, float>  ? "floating-point numbers"
                             : std::same_as<T, double> ? "numbers"
                                                       : "integers";
    throw error(where + ", is read as " + kind);
  }
}
template void stored_tensor::read(std::span<float>) const;
template void stored_tensor::read(std::span<double>) const;
template void stored_tensor::read(std::span<std::int32_t>) const;
template void stored_tensor::read(std::span<std::int64_t>) const;
template void stored_tensor::read(std::span<bool>) const;

tensor_file::tensor_file(const std::filesystem::path& path)
    : tensor_file(read_all(path), path.string()) {}

tensor_file::tensor_file(std::vector<std::byte> bytes, std::string name)
    : name_(std::move(name)),
      bytes_(std::make_shared<const std::vector<std::byte>>(std::move(bytes))) {
  parse();
}

void tensor_file::parse() {
  std::span<const std::byte> const all = *bytes_;
  std::uint64_t size = 0;
  if (all.size() < sizeof size)
    throw error(name_ + ": the file has " + std::to_string(all.size()) +
                " bytes, and the length of the header takes 8");
  std::memcpy(&size, all.data(), sizeof size);
  auto const rest = all.subspan(sizeof size);
  if (size > rest.size() || size > most_in_header)
    throw error(name_ + ": the header has " + std::to_string(size) + " bytes, and the file has " +
                std::to_string(rest.size()) + " for it and the data");
  auto const data = rest.subspan(size);
  json const header = parse_header(
      {reinterpret_cast<const char*>(rest.data()), static_cast<std::size_t>(size)}, name_);
  if (!header.is_object()) throw error(name_ + ": the header is not a JSON object");
  for (auto const& [key, value] : header.items()) {
    if (key != "__metadata__") {
      tensors_.push_back(read_entry(key, value, data, name_));
      continue;
    }
    bool const texts =
        value.is_object() &&
        std::all_of(value.begin(), value.end(), [](const json& v) { return v.is_string(); });
    if (!texts) throw error(name_ + ": '__metadata__' is not an object of texts");
    value.get_to(metadata_);
  }
  std::sort(tensors_.begin(), tensors_.end(),
            [](auto const& a, auto const& b) { return a.name < b.name; });
  check_layout(tensors_, data, name_);
}

const stored_tensor* tensor_file::find(std::string_view name) const {
  auto const found =
      std::lower_bound(tensors_.begin(), tensors_.end(), name,
                       [](const stored_tensor& t, std::string_view n) { return t.name < n; });
  return found != tensors_.end() && found->name == name ? &*found : nullptr;
}

const stored_tensor& tensor_file::operator[](std::string_view name) const {
  if (auto const* const t = find(name)) return *t;
  throw error(name_ + ": there is no tensor '" + std::string(name) + "'");
}

namespace {

// Writes elements as their file has them.
class writer {
 public:
  explicit writer(std::ostream& out) : out_(out) {}

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
    auto const bytes = std::as_bytes(values);
    out_.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  // A few at a time, so that a model needs no second copy of itself.
  template <class T, class F>
  void each(std::span<const T> values, F convert) {
    std::array<decltype(convert(T{})), 1024> some;
    while (!values.empty()) {
      std::size_t const n = std::min(values.size(), some.size());
      std::transform(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n), some.begin(),
                     convert);
      raw(std::span<const typename decltype(some)::value_type>(some.data(), n));
      values = values.subspan(n);
    }
  }

  std::ostream& out_;
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
    std::size_t const end = offset + count * entry(t->type).bytes;
    header[t->name] = {
        {"dtype", entry(t->type).name}, {"shape", t->shape}, {"data_offsets", {offset, end}}};
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

// A name that nobody else has, in the same folder, so that the file can be moved to its own.
std::filesystem::path beside(const std::filesystem::path& path) {
  std::random_device random;
  auto name = path;
  name += '.';
  name += std::to_string(random());
  name += ".partial";
  return name;
}

}  // namespace

void write_tensors(const std::filesystem::path& path, const std::vector<tensor_to_store>& tensors,
                   const std::map<std::string, std::string, std::less<>>& metadata) {
  // The widest elements first: then all are aligned.
  std::vector<const tensor_to_store*> order;
  for (auto const& t : tensors) order.push_back(&t);
  auto const width = [](auto const* t) {
    return t->type == stored_type::other ? 0 : entry(t->type).bytes;
  };
  std::ranges::sort(order, [&](auto* a, auto* b) {
    return width(a) != width(b) ? width(a) > width(b) : a < b;  // else as they were given
  });
  std::string const text = header_of(order, metadata, path.string());
  auto const partial = beside(path);
  std::error_code failed;
  {
    std::ofstream out(partial, std::ios::binary);
    std::uint64_t const size = text.size();
    out.write(reinterpret_cast<const char*>(&size), sizeof size);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    writer all(out);
    for (auto const* t : order) all.write(*t);
    out.close();
    if (!out) failed = std::make_error_code(std::errc::io_error);
  }
  if (!failed) std::filesystem::rename(partial, path, failed);
  if (failed) {
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    throw error(path.string() + ": the file cannot be written: " + failed.message());
  }
}

}  // namespace weft
