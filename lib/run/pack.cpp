// Packing of parameters for contractions, and of tables for gathers.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "fnv_hash.hpp"
#include "threading.hpp"
#include "weft/kernels/dot_blocking.hpp"
#include "weft/lower/call.hpp"
#include "weft/run/engine.hpp"
#include "weft/run/error.hpp"
#include "weft/run/packed.hpp"
#include "weft/run/parameter_block.hpp"
#include "weft/weights/formats.hpp"

namespace weft {

namespace {

// The parameter that an instruction packs.
std::size_t packed_parameter(const program& p, const instruction& s) {
  return static_cast<std::size_t>(rhs_of(p, s).leaf);
}

// Whether it packs one: a table once, for the first of the gathers that read it.
bool packs(const program& p, const instruction& s) {
  return s.packs() && (s.run != kernel::gather ||
                       &s == &p.instructions[p.parameters[packed_parameter(p, s)].rows_packed_by]);
}

// What an instruction's parameter is kept in where others are kept in that type. Of a table, blocks
// make up a row, and numbers are not in pairs.
stored_type type_of(const program& p, const instruction& s, stored_type as) {
  const detail::stored_info& of = detail::entry_of(as);
  if (s.run == kernel::dot || as == stored_type::float32 || as == stored_type::float16) return as;
  if (!of.is_block()) return stored_type::bfloat16;
  const std::size_t row = p.parameters[packed_parameter(p, s)].extent[1];
  return row % of.block == 0 ? as : stored_type::float32;
}

}  // namespace

void engine::pack(const instruction& s, std::byte* packed, precision as,
                  std::byte* scratch) const noexcept {
  if (!packs(*p_, s)) return;
  pack_rows(s, {memory_.parameters[packed_parameter(*p_, s)]}, packed, as, scratch);
}

template <class F>
void engine::on_threads(bool in_own, F f) const {
  const std::size_t size = p_->scratch_bytes;
  in_own = in_own && scratch_size_ >= size;
  const aligned_bytes more =
      in_own ? aligned_bytes() : allocate(static_cast<std::size_t>(width()) * size, pages::small);
  const auto scratch = [&](int thread) {
    return in_own ? scratch_of(thread) : more.get() + static_cast<std::size_t>(thread) * size;
  };
  if (!team_) return f(scratch(0));
  team_->run(
      1, [&](int) { return width(); },
      [&](int, const kernels::partition&, int thread_index) { f(scratch(thread_index)); });
}

void engine::freeze(std::byte* packed, packing as) {
  if (as.as == precision::stored && as.types == nullptr) as = {};  // as parameters have them
  if (as.types != nullptr) {
    const auto places = places_of(as, nullptr);
    std::memcpy(packed, places.data(), places.size() * sizeof places.front());
  }
  std::atomic<std::size_t> next = 0;
  on_threads(true, [&](std::byte* scratch) {
    for (std::size_t i;
         (i = next.fetch_add(1, std::memory_order_relaxed)) < p_->instructions.size();)
      pack(p_->instructions[i], packed, as.as, scratch);
  });
  read_packed(packed, as);
}

namespace {

// The elements of a large parameter that are read at a time: some of its rows.
constexpr std::size_t elements_at_a_time = std::size_t{1} << 20;

// The number of rows of a parameter that are read and packed at a time: all, unless their columns
// of the rhs can be packed separately, which takes a multiple of the tile width of every target.
std::size_t rows_at_a_time(const parameter_ref& p, const instruction& s, const program& tables) {
  const std::size_t row = p.extent[1];
  const bool in_parts = p.rows_packed_by >= 0 && &s == &tables.instructions[p.rows_packed_by] &&
                        row % 2 == 0 && p.size > 2 * elements_at_a_time;
  if (!in_parts) return p.size;
  return kernels::round_up(std::max<std::size_t>(elements_at_a_time / row, 1),
                           kernels::max_tile_columns * kernels::max_dot_lanes);
}

// Whether what an instruction packs can be made from blocks of that type as they are.
bool has_blocks_along_depth(const program& tables, const instruction& s, stored_type type) {
  if (type >= stored_type::other) return false;
  const detail::stored_info& of = detail::entry_of(type);
  if (s.run == kernel::gather) return of.shares_scales();
  return of.shares_scales() && rhs_of(tables, s).offset / sizeof(float) % of.block == 0 &&
         kernels::has_blocks_along_depth(call_at_bounds(tables, s), of.block);
}

}  // namespace

// Packs the rhs of an instruction, or its table, from the parameter's values, or from those of some
// of its rows.
void engine::pack_rows(const instruction& s, const rows_of_parameter& rows, std::byte* packed,
                       precision as, std::byte* scratch) const noexcept {
  const detail::rounding_to_nearest mode;
  const detail::packed_layout layout = kernels::layout_of_packed();
  const detail::packed_place at = detail::place_of(*p_, s, packed, as, layout.stored(as));
  const parameter_ref& p = p_->parameters[packed_parameter(*p_, s)];
  const std::size_t row = p.extent[1];
  if (s.run == kernel::gather) {
    const std::size_t elements = std::min(rows.count, p.extent[0]) * row;
    std::byte* const to = packed + at.offset + detail::bytes_of(at.type, rows.first * row);
    if (rows.type != stored_type::float32)
      std::memcpy(to, rows.data, detail::bytes_of(at.type, elements));
    else if (at.type != stored_type::float32)
      detail::encode(reinterpret_cast<const float*>(rows.data), elements, at.type, to);
    return;
  }
  // Only the parameter's extents matter, and they are fixed; the others may be at their bounds.
  auto c = call_at_bounds(*p_, s);
  kernels::operand& columns = c.operands[s.rhs];
  // It is only read.
  const std::size_t offset = rhs_of(*p_, s).offset / sizeof(float);
  columns.data = const_cast<std::byte*>(rows.data) + detail::bytes_of(rows.type, offset);
  c.scratch = scratch;
  auto begin = static_cast<std::size_t>(at.offset);
  if (rows.count != SIZE_MAX) {
    for (int l = 0; l < s.loops; ++l)
      if (columns.stride[l] == static_cast<std::ptrdiff_t>(row))
        c.extent[l] = static_cast<std::ptrdiff_t>(rows.count);
    begin += rows.first * detail::packed_size(line_of_packed(row), at.type);
  }
  if (rows.type != stored_type::float32)
    kernels::pack_blocks(layout, c, rows.type, rows.type, packed + begin);
  else
    kernels::pack_dot_kernel()(c, at.type, packed + begin);
}

std::vector<detail::packed_place> engine::places_of(packing as,
                                                    const parameter_reader* from) const {
  return detail::places_of(*p_, as.types, [=](std::size_t i) {
    return from == nullptr ? stored_type::float32 : from->stored(i);
  });
}

std::size_t engine::packed_bytes(packing as, const parameter_reader* from) const {
  if (as.as != precision::stored) return packed_size(p_->packed, as.as);
  return static_cast<std::size_t>(places_of(as, from).back().offset);
}

void engine::freeze(std::byte* packed, packing how, const parameter_reader& from) {
  const precision as = how.as;
  if (as == precision::stored) {
    const auto places = places_of(how, &from);
    std::memcpy(packed, places.data(), places.size() * sizeof places.front());
  }
  // The instructions that pack each parameter.
  std::vector<std::vector<const instruction*>> packing(p_->parameters.size());
  for (const instruction& s : p_->instructions)
    if (packs(*p_, s)) packing[packed_parameter(*p_, s)].push_back(&s);
  // The largest first: it takes longest.
  std::vector<std::size_t> order(packing.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, std::greater(), [&](std::size_t i) { return p_->parameters[i].size; });
  const auto read_and_pack = [&](std::size_t i, const instruction& s, std::byte* scratch) {
    const stored_type type =
        detail::place_of(*p_, s, packed, as, kernels::layout_of_packed().stored(as)).type;
    const bool in_blocks = from.stored(i) == type && has_blocks_along_depth(*p_, s, type);
    if (memory_.parameters[i] != nullptr && !in_blocks) return pack(s, packed, as, scratch);
    const parameter_ref& p = p_->parameters[i];
    const std::size_t rows = p.rank == 2 ? p.extent[0] : 1, row = p.size / rows;
    const std::size_t most = rows_at_a_time(p, s, *p_);
    for (std::size_t first = 0, count; first < rows; first += count) {
      // The last tiles depend on how many columns are left: they stay in one part.
      count = rows - first < 2 * most ? rows - first : most;
      const std::size_t elements = count * row;
      rows_of_parameter part{nullptr, in_blocks ? type : stored_type::float32};
      if (count < rows) part.first = first, part.count = count;
      const std::size_t bytes = detail::bytes_of(part.type, elements);
      const aligned_bytes values = allocate(bytes, pages::small);
      if (in_blocks)
        from.read_blocks(i, first * row, {values.get(), bytes});
      else
        from.read(i, first * row, {reinterpret_cast<float*>(values.get()), elements});
      part.data = values.get();
      pack_rows(s, part, packed, as, scratch);
    }
  };
  std::atomic<std::size_t> next = 0;
  detail::mutex guard;
  bool failed = false;
  std::string why;
  on_threads(false, [&](std::byte* scratch) {
    auto pack_all = [&] {
      for (std::size_t n; (n = next.fetch_add(1, std::memory_order_relaxed)) < order.size();)
        for (const instruction* const s : packing[order[n]]) read_and_pack(order[n], *s, scratch);
    };
    if (std::string here; detail::caught(pack_all, here)) {
      const std::lock_guard lock(guard);
      failed = true;
      why = std::move(here);
    }
  });
  if (failed) detail::raise(why);
  adopt(packed, how);
}

void engine::check_packing(const engine& other) const {
  if (other.p_ != p_ && detail::packing_of(*other.p_) != detail::packing_of(*p_))
    detail::raise(
        "freeze: the other module's model has other weights, or packs them otherwise; make this "
        "one "
        "from the file that they come from");
}

void engine::freeze(const engine& frozen) {
  const memory& theirs = frozen.weights();
  if (theirs.packed == nullptr) detail::raise("freeze: the other module is not frozen");
  check_packing(frozen);
  adopt(theirs.packed, {theirs.weights_as, theirs.dot});
}

namespace detail {

namespace {

// To be counted up whenever pack_dot writes other bytes.
constexpr std::int64_t version_of_packing = 2;

}  // namespace

std::uint64_t packing_of(const program& tables) {
  fnv_hash h;
  h.add(version_of_packing);
  for (const parameter_ref& p : tables.parameters) {
    h.add(tables.name(p.name));
    for (int a = 0; a < p.rank; ++a) h.add(static_cast<std::int64_t>(p.extent[a]));
    h.add(p.read_as_floats ? 1 : 0);
  }
  // In the order of their packed operands: two programs can have their instructions in another.
  std::vector<const instruction*> packing;
  for (const instruction& s : tables.instructions)
    if (packs(tables, s)) packing.push_back(&s);
  std::ranges::sort(packing, {}, [](const instruction* s) { return s->packed.floats; });
  for (const auto* s : packing) {
    const auto c = call_at_bounds(tables, *s);
    const operand_ref& columns = rhs_of(tables, *s);
    h.add(static_cast<std::int64_t>(s->packed.floats));
    h.add(columns.leaf);
    h.add(static_cast<std::int64_t>(columns.offset));
    if (s->run == kernel::gather) continue;
    for (const std::int64_t n : kernels::packing_of(c)) h.add(n);
  }
  return h.value();
}

packed_place place_of(const program& tables, const instruction& s, const std::byte* packed,
                      precision as, stored_type stored) noexcept {
  if (as != precision::stored) return {packed_size(s.packed, as), type_of(tables, s, stored)};
  packed_place at;
  std::memcpy(&at, packed + packed_parameter(tables, s) * sizeof at, sizeof at);
  at.offset += packed_size(s.packed, at.type);
  return at;
}

std::vector<packed_place> places_of(const program& tables, const stored_type* chosen,
                                    const std::function<stored_type(std::size_t)>& stored) {
  const auto is_chosen = [&](std::size_t i) {
    bool is = false;
    for (const auto p : {precision::float32, precision::bfloat16, precision::bfloat16_products,
                         precision::q8_0, precision::q4_0, precision::int8_products})
      is = is || (chosen != nullptr && chosen[i] == kernels::layout_of_packed().stored(p));
    return is;
  };
  const std::size_t count = tables.parameters.size();
  std::vector<packed_place> places(count + 1);
  std::vector<std::size_t> size(count);
  packed_extent end = tables.packed;
  for (std::size_t i = count; i-- > 0;) {
    const bool keeps = is_chosen(i);
    stored_type as = keeps ? chosen[i] : stored(i);
    if (as >= stored_type::other) as = stored_type::bfloat16;
    packed_extent begin = end;
    for (const instruction& s : tables.instructions) {
      if (!packs(tables, s) || packed_parameter(tables, s) != i) continue;
      if (s.packed.floats < begin.floats) begin = s.packed;
      if (!keeps && s.run == kernel::dot && as != stored_type::float32 &&
          !has_blocks_along_depth(tables, s, as))
        as = stored_type::bfloat16;
      as = type_of(tables, s, as);
    }
    size[i] = packed_size(
        {end.floats - begin.floats, end.blocks - begin.blocks, end.gathered - begin.gathered}, as);
    places[i] = {0 - packed_size(begin, as), as};
    end = begin;
  }
  std::size_t next = kernels::round_up(places.size() * sizeof(packed_place), alignment);
  for (std::size_t i = 0; i < count; ++i) {
    places[i].offset += next;
    next += kernels::round_up(size[i], alignment);
  }
  places[count].offset = next;
  return places;
}

bool reads_floats(const program& tables, std::size_t i, const std::byte* packed,
                  precision as) noexcept {
  const parameter_ref& p = tables.parameters[i];
  if (!is_table(tables, p)) return p.read_as_floats;
  const stored_type type = kernels::layout_of_packed().stored(as);
  return place_of(tables, tables.instructions[p.rows_packed_by], packed, as, type).type ==
         stored_type::float32;
}

parameter_memory read_unpacked(const program& tables, parameter_reader& from, precision as,
                               const stored_type* chosen) {
  const auto packed = from.packed(as);
  std::vector<packed_place> places;
  if (packed == nullptr && as == precision::stored)
    places = places_of(tables, chosen, [&](std::size_t i) { return from.stored(i); });
  const auto* const at = packed ? packed.get() : reinterpret_cast<const std::byte*>(places.data());
  return read_parameters(tables, from,
                         [&](std::size_t i) { return reads_floats(tables, i, at, as); });
}

std::size_t size_of_packed(const program& tables, const std::byte* packed, precision as) noexcept {
  if (as != precision::stored) return packed_size(tables.packed, as);
  packed_place end;
  std::memcpy(&end, packed + tables.parameters.size() * sizeof end, sizeof end);
  return static_cast<std::size_t>(end.offset);
}

void unpack(const program& tables, std::size_t i, std::size_t first, std::span<float> into,
            std::span<const std::byte> packed, precision as, const packed_layout& layout) {
  std::ranges::fill(into, 0.0f);
  for (const instruction& s : tables.instructions) {
    if (!packs(tables, s) || packed_parameter(tables, s) != i) continue;
    const packed_place at = place_of(tables, s, packed.data(), as, layout.stored(as));
    if (s.run == kernel::gather)
      return decode(at.type, packed.data() + at.offset, first, into.size(), into.data(), 1);
    auto c = call_at_bounds(tables, s);
    c.operands[s.rhs].packed = at.type;
    // It is only read.
    c.operands[s.rhs].data = const_cast<std::byte*>(packed.data()) + at.offset;
    // The rhs may begin within the parameter.
    const auto begin = rhs_of(tables, s).offset / sizeof(float);
    kernels::unpack_dot(layout, c, static_cast<std::ptrdiff_t>(first - begin), into);
  }
}

}  // namespace detail
}  // namespace weft
