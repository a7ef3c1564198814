// Packed weights: what a frozen module keeps of a model's parameters, to share and to save.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "weft/kernels/kernels.hpp"
#include "weft/lower/program.hpp"
#include "weft/run/parameter_block.hpp"
#include "weft/weights/precision.hpp"

namespace weft {

// What a module has packed, see module::freeze. It refers to the module's memory.
struct packed_weights {
  const program* tables;              // of the module
  parameter_block parameters;         // not all have values: see parameter_block::is_partial
  std::span<const std::byte> memory;  // the packed weights
  precision as;                       // what they are kept in
};

namespace detail {

// A hash of all that the packed weights of a program depend on, but for the weights, the precision
// and packed_layout: its parameters, and the instructions that they are packed for.
// Programs with the same hash read each other's packed weights.
std::uint64_t packing_of(const program& tables);

// Where the operand of an instruction is packed, in bytes, and as what; a table as float32 is not.
// As precision::stored, packed weights begin with a list of these: of each parameter, the offset
// from which those of instructions count, modulo 2^64, and the end of all.
struct packed_place {
  std::uint64_t offset;
  stored_type type;
  std::uint8_t unused[7]{};
};
// `stored` is what all are stored in, as another precision.
packed_place place_of(const program& tables, const instruction& s, const std::byte* packed,
                      precision as, stored_type stored) noexcept;
// That list, of parameters in the types that are chosen, if any weights can be packed in them; else
// as they are stored, or in bfloat16 where such blocks do not follow each other along the depth.
std::vector<packed_place> places_of(const program& tables, const stored_type* chosen,
                                    const std::function<stored_type(std::size_t)>& stored);
// Whether runs read parameter i as floats, where weights are packed so.
bool reads_floats(const program& tables, std::size_t i, const std::byte* packed,
                  precision as) noexcept;
// What a module keeps of a source, beside what it packs: the values of those.
parameter_memory read_unpacked(const program& tables, parameter_reader& from, precision as,
                               const stored_type* chosen);
// The size of packed weights.
std::size_t size_of_packed(const program& tables, const std::byte* packed, precision as) noexcept;

// Elements [first, first + into.size()) of parameter i, from what is packed of it for the program,
// in a target's layout; zeros where nothing is.
void unpack(const program& tables, std::size_t i, std::size_t first, std::span<float> into,
            std::span<const std::byte> packed, precision as, const packed_layout& layout);

}  // namespace detail
}  // namespace weft
#include "weft/header_end.hpp"
