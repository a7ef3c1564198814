#include "weft/run/states.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "weft/run/error.hpp"

namespace weft {

state state_block::operator[](std::size_t i) const {
  const state_ref& r = tables_->states[i];
  std::size_t size = static_cast<std::size_t>(bytes(r.type));
  for (int a = 0; a < r.rank; ++a) size *= r.extent[a];
  return {tables_->name(r.name),
          r.type,
          {r.extent, static_cast<std::size_t>(r.rank)},
          {workspace_ + r.offset, size}};
}

state state_block::find(std::string_view name) const {
  for (std::size_t i = 0; i < count(); ++i)
    if (tables_->name(tables_->states[i].name) == name) return (*this)[i];
  detail::raise("states: the module has none with the name '" + std::string(name) + "'");
}

void state_block::assign(const state_block& from) const {
  std::vector<state> sources;
  for (std::size_t i = 0; i < count(); ++i) {
    const state to = (*this)[i];
    const state& source = sources.emplace_back(from.find(to.name));
    if (source.type != to.type || !std::ranges::equal(source.extents, to.extents))
      detail::raise("states: '" + std::string(to.name) +
                    "' has other elements or extents in the module that is copied from");
  }
  for (std::size_t i = 0; i < count(); ++i)
    std::memcpy((*this)[i].bytes.data(), sources[i].bytes.data(), sources[i].bytes.size());
}

void state_block::swap(std::span<std::byte> stream) const {
  if (stream.size() != tables_->state_bytes)
    detail::raise("states: the module's have " + std::to_string(tables_->state_bytes) +
                  " bytes, and those of the stream " + std::to_string(stream.size()));
  // Each state takes whole cache lines, which few instructions exchange.
  for (std::size_t i = 0; i < stream.size(); i += alignment) {
    std::byte kept[alignment];
    std::memcpy(kept, workspace_ + i, alignment);
    std::memcpy(workspace_ + i, &stream[i], alignment);
    std::memcpy(&stream[i], kept, alignment);
  }
}

}  // namespace weft
