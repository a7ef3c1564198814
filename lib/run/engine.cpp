#include "weft/run/engine.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "weft/lower/call.hpp"
#include "weft/lower/fingerprint.hpp"
#include "weft/run/error.hpp"
#include "weft/run/stages.hpp"

namespace weft {

void detail::check_linked(const program& linked, std::uint64_t fingerprint,
                          std::string_view model) {
  if (linked.fingerprint != fingerprint)
    throw error("two source files of this program have different models named " +
                std::string(model) +
                ", or axes of one name with other extents, and the linker keeps one: put those of "
                "each file in a namespace of its own, or in an unnamed one");
}

void engine::use::refuse_second_use() {
  throw error(
      "another thread uses this module or trainer; give each thread one of its own, which can "
      "share weights: weft::module<model> second(weft::sharing(first))");
}

void engine::compute_once() noexcept {
  if (p_->once == 0) return;
  const detail::rounding_to_nearest mode;
  for (std::size_t i = 0; i < p_->lengths.size(); ++i) lengths_[i] = p_->lengths[i].most;
  const kernels::table kernels = kernels::dispatch();
  for (int i = 0; i < p_->once; ++i) run(p_->instructions[i], kernels);
  outside_in_all_runs_ = outside_;
}

void engine::reset() noexcept {
  // Only what is not zero is written to: a page of a large cache that was never used stays without
  // memory.
  constexpr std::size_t page = 4096;
  for (std::size_t at = 0; at < p_->state_bytes; at += page) {
    std::byte* const begin = memory_.workspace + at;
    const std::size_t size = std::min(page, p_->state_bytes - at);
    if (std::any_of(begin, begin + size, [](std::byte b) { return b != std::byte{0}; }))
      std::memset(begin, 0, size);
  }
}

void engine::reset(const state_ref& s, int axis, std::size_t index) noexcept {
  const auto size = static_cast<std::size_t>(bytes(s.type));
  std::size_t block = size;  // bytes per contiguous run of one index
  for (int a = axis + 1; a < s.rank; ++a) block *= s.extent[a];
  const std::size_t row = block * s.extent[axis];
  for (std::size_t at = index * block; at < s.bytes; at += row)
    std::memset(memory_.workspace + s.offset + at, 0, block);
}

std::byte* engine::address(const operand_ref& r, std::ptrdiff_t place) const noexcept {
  std::byte* base = nullptr;
  switch (r.where) {
    case block::workspace:
      base = memory_.workspace;
      break;
    case block::parameters:
      base = memory_.parameters[static_cast<std::size_t>(r.leaf)];
      break;
    case block::gradients:
      base = memory_.gradients;
      break;
    // Constants and inputs are never results, so nothing writes through the pointer.
    case block::constants:
      base = const_cast<std::byte*>(p_->constants.begin());
      break;
    case block::input:
      base = const_cast<std::byte*>(inputs_[static_cast<std::size_t>(r.leaf)]);
      break;
    case block::numbers:
    case block::none:
      return nullptr;
  }
  if (base == nullptr) return nullptr;  // a parameter that is only packed
  auto offset = static_cast<std::ptrdiff_t>(r.offset);
  for (int s = 0; s < r.shift_count; ++s) {
    const shift_ref& shift = p_->shifts[r.first_shift + s];
    offset += (shift.slot == current_step
                   ? place
                   : static_cast<std::ptrdiff_t>(lengths_[static_cast<std::size_t>(shift.slot)])) *
              shift.stride * bytes(r.type);
  }
  return base + offset;
}

namespace {

// Estimated loop iterations (points) per microsecond on one core with data in L2. It decides the
// number of threads, never the result.
constexpr double points_per_microsecond(kernel k) {
  switch (k) {
    case kernel::dot:
      return 80000;
    case kernel::attention:  // multiply-adds
      return 60000;
    case kernel::attention_adjoint:  // five products; the forward pass has two
      return 24000;
    case kernel::zero:
      return 16000;
    case kernel::length:  // one value, whatever the extents
      return std::numeric_limits<double>::infinity();
    default:
      return 8000;
  }
}

// Measured on two cores: threads meet at a barrier after 0.1 to 0.3 us, without the transfer of the
// cache lines that they exchange; a sleeping thread of an executor arrives after 20 to 50 us, and
// waking it costs the caller 12. Two threads made runs of 50 us slower, those of 150 us faster.
constexpr double least_part = 0.5;  // microseconds
constexpr double least_run = 80;

}  // namespace

double engine::microseconds(const instruction& s) const noexcept {
  const auto extent = [&](int loop) { return static_cast<double>(length(s.extent[loop])); };
  const bool attends = s.run == kernel::attention || s.run == kernel::attention_adjoint;
  // An attention contracts over its last two loops, one after the other: they add, not multiply.
  double points = attends ? extent(s.loops - 2) + extent(s.loops - 1) : 1;
  for (int l = 0; l < (attends ? s.loops - 2 : s.loops); ++l) points *= extent(l);
  return points / points_per_microsecond(s.run);
}

bool engine::choose_partitions() noexcept {
  double shared = 0;
  auto loop = p_->loops.begin();
  for (int i = p_->once; i < static_cast<int>(p_->instructions.size()); ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (loop != p_->loops.end() && i == loop->last) ++loop;
    const bool repeats = loop != p_->loops.end() && i >= loop->first;
    const double whole = microseconds(p_->instructions[at]);
    parts_[at] = 1;
    if (whole < 2 * least_part) continue;
    shared += whole * (repeats ? static_cast<double>(length(loop->length)) : 1);
    parts_[at] = static_cast<int>(std::min<double>(whole / least_part, team_->size()));
  }
  return shared >= least_run;
}

std::byte* engine::scratch_of(int thread_index) const noexcept {
  if (thread_index == 0) return memory_.workspace + p_->scratch_offset;
  return scratch_.get() + static_cast<std::size_t>(thread_index - 1) * p_->scratch_bytes;
}

void engine::call(const instruction& s, std::ptrdiff_t place, const kernels::table& kernels,
                  const kernels::partition& part, std::byte* scratch) const noexcept {
  kernels::call c;
  c.kind = s.kind;
  c.loops = s.loops;
  c.over = s.over;
  for (int l = 0; l < s.loops; ++l) c.extent[l] = static_cast<std::ptrdiff_t>(length(s.extent[l]));
  const operand_ref* const operands = operands_of(*p_, s);
  for (int o = 0; o < s.operands; ++o) {
    c.operands[o].data = address(operands[o], place);
    c.operands[o].type = operands[o].type;
    std::copy_n(operands[o].stride, s.loops, c.operands[o].stride);
  }
  c.scalar = s.scalar;
  c.scale = s.scale;
  c.epilogue = s.epilogue;
  c.fused_ops = p_->fused_ops.begin() + s.first_fused;
  c.fused_count = s.fused_count;
  c.axis_extent = static_cast<std::ptrdiff_t>(length(s.axis));
  c.axis_stride = s.axis_stride;
  if (memory_.packed != nullptr && s.packed != not_packed) {
    c.packed = memory_.packed + packed_size(s.packed, memory_.packed_as);
    c.packed_as = memory_.packed_as;
  }
  c.random = random_;
  c.scratch = scratch;
  c.part = part;
  if (s.check != 0 && part.index == 0) check_computed(s, place);
  if (s.run == kernel::gather && operands[1].where == block::parameters &&
      c.operands[1].data == nullptr)
    return gather_packed(s, c, kernels);
  if (s.run != kernel::length) return kernels.of(s.run)(c);
  float product = 1;
  for (int l = 0; l < s.loops; ++l) product *= static_cast<float>(c.extent[l]);
  std::memcpy(c.operands[0].data, &product, sizeof product);
}

// A gather from a parameter that is kept only as a contraction has packed it.
void engine::gather_packed(const instruction& s, kernels::call& c,
                           const kernels::table& kernels) const noexcept {
  const int by =
      p_->parameters[static_cast<std::size_t>(operands_of(*p_, s)[1].leaf)].rows_packed_by;
  const instruction& dot = p_->instructions[by];
  c.packed = memory_.packed + packed_size(dot.packed, memory_.packed_as);
  c.packed_as = memory_.packed_as;
  kernels::gather_packed(kernels.layout, c, call_at_bounds(*p_, dot));
}

void engine::attend(const instruction& s, std::ptrdiff_t place, const kernels::table& kernels,
                    const kernels::partition& part, std::byte* scratch) const noexcept {
  const attention_attributes& a = p_->attentions[s.attention];
  auto c = attention_call_of(s, a, operands_of(*p_, s),
                             [&](kernels::operand& to, const operand_ref& from) {
                               to.data = address(from, place);
                               to.type = from.type;
                               std::copy_n(from.stride, s.loops, to.stride);
                             });
  for (int l = 0; l < s.loops; ++l) c.extent[l] = static_cast<std::ptrdiff_t>(length(s.extent[l]));
  c.random = random_;
  c.scratch = scratch;
  c.part = part;
  if (s.run == kernel::attention)
    kernels.attention(c);
  else
    kernels.attention_adjoint(c);
}

void engine::execute(const instruction& s, std::ptrdiff_t place, const kernels::table& kernels,
                     const kernels::partition& part, std::byte* scratch) const noexcept {
  if (s.run == kernel::attention || s.run == kernel::attention_adjoint)
    attend(s, place, kernels, part, scratch);
  else
    call(s, place, kernels, part, scratch);
}

void engine::run(const instruction& s, const kernels::table& kernels, std::ptrdiff_t place,
                 const kernels::partition& part) const noexcept {
  execute(s, place, kernels, part, scratch_of(0));
}

namespace {

struct unwatched {
  void begin() const noexcept {}
  void done(int) const noexcept {}
};
// Calls the functions that are there.
struct watched {
  recording* into;
  const std::function<void(int)>* called;

  void begin() const noexcept {
    if (into) into->begin_instructions();
  }
  void done(int step) const noexcept {
    if (into) into->complete(step);
    if (!called) return;
    (*called)(step);
    if (into) into->leave_out();
  }
};

}  // namespace

template <class Watch>
void engine::run_serial(const kernels::table& kernels, Watch watch) const noexcept {
  const detail::rounding_to_nearest mode;
  const stages all(*p_, lengths_.data());
  watch.begin();
  for (int i = 0, n = all.count(); i < n; ++i) {
    const auto [step, place] = all[i];
    execute(p_->instructions[step], place, kernels, {}, scratch_of(0));
    watch.done(step);
  }
}

void engine::run_serial(const kernels::table& kernels) const noexcept {
  run_serial(kernels, unwatched());
}

template <class Watch>
void engine::run_watched(const kernels::table& kernels, Watch watch) noexcept {
  if (!team_ || !choose_partitions()) return run_serial(kernels, watch);
  const stages all(*p_, lengths_.data());
  team_->run(
      all.count(), [&](int i) { return parts_[static_cast<std::size_t>(all[i].step)]; },
      [&](int i, const kernels::partition& part, int thread_index) {
        if (i == 0) watch.begin();
        const auto [step, place] = all[i];
        execute(p_->instructions[step], place, kernels, part, scratch_of(thread_index));
      },
      [&](int i) { watch.done(all[i].step); });
}

void engine::record(const std::shared_ptr<recording>& r) {
  if (generated_.run != nullptr)
    throw error("profile: generated code is not timed; make a module or a trainer without it");
  if (!recording_.expired()) throw error("profile: there is one already");
  recording_ = r;
  if (team_) r->run_on(team_->threads());
}

void engine::run_on(const executor& threads) {
  if (const auto r = recorded()) r->run_on(threads);
  if (threads.width() == 1) {
    team_.reset();
    return;
  }
  auto t = std::make_unique<team>(threads);
  auto scratch = allocate(static_cast<std::size_t>(threads.width() - 1) * p_->scratch_bytes);
  parts_.resize(p_->instructions.size());
  scratch_ = std::move(scratch);
  team_ = std::move(t);
}

void engine::run(const kernels::table& kernels) noexcept {
  const auto r = recorded();
  if (!r) return run_watched(kernels, unwatched());
  r->begin(lengths_.data());
  run_watched(kernels, watched{r.get(), nullptr});
  r->end();
}

void engine::run(const std::function<void(int)>& done) noexcept {
  if (runs_generated_code()) return run();
  const auto r = recorded();
  if (r) r->begin(lengths_.data());
  run_watched(kernels::dispatch(), watched{r.get(), &done});
  if (r) r->end();
}

}  // namespace weft
