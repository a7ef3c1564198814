#include "run/step_list.hpp"

#include <algorithm>
#include <cstring>

#include "weft/lower/call.hpp"
#include "weft/run/packed.hpp"

namespace weft {

void engine::draw_from(const kernels::random_state& state) noexcept {
  for (step& s : steps_->of) s.call.random = state;
}

namespace {

// The number of values of a run, for kernel::length.
void write_length(const kernels::call& c) noexcept {
  float product = 1;
  std::int32_t whole = 1;
  for (int l = 0; l < c.loops; ++l)
    product *= static_cast<float>(c.extent[l]), whole *= static_cast<std::int32_t>(c.extent[l]);
  const bool is_whole = c.operands[0].type == dtype::int32;
  std::memcpy(c.operands[0].data, is_whole ? static_cast<void*>(&whole) : &product, 4);
}

// A kernel's call has so many operands; those after the instruction's are absent.
std::size_t operands_of_call(const instruction& s) {
  return static_cast<std::size_t>(std::max<int>(s.operands, kernels::max_operands));
}

}  // namespace

void engine::describe_calls() {
  step_list& steps = *steps_;
  steps.of.resize(p_->instructions.size());
  std::size_t count = 0;
  for (const instruction& s : p_->instructions) count += operands_of_call(s);
  steps.operands.resize(count);
  kernels::operand* own = steps.operands.data();
  for (int i = 0; i < steps.size(); ++i) {
    const instruction& s = p_->instructions[i];
    step& here = steps[i];
    here.operands = own;
    describe(here.call, *p_, s);
    here.call.operands = own;
    here.call.fused_ops = p_->fused_ops.begin() + s.first_fused;
    here.needs = s.check != 0 ? checks : 0u;
    for (int o = 0; o < s.operands; ++o) {
      const operand_ref& r = operands_of(*p_, s)[o];
      own[o].type = r.type;
      std::copy_n(r.stride, s.loops, own[o].stride);
      if (r.where == block::input) steps.in_inputs.push_back({&own[o], &r});
      for (int j = 0; j < r.shift_count; ++j)
        if (p_->shifts[r.first_shift + j].slot == current_step) here.needs |= moves;
    }
    own += operands_of_call(s);
  }
}

// Whether an instruction's generated step is there, can read its parameters, and is faster.
bool engine::runs_generated(int i) const noexcept {
  const instruction& s = p_->instructions[i];
  if (generated_.of == nullptr || generated_.of[i].run == nullptr) return false;
  const generated_step& g = generated_.of[i];
  const bool is_packed = memory_.packed != nullptr && s.packs();
  if (is_packed && memory_.weights_as != precision::float32) return false;
  if (is_packed && g.reads_packed) return generated_.reads(kernels::layout_of_packed());
  if (is_packed && g.packs) return false;
  for (int o = 0; o < s.operands; ++o) {
    const operand_ref& r = operands_of(*p_, s)[o];
    if (r.where == block::parameters && address(r) == nullptr) return false;  // it is only packed
  }
  return g.pays_unpacked;
}

void engine::choose_functions() noexcept {
  for (int i = 0; i < steps_->size(); ++i) {
    step& here = (*steps_)[i];
    const kernel k = p_->instructions[i].run;
    here.has_parts = !runs_generated(i);
    here.run = !here.has_parts       ? generated_.of[i].run
               : k == kernel::length ? &write_length
               : k == kernel::dot && memory_.dot != nullptr
                   ? memory_.dot()
                   : p_->kernels[static_cast<std::size_t>(k)]();
  }
}

void engine::use_kernels(const kernels::table& kernels) noexcept {
  generated_ = {};
  choose_functions();
  for (int i = 0; i < steps_->size(); ++i)
    if (const kernel k = p_->instructions[i].run; k != kernel::length)
      (*steps_)[i].run = kernels.of(k);
}

void engine::bind_calls() noexcept {
  for (int i = 0; i < steps_->size(); ++i) {
    const instruction& s = p_->instructions[i];
    step& here = (*steps_)[i];
    kernels::call& c = here.call;
    for (int l = 0; l < s.loops; ++l)
      c.extent[l] = static_cast<std::ptrdiff_t>(length(s.extent[l]));
    for (int o = 0; o < s.operands; ++o) {
      here.operands[o].data = address(operands_of(*p_, s)[o]);
      here.operands[o].packed = kernels::operand::unpacked;
    }
    c.axis_extent = static_cast<std::ptrdiff_t>(length(s.axis));
    if (memory_.packed == nullptr) continue;
    const bool reads_packed = here.has_parts || generated_.of[i].reads_packed;
    if (s.packs() && reads_packed) bind_packed(here.operands[s.rhs], s);
    // A gather from a parameter that is kept only as a contraction has packed it.
    if (s.run != kernel::gather || here.operands[1].data != nullptr) continue;
    const operand_ref& table = operands_of(*p_, s)[1];
    if (table.where == block::parameters)
      bind_packed(here.operands[1], p_->instructions[p_->parameters[table.leaf].rows_packed_by]);
  }
}

void engine::bind_packed(kernels::operand& o, const instruction& packed_by) const noexcept {
  const auto at =
      detail::place_of(*p_, packed_by, memory_.packed, memory_.weights_as, memory_.stored);
  o.in_rows = packed_by.run == kernel::gather;
  if (o.in_rows && at.type == stored_type::float32) return;
  o.packed = at.type;
  o.data = const_cast<std::byte*>(memory_.packed) + at.offset;  // it is only read
}

void engine::bind_inputs() noexcept {
  for (const auto& o : steps_->in_inputs) o.to->data = address(*o.from);
}

void engine::adopt(const std::byte* packed, packing as) {
  read_packed(packed, as);
  allocate_scratch(width());
}

void engine::read_packed(const std::byte* packed, packing as) {
  memory_.packed = packed;
  memory_.weights_as = as.as;
  memory_.dot = as.dot;
  memory_.stored = kernels::layout_of_packed().stored(as.as);
  if (scratch_size_ < needed_scratch()) allocate_scratch(width());
  choose_functions();
  bind_calls();
}

kernels::call engine::call_of(int i, std::ptrdiff_t place, kernels::operand* own) const noexcept {
  const instruction& s = p_->instructions[i];
  kernels::call c = (*steps_)[i].call;
  std::copy_n(c.operands, operands_of_call(s), own);
  for (int o = 0; o < s.operands; ++o)
    if (!own[o].is_packed()) own[o].data = address(operands_of(*p_, s)[o], place);
  c.operands = own;
  return c;
}

}  // namespace weft
