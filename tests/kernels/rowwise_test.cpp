// Rowwise operations over any loops and layouts, against their formulas in double.
#include <bit>
#include <optional>
#include <stdexcept>

#include "kernels/accuracy.hpp"
#include "kernels/check.hpp"
#include "reference/rowwise.hpp"
#include "weft/graph/attributes.hpp"

using namespace weft;
using namespace weft::kernels;
namespace ref = weft::reference::detail;

namespace {

using row = std::vector<double>;

row magnitudes(row x) {
  for (double& v : x) v = std::abs(v);
  return x;
}

// The sum of the magnitudes that element i of a result is made of, each of which is off by half an
// epsilon for each rounding; nothing where only the reference's bound for whole rows is known.
std::optional<double> magnitude(op kind, const ref::row& r, const ref::row& sizes, double y,
                                std::size_t i) {
  const double x = sizes.x[i], g = sizes.g[i];
  switch (kind) {
    case op::softmax:  // the difference to the maximum rounds before exp
      return y * (1 + std::abs(std::log(std::max(y, 1e-30))));
    case op::log_softmax:
      return std::isinf(y) ? 0 : 1 + x + std::abs(r.greatest);
    case op::softmax_adjoint:
      return x * (g + sizes.sum_gx);
    case op::log_softmax_adjoint:
      return g + std::exp(r.x[i]) * sizes.sum_g;
    default:
      break;
  }
  if (!is_normalization(kind) && !is_adjoint_of_normalization(kind)) return std::nullopt;
  const double mean = subtracts_mean(kind) ? std::abs(r.mean) : 0;
  const double scale = 1 / (subtracts_mean(kind) ? r.deviation : r.root_mean_square);
  const double h = (1 + x + mean) * scale;
  if (is_normalization(kind)) return h;
  const double sum_gh = (sizes.sum_g * (1 + mean) + sizes.sum_gx) * scale;
  return 2 * scale * (g + (sizes.sum_g + h * sum_gh) / r.count);
}

// A row's result in double, and the errors allowed in float: those of so many roundings, which are
// a few and those of a sum of as many terms as the row has.
struct outcome {
  row value, tolerance;
};
outcome reference_of(const call& c, const row& x, const row& g, double roundings) {
  const row x_sizes = magnitudes(x), g_sizes = magnitudes(g);
  const ref::row r(x, g, c.scalar), sizes(x_sizes, g_sizes, c.scalar);
  const auto [of, error] = ref::rowwise_operations[c.kind];
  ref::row_errors whole{};
  for (auto [range, values] : {std::pair(&whole.x, &x), std::pair(&whole.g, &g)}) {
    range->length = r.count;
    range->centred = subtracts_mean(c.kind);
    range->add(*values, c.scalar);
  }
  outcome o;
  for (std::size_t i = 0; i < x.size(); ++i) {
    o.value.push_back(of(r, i));
    whole.most = std::abs(o.value[i]);
    const auto sum = magnitude(c.kind, r, sizes, o.value[i], i);
    o.tolerance.push_back(sum ? *sum * roundings * epsilon : error(whole));
  }
  return o;
}

double roundings_of(std::size_t length) {
  return static_cast<double>(length) / 2 + 16;
}

// What an operand is; graph/op.hpp lists them.
enum class operand_role { x, g, mask, indices, gain, bias, addend };
constexpr operand_role role_of(op kind, int operand) {
  if (operand <= least_operands(kind)) return operand == 1 ? operand_role::x : operand_role::g;
  if (kind == op::softmax) return operand_role::mask;
  if (kind == op::log_softmax_adjoint) return operand_role::indices;
  if (is_normalization(kind) && operand < 4)
    return operand == 2 ? operand_role::gain : operand_role::bias;
  if (is_adjoint_of_normalization(kind) && operand == 3) return operand_role::gain;
  if (is_normalization(kind) || is_adjoint_of_normalization(kind)) return operand_role::addend;
  throw std::logic_error("tests: an optional operand of a rowwise operation is not known");
}
constexpr bool roles_are_known() {
  for (int k = 0; k < op_count; ++k)
    if (const op kind = static_cast<op>(k); is_rowwise(kind))
      for (int o = 1; o <= most_operands(kind); ++o) role_of(kind, o);
  return true;
}
static_assert(roles_are_known());

// Whether a result depends on the order of a row's elements, which they have along one loop alone.
bool depends_on_order(op kind, unsigned given) {
  return kind == op::cumulative_sum || kind == op::reverse_cumulative_sum ||
         (kind == op::log_softmax_adjoint && given != 0);
}

const std::vector<op> kinds = operations_where(is_rowwise);

// As y of an adjoint, values in the range of the operation's results.
void fill_for(op kind, array<float>& a, unsigned seed) {
  fill(a, seed);
  for (float& x : a.memory) {
    if (kind == op::softmax_adjoint) x = std::abs(x) / 8;
    if (kind == op::log_softmax_adjoint) x = -std::abs(x);
  }
}

owning_call<> call_over(unsigned over, op kind, const extents& extent) {
  owning_call<> c = call_of(kind, extent);
  c.over = over;
  if (is_normalization(kind) || is_adjoint_of_normalization(kind)) c.scalar = 1e-3;
  return c;
}

// Checks an operation with those of its optional operands whose bits are set in `given`.
void check(op kind, unsigned given, const extents& extent, unsigned over, unsigned mix,
           unsigned& seed) {
  const auto how = [&] { return layouts[mix < 4 ? mix : ++seed % 4]; };
  const bool by_index = kind == op::log_softmax_adjoint && given != 0;
  const unsigned repeated = mix < 4 ? ~over : mix == 4 ? over : 0u;
  array<float> result(extent, layouts[mix % 4], 0, true);
  array<std::uint8_t> mask(extent, how(), kind == op::softmax ? repeated : ~0u);
  array<std::int32_t> indices(extent, how(), by_index ? over : ~0u);
  fill(mask, ++seed);
  fill(indices, ++seed);  // many out of range, on both sides
  owning_call<> c = call_over(over, kind, extent);
  c.operands[0] = result.as_operand();
  if (kind == op::softmax) c.scale = std::array{1.0, -0.5, 0.25}[mix % 3];
  std::vector<array<float>> floats;
  const operand* of[7]{};  // by role
  for (int o = 1; o <= most_operands(kind); ++o) {
    const operand_role is = role_of(kind, o);
    floats.emplace_back(extent, how(),
                        is == operand_role::gain || is == operand_role::bias ? repeated
                        : is == operand_role::g && (mix == 5 || by_index)    ? over
                        : is == operand_role::x && mix == 6                  ? 1u
                                                                             : 0u);
    is == operand_role::x ? fill_for(kind, floats.back(), ++seed) : fill(floats.back(), ++seed);
    if (o > least_operands(kind) && (given >> o & 1u) == 0) continue;
    c.operands[o] = is == operand_role::mask      ? mask.as_operand()
                    : is == operand_role::indices ? indices.as_operand()
                                                  : floats.back().as_operand();
    of[static_cast<int>(is)] = &c.operands[o];
  }
  const auto has = [&](operand_role is) { return of[static_cast<int>(is)] != nullptr; };
  const auto value = [&](operand_role is, const extents& point) {
    return get(*of[static_cast<int>(is)], point);
  };
  const bool before =
      is_normalization(kind);  // or the gain and the addend come after the operation

  expectation expected(result);
  for_points(without(extent, over), [&](const extents& first) {
    std::vector<extents> points;
    row x, g;
    for_points(without(extent, ~over), [&](extents point) {
      for (std::size_t l = 0; l < point.size(); ++l) point[l] += first[l];
      x.push_back(value(operand_role::x, point) * c.scale);
      if (has(operand_role::mask) && value(operand_role::mask, point) == 0)
        x.back() = -double{infinity};
      if (has(operand_role::addend) && before)
        x.back() = static_cast<float>(x.back() + value(operand_role::addend, point));
      g.push_back(has(operand_role::g) ? value(operand_role::g, point) : 0);
      if (has(operand_role::gain) && !before) g.back() *= value(operand_role::gain, point);
      if (by_index && value(operand_role::indices, point) != static_cast<double>(points.size()))
        g.back() = 0;
      points.push_back(point);
    });
    outcome o = reference_of(c, x, g, by_index ? 8 : roundings_of(x.size()));
    for (std::size_t i = 0; i < points.size(); ++i) {
      double &y = o.value[i], &tolerance = o.tolerance[i];
      const auto then = [&](operand_role is, bool applies) {
        if (!applies || !has(is)) return;
        const double by = value(is, points[i]);
        if (is == operand_role::gain) tolerance *= std::abs(by);
        y = is == operand_role::gain ? y * by : y + by;
        tolerance += epsilon * (std::abs(y) + std::abs(by));
      };
      then(operand_role::gain, before);
      then(operand_role::bias, true);
      then(operand_role::addend, !before);
      expected.expect(result, offset(c.operands[0], points[i]), y, tolerance);
    }
  });
  weft::kernels::check(kernel::rowwise, c, result, expected,
                       words(name_of(kind), " given ", given, ", loops ", extent.size(), ", over ",
                             over, ", mix ", mix));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rowwise)

BOOST_AUTO_TEST_CASE(rowwise_operations_are_right_over_any_loops_and_layouts_with_any_operands) {
  unsigned seed = 0;
  for (const op kind : kinds)
    for (unsigned given = 0; given < 2u << most_operands(kind); ++given) {
      if ((given & ((2u << least_operands(kind)) - 1)) != 0) continue;  // always given
      if (is_normalization(kind) && (given & 12u) == 8) continue;       // no bias without a gain
      for (const extents& extent : shapes)
        for (unsigned over = 1; over < 1u << extent.size(); ++over) {
          if (depends_on_order(kind, given) && !std::has_single_bit(over)) continue;
          for (unsigned mix = 0; mix < 8; ++mix) check(kind, given, extent, over, mix, seed);
        }
    }
}

BOOST_AUTO_TEST_CASE(partitions_give_the_same_bits_as_the_whole_call) {
  for (const op kind : kinds)
    for (const layout how : {layout::contiguous, layout::permuted})
      for (const std::ptrdiff_t rows : {1, 5, 30})
        for (const unsigned over : {1u, 4u}) {
          const extents extent{rows, 2, 100};
          array<float> result(extent, layout::contiguous), x(extent, how), g(extent, how);
          fill_for(kind, x, 1);
          fill(g, 2);
          owning_call<> c = call_over(over, kind, extent);
          c.operands[0] = result.as_operand();
          c.operands[1] = x.as_operand();
          if (least_operands(kind) > 1) c.operands[2] = g.as_operand();
          check_partitions(kernel::rowwise, c, result, words(name_of(kind), " over ", over));
        }
}

BOOST_AUTO_TEST_CASE(normalization_adjoints_return_partial_sums_of_row_blocks) {
  constexpr auto block = static_cast<std::ptrdiff_t>(rows_per_partial);
  const auto check = [](op kind, layout how, std::ptrdiff_t rows, std::ptrdiff_t n) {
    const extents extent{rows, n};
    array<float> x(extent, how), g(extent, how), gain(extent, layout::contiguous, 1);
    fill(x, 1), fill(g, 2), fill(gain, 3);
    const std::ptrdiff_t blocks = (rows + block - 1) / block + 1;  // the last has no rows
    constexpr std::ptrdiff_t apart = 3;
    array<float> result({rows * n + apart + 2 * blocks * n}, layout::contiguous, 0, true);
    owning_call<> c = call_over(2, adjoint_of_normalization(kind), extent);
    c.operands[1] = x.as_operand();
    c.operands[2] = g.as_operand();
    c.operands[3] = gain.as_operand();
    owning_call<> normal = c;
    normal.kind = kind;

    expectation expected(result);
    for (std::ptrdiff_t b = 0; b < blocks; ++b) {
      const auto width = static_cast<std::size_t>(n);
      row of_gain(width), of_bias(width), tolerance(width);
      for (std::ptrdiff_t r = b * block; r < std::min(rows, (b + 1) * block); ++r) {
        row values;
        for (std::ptrdiff_t i = 0; i < n; ++i) values.push_back(get(c.operands[1], {r, i}));
        const outcome h = reference_of(normal, values, values, roundings_of(width));
        for (std::size_t i = 0; i < width; ++i) {
          const double term = get(c.operands[2], {r, static_cast<std::ptrdiff_t>(i)});
          of_gain[i] += term * h.value[i];
          of_bias[i] += term;
          tolerance[i] += std::abs(term) *
                          (h.tolerance[i] + double{block} * epsilon * (std::abs(h.value[i]) + 1));
        }
      }
      for (std::size_t i = 0; i < width; ++i) {
        const std::ptrdiff_t at = rows * n + apart + b * n + static_cast<std::ptrdiff_t>(i);
        expected.expect(result, at, of_gain[i], tolerance[i]);
        expected.expect(result, at + blocks * n, of_bias[i], tolerance[i]);
      }
    }
    const auto with_result = [&](array<float>& to) {
      c.operands[0] = {
          .data = to.memory.data() + to.first, .type = dtype::float32, .stride = {n, 1}};
      return c;
    };
    on_every_target([&](const table& kernels) {
      array<float> alone = result, whole = result;
      c.axis_extent = 0;
      run(kernels.rowwise, with_result(alone));
      for (std::ptrdiff_t i = 0; i < rows * n; ++i)
        expected.expect(result, i, double{alone.memory[static_cast<std::size_t>(alone.first + i)]});
      c.axis_extent = blocks;
      c.axis_stride = rows * n + apart;
      for (const int count : {1, 2, 3, 7, 64}) {
        array<float> mine = result;
        run(kernels.rowwise, with_result(mine), count);
        if (count == 1) whole = mine;
        const std::string differences =
            expected.differences(mine) + different_bits(mine.memory, whole.memory);
        BOOST_TEST(differences == "", name_of(kind) << ", " << rows << " rows of " << n << " in "
                                                    << count << " partitions: " << differences);
      }
    });
  };
  for (const op kind : {op::normalize, op::rms_normalize})
    for (const layout how : layouts)
      for (const std::ptrdiff_t rows : {std::ptrdiff_t{0}, std::ptrdiff_t{1}, block, 3 * block + 5})
        for (const std::ptrdiff_t n : {1, 17, 100}) check(kind, how, rows, n);
}

BOOST_AUTO_TEST_CASE(the_result_may_alias_any_operand_that_is_read_before_it_is_written) {
  const auto check = [](op kind, int operands, layout how, int shared) {
    const extents extent{9, 100};
    std::vector<array<float>> floats(5, array<float>(extent, how));
    for (unsigned o = 0; o < floats.size(); ++o) fill_for(o == 1 ? kind : op::copy, floats[o], o);
    array<std::uint8_t> mask(extent, how);
    fill(mask, 7);
    owning_call<> c = call_over(2, kind, extent);
    for (int o = 1; o <= operands; ++o)
      c.operands[o] = role_of(kind, o) == operand_role::mask
                          ? mask.as_operand()
                          : floats[static_cast<std::size_t>(o)].as_operand();
    array<float>& in_place = floats[static_cast<std::size_t>(shared)];
    const array<float> before = in_place;
    on_every_target([&](const table& kernels) {
      in_place = before;
      array<float> result = before;  // gaps between rows too
      c.operands[0] = result.as_operand();
      c.operands[shared] = in_place.as_operand();
      run(kernels.rowwise, c);
      c.operands[0] = c.operands[shared];
      run(kernels.rowwise, c);
      BOOST_TEST(
          different_bits(in_place.memory, result.memory) == "",
          name_of(kind) << " of " << operands << " operands in the memory of number " << shared);
    });
  };
  for (const op kind : kinds)
    for (int operands = least_operands(kind); operands <= most_operands(kind); ++operands)
      for (int o = 1; o <= operands && role_of(kind, operands) != operand_role::indices; ++o)
        if (reads_before_writing(kind, operands, o - 1) && role_of(kind, o) != operand_role::mask)
          for (const layout how : layouts) check(kind, operands, how, o);
}

BOOST_AUTO_TEST_CASE(scratch_size_grows_with_extents_and_is_a_constant_expression) {
  constexpr auto bytes_of = [](op kind, std::ptrdiff_t n, unsigned over) {
    owning_call<> c;
    c.kind = kind;
    c.loops = 2;
    c.extent[0] = 3;
    c.extent[1] = n;
    c.over = over;
    return row_scratch_bytes(c);
  };
  static_assert(bytes_of(op::softmax, 16, 2) == 3 * 3 * 64);
  static_assert(bytes_of(op::normalize, 16, 2) == 5 * 3 * 64);
  static_assert(bytes_of(op::normalize_adjoint, 16, 2) == 5 * 3 * 64);
  static_assert(bytes_of(op::rms_normalize_adjoint, 16, 2) == 5 * 3 * 64);
  static_assert(bytes_of(op::softmax_adjoint, 17, 2) == 3 * 3 * 128);
  static_assert(bytes_of(op::softmax_adjoint, 16, 3) == 3 * 192);
  static_assert(bytes_of(op::softmax, 16, 1) == 3 * 16 * 64, "as many rows as a line has floats");
  static_assert(bytes_of(op::softmax, 3000, 2) == 3 * (16 << 10), "fewer long ones");
  static_assert(bytes_of(op::softmax, 10'000, 2) == 3 * 40'000, "one at least");
  static_assert(bytes_of(op::sum, 100, 2) == 0);
  for (std::ptrdiff_t n = 0; n < 5000; ++n)
    for (const unsigned over : {1u, 2u})
      BOOST_TEST(bytes_of(op::normalize, n, over) <= bytes_of(op::normalize, n + 1, over));
}

BOOST_AUTO_TEST_SUITE_END()
