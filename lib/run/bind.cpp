// Binding of a run's arguments: resolves its lengths, checks its values, and copies what does not
// have the planned strides.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "kernels/loop_nest.hpp"
#include "weft/run/argument.hpp"
#include "weft/run/error.hpp"

namespace weft {

namespace {

constexpr std::size_t unknown = SIZE_MAX;

using lengths_array = std::array<std::size_t, max_lengths>;

// Applies each length rule once its sources are known. Where no rule can be applied, the first
// unknown source gets its bound.
template <class Set>
void follow_rules(const program& p, lengths_array& lengths, Set set) {
  std::array<bool, max_rules> done{};
  const auto unknown_source = [&](const length_rule_ref& rule) {
    for (int s = 0; s < rule.source_count; ++s)
      if (lengths[static_cast<std::size_t>(rule.sources[s])] == unknown)
        return int{rule.sources[s]};
    return -1;
  };
  const auto apply = [&](const length_rule_ref& rule) {
    std::int64_t sum = rule.add;
    for (int s = 0; s < rule.source_count; ++s)
      sum += static_cast<std::int64_t>(lengths[static_cast<std::size_t>(rule.sources[s])]);
    sum = std::max<std::int64_t>(
        sum, 0);  // a slice that starts after the end is rejected where it is used
    const auto where = [&] {
      return "axis " + std::string(p.name(p.lengths[rule.target].name)) + " made from others";
    };
    if (!rule.rounds_down && sum * rule.multiply % rule.divide != 0)
      detail::raise(where() + ": " + std::to_string(sum) + " elements do not make rows of " +
                    std::to_string(rule.divide));
    const auto target = static_cast<std::size_t>(rule.target);
    set(target, static_cast<std::size_t>(sum * rule.multiply / rule.divide), p.lengths[target].name,
        where);
  };
  for (std::size_t left = p.rules.size(); left > 0;) {
    const std::size_t before = left;
    int stuck = -1;
    for (std::size_t i = 0; i < p.rules.size(); ++i) {
      if (done[i]) continue;
      if (const int source = unknown_source(p.rules[i]); source >= 0) {
        if (stuck < 0) stuck = source;
        continue;
      }
      apply(p.rules[i]);
      done[i] = true;
      --left;
    }
    if (left == before) {
      const auto source = static_cast<std::size_t>(stuck);
      lengths[source] = p.lengths[source].most;
    }
  }
}

std::string quoted(std::string_view s) {
  return "'" + std::string(s) + "'";
}

}  // namespace

// Each length comes from an argument or follows from others by a rule; one that nothing determines
// is its bound.
void engine::find_lengths(std::span<const binding> arguments,
                          std::array<std::size_t, max_lengths>& lengths) const {
  lengths.fill(unknown);
  // `where` builds its text only on an error: a run allocates nothing.
  const auto set = [&](std::size_t slot, std::size_t value, name_ref called, auto where) {
    const length_ref& axis = p_->lengths[slot];
    if (value > axis.most)
      detail::raise(where() + ": axis " + std::string(p_->name(called)) + " has length " +
                    std::to_string(value) + ", and may have at most " + std::to_string(axis.most));
    if (value < axis.least)
      detail::raise(where() + ": axis " + std::string(p_->name(called)) + " has length " +
                    std::to_string(value) + ", and must have at least " +
                    std::to_string(axis.least));
    if (lengths[slot] != unknown && lengths[slot] != value)
      detail::raise(where() + ": axis " + std::string(p_->name(called)) + " has length " +
                    std::to_string(value) + ", and " + std::to_string(lengths[slot]) +
                    " elsewhere in this run");
    lengths[slot] = value;
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const input_ref& input = p_->inputs[i];
    const auto where = [&] { return "argument " + quoted(p_->name(input.name)); };
    for (int a = 0; a < input.rank; ++a) {
      const extent_ref& e = input.extent[a];
      const std::size_t given = arguments[i].length[static_cast<std::size_t>(a)];
      if (!e.fixed())
        set(e.slot(), given, input.axis_name[a], where);
      else if (given != e.most)
        detail::raise(where() + ": axis " + std::string(p_->name(input.axis_name[a])) +
                      " has length " + std::to_string(given) + ", and must have " +
                      std::to_string(e.most));
    }
  }
  follow_rules(*p_, lengths, set);
  for (std::size_t i = 0; i < p_->lengths.size(); ++i)
    if (lengths[i] == unknown) lengths[i] = p_->lengths[i].most;
  for (const min_length& r : p_->requirements)
    if (lengths[static_cast<std::size_t>(r.slot)] < r.least)
      detail::raise("axis " + std::string(p_->name(p_->lengths[r.slot].name)) + " has length " +
                    std::to_string(lengths[static_cast<std::size_t>(r.slot)]) +
                    ", and a slice of it needs at least " + std::to_string(r.least));
}

void engine::check_loss(float loss) const {
  if (std::isfinite(loss)) return;
  for (std::size_t i = 0; i < p_->lengths.size(); ++i)
    if (lengths_[i] == 0)
      detail::raise("the loss is not finite, as axis " +
                    std::string(p_->name(p_->lengths[i].name)) +
                    " has length 0: the mean over no examples is not a number");
}

namespace {

using strides = std::array<std::ptrdiff_t, max_rank>;

// Calls f(offset with strides a, offset with strides b) for every index, the last axis innermost.
template <class F>
void for_each_index(int rank, const std::array<std::size_t, max_rank>& length, const strides& a,
                    const strides& b, F f) {
  kernels::loop_nest n;
  for (std::size_t l = 0; l < static_cast<std::size_t>(rank); ++l)
    n.push({static_cast<std::ptrdiff_t>(length[l]), {a[l], b[l]}});
  if (rank == 0) n.push({1, {}});
  kernels::for_each<2>(n, n.loops, [&](const std::ptrdiff_t* at) { f(at[0], at[1]); });
}

// The planned strides of an input: row-major over its axes' bounds.
strides planned(const input_ref& input) {
  strides s{};
  std::ptrdiff_t next = 1;
  for (int a = input.rank - 1; a >= 0; --a) {
    s[static_cast<std::size_t>(a)] = next;
    next *= static_cast<std::ptrdiff_t>(input.extent[a].most);
  }
  return s;
}

// What an index, a length or the start of a write has to be.
std::string bounds_of(const index_check& check, std::string_view axis, std::size_t length) {
  const std::string of = std::string(axis) + " is ", number = std::to_string(length);
  switch (check.of) {
    case checked_as::index:
      return "an index into axis " + of + "less than " + number + " and not negative";
    case checked_as::length:
      return "a length of axis " + of + "at most " + number + " and not negative";
    case checked_as::write:
      break;
  }
  return "from there is no room for all rows of a write along axis " + std::string(axis) +
         ", whose length is " + number + ", or their count is wrong";
}

}  // namespace

void engine::check_indices(const index_check& check, const binding& argument,
                           const std::array<std::size_t, max_lengths>& lengths) const {
  const input_ref& input = p_->inputs[static_cast<std::size_t>(check.input)];
  const auto* data = static_cast<const std::int32_t*>(argument.data);
  std::array<std::size_t, max_rank> length{};
  strides row_major{};  // the position of an element in the argument, for the message
  std::ptrdiff_t next = 1, first = 0;
  for (auto a = static_cast<std::size_t>(input.rank); a-- > 0;) {
    length[a] = check.extent[a].in(lengths.data());
    row_major[a] = next;
    next *= static_cast<std::ptrdiff_t>(argument.length[a]);
    first += row_major[a] * static_cast<std::ptrdiff_t>(check.first[a]);
    data += argument.stride[a] * static_cast<std::ptrdiff_t>(check.first[a]);
  }
  const std::size_t length_of_axis = check.axis.in(lengths.data());
  const std::size_t most = length_of_axis + (check.of == checked_as::length ? 1 : 0);
  for_each_index(input.rank, length, argument.stride, row_major,
                 [&](std::ptrdiff_t at, std::ptrdiff_t position) {
                   const std::int32_t index = data[at];
                   if (index < 0 || static_cast<std::size_t>(index) >= most)
                     detail::raise("argument " + quoted(p_->name(input.name)) + ": element " +
                                   std::to_string(first + position) + " is " +
                                   std::to_string(index) + ", and " +
                                   bounds_of(check, p_->name(check.axis_name), length_of_axis));
                 });
}

void engine::check_computed(const instruction& s, std::ptrdiff_t place) const noexcept {
  const bool writes = s.run == kernel::update_rows;
  const operand_ref* const operands = operands_of(*p_, s);
  const operand_ref &indices = operands[2], &counts = operands[s.operands > 3 ? 3 : 2];
  const auto* const data = reinterpret_cast<const std::int32_t*>(address(indices, place));
  const auto* const count = reinterpret_cast<const std::int32_t*>(address(counts, place));
  std::array<std::size_t, max_rank> extent{};
  strides stride{}, stride_of_counts{};
  int loops = 0;
  for (int l = 0; l < s.loops; ++l) {
    const std::size_t here = length(s.extent[l]);
    if (here == 0) return;  // nothing is used
    if (indices.stride[l] == 0 && counts.stride[l] == 0) continue;
    extent[static_cast<std::size_t>(loops)] = here;
    stride_of_counts[static_cast<std::size_t>(loops)] = counts.stride[l];
    stride[static_cast<std::size_t>(loops++)] = indices.stride[l];
  }
  const auto most = static_cast<std::int64_t>(length(s.axis));
  const auto rows =
      writes ? static_cast<std::int64_t>(length(s.extent[std::countr_zero(s.over)])) : 1;
  for_each_index(loops, extent, stride, stride_of_counts, [&](std::ptrdiff_t at, std::ptrdiff_t n) {
    const std::int64_t first = data[at], some = s.operands > 3 ? count[n] : rows;
    const std::int64_t end = s.scalar > 0 ? first + 1 : first + some;  // a ring goes on
    if (first < 0 || some < 0 || some > rows || end > most)
      outside_.store(static_cast<std::uint64_t>(s.check) << 32 | static_cast<std::uint32_t>(first),
                     std::memory_order_relaxed);
  });
}

void engine::refuse_outside() {
  const std::uint64_t found = outside_.exchange(outside_in_all_runs_);
  const index_check& check = p_->index_checks[(found >> 32) - 1];
  detail::raise("a computed " + std::string(check.of == checked_as::index ? "index" : "place") +
                " is " + std::to_string(static_cast<std::int32_t>(found)) + ", and " +
                bounds_of(check, p_->name(check.axis_name), check.axis.in(lengths_.data())));
}

// Checks the start and the count of each write, for every index of their axes.
void engine::check_writes(std::span<const binding> arguments,
                          const std::array<std::size_t, max_lengths>& lengths) const {
  for (const bounds_check& r : p_->writes) {
    const auto rows = static_cast<std::int64_t>(r.rows.in(lengths.data()));
    const auto room = static_cast<std::int64_t>(r.room.in(lengths.data()));
    std::array<std::size_t, max_rank> length{};
    for (int l = 0; l < r.loops; ++l)
      length[static_cast<std::size_t>(l)] = r.extent[l].in(lengths.data());
    const auto strides_of = [&](const host_scalar& k) {
      strides s{};
      for (std::size_t l = 0; l < static_cast<std::size_t>(r.loops); ++l)
        s[l] = k.input < 0     ? k.stride[l]
               : k.axis[l] < 0 ? 0
                               : arguments[static_cast<std::size_t>(k.input)]
                                     .stride[static_cast<std::size_t>(k.axis[l])];
      return s;
    };
    const auto number = [&](const host_scalar& k, std::ptrdiff_t at) {
      const void* const data = k.input < 0 ? memory_.workspace + k.offset
                                           : arguments[static_cast<std::size_t>(k.input)].data;
      return std::int64_t{static_cast<const std::int32_t*>(data)[at]};
    };
    const auto called = [&](const host_scalar& k) {
      return (k.input < 0 ? "state " : "argument ") + quoted(p_->name(k.name));
    };
    std::size_t element = 0;
    for_each_index(
        r.loops, length, strides_of(r.at), strides_of(r.count),
        [&](std::ptrdiff_t at, std::ptrdiff_t count) {
          const std::int64_t some = r.count.is_known ? number(r.count, count) : rows;
          if (some < 0 || some > rows)
            detail::raise(called(r.count) + ": element " + std::to_string(element) + " is " +
                          std::to_string(some) + ", and the rows along axis " +
                          std::string(p_->name(r.rows_name)) + " are " + std::to_string(rows));
          if (r.at.is_known)
            if (const std::int64_t first = number(r.at, at); first < 0 || first + some > room)
              detail::raise(called(r.at) + ": element " + std::to_string(element) + " is " +
                            std::to_string(first) + ", and from there is no room for " +
                            std::to_string(some) + " more along axis " +
                            std::string(p_->name(r.room_name)) + ", whose length is " +
                            std::to_string(room));
          ++element;
        });
  }
}

// An argument with the planned strides is read in place; another one is copied to the staging
// buffer, which has them.
const std::byte* engine::stage(const input_ref& input, const binding& argument) const noexcept {
  const auto* const data = static_cast<const std::byte*>(argument.data);
  const strides plan = planned(input);
  bool same = true;
  for (std::size_t a = 0; a < static_cast<std::size_t>(input.rank); ++a)
    same = same && (argument.stride[a] == plan[a] || argument.length[a] <= 1);
  if (same) return data;
  std::byte* const staging = memory_.workspace + input.staging;
  const std::ptrdiff_t size = bytes(input.type);
  for_each_index(input.rank, argument.length, argument.stride, plan,
                 [&](std::ptrdiff_t from, std::ptrdiff_t to) {
                   std::memcpy(staging + to * size, data + from * size,
                               static_cast<std::size_t>(size));
                 });
  return staging;
}

void engine::bind(std::span<const binding> arguments) {
  const std::int64_t begin = recording_.expired() ? 0 : recording::now();
  std::array<std::size_t, max_lengths> lengths{};
  find_lengths(arguments, lengths);
  for (const index_check& check : p_->index_checks)
    if (check.input >= 0)
      check_indices(check, arguments[static_cast<std::size_t>(check.input)], lengths);
  check_writes(arguments, lengths);
  const bool same = lengths == lengths_;
  lengths_ = lengths;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    inputs_[i] = stage(p_->inputs[i], arguments[i]);
  if (same)
    bind_inputs();
  else
    bind_calls();
  if (const auto r = recorded()) r->bound(recording::now() - begin);
}

binding bind_range(const program& p, const input_ref& input, const void* data, std::size_t size) {
  std::size_t row = 1;
  int unknown = -1;
  for (int a = 0; a < input.rank; ++a) {
    if (input.extent[a].fixed())
      row *= input.extent[a].most;
    else
      unknown = a;
  }
  if (unknown < 0 ? size != row : size % row != 0)
    detail::raise("argument '" + std::string(p.name(input.name)) + "': " + std::to_string(size) +
                  " elements, and " +
                  (unknown < 0 ? std::to_string(row) : "a multiple of " + std::to_string(row)) +
                  " are needed");
  binding b{.data = data};
  std::ptrdiff_t stride = 1;
  for (int a = input.rank - 1; a >= 0; --a) {
    const auto at = static_cast<std::size_t>(a);
    b.length[at] = a == unknown ? size / row : input.extent[a].most;
    b.stride[at] = stride;
    stride *= static_cast<std::ptrdiff_t>(b.length[at]);
  }
  return b;
}

}  // namespace weft
