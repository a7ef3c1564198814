// The parameters of a program, in one contiguous block, or where a file has them in memory.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "weft/lower/program.hpp"
#include "weft/weights/precision.hpp"
#include "weft/weights/stored.hpp"

namespace weft {

// One parameter: float32 values, contiguous and row-major, every axis at its bound. It refers to a
// parameter_block, which must outlive it.
struct parameter {
  std::string_view name;                 // the path: the scopes and the name, joined by dots
  std::span<const std::size_t> extents;  // of its axes, in their order
  std::span<float> values;               // the product of the extents
};

class parameter_block;

// Where the parameters of a program lie.
struct parameter_memory {
  std::vector<std::byte*> addresses;  // of each parameter, in the program's order; null: not kept
  std::shared_ptr<void> owner;        // of that memory, if it is not the caller's

  // No aggregate, as which clang, within a template, takes {.seed = 1}.
  parameter_memory();
  // These addresses, and what owns them.
  parameter_memory(std::vector<std::byte*> all, std::shared_ptr<void> by);
};

// Reads the parameters of one program from a source that has them.
class parameter_reader {
 public:
  virtual ~parameter_reader() = default;
  // The address of parameter i where the source has it in memory as float32, for the caller to
  // change; else null. It is valid while owner() is kept.
  virtual std::byte* in_memory(std::size_t i) = 0;
  // What keeps these addresses valid.
  virtual std::shared_ptr<void> owner() const = 0;
  // Reads into.size() elements of parameter i from `first` on. Several threads may read at once.
  // Throws weft::error where they cannot be read.
  virtual void read(std::size_t i, std::size_t first, std::span<float> into) const = 0;
  // The type in which the source has all elements of parameter i; `other`, where it has several.
  virtual stored_type stored([[maybe_unused]] std::size_t i) const { return stored_type::other; }
  // Reads the blocks that elements from `first` on have in that type, one of blocks that share
  // scales. `first`, and what `into` has room for, are whole blocks. Throws weft::error where they
  // cannot be read, or a scale is NaN or infinite.
  virtual void read_blocks([[maybe_unused]] std::size_t i, [[maybe_unused]] std::size_t first,
                           [[maybe_unused]] std::span<std::byte> into) const {}
  // What the source has packed for this program and this machine, aligned to 64 bytes, for the
  // caller to change; null where it has nothing, or packed for another machine. Throws weft::error
  // where it is packed in another precision.
  virtual std::shared_ptr<std::byte[]> packed([[maybe_unused]] precision as) { return nullptr; }
};

// What parameters can be made from, beside a seed: a file of tensors, see weft/files/load.hpp.
class parameter_source {
 public:
  virtual ~parameter_source() = default;
  // Throws weft::error where the source does not have all of the program's parameters.
  virtual std::unique_ptr<parameter_reader> open(const program& tables) const = 0;

 protected:
  parameter_source() = default;
  // Only derived classes are copied.
  parameter_source(const parameter_source&) = default;
  // Likewise.
  parameter_source& operator=(const parameter_source&) = default;
};

// The names of a layer and of the batch norm of its results: "conv1" for conv1.weight.
struct layer_and_norm {
  std::string_view layer;  // of nn::linear or nn::convolution
  std::string_view norm;   // of nn::batch_norm
};

namespace detail {

// The values of the parameters for which keeps(i) holds: where the reader has them in memory, or in
// one block into which it reads them.
parameter_memory read_parameters(const program& tables, parameter_reader& from,
                                 const std::function<bool(std::size_t)>& keeps);
// Adds alpha / Rank B A to the weight of each layer of which `from` has lora_A.weight.
void add_lora(const parameter_block& to, const parameter_block& from, double alpha);
// Copies what `from` has, and folds norms into the layers before them.
void fold_norms(const parameter_block& to, const parameter_block& from,
                std::initializer_list<layer_and_norm> layers, double epsilon);

}  // namespace detail

// How new parameters are made.
struct parameter_options {
  std::uint64_t seed = 0;  // of their initial values
};

// The parameters that a program's tables describe. Copies share the memory.
class parameter_block {
 public:
  // Allocates one block, in which each parameter is aligned to 64 bytes, and initializes it from
  // the seed.
  parameter_block(const program& tables, parameter_options options);
  // With the values of a source, in the memory that it gives them. Throws what the source throws.
  parameter_block(const program& tables, const parameter_source& source);
  // Uses the caller's memory with its present values; it must outlive the block. Throws weft::error
  // where it is smaller than the program's parameter_bytes or not aligned to 64 bytes.
  parameter_block(const program& tables, std::span<std::byte> bytes);
  // Shares the memory of the parameters of another program that have the same names, of those whose
  // values are there. Throws weft::error where it lacks one or has it with other extents.
  parameter_block(const program& tables, const parameter_block& shared);
  // Uses this memory.
  parameter_block(const program& tables, parameter_memory memory);

  // Sets every parameter as its initializer says (graph/initializer.hpp). Random values come from a
  // counter-based generator keyed by the seed and the parameter's name and indexed by the element:
  // the same seed gives the same bits, whatever else the model contains.
  void initialize(std::uint64_t seed);

  // The number of parameters.
  std::size_t count() const { return tables_->parameters.size(); }
  // Whether a parameter's values are not there, but only packed in a module.
  bool is_partial() const;
  // Parameter i, i < count(). Throws weft::error where its values are not there.
  parameter operator[](std::size_t i) const;
  // The parameter with this name. Throws weft::error where the model has none, or its values are
  // not there.
  parameter find(std::string_view name) const;
  // The index of the parameter with this name. Throws weft::error where the model has none.
  std::size_t index_of(std::string_view name) const;
  // The extents of parameter i, i < count(), whether or not its values are there.
  std::span<const std::size_t> extents(std::size_t i) const;
  // The total number of elements, without alignment padding.
  std::size_t elements() const;

  // The address of each parameter.
  std::byte* const* addresses() const { return memory_->addresses.data(); }
  // The whole block as floats, alignment padding included; the padding of an allocated block is 0.
  // Throws weft::error where the parameters are not in one block, but in a file's memory.
  std::span<float> floats() const;

 protected:
  // A block of its own with the same values.
  parameter_memory copied() const;

 private:
  const program* tables_;
  std::shared_ptr<const parameter_memory> memory_;
};

}  // namespace weft
#include "weft/header_end.hpp"
