// The states of a module, by name at run time.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <span>
#include <string_view>

#include "weft/lower/program.hpp"

namespace weft {

// One state: row-major, every axis at its bound.
struct state {
  std::string_view name;                 // the path: the scopes and the name, joined by dots
  dtype type;                            // of the elements
  std::span<const std::size_t> extents;  // of its axes, in their order
  std::span<std::byte> bytes;            // of all elements
};

// The states of one module, to read and to change between runs; it refers to the module's memory.
class state_block {
 public:
  // Those of a program in its workspace: module::states() makes it.
  state_block(const program& tables, std::byte* workspace)
      : tables_(&tables), workspace_(workspace) {}

  // The number of states.
  std::size_t count() const { return tables_->states.size(); }
  // State i, i < count().
  state operator[](std::size_t i) const;
  // The state with this name. Throws weft::error where the module has none.
  state find(std::string_view name) const;

  // Sets each state to that of another module with the same name, elements and extents, as to go on
  // from one conversation in two ways, or from a prompt in a module for single steps. Throws
  // weft::error where the other one lacks a state, before anything is changed.
  void assign(const state_block& from) const;

  // Exchanges all states with those that the caller keeps in module::state_bytes bytes, zeros for a
  // new stream: so one module runs any number of streams in turn. Allocates nothing. Throws
  // weft::error where there are more bytes or fewer.
  //
  //   net.states().swap(stream), net(weft::arg<"x">(x)), net.states().swap(stream);
  void swap(std::span<std::byte> stream) const;

 private:
  const program* tables_;
  std::byte* workspace_;
};

}  // namespace weft
#include "weft/header_end.hpp"
