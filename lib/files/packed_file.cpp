#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "file_content.hpp"
#include "weft/files/load.hpp"
#include "weft/kernels/kernels.hpp"
#include "weft/run/error.hpp"
#include "weft/run/packed.hpp"

namespace weft {

namespace {

// The tensor of the packed weights, and keys of the metadata.
constexpr const char* packed_name = "weft.packed";
constexpr const char* packing_key = "weft.packing";
constexpr const char* precision_key = "weft.precision";
constexpr const char* layout_key = "weft.layout";

std::string text_of(std::uint64_t packing) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(packing));
  return text;
}

constexpr const char* layout_format = "tiles of %u vectors of %u lanes%s";

std::string text_of(const detail::packed_layout& layout) {
  char text[64];
  std::snprintf(text, sizeof text, layout_format, layout.vectors, layout.lanes,
                layout.pairs ? ", pairs" : "");
  return text;
}

// All layouts that there are have few vectors and a power of two of lanes.
detail::packed_layout layout_of(const std::string& text, const std::string& file) {
  for (std::uint8_t vectors = 1; vectors <= 8; ++vectors)
    for (std::uint8_t lanes = 1; lanes <= 16; lanes = static_cast<std::uint8_t>(2 * lanes))
      for (const bool pairs : {false, true})
        if (const detail::packed_layout l{lanes, vectors, pairs}; text_of(l) == text) return l;
  detail::raise(file + ": '" + text + "' is no layout of packed weights");
}

class packed_reader : public parameter_reader {
 public:
  packed_reader(const tensor_file& file, const program& tables) : file_(file), tables_(&tables) {
    const std::string as = metadata(precision_key);
    const auto* const named = std::ranges::find(detail::precision_names, as);
    if (named == detail::precision_names.end())
      detail::raise(file.name() + ": '" + as + "' is no precision");
    as_ = static_cast<precision>(named - detail::precision_names.begin());
    layout_ = layout_of(metadata(layout_key), file.name());
    if (tables.instructions.size() == 0)
      detail::raise(file.name() + ": the weights are packed in " + as +
                    "; make a module of them that is given that precision");
    if (metadata(packing_key) != text_of(detail::packing_of(tables)))
      detail::raise(
          file.name() +
          ": the weights are packed for another model, or by another version of weft; save "
          "them anew from the file that they come from");
    const stored_tensor& packed = file[packed_name];
    const std::size_t bytes =
        as_ == precision::stored ? checked_size(packed) : packed_size(tables.packed, as_);
    if (packed.type != stored_type::uint8 || packed.size() != bytes)
      detail::raise(file.name() + ": tensor '" + packed_name + "' is " + packed.description() +
                    ", and would be U8 [" + std::to_string(bytes) + "]");
    for (std::size_t i = 0; i < tables.parameters.size(); ++i) kept_.push_back(find_kept(i));
    mapped_ = packed.source->map();
    if (mapped_ != nullptr && detail::is_aligned(mapped_.get() + packed.offset, alignment)) {
      packed_ = {mapped_, mapped_.get() + packed.offset};
      return;
    }
    const std::shared_ptr<std::byte[]> copy = allocate(bytes);
    packed.source->read(packed.offset, {copy.get(), bytes});
    packed_ = copy;
  }

  std::byte* in_memory(std::size_t i) override {
    if (kept_[i] == nullptr || mapped_ == nullptr) return nullptr;
    std::byte* const at = mapped_.get() + kept_[i]->offset;
    return detail::is_aligned(at, alignof(float)) ? at : nullptr;
  }
  std::shared_ptr<void> owner() const override { return mapped_; }
  void read(std::size_t i, std::size_t first, std::span<float> into) const override {
    if (kept_[i] != nullptr) return kept_[i]->read_part(first, into);
    const std::size_t bytes = detail::size_of_packed(*tables_, packed_.get(), as_);
    detail::unpack(*tables_, i, first, into, {packed_.get(), bytes}, as_, layout_);
  }
  std::shared_ptr<std::byte[]> packed(precision as) override {
    if (as != as_)
      detail::raise(file_.name() + ": the weights are packed in " + detail::name_of(as_) +
                    ", and the module is to have them in " + detail::name_of(as));
    if (layout_ == kernels::layout_of_packed()) return packed_;
    if (as == precision::stored)
      detail::raise(file_.name() +
                    ": the weights are packed for another processor; save them anew from the file "
                    "that they come from");
    return nullptr;
  }

 private:
  std::string metadata(const char* key) const {
    const auto found = file_.metadata().find(key);
    return found == file_.metadata().end() ? std::string() : found->second;
  }
  // The size that weights packed as precision::stored have; 0 where their list does not fit in.
  // Throws weft::error where they are not in places that weights can be in.
  std::size_t checked_size(const stored_tensor& packed) {
    places_.resize(tables_->parameters.size() + 1);
    const auto bytes = std::as_writable_bytes(std::span(places_));
    if (packed.bytes < bytes.size()) return 0;
    packed.source->read(packed.offset, bytes);
    std::vector<stored_type> types;
    for (const auto& place : places_) types.push_back(place.type);
    const auto places =
        detail::places_of(*tables_, types.data(), [&](std::size_t i) { return types[i]; });
    if (std::memcmp(places.data(), places_.data(), bytes.size()) != 0)
      detail::raise(file_.name() + ": the list with which tensor '" + packed_name +
                    "' begins, of where each parameter is and in which type, is damaged; save it "
                    "anew from the file that the weights come from");
    return static_cast<std::size_t>(places.back().offset);
  }
  // The tensor of a parameter that is not packed, or not packed alone.
  const stored_tensor* find_kept(std::size_t i) const {
    const auto list = std::as_bytes(std::span(places_));
    if (!detail::reads_floats(*tables_, i, list.data(), as_)) return nullptr;
    const parameter_ref& p = tables_->parameters[i];
    const stored_tensor& t = file_[tables_->name(p.name)];
    const std::vector<std::size_t> extents(p.extent, p.extent + p.rank);
    if (t.type != stored_type::float32 || t.shape != extents)
      detail::raise(file_.name() + ": parameter '" + t.name + "' is " + t.description() +
                    " in the file, and has other extents in the model");
    return &t;
  }

  tensor_file file_;
  const program* tables_;
  precision as_{};
  detail::packed_layout layout_{};
  std::vector<detail::packed_place> places_;  // as precision::stored: the list
  std::vector<const stored_tensor*> kept_;    // of each parameter; null: only packed
  std::shared_ptr<std::byte[]> mapped_;       // null: a buffer
  std::shared_ptr<std::byte[]> packed_;
};

}  // namespace

bool detail::has_packed_weights(const tensor_file& file) {
  return file.metadata().contains(packing_key);
}

std::unique_ptr<parameter_reader> detail::read_packed(const tensor_file& file,
                                                      const program& tables) {
  return std::make_unique<packed_reader>(file, tables);
}

void save(const packed_weights& weights, const std::filesystem::path& file) {
  std::vector<tensor_to_store> tensors{
      {packed_name, {weights.memory.size()}, weights.memory, stored_type::uint8}};
  const parameter_block& all = weights.parameters;
  for (std::size_t i = 0; i < all.count(); ++i) {
    if (!detail::reads_floats(*weights.tables, i, weights.memory.data(), weights.as)) continue;
    const parameter p = all[i];
    tensors.push_back({std::string(p.name),
                       {p.extents.begin(), p.extents.end()},
                       std::span<const float>(p.values),
                       stored_type::float32});
  }
  save_tensors(tensors, file,
               {{packing_key, text_of(detail::packing_of(*weights.tables))},
                {precision_key, detail::name_of(weights.as)},
                {layout_key, text_of(kernels::layout_of_packed())}});
}

}  // namespace weft
