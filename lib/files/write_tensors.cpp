// Writing a safetensors file.
#include <algorithm>
#include <array>
#include <optional>

#include "extents.hpp"
#include "json.hpp"
#include "new_file.hpp"
#include "weft/files/safetensors.hpp"
#include "weft/run/error.hpp"
#include "weft/weights/formats.hpp"

namespace weft {

namespace {

using json = nlohmann::json;

// Whether values of T are stored in a format.
template <class Format, class T>
constexpr bool stores() {
  if constexpr (std::same_as<T, std::byte>)
    return std::same_as<Format, detail::format<stored_type::uint8>>;
  else if constexpr (std::same_as<T, bfloat16>)
    return std::same_as<Format, detail::format<stored_type::bfloat16>>;
  else
    return detail::is_read_as<T, typename Format::value> && requires(T x) {
      Format::encode(x);
    };
}

// Writes elements converted to their stored type. out(bytes) writes bytes.
template <class Out>
class writer {
 public:
  explicit writer(Out& out) : out_(out) {}

  void write(const tensor_to_store& t) {
    std::visit([&](auto values) { write(values, t.type); }, t.values);
  }

 private:
  template <class T>
  void write(std::span<const T> values, stored_type type) {
    detail::with_format(type, [&]<class Format>(Format) {
      if constexpr (!stores<Format, T>())
        return;
      else if constexpr (std::derived_from<Format, detail::plain_format<T>> ||
                         !std::is_arithmetic_v<T>)
        raw(values);
      else
        each(values, [](T x) { return Format::encode(x); });
    });
  }

  template <class T>
  void raw(std::span<const T> values) {
    out_(std::as_bytes(values));
  }
  // In chunks, so that a model is not in memory twice.
  template <class T, class F>
  void each(std::span<const T> values, F convert) {
    std::array<decltype(convert(T{})), 8192> some;
    while (!values.empty()) {
      const std::size_t n = std::min(values.size(), some.size());
      std::transform(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n), some.begin(),
                     convert);
      raw(std::span<const typename decltype(some)::value_type>(some.data(), n));
      values = values.subspan(n);
    }
  }

  Out& out_;
};

bool becomes(const tensor_to_store& t) {
  bool can = false;
  std::visit(
      [&]<class T>(std::span<const T>) {
        detail::with_format(t.type, [&]<class Format>(Format) { can = stores<Format, T>(); });
      },
      t.values);
  return can;
}

std::string header_of(const std::vector<const tensor_to_store*>& tensors,
                      const std::map<std::string, std::string, std::less<>>& metadata,
                      const std::string& file) {
  json header = json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t offset = 0;
  for (const auto* t : tensors) {
    const std::string where = file + ": tensor '" + t->name + "'";
    const std::size_t count = std::visit([](auto values) { return values.size(); }, t->values);
    const detail::checked_size size = detail::elements_of(t->shape);
    if (!size.fits || size.value != count)
      detail::raise(where + " has the shape " + detail::to_string(t->shape) + " and " +
                    std::to_string(count) + " elements");
    if (!becomes(*t)) detail::raise(where + ": its elements are not stored as that type");
    if (t->name == "__metadata__" || header.contains(t->name))
      detail::raise(where + ": the name is taken");
    const std::size_t end = offset + count * detail::entry_of(t->type).bits / 8;
    header[t->name] = {{"dtype", detail::entry_of(t->type).name},
                       {"shape", t->shape},
                       {"data_offsets", {offset, end}}};
    offset = end;
  }
  // Throws where names are not UTF-8.
  std::string text = detail::using_json([&] { return header.dump(); }, file + ": ");
  // Packed weights, which are mapped into memory, are aligned.
  const std::size_t size = sizeof(std::uint64_t) + text.size();
  text.append((alignment - size % alignment) % alignment, ' ');
  return text;
}

// Writes the content of a file. `name` stands for it in error messages.
template <class Out>
void write_all(const std::string& name, const std::vector<tensor_to_store>& tensors,
               const std::map<std::string, std::string, std::less<>>& metadata, Out out) {
  // In order of decreasing alignment, which aligns all tensors.
  std::vector<const tensor_to_store*> order;
  for (const auto& t : tensors) order.push_back(&t);
  const auto width = [](const auto* t) {
    const auto* const bytes = std::get_if<std::span<const std::byte>>(&t->values);
    return bytes != nullptr && bytes->size() % alignment == 0 ? alignment
                                                              : detail::entry_of(t->type).bits / 8;
  };
  std::ranges::sort(order, [&](auto* a, auto* b) {
    return width(a) != width(b) ? width(a) > width(b) : a < b;  // else as they were given
  });
  const std::string text = header_of(order, metadata, name);
  const std::uint64_t size = text.size();
  out(std::as_bytes(std::span(&size, 1)));
  out(std::as_bytes(std::span(text)));
  writer all(out);
  for (const auto* t : order) all.write(*t);
}

}  // namespace

void save_tensors(const std::vector<tensor_to_store>& tensors, const std::filesystem::path& path,
                  const std::map<std::string, std::string, std::less<>>& metadata) {
  std::optional<detail::new_file> file;  // made once the header is known to be valid
  write_all(path.string(), tensors, metadata, [&](std::span<const std::byte> bytes) {
    if (!file) file.emplace(path);
    file->write(bytes);
  });
  file->commit();
}

std::vector<std::byte> saved_tensors(
    const std::vector<tensor_to_store>& tensors,
    const std::map<std::string, std::string, std::less<>>& metadata) {
  std::vector<std::byte> content;
  write_all("tensors in memory", tensors, metadata, [&](std::span<const std::byte> bytes) {
    content.insert(content.end(), bytes.begin(), bytes.end());
  });
  return content;
}

}  // namespace weft
