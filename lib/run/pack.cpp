// Packing of parameters for contractions.
#include "weft/kernels/dot_blocking.hpp"
#include "weft/lower/call.hpp"
#include "weft/run/engine.hpp"

namespace weft {

void engine::pack(const instruction& s, const kernels::table& kernels, std::byte* packed,
                  precision as) const noexcept {
  if (s.packed == not_packed) return;
  // Only the parameter's extents matter, and they are fixed; the others may be at their bounds.
  kernels::call c = call_at_bounds(s);
  int const columns = kernels::rhs_operand(c);
  c.operands[columns].data = address(s.operand[columns]);
  c.scratch = memory_.workspace + p_->scratch_offset;
  c.packed_as = as;
  kernels.pack_dot(c, packed + packed_size(s.packed, as));
}

void engine::freeze(std::byte* packed, precision as) noexcept {
  if (generated_.pack != nullptr && as == precision::float32) {
    generated_.pack(*this, packed);
  } else {
    kernels::table const kernels = kernels::dispatch();
    for (instruction const& s : p_->instructions) pack(s, kernels, packed, as);
  }
  memory_.packed = packed;
  memory_.packed_as = as;
}

}  // namespace weft
