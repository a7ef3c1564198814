#include "weft/run/engine.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "weft/lower/call.hpp"
#include "weft/run/error.hpp"
#include "weft/run/stages.hpp"

namespace weft {

namespace {

constexpr std::size_t unknown = SIZE_MAX;

using lengths_array = std::array<std::size_t, max_lengths>;

// Applies each rule once its sources are known. Where no rule is left that could be applied, the
// first source that nothing gives gets its bound.
template <class Set>
void follow_rules(const program& p, lengths_array& lengths, Set set) {
  std::array<bool, max_rules> done{};
  auto const unknown_source = [&](const length_rule_ref& rule) {
    for (int s = 0; s < rule.source_count; ++s)
      if (lengths[static_cast<std::size_t>(rule.sources[s])] == unknown)
        return int{rule.sources[s]};
    return -1;
  };
  auto const apply = [&](const length_rule_ref& rule) {
    std::int64_t sum = rule.add;
    for (int s = 0; s < rule.source_count; ++s)
      sum += static_cast<std::int64_t>(lengths[static_cast<std::size_t>(rule.sources[s])]);
    sum =
        std::max<std::int64_t>(sum, 0);  // a slice from beyond the end is refused where it is used
    auto const where = [&] {
      return "axis " + std::string(p.name(p.lengths[rule.target].name)) + " made from others";
    };
    if (!rule.rounds_down && sum * rule.multiply % rule.divide != 0)
      throw error(where() + ": " + std::to_string(sum) + " elements do not make rows of " +
                  std::to_string(rule.divide));
    auto const target = static_cast<std::size_t>(rule.target);
    set(target, static_cast<std::size_t>(sum * rule.multiply / rule.divide), p.lengths[target].name,
        where);
  };
  for (std::size_t left = p.rules.size(); left > 0;) {
    std::size_t const before = left;
    int stuck = -1;
    for (std::size_t i = 0; i < p.rules.size(); ++i) {
      if (done[i]) continue;
      if (int const source = unknown_source(p.rules[i]); source >= 0) {
        if (stuck < 0) stuck = source;
        continue;
      }
      apply(p.rules[i]);
      done[i] = true;
      --left;
    }
    if (left == before) {
      auto const source = static_cast<std::size_t>(stuck);
      lengths[source] = p.lengths[source].most;
    }
  }
}

std::string quoted(std::string_view s) {
  return "'" + std::string(s) + "'";
}

}  // namespace

void engine::compute_once() noexcept {
  if (p_->once == 0) return;
  for (std::size_t i = 0; i < p_->lengths.size(); ++i) lengths_[i] = p_->lengths[i].most;
  kernels::table const kernels = kernels::best();
  for (int i = 0; i < p_->once; ++i) run(p_->steps[i], kernels);
}

// Each length comes from an argument, or follows from others; one that nothing tells is its bound.
void engine::find_lengths(std::span<const binding> arguments,
                          std::array<std::size_t, max_lengths>& lengths) const {
  lengths.fill(unknown);
  // `where` makes its sentence only where something is wrong: a run allocates nothing.
  auto const set = [&](std::size_t slot, std::size_t value, name_ref called, auto where) {
    length_ref const& axis = p_->lengths[slot];
    if (value > axis.most)
      throw error(where() + ": axis " + std::string(p_->name(called)) + " has length " +
                  std::to_string(value) + ", and may have at most " + std::to_string(axis.most));
    if (lengths[slot] != unknown && lengths[slot] != value)
      throw error(where() + ": axis " + std::string(p_->name(called)) + " has length " +
                  std::to_string(value) + ", and " + std::to_string(lengths[slot]) +
                  " elsewhere in this run");
    lengths[slot] = value;
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    input_ref const& input = p_->inputs[i];
    auto const where = [&] { return "argument " + quoted(p_->name(input.name)); };
    for (int a = 0; a < input.rank; ++a) {
      extent_ref const& e = input.extent[a];
      std::size_t const given = arguments[i].length[static_cast<std::size_t>(a)];
      if (!e.fixed())
        set(e.slot(), given, input.axis_name[a], where);
      else if (given != e.most)
        throw error(where() + ": axis " + std::string(p_->name(input.axis_name[a])) +
                    " has length " + std::to_string(given) + ", and must have " +
                    std::to_string(e.most));
    }
  }
  follow_rules(*p_, lengths, set);
  for (std::size_t i = 0; i < p_->lengths.size(); ++i)
    if (lengths[i] == unknown) lengths[i] = p_->lengths[i].most;
  for (length_requirement const& r : p_->requirements)
    if (lengths[static_cast<std::size_t>(r.slot)] < r.least)
      throw error("axis " + std::string(p_->name(p_->lengths[r.slot].name)) + " has length " +
                  std::to_string(lengths[static_cast<std::size_t>(r.slot)]) +
                  ", and a slice of it needs at least " + std::to_string(r.least));
}

namespace {

using strides = std::array<std::ptrdiff_t, max_rank>;

// Calls f(offset by a, offset by b) for every index, outermost first.
template <class F>
void for_each_index(int rank, const std::array<std::size_t, max_rank>& length, const strides& a,
                    const strides& b, F f) {
  auto const loop = [&](auto& self, int axis, std::ptrdiff_t at_a, std::ptrdiff_t at_b) -> void {
    if (axis == rank) return f(at_a, at_b);
    auto const l = static_cast<std::size_t>(axis);
    for (std::size_t i = 0; i < length[l]; ++i, at_a += a[l], at_b += b[l])
      self(self, axis + 1, at_a, at_b);
  };
  loop(loop, 0, 0, 0);
}

// The strides that the plan has for an input.
strides planned(const input_ref& input) {
  strides s{};
  std::ptrdiff_t next = 1;
  for (int a = input.rank - 1; a >= 0; --a) {
    s[static_cast<std::size_t>(a)] = next;
    next *= static_cast<std::ptrdiff_t>(input.extent[a].most);
  }
  return s;
}

}  // namespace

void engine::check_indices(const input_ref& input, const binding& argument,
                           std::size_t most) const {
  auto const* const data = static_cast<const std::int32_t*>(argument.data);
  std::size_t position = 0;
  for_each_index(input.rank, argument.length, argument.stride, argument.stride,
                 [&](std::ptrdiff_t at, std::ptrdiff_t) {
                   std::int32_t const index = data[at];
                   if (index < 0 || static_cast<std::size_t>(index) >= most)
                     throw error("argument " + quoted(p_->name(input.name)) + ": element " +
                                 std::to_string(position) + " is " + std::to_string(index) +
                                 ", and an index into axis " +
                                 std::string(p_->name(input.picks_from_name)) + " is less than " +
                                 std::to_string(most) + " and not negative");
                   ++position;
                 });
}

// The numbers of each rule, over the axes that they have.
void engine::check_writes(std::span<const binding> arguments,
                          const std::array<std::size_t, max_lengths>& lengths) const {
  for (write_rule const& r : p_->writes) {
    auto const rows = static_cast<std::int64_t>(r.rows.in(lengths.data()));
    auto const room = static_cast<std::int64_t>(r.room.in(lengths.data()));
    std::array<std::size_t, max_rank> length{};
    for (int l = 0; l < r.loops; ++l)
      length[static_cast<std::size_t>(l)] = r.extent[l].in(lengths.data());
    auto const strides_of = [&](const known_number& k) {
      strides s{};
      for (std::size_t l = 0; l < static_cast<std::size_t>(r.loops); ++l)
        s[l] = k.input < 0     ? k.stride[l]
               : k.axis[l] < 0 ? 0
                               : arguments[static_cast<std::size_t>(k.input)]
                                     .stride[static_cast<std::size_t>(k.axis[l])];
      return s;
    };
    auto const number = [&](const known_number& k, std::ptrdiff_t at) {
      const void* const data = k.input < 0 ? memory_.workspace + k.offset
                                           : arguments[static_cast<std::size_t>(k.input)].data;
      return std::int64_t{static_cast<const std::int32_t*>(data)[at]};
    };
    auto const called = [&](const known_number& k) {
      return (k.input < 0 ? "state " : "argument ") + quoted(p_->name(k.name));
    };
    std::size_t element = 0;
    for_each_index(
        r.loops, length, strides_of(r.at), strides_of(r.count),
        [&](std::ptrdiff_t at, std::ptrdiff_t count) {
          std::int64_t const some = r.count.is_known ? number(r.count, count) : rows;
          if (some < 0 || some > rows)
            throw error(called(r.count) + ": element " + std::to_string(element) + " is " +
                        std::to_string(some) + ", and the rows along axis " +
                        std::string(p_->name(r.rows_name)) + " are " + std::to_string(rows));
          if (r.at.is_known)
            if (std::int64_t const first = number(r.at, at); first < 0 || first + some > room)
              throw error(called(r.at) + ": element " + std::to_string(element) + " is " +
                          std::to_string(first) + ", and from there is no room for " +
                          std::to_string(some) + " more along axis " +
                          std::string(p_->name(r.room_name)) + ", whose length is " +
                          std::to_string(room));
          ++element;
        });
  }
}

// An argument with the planned strides is read where it lies; another is copied to where it has
// them.
const std::byte* engine::stage(const input_ref& input, const binding& argument) const noexcept {
  auto const* const data = static_cast<const std::byte*>(argument.data);
  strides const plan = planned(input);
  bool same = true;
  for (std::size_t a = 0; a < static_cast<std::size_t>(input.rank); ++a)
    same = same && (argument.stride[a] == plan[a] || argument.length[a] <= 1);
  if (same) return data;
  std::byte* const staging = memory_.workspace + input.staging;
  std::ptrdiff_t const size = bytes(input.type);
  for_each_index(input.rank, argument.length, argument.stride, plan,
                 [&](std::ptrdiff_t from, std::ptrdiff_t to) {
                   std::memcpy(staging + to * size, data + from * size,
                               static_cast<std::size_t>(size));
                 });
  return staging;
}

void engine::bind(std::span<const binding> arguments) {
  std::array<std::size_t, max_lengths> lengths{};
  find_lengths(arguments, lengths);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (p_->inputs[i].picks_from_name.size > 0)
      check_indices(p_->inputs[i], arguments[i], p_->inputs[i].picks_from.in(lengths.data()));
  check_writes(arguments, lengths);
  lengths_ = lengths;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    inputs_[i] = stage(p_->inputs[i], arguments[i]);
}

void engine::reset() noexcept {
  if (p_->state_bytes > 0) std::memset(memory_.workspace, 0, p_->state_bytes);
}

void engine::reset(const state_ref& s, int axis, std::size_t index) noexcept {
  auto const size = static_cast<std::size_t>(bytes(s.type));
  std::size_t block = size;  // of the elements that lie together
  for (int a = axis + 1; a < s.rank; ++a) block *= s.extent[a];
  std::size_t const row = block * s.extent[axis];
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
      base = memory_.parameters;
      break;
    case block::gradients:
      base = memory_.gradients;
      break;
    // Neither of these is ever a result, so nothing writes through the pointer.
    case block::constants:
      base = const_cast<std::byte*>(p_->constants.begin());
      break;
    case block::input:
      base = const_cast<std::byte*>(inputs_[static_cast<std::size_t>(r.input)]);
      break;
    case block::numbers:
      return nullptr;
  }
  auto offset = static_cast<std::ptrdiff_t>(r.offset);
  for (int s = 0; s < r.shift_count; ++s) {
    shift_ref const& shift = p_->shifts[r.first_shift + s];
    offset += (shift.slot == current_step
                   ? place
                   : static_cast<std::ptrdiff_t>(lengths_[static_cast<std::size_t>(shift.slot)])) *
              shift.stride * bytes(r.type);
  }
  return base + offset;
}

namespace {

// About how many points of a step's loops one core goes over in a microsecond, its data in the
// second level of cache. It decides who works, not what comes out.
constexpr double points_per_microsecond(kernel k) {
  switch (k) {
    case kernel::dot:
      return 80000;
    case kernel::attention:  // to multiply and add
      return 60000;
    case kernel::attention_adjoint:  // which has five products for the two before
      return 24000;
    case kernel::zero:
      return 16000;
    case kernel::length:  // one number, however many points
      return std::numeric_limits<double>::infinity();
    default:
      return 8000;
  }
}

// Measured on two cores: threads meet again after 0.1 to 0.3 us, the lines of cache that they
// exchange in between not counted; an executor's thread that sleeps comes after 20 to 50 us, and to
// wake it takes the caller 12. Runs of 50 us became longer with two threads, those of 150 shorter.
constexpr double least_part = 0.5;  // microseconds
constexpr double least_run = 80;

}  // namespace

double engine::microseconds(const step& s) const noexcept {
  auto const extent = [&](int loop) { return static_cast<double>(length(s.extent[loop])); };
  bool const attends = s.run == kernel::attention || s.run == kernel::attention_adjoint;
  // An attention contracts over its last two loops one after the other.
  double points = attends ? extent(s.loops - 2) + extent(s.loops - 1) : 1;
  for (int l = 0; l < (attends ? s.loops - 2 : s.loops); ++l) points *= extent(l);
  return points / points_per_microsecond(s.run);
}

bool engine::share_out() noexcept {
  double shared = 0;
  auto loop = p_->loops.begin();
  for (int i = p_->once; i < static_cast<int>(p_->steps.size()); ++i) {
    auto const at = static_cast<std::size_t>(i);
    if (loop != p_->loops.end() && i == loop->last) ++loop;
    bool const repeats = loop != p_->loops.end() && i >= loop->first;
    double const whole = microseconds(p_->steps[at]);
    parts_[at] = 1;
    if (whole < 2 * least_part) continue;
    shared += whole * (repeats ? static_cast<double>(length(loop->length)) : 1);
    parts_[at] = static_cast<int>(std::min<double>(whole / least_part, team_->size()));
  }
  return shared >= least_run;
}

std::byte* engine::scratch_of(int member) const noexcept {
  if (member == 0) return memory_.workspace + p_->scratch_offset;
  return scratch_.get() + static_cast<std::size_t>(member - 1) * p_->scratch_bytes;
}

void engine::call(const step& s, std::ptrdiff_t place, const kernels::table& kernels,
                  const kernels::share& part, std::byte* scratch) const noexcept {
  kernels::call c;
  c.kind = s.kind;
  c.loops = s.loops;
  c.over = s.over;
  for (int l = 0; l < s.loops; ++l) c.extent[l] = static_cast<std::ptrdiff_t>(length(s.extent[l]));
  for (int o = 0; o < s.operands; ++o) {
    c.operands[o].data = address(s.operand[o], place);
    c.operands[o].type = s.operand[o].type;
    std::copy_n(s.operand[o].stride, s.loops, c.operands[o].stride);
  }
  c.scalar = s.scalar;
  c.scale = s.scale;
  c.then = s.then;
  c.links = p_->links.begin() + s.first_link;
  c.link_count = s.link_count;
  c.axis_extent = static_cast<std::ptrdiff_t>(length(s.axis));
  c.axis_stride = s.axis_stride;
  if (memory_.packed != nullptr && s.packed != not_packed) {
    c.packed = memory_.packed + packed_size(s.packed, memory_.packed_as);
    c.packed_as = memory_.packed_as;
  }
  c.random = random_;
  c.scratch = scratch;
  c.part = part;
  switch (s.run) {
    case kernel::elementwise:
      return kernels.elementwise(c);
    case kernel::reduce:
      return kernels.reduce(c);
    case kernel::rowwise:
      return kernels.rowwise(c);
    case kernel::dot:
      return kernels.dot(c);
    case kernel::gather:
      return kernels.gather(c);
    case kernel::scatter_add:
      return kernels.scatter_add(c);
    case kernel::write:
      return kernels.write(c);
    case kernel::rotate:
      return kernels.rotate(c);
    case kernel::rotate_adjoint:
      return kernels.rotate_adjoint(c);
    case kernel::positions:
      return kernels.positions(c);
    case kernel::zero:
      return kernels.zero(c);
    case kernel::length: {
      float product = 1;
      for (int l = 0; l < s.loops; ++l) product *= static_cast<float>(c.extent[l]);
      std::memcpy(c.operands[0].data, &product, sizeof product);
      return;
    }
    case kernel::attention:
    case kernel::attention_adjoint:
      return;  // not by a call of this form
  }
}

void engine::attend(const step& s, std::ptrdiff_t place, const kernels::table& kernels,
                    const kernels::share& part, std::byte* scratch) const noexcept {
  attention_ref const& a = p_->attentions[s.attention];
  auto c = attention_call_of(s, a, [&](kernels::operand& to, const operand_ref& from) {
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

void engine::carry_out(const step& s, std::ptrdiff_t place, const kernels::table& kernels,
                       const kernels::share& part, std::byte* scratch) const noexcept {
  if (s.run == kernel::attention || s.run == kernel::attention_adjoint)
    attend(s, place, kernels, part, scratch);
  else
    call(s, place, kernels, part, scratch);
}

void engine::run(const step& s, const kernels::table& kernels) const noexcept {
  carry_out(s, 0, kernels, {}, scratch_of(0));
}

void engine::run_alone(const kernels::table& kernels) const noexcept {
  stages const all(*p_, lengths_.data());
  for (int i = 0, n = all.count(); i < n; ++i) {
    auto const [step, place] = all[i];
    carry_out(p_->steps[step], place, kernels, {}, scratch_of(0));
  }
}

void engine::run_on(const executor& threads) {
  if (threads.width() == 1) {
    team_.reset();
    return;
  }
  auto t = std::make_unique<team>(threads);
  auto scratch = allocate(static_cast<std::size_t>(threads.width() - 1) * p_->scratch_bytes);
  parts_.resize(p_->steps.size());
  scratch_ = std::move(scratch);
  team_ = std::move(t);
}

void engine::run(const kernels::table& kernels) noexcept {
  if (!team_ || !share_out()) return run_alone(kernels);
  stages const all(*p_, lengths_.data());
  team_->go(
      all.count(), [&](int i) { return parts_[static_cast<std::size_t>(all[i].step)]; },
      [&](int i, const kernels::share& part, int member) {
        auto const [step, place] = all[i];
        carry_out(p_->steps[step], place, kernels, part, scratch_of(member));
      });
}

}  // namespace weft
