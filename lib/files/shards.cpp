// Reading the index of a model that is in several safetensors files.
#include <map>

#include "extents.hpp"
#include "file_content.hpp"
#include "json.hpp"
#include "weft/run/error.hpp"

namespace weft {

namespace {

using detail::byte_source;
using detail::in_quotes;
using json = nlohmann::json;

constexpr std::size_t most_in_index = 100'000'000;  // as for the header of one file

// The "weight_map" of an index: the name of the file of each tensor. The JSON library keeps the
// last of two equal keys.
std::map<std::string, std::string> weight_map_of(const byte_source& index) {
  const std::string& name = index.name();
  if (index.size() > most_in_index)
    detail::raise(name + ": the index has " + std::to_string(index.size()) +
                  " bytes, and at most " + std::to_string(most_in_index) + " are read");
  std::string text(index.size(), '\0');
  index.read(0, std::as_writable_bytes(std::span(text)));
  const json parsed =
      detail::using_json([&] { return json::parse(text); }, name + ": the index is not JSON: ");
  const auto map = parsed.find("weight_map");
  if (!parsed.is_object() || map == parsed.end() || !map->is_object())
    detail::raise(name + ": the index has no object 'weight_map'");
  std::map<std::string, std::string> files;
  for (const auto& [tensor, file] : map->items()) {
    if (!file.is_string())
      detail::raise(name + ": the file of tensor " + in_quotes(tensor) + " is no text");
    files[tensor] = file.get<std::string>();
  }
  return files;
}

}  // namespace

detail::file_content detail::read_index(const byte_source& index,
                                        const std::filesystem::path& folder) {
  const std::map<std::string, std::string> files = weight_map_of(index);
  std::map<std::string, file_content> opened;
  file_content content{index.name(), {}, {}};
  for (const auto& [tensor, file] : files) {
    // An index does not reach beyond its folder.
    const std::filesystem::path path(file);
    if (path.filename() != path || path.extension() != ".safetensors")
      detail::raise(content.name + ": tensor " + in_quotes(tensor) + " is in " + in_quotes(file) +
                    ", which is no safetensors file beside the index");
    auto found = opened.find(file);
    if (found == opened.end()) {
      auto named = attempt([&] {
        return detail::read_safetensors(std::make_shared<const byte_source>(folder / path));
      });
      if (!named)
        detail::raise(content.name + " names a file that cannot be used: " + named.error().what());
      found = opened.emplace(file, *std::move(named)).first;
    }
    const auto* const t = detail::find_tensor(found->second.tensors, tensor);
    if (t == nullptr)
      detail::raise(content.name + ": tensor " + in_quotes(tensor) + " is not in " +
                    in_quotes(file));
    content.tensors.push_back(*t);
  }
  sort_by_name(content);
  return content;
}

}  // namespace weft
