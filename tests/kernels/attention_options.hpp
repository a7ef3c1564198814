// The options of attention, and the operands of a call with them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "kernels/arrays.hpp"
#include "kernels/check.hpp"
#include "kernels/pairwise.hpp"
#include "weft/kernels/attention.hpp"
#include "weft/kernels/philox.hpp"

namespace weft::kernels {

// Loops that an operand lacks, as bits: of the last four, then of the batch, the outermost first.
enum without_loops : unsigned {
  no_query = 1,
  no_key = 2,
  no_depth = 4,
  no_value = 8,
  no_outer = 16,
  no_inner = 32,
  no_batch = ~15u
};

struct attention_options {
  std::string name{};  // the words for a case
  extents batch{2};
  std::ptrdiff_t query = 17, key = 17, depth = 20, value = 20;
  layout how = layout::contiguous;
  band seen{};
  double soft_cap = 0;
  // The loops that the operand lacks; absent, the call has none.
  std::optional<unsigned> mask{}, bias{}, relative{}, sink{};
  std::ptrdiff_t distances = 21, origin = 12;  // of the relative bias
  // Values for the indices of the batch, repeated cyclically; if empty, the call has no such
  // operand.
  std::vector<std::int32_t> offset{}, begins{}, lengths{};
  bool for_each_query = false;  // whether begins and lengths are numbers for the queries too
  unsigned query_without = 0, key_without = 0, value_without = 0;
  double rate = 0;  // of dropout; next, the layout of its element ids
  layout numbered = layout::contiguous;
  unsigned numbers_without = 0;
  // Of the forward kernel.
  bool has_statistics = true, narrow_keys = false, narrow_values = false;  // narrow: bfloat16
  float range = 2;                                                         // of the queries
  // Keys whose elements are NaN, and keys whose values alternate between NaN and infinity.
  std::vector<std::ptrdiff_t> spoiled_keys{}, spoiled_values{};
  // Of the adjoint: queries whose keys are all masked out, and operands whose gradients are not
  // requested.
  std::vector<std::ptrdiff_t> hidden{};
  std::vector<role> unwanted{};
};

// The operands that have an option for the loops that they lack.
struct optional_operand {
  role what;
  std::optional<unsigned> attention_options::*without;
};
inline constexpr optional_operand optional_operands[]{
    {role::mask, &attention_options::mask},
    {role::bias, &attention_options::bias},
    {role::relative, &attention_options::relative},
    {role::sink, &attention_options::sink}};

// The loops of a slot that an operand may be without, as bits.
constexpr unsigned loops_of(const slot& s) {
  const unsigned keys = (s.loops & over::distance) != 0 ? over::key : 0;
  return (s.loops | keys) >> 1 & 15u;
}
inline const slot& slot_of(role what) {
  return attention_adjoint_slots[static_cast<std::size_t>(attention_slot(what))];
}

inline std::ostream& operator<<(std::ostream& out, const band& b) {
  return out << b.lowest << " to " << b.highest << " from " << b.offset;
}
inline std::ostream& operator<<(std::ostream& out, const attention_options& o) {
  for (const std::ptrdiff_t n : o.batch) out << n << " x ";
  return out << o.query << " queries, " << o.key << " keys, depths " << o.depth << " and "
             << o.value << ", layout " << static_cast<int>(o.how) << ", band " << o.seen << o.name;
}

// Options for lists of cases.
using attention_option = option<attention_options>;
using optional_loops = std::vector<std::optional<unsigned>>;

inline const attention_option in_layouts("layout", &attention_options::how,
                                         {std::begin(layouts), std::end(layouts)});
inline const std::vector<band> bands{{},
                                     {PTRDIFF_MIN, 0, 0},
                                     {-3, 0, 0},
                                     {-40, 0, 0},
                                     {-5, 5, 0},
                                     {0, 0, 0},
                                     {1, PTRDIFF_MAX, 0},
                                     {PTRDIFF_MIN, -2, 0},
                                     {PTRDIFF_MIN, 0, 30},
                                     {-20, 0, 13},
                                     {-4, 2, -9},
                                     {3, 2, 0},
                                     {PTRDIFF_MIN, PTRDIFF_MAX, 1000}};
inline const attention_option in_bands("band", &attention_options::seen, bands);

// Some queries and keys.
inline attention_option queries_and_keys(
    const std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>>& all) {
  std::vector<attention_option::value> values;
  for (const auto& [query, key] : all)
    values.push_back({"", [q = query, k = key](attention_options& o) { o.query = q, o.key = k; }});
  return values;
}

// Positions and limits: KV caches that are filled to different lengths, padded sequences, sequences
// one after another, and limits in no order, outside of the keys and empty.
inline attention_option limits() {
  std::vector<std::int32_t> first, last;
  for (const std::int32_t length : {3, 40, 1, 100, 17})
    for (std::int32_t i = 0, begin = static_cast<std::int32_t>(first.size()); i < length; ++i) {
      first.push_back(begin);
      last.push_back(begin + length);
    }
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  const std::vector<std::int32_t> numbers{7, 0, 40, -3, 1000, most, 130, 1},
      some{20, 0, 40, -3, 1000, 7, 130}, others{25, 3, 10, 2000, 1100, most, 131, -5, 60};
  const auto set = [](auto offset, auto begins, auto lengths, bool for_each_query) {
    return [=](attention_options& o) {
      o.offset = offset, o.begins = begins, o.lengths = lengths;
      o.for_each_query = for_each_query;
    };
  };
  const std::vector<std::int32_t> none;
  return std::vector<attention_option::value>{
      {"no limits", set(none, none, none, false)},
      {"offsets", set(numbers, none, none, false)},
      {"offsets and lengths", set(numbers, none, numbers, false)},
      {"lengths", set(none, none, numbers, false)},
      {"begins", set(none, some, none, false)},
      {"begins of each query", set(none, some, none, true)},
      {"begins and lengths of each query", set(none, some, others, true)},
      {"sequences", set(none, first, last, true)}};
}

// The distances of a relative bias: all of the queries and keys, which are set before; some, one,
// and ranges that no distance falls into.
inline attention_option distances() {
  std::vector<attention_option::value> values{{"all distances", [](attention_options& o) {
                                                 o.distances = o.query + o.key - 1;
                                                 o.origin = o.query - 1;
                                               }}};
  for (const auto& [number, origin] : std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>>{
           {21, 12}, {33, 16}, {2, 0}, {1, 0}, {40, 39}, {9, -50}, {20, 700}})
    values.push_back(
        {words(number, " distances from ", origin),
         [n = number, from = origin](attention_options& o) { o.distances = n, o.origin = from; }});
  return values;
}
// Of optional operands, but for masks and relative biases: none, and each without any of its loops
// of queries and keys, and without these of the batch.
inline std::vector<attention_option> and_optional_operands(std::vector<attention_option> all,
                                                           const std::vector<unsigned>& batch) {
  for (const auto& [what, member] : optional_operands) {
    if (what == role::mask || what == role::relative) continue;
    optional_loops values{std::nullopt};
    for (const unsigned outer : batch)
      for (const unsigned inner : {0u, no_query + 0u, no_key + 0u, no_query | no_key})
        if ((inner & ~loops_of(slot_of(what))) == 0) values.push_back(outer | inner);
    all.emplace_back(std::string(name_of(what)) + " without", member, values);
  }
  return all;
}

// None, and each with one of these sets of loops that it lacks.
inline attention_option relative_biases(const std::vector<unsigned>& without) {
  attention_option all = distances();
  for (std::size_t i = 0; i < all.values.size(); ++i) {
    auto& [name, set] = all.values[i];
    const unsigned w = without[i % without.size()];
    name += words(" without ", w);
    set = [set = set, w](attention_options& o) { set(o), o.relative = w; };
  }
  all.values.push_back({"no relative bias", [](attention_options& o) { o.relative.reset(); }});
  return all;
}

// Element ids are consecutive along the keys or along another loop.
inline attention_option dropouts() {
  std::vector<attention_option::value> values{
      {"no dropout", [](attention_options& o) { o.rate = 0; }}};
  for (const double rate : {0.1, 0.5, 0.9})
    for (const layout numbered : layouts)
      values.push_back({words("rate ", rate, " numbered ", static_cast<int>(numbered)),
                        [=](attention_options& o) { o.rate = rate, o.numbered = numbered; }});
  return values;
}

static_assert(handles_operands_of_attention({role::query, role::key, role::value, role::mask,
                                             role::bias, role::offset, role::begins, role::lengths,
                                             role::relative, role::sink, role::element_ids}),
              "tests: no call of attention_options.hpp has an operand of attention");
// The operands of attention, and the call. Arrays keep their memory when this is moved.
struct attention_operands {
  attention_options o;
  extents extent;
  std::vector<array<float>> floats;  // by slot, empty where it is of another type
  array<bfloat16> narrow_key, narrow_value;
  array<std::uint8_t> mask;
  array<std::int32_t> offset, begins, lengths, ids;
  attention_call call;

  // Floats are of the given size.
  explicit attention_operands(const attention_options& of, float size)
      : o(of),
        extent(with_extents(o.key)),
        narrow_key(make<bfloat16>(slot_of(role::key))),
        narrow_value(make<bfloat16>(slot_of(role::value))),
        mask(make<std::uint8_t>(slot_of(role::mask))),
        offset(numbers(o.offset, false)),
        begins(numbers(o.begins, o.for_each_query)),
        lengths(numbers(o.lengths, o.for_each_query)),
        ids(extent, o.numbered, bits(no_depth | no_value | o.numbers_without)) {
    call.loops = static_cast<int>(extent.size());
    std::copy(extent.begin(), extent.end(), call.extent);
    unsigned seed = 0;
    for (const slot& s : attention_adjoint_slots) {
      if (is_gradient(s)) break;
      const bool computed = s.what == role::result || s.what == role::statistics;
      const bool is_float = s.type == dtype::float32 && s.by != access::strides;
      array<float>& a =
          floats.emplace_back(is_float ? make<float>(s, computed) : array<float>({}, o.how));
      if (computed || !is_float) continue;
      fill(a, ++seed);
      for (float& x : a.memory) x *= s.what == role::query ? size * o.range / 2 : size;
    }
    fill(mask, ++seed);
    const attention_loops loop(call.loops);
    array<float>&key = (*this)[role::key], &value = (*this)[role::value];
    for (const std::ptrdiff_t i : o.hidden) set(mask, loop.query, i, [](auto) { return 0; });
    for (const std::ptrdiff_t j : o.spoiled_keys) set(key, loop.key, j, [](auto) { return NAN; });
    for (const std::ptrdiff_t j : o.spoiled_values)
      set(value, loop.key, j,
          [&](const extents& at) { return at.back() % 2 == 0 || o.rate > 0 ? NAN : infinity; });
    const auto narrow = [](const array<float>& from, array<bfloat16>& to) {
      std::transform(from.memory.begin(), from.memory.end(), to.memory.begin(),
                     [](float x) { return bfloat16(x); });
    };
    narrow(key, narrow_key);
    narrow(value, narrow_value);
    for (const role what : {role::query, role::key, role::value, role::g, role::result})
      call[what] = (*this)[what].as_operand();
    for (const auto& [what, without] : optional_operands)
      if (o.*without) call[what] = (*this)[what].as_operand();
    if (o.mask) call[role::mask] = mask.as_operand();
    if (o.narrow_keys) call[role::key] = narrow_key.as_operand();
    if (o.narrow_values) call[role::value] = narrow_value.as_operand();
    if (o.relative) {
      call.attention.distances = o.distances;
      call.attention.origin = o.origin;
    }
    if (!o.offset.empty()) call[role::offset] = offset.as_operand();
    if (!o.begins.empty()) call[role::begins] = begins.as_operand();
    if (!o.lengths.empty()) call[role::lengths] = lengths.as_operand();
    if (o.rate > 0) {
      std::copy(ids.stride.begin(), ids.stride.end(), call[role::element_ids].stride);
      call.attention.drop = {0x89abcdef, weft::drop_threshold(o.rate)};
      call.random = {0x0123456789abcdef, 0xfedcba9876543210};
    }
    if (o.has_statistics) call[role::statistics] = (*this)[role::statistics].as_operand();
    call.scale = 0.25;
    call.scalar = o.soft_cap;
    call.attention.visible = o.seen;
  }
  attention_operands(attention_operands&&) = default;

  // An operand or a result of floats.
  array<float>& operator[](role what) {
    return floats[static_cast<std::size_t>(attention_slot(what))];
  }
  const array<float>& operator[](role what) const {
    return floats[static_cast<std::size_t>(attention_slot(what))];
  }

  // For this number of keys, or of distances.
  extents with_extents(std::ptrdiff_t keys) const {
    extents all = o.batch;
    all.insert(all.end(), {o.query, keys, o.depth, o.value});
    return all;
  }
  unsigned bits(unsigned without) const {
    const auto batch = static_cast<unsigned>(o.batch.size());
    return (without >> 4 & ((1u << batch) - 1)) | (without & 15u) << batch;
  }
  extents extents_of(const slot& s) const {
    return with_extents((s.loops & over::distance) != 0 ? o.distances : o.key);
  }

 private:
  // The loops that an operand lacks.
  unsigned without(const slot& s) const {
    unsigned some = s.what == role::query   ? o.query_without
                    : s.what == role::key   ? o.key_without
                    : s.what == role::value ? o.value_without
                                            : 0;
    for (const auto& [what, member] : optional_operands)
      if (what == s.what) some = (o.*member).value_or(~0u);
    return some | (~loops_of(s) & 15u);
  }
  template <class T>
  array<T> make(const slot& s, bool is_result = false) const {
    return array<T>(extents_of(s), o.how, bits(without(s)), is_result);
  }
  array<std::int32_t> numbers(const std::vector<std::int32_t>& some, bool for_each_query) const {
    array<std::int32_t> a(extent, o.how,
                          bits((for_each_query ? 0u : no_query) | no_key | no_depth | no_value));
    for (std::size_t i = 0; i < a.memory.size() && !some.empty(); ++i)
      a.memory[i] = some[i % some.size()];
    return a;
  }
  // Sets the elements with this index in a loop, if it has it.
  template <class T, class F>
  void set(array<T>& a, int loop, std::ptrdiff_t index, F to) const {
    extents own = extent;
    if (index < 0 || index >= own[static_cast<std::size_t>(loop)]) return;
    for (std::size_t l = 0; l < own.size(); ++l)
      if (a.stride[l] == 0 || static_cast<int>(l) == loop) own[l] = 1;
    for_points(own, [&](extents at) {
      at[static_cast<std::size_t>(loop)] = index;
      a.memory[static_cast<std::size_t>(weft::kernels::offset(a.as_operand(), at))] =
          static_cast<T>(to(at));
    });
  }
};

}  // namespace weft::kernels
