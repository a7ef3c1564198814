// Packing of parameters for contractions.
#include <atomic>

#include "weft/kernels/dot_blocking.hpp"
#include "weft/lower/call.hpp"
#include "weft/run/engine.hpp"
#include "weft/run/error.hpp"

namespace weft {

void engine::pack(const instruction& s, const kernels::table& kernels, std::byte* packed,
                  precision as) const noexcept {
  pack(s, kernels, packed, as, scratch_of(0));
}

void engine::pack(const instruction& s, const kernels::table& kernels, std::byte* packed,
                  precision as, std::byte* scratch) const noexcept {
  if (s.packed == not_packed) return;
  // Only the parameter's extents matter, and they are fixed; the others may be at their bounds.
  kernels::call c = call_at_bounds(s);
  int const columns = kernels::rhs_operand(c);
  c.operands[columns].data = address(s.operand[columns]);
  c.scratch = scratch;
  c.packed_as = as;
  kernels.pack_dot(c, packed + packed_size(s.packed, as));
}

void engine::freeze(std::byte* packed, precision as) noexcept {
  if (generated_.pack != nullptr && as == precision::float32) {
    generated_.pack(*this, packed);
  } else {
    kernels::table const kernels = kernels::dispatch();
    auto const count = static_cast<std::ptrdiff_t>(p_->instructions.size());
    std::atomic<std::ptrdiff_t> next = 0;
    auto const pack_next = [&](std::byte* scratch) {
      for (std::ptrdiff_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;)
        pack(p_->instructions[static_cast<std::size_t>(i)], kernels, packed, as, scratch);
    };
    if (team_)
      team_->run(
          1, [&](int) { return team_->size(); },
          [&](int, const kernels::partition&, int thread_index) {
            pack_next(scratch_of(thread_index));
          });
    else
      pack_next(scratch_of(0));
  }
  memory_.packed = packed;
  memory_.packed_as = as;
}

void engine::freeze(const engine& frozen) {
  if (frozen.memory_.packed == nullptr) throw error("freeze: the other module is not frozen");
  // Generated code has a layout of its own.
  if (frozen.generated_.pack != generated_.pack)
    throw error("freeze: of the two modules, one runs generated code");
  memory_.packed = frozen.memory_.packed;
  memory_.packed_as = frozen.memory_.packed_as;
}

}  // namespace weft
