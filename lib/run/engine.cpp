#include "weft/run/engine.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "run/step_list.hpp"
#include "weft/lower/call.hpp"
#include "weft/lower/fingerprint.hpp"
#include "weft/run/error.hpp"
#include "weft/run/stages.hpp"

namespace weft {

void detail::check_linked(const program& linked, std::uint64_t fingerprint,
                          std::string_view model) {
  if (linked.fingerprint != fingerprint)
    detail::raise(
        "two source files of this program have different models named " + std::string(model) +
        ", or axes of one name with other extents, and the linker keeps one: put those of "
        "each file in a namespace of its own, or in an unnamed one");
}

void engine::use::refuse_second_use() {
  detail::raise(
      "another thread uses this module or trainer; give each thread one of its own, which can "
      "share weights: weft::module<model> second(weft::sharing(first))");
}

bool engine::try_run(void (*bind)(void*), void* with, std::string& why) {
  auto all = [&] {
    const use one(*this);
    bind(with);
    run();
    check_run();
  };
  return detail::caught(all, why);
}

engine::engine(const program& p, memory m, generated_steps generated)
    : p_(&p),
      memory_(m),
      generated_(generated),
      steps_(std::make_unique<step_list>()),
      inputs_(p.inputs.size()) {
  describe_calls();
  allocate_scratch(1);
  choose_functions();
  compute_once();
}

engine::~engine() = default;

void engine::compute_once() noexcept {
  if (p_->once == 0) return bind_calls();
  const detail::rounding_to_nearest mode;
  for (std::size_t i = 0; i < p_->lengths.size(); ++i) lengths_[i] = p_->lengths[i].most;
  bind_calls();
  for (int i = 0; i < p_->once; ++i) execute(i, 0, {}, 0);
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
  const bool attends = is_attention(s.kind);
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
    if (whole < 2 * least_part || !(*steps_)[i].has_parts) continue;
    shared += whole * (repeats ? static_cast<double>(length(loop->length)) : 1);
    parts_[at] = static_cast<int>(std::min<double>(whole / least_part, team_->size()));
  }
  return shared >= least_run;
}

std::byte* engine::scratch_of(int thread_index) const noexcept {
  if (thread_index == 0 && memory_.has_scratch) return memory_.workspace + p_->scratch_offset();
  const int own = thread_index - (memory_.has_scratch ? 1 : 0);
  return scratch_.get() + static_cast<std::size_t>(own) * scratch_size_;
}

void engine::allocate_scratch(int threads) {
  const std::size_t size = needed_scratch();
  const auto own = static_cast<std::size_t>(threads - (memory_.has_scratch ? 1 : 0)) * size;
  scratch_ = allocate(own, pages::small);
  scratch_size_ = size;
  own_scratch_ = {scratch_.get(), own};
  for (step& s : steps_->of) s.call.scratch = scratch_of(0);
}

void engine::execute_with(const step& step, int i, std::ptrdiff_t place,
                          const kernels::partition& part, int thread_index) const noexcept {
  const instruction& s = p_->instructions[i];
  // Room for the operands of one iteration; zeroing it would take longer than small kernels.
  alignas(kernels::operand)
      std::byte room[attention_adjoint_slots.size() * sizeof(kernels::operand)];
  kernels::call c = (step.needs & moves) == 0
                        ? step.call
                        : call_of(i, place, reinterpret_cast<kernels::operand*>(room));
  c.scratch = scratch_of(thread_index);
  c.part = part;
  if ((step.needs & checks) != 0 && part.index == 0) check_computed(s, place);
  if (step.has_parts || part.index == 0) step.run(c);
}

void engine::execute(int i, std::ptrdiff_t place, const kernels::partition& part,
                     int thread_index) const noexcept {
  const step& s = (*steps_)[i];
  // The call as it is: copying it takes as long as a small kernel's setup.
  if (s.needs == 0 && part.count == 1 && thread_index == 0) return s.run(s.call);
  execute_with(s, i, place, part, thread_index);
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
void engine::run_serial(Watch watch) const noexcept {
  const detail::rounding_to_nearest mode;
  watch.begin();
  if (p_->loops.size() == 0) {
    int i = p_->once;
    // A pointer stays in a register over the calls; they could change what an index refers to.
    const step* const all = steps_->of.data();
    for (const step *s = all + i, *end = all + steps_->size(); s < end; ++s) {
      if (s->needs == 0)
        s->run(s->call);
      else
        execute_with(*s, i, 0, {}, 0);
      watch.done(i++);
    }
    return;
  }
  const stages all(*p_, lengths_.data());
  for (int i = 0, n = all.count(); i < n; ++i) {
    const auto [step, place] = all[i];
    execute(step, place, {}, 0);
    watch.done(step);
  }
}

template <class Watch>
void engine::run_watched(Watch watch) noexcept {
  if (!team_ || !choose_partitions()) return run_serial(watch);
  const stages all(*p_, lengths_.data());
  team_->run(
      all.count(), [&](int i) { return parts_[static_cast<std::size_t>(all[i].step)]; },
      [&](int i, const kernels::partition& part, int thread_index) {
        if (i == 0) watch.begin();
        const auto [step, place] = all[i];
        execute(step, place, part, thread_index);
      },
      [&](int i) { watch.done(all[i].step); });
}

void engine::record(const std::shared_ptr<recording>& r) {
  if (!recording_.expired()) detail::raise("profile: there is one already");
  recording_ = r;
  if (team_) r->run_on(team_->threads());
}

void engine::run_on(const executor& threads) {
  if (const auto r = recorded()) r->run_on(threads);
  if (threads.width() == 1) {
    team_.reset();
    return allocate_scratch(1);
  }
  auto t = std::make_unique<team>(threads);
  parts_.resize(p_->instructions.size());
  allocate_scratch(threads.width());
  std::ranges::fill(own_scratch_, std::byte{0});  // touches its pages
  team_ = std::move(t);
}

void engine::run() noexcept {
  const auto r = recorded();
  if (!r) return run_watched(unwatched());
  r->begin(lengths_.data());
  run_watched(watched{r.get(), nullptr});
  r->end();
}

void engine::run(const std::function<void(int)>& done) noexcept {
  const auto r = recorded();
  if (r) r->begin(lengths_.data());
  run_watched(watched{r.get(), &done});
  if (r) r->end();
}

}  // namespace weft
