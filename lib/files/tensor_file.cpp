// Opening a file of tensors in any format.
#include "weft/files/tensor_file.hpp"

#include <algorithm>
#include <utility>

#include "extents.hpp"
#include "file_content.hpp"
#include "weft/run/error.hpp"

namespace weft {

using detail::byte_source;
using detail::file_content;
using detail::in_quotes;

namespace {

file_content content_of(std::shared_ptr<const byte_source> source) {
  if (detail::is_gguf(*source)) return detail::read_gguf(std::move(source));
  file_content content = detail::read_safetensors(std::move(source));
  detail::join_scaled_weights(content);
  return content;
}

file_content content_of(const std::filesystem::path& path) {
  auto source = std::make_shared<const byte_source>(path);
  if (path.extension() != ".json") return content_of(std::move(source));
  file_content content = detail::read_index(*source, path.parent_path());
  detail::join_scaled_weights(content);
  return content;
}

}  // namespace

void detail::sort_by_name(file_content& content) {
  auto& all = content.tensors;
  std::ranges::sort(all, {}, &stored_tensor::name);
  const auto twice = std::ranges::adjacent_find(all, {}, &stored_tensor::name);
  if (twice != all.end())
    detail::raise(content.name + ": the header has the name " + in_quotes(twice->name) + " twice");
}

tensor_file::tensor_file(file_content content)
    : name_(std::move(content.name)),
      tensors_(std::move(content.tensors)),
      metadata_(std::move(content.metadata)) {}

tensor_file::tensor_file(const std::filesystem::path& path) : tensor_file(content_of(path)) {}

tensor_file::tensor_file(std::vector<std::byte> bytes, std::string name)
    : tensor_file(
          content_of(std::make_shared<const byte_source>(std::move(bytes), std::move(name)))) {}

tensor_file::tensor_file(std::span<std::byte> memory, std::string name)
    : tensor_file(content_of(std::make_shared<const byte_source>(memory, std::move(name)))) {}

const stored_tensor* detail::find_tensor(const std::vector<stored_tensor>& sorted,
                                         std::string_view name) {
  const auto found = std::ranges::lower_bound(sorted, name, {}, &stored_tensor::name);
  return found != sorted.end() && found->name == name ? &*found : nullptr;
}

const stored_tensor* tensor_file::find(std::string_view name) const {
  return detail::find_tensor(tensors_, name);
}

const stored_tensor& tensor_file::operator[](std::string_view name) const {
  if (const auto* const t = find(name)) return *t;
  detail::raise(name_ + ": there is no tensor " + in_quotes(name));
}

}  // namespace weft
