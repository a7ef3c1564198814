// Reading the header of a safetensors file.
#include <algorithm>
#include <array>
#include <utility>

#include "extents.hpp"
#include "file_content.hpp"
#include "json.hpp"
#include "weft/run/error.hpp"
#include "weft/weights/formats.hpp"

namespace weft {

namespace {

using detail::in_quotes;
using detail::to_string;
using json = nlohmann::json;

constexpr std::size_t most_in_header = 100'000'000;  // the limit of the format's reference reader

using texts = std::map<std::string, std::string, std::less<>>;

// Receives the parts of a header as the JSON library parses them. The library's own tree of values
// would drop the first of two equal keys, and would be a second copy of the header.
class header_reader : public nlohmann::json_sax<json> {
 public:
  header_reader(const std::string& file, std::vector<stored_tensor>& tensors, texts& metadata)
      : file_(file), tensors_(tensors), metadata_(metadata) {}

  // Metadata that is null is none, as the format's reference reader has it.
  bool null() override { return (depth_ == 1 && in_metadata_) || other_value(); }
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
      const auto found = std::find(keys.begin(), keys.end(), key_);
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
    const bool of_tensor = depth_ == 2 && !in_metadata_;
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
    detail::raise(file_ + ": the header is not JSON: " + detail::shortened(e.what(), 300));
  }

 private:
  static constexpr std::array<std::string_view, 3> keys{"dtype", "shape", "data_offsets"};

  bool deeper() {
    if (++depth_ > 3) detail::raise(file_ + ": the header is nested deeper than the format allows");
    return true;
  }
  // Ignores the value of a key that the format does not define; throws weft::error for any other,
  // which then is not of the type that the format requires.
  bool other_value() const {
    if (in_metadata_) detail::raise(file_ + ": '__metadata__' is not an object of strings");
    if (depth_ == 1) detail::raise(where() + " is not described by an object");
    if (numbers_ != nullptr || std::find(keys.begin(), keys.end(), key_) != keys.end()) lacks(key_);
    return true;
  }
  void end_tensor() {
    for (std::size_t k = 0; k < keys.size(); ++k)
      if (!has_[k]) lacks(keys[k]);
    if (offsets_.size() != 2 || offsets_[0] > offsets_[1])
      detail::raise(where() + " has the data_offsets " + to_string(offsets_) +
                    ", which are not a begin and an end");
    tensors_.back().offset = offsets_[0];
    tensors_.back().bytes = offsets_[1] - offsets_[0];
  }
  [[noreturn]] void lacks(std::string_view key) const {
    detail::raise(where() + " has no '" + std::string(key) + "', a " +
                  (key == "dtype" ? "string" : "list of non-negative integers"));
  }
  [[noreturn]] void twice() const {
    detail::raise(file_ + ": the header has the name " + in_quotes(key_) + " twice");
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
  const std::string where = file + ": tensor " + in_quotes(t.name);
  const auto* const type = detail::find_in_safetensors(t.type_name);
  if (type == nullptr)
    detail::raise(where + " has the dtype " + in_quotes(t.type_name) +
                  ", which the format does not have");
  t.type = type->type;
  if (t.offset > data || t.bytes > data - t.offset)
    detail::raise(where + " has the data_offsets " + to_string({t.offset, t.offset + t.bytes}) +
                  ", and the file has " + std::to_string(data) + " bytes of data");
  detail::checked_size bits = detail::elements_of(t.shape);
  bits.times(type->bits);
  if (!bits.fits || bits.value % 8 != 0 || bits.value / 8 != t.bytes)
    detail::raise(where + ", " + t.description() + ", has " + std::to_string(t.bytes) +
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
  for (const auto& t : tensors) order.push_back(&t);
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) {
    return std::pair(a->offset, a->bytes) < std::pair(b->offset, b->bytes);
  });
  std::size_t next = 0;
  for (const auto* t : order) {
    if (t->offset != next)
      detail::raise(file + ": tensor " + in_quotes(t->name) +
                    (t->offset < next ? " overlaps another one" : " comes after a gap"));
    next += t->bytes;
  }
  if (next != data) detail::raise(file + ": there are bytes after the last tensor");
}

// Returns the header. Throws weft::error unless it begins with '{' and ends with '}', after which
// there may be spaces.
std::string read_header(const detail::byte_source& source) {
  const std::string& file = source.name();
  std::uint64_t size = 0;
  if (source.size() < sizeof size)
    detail::raise(file + ": the file has " + std::to_string(source.size()) +
                  " bytes, and the length of the header takes 8");
  source.read(0, std::as_writable_bytes(std::span(&size, 1)));
  const std::size_t rest = source.size() - sizeof size;
  if (size > rest)
    detail::raise(file + ": the header has " + std::to_string(size) + " bytes, and the file has " +
                  std::to_string(rest) + " for it and the data");
  if (size > most_in_header)
    detail::raise(file + ": the header has " + std::to_string(size) +
                  " bytes, and the format allows " + std::to_string(most_in_header));
  std::string header(static_cast<std::size_t>(size), '\0');
  source.read(sizeof size, std::as_writable_bytes(std::span(header)));
  if (!header.starts_with('{')) detail::raise(file + ": the header does not begin with '{'");
  if (header[header.find_last_not_of(' ')] != '}')
    detail::raise(file + ": the header does not end with '}' and optional spaces");
  // The JSON library would take a zero byte for the end of the header.
  if (const auto zero = header.find('\0'); zero != header.npos)
    detail::raise(file + ": the header is not JSON: its byte " + std::to_string(zero) + " is zero");
  return header;
}

}  // namespace

detail::file_content detail::read_safetensors(std::shared_ptr<const byte_source> source) {
  file_content content{source->name(), {}, {}};
  const std::string header = read_header(*source);
  const std::size_t begin = sizeof(std::uint64_t) + header.size();
  header_reader reader(content.name, content.tensors, content.metadata);
  json::sax_parse(header, &reader);
  for (auto& t : content.tensors) check(t, source->size() - begin, content.name);
  sort_by_name(content);
  check_layout(content.tensors, source->size() - begin, content.name);
  for (auto& t : content.tensors) {
    t.offset += begin;
    t.source = source;
  }
  return content;
}

}  // namespace weft
