// Rowwise operations over any loops and layouts, against their formulas in double.
#include <map>

#include "aligned.hpp"
#include "arrays.hpp"
#include "targets.hpp"
#include "weft/graph/partial_sums.hpp"
#include "weft/kernels/row_scratch.hpp"

using namespace weft;
using namespace weft::kernels;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using row = std::vector<double>;

// A row's result in double, and the error allowed in float: that of a sum of n terms and a few
// other roundings.
struct outcome {
  row value;
  row tolerance;
};

double rounding(const row& x) {
  return (static_cast<double>(x.size()) / 2 + 16) * epsilon;
}

row softmax(const row& x) {
  const double largest = *std::max_element(x.begin(), x.end());
  row y(x.size());
  double total = 0;
  for (std::size_t i = 0; i < x.size(); ++i) total += y[i] = std::exp(x[i] - largest);
  for (double& v : y) v = largest == -infinity ? 0 : v / total;
  return y;
}

outcome reference(op kind, const row& a, const row& b, double scalar) {
  const auto n = static_cast<double>(a.size());
  outcome o{row(a.size()), row(a.size())};
  const auto for_all = [&](auto value, auto tolerance) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      o.value[i] = value(i);
      o.tolerance[i] = tolerance(i) * rounding(a);
    }
  };
  double mean = 0, variance = 0, sum_g = 0, sum_magnitude = 0, sum_gy = 0, sum_gy_magnitude = 0;
  const bool centred = subtracts_mean(kind);
  for (const double x : a) mean += centred ? x / n : 0;
  for (const double x : a) variance += (x - mean) * (x - mean) / n;
  const double scale = 1 / std::sqrt(variance + scalar);
  for (const double g : b) sum_g += g, sum_magnitude += std::abs(g);
  for (std::size_t i = 0; i < b.size(); ++i) {
    sum_gy += a[i] * b[i];
    sum_gy_magnitude += std::abs(a[i] * b[i]);
  }
  switch (kind) {
    case op::softmax: {
      const row y = softmax(a);
      // The difference to the maximum rounds before exp.
      for_all([&](auto i) { return y[i]; },
              [&](auto i) { return y[i] * (1 + std::abs(std::log(std::max(y[i], 1e-30)))); });
      break;
    }
    case op::log_softmax: {
      const double largest = *std::max_element(a.begin(), a.end());
      double total = 0;
      for (const double x : a) total += std::exp(x - largest);
      for_all(
          [&](auto i) {
            return largest == -infinity ? -infinity : a[i] - largest - std::log(total);
          },
          [&](auto i) { return std::isinf(a[i]) ? 0 : 1 + std::abs(a[i]) + std::abs(largest); });
      break;
    }
    case op::normalize:
    case op::rms_normalize:
      for_all([&](auto i) { return (a[i] - mean) * scale; },
              [&](auto i) { return (1 + std::abs(a[i]) + std::abs(mean)) * scale; });
      break;
    case op::softmax_adjoint:
      for_all([&](auto i) { return a[i] * (b[i] - sum_gy); },
              [&](auto i) { return std::abs(a[i]) * (std::abs(b[i]) + sum_gy_magnitude); });
      break;
    case op::log_softmax_adjoint:
      for_all([&](auto i) { return b[i] - std::exp(a[i]) * sum_g; },
              [&](auto i) { return std::abs(b[i]) + std::exp(a[i]) * sum_magnitude; });
      break;
    default: {  // the adjoint of a normalisation
      double mean_gh = 0, magnitude = 0;
      for (std::size_t i = 0; i < a.size(); ++i) {
        mean_gh += b[i] * (a[i] - mean) * scale / n;
        magnitude += std::abs(b[i]) * (1 + std::abs(a[i]) + std::abs(mean)) * scale / n;
      }
      for_all(
          [&](auto i) {
            const double h = (a[i] - mean) * scale;
            return scale * (b[i] - (centred ? sum_g / n : 0) - h * mean_gh);
          },
          [&](auto i) {
            const double h = (1 + std::abs(a[i]) + std::abs(mean)) * scale;
            return 2 * scale * (std::abs(b[i]) + sum_magnitude / n + h * magnitude);
          });
    }
  }
  return o;
}

// Optional operands of an operation, and its scale.
struct others {
  array<std::uint8_t>* mask = nullptr;
  double scale = 1;
  array<float>* gain = nullptr;
  array<float>* bias = nullptr;
  array<float>* addend = nullptr;
};

int wrong(const table& kernels, op kind, const extents& extent, unsigned over, array<float>& result,
          array<float>& a, array<float>& b, const others& more = {}) {
  const bool adjoint = kind >= op::softmax_adjoint;
  call c = make_call(kind, extent);
  c.over = over;
  c.scalar = is_normalization(kind) || is_adjoint_of_normalization(kind) ? 1e-3 : 0;
  c.operands[0] = result.as_operand();
  c.operands[1] = a.as_operand();
  if (adjoint) c.operands[2] = b.as_operand();
  const int gain = is_normalization(kind) ? 2 : 3;
  c.scale = more.scale;
  if (more.mask) c.operands[2] = more.mask->as_operand();
  if (more.gain) c.operands[gain] = more.gain->as_operand();
  if (more.bias) c.operands[3] = more.bias->as_operand();
  if (more.addend) c.operands[4] = more.addend->as_operand();
  const aligned scratch = scratch_for(c, row_scratch_bytes(c));
  // Rows by the indices of their kept loops; each lists the indices of its elements.
  std::map<extents, std::vector<extents>> rows;
  for_points(c, [&](const extents& index) {
    extents key = index;
    for (std::size_t l = 0; l < key.size(); ++l)
      if (over >> l & 1u) key[l] = 0;
    rows[key].push_back(index);
  });
  expectation expected(result);
  for (const auto& entry : rows) {
    const auto& points = entry.second;
    row x, y;
    for (const auto& index : points) {
      const auto value = [&](int o) { return at(c.operands[o], offset(c.operands[o], index)); };
      x.push_back(more.mask && value(2) == 0 ? -infinity : value(1) * more.scale);
      if (!adjoint && more.addend) x.back() = static_cast<float>(x.back() + value(4));
      y.push_back(adjoint ? value(2) : 0);
      if (adjoint && more.gain) y.back() *= value(gain);
    }
    const outcome o = reference(kind, x, y, c.scalar);
    for (std::size_t i = 0; i < points.size(); ++i) {
      double value = o.value[i], tolerance = o.tolerance[i];
      const auto then = [&](int operand, bool times) {
        const double by = at(c.operands[operand], offset(c.operands[operand], points[i]));
        if (times) tolerance *= std::abs(by);
        value = times ? value * by : value + by;
        tolerance += epsilon * (std::abs(value) + std::abs(by));
      };
      if (!adjoint && more.gain) then(gain, true);
      if (more.bias) then(3, false);
      if (adjoint && more.addend) then(4, false);
      expected.expect(result, offset(c.operands[0], points[i]), value, tolerance);
    }
  }
  kernels.rowwise(c);
  return expected.wrong(result);
}

constexpr op kinds[]{op::softmax,           op::log_softmax,          op::normalize,
                     op::rms_normalize,     op::softmax_adjoint,      op::log_softmax_adjoint,
                     op::normalize_adjoint, op::rms_normalize_adjoint};

// As y of an adjoint, values in the range of the operation's results.
void fill_for(op kind, array<float>& a, unsigned seed) {
  fill(a, seed);
  for (float& x : a.memory) {
    if (kind == op::softmax_adjoint) x = std::abs(x) / 8;
    if (kind == op::log_softmax_adjoint) x = -std::abs(x);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rowwise)

BOOST_AUTO_TEST_CASE(rowwise_operations_are_right_over_any_loops_and_layouts) {
  on_every_target([](const table& kernels) {
    unsigned seed = 0;
    for (const op kind : kinds)
      for (const extents& extent : shapes)
        for (unsigned over = 1; over < 1u << extent.size(); ++over)
          for (unsigned mix = 0; mix < 8; ++mix) {
            array<float> result(extent, layouts[mix % 4], 0, true);
            array<float> a(extent, layouts[mix < 4 ? mix : ++seed % 4], mix == 6 ? 1u : 0u);
            array<float> b(extent, layouts[mix < 4 ? mix : ++seed % 4], mix == 5 ? over : 0u);
            fill_for(kind, a, ++seed);
            fill(b, ++seed);
            const int count = wrong(kernels, kind, extent, over, result, a, b);
            BOOST_TEST(count == 0, name_of(kind)
                                       << " is wrong " << count << " times, loops " << extent.size()
                                       << ", over " << over << ", mix " << mix);
          }
  });
}

BOOST_AUTO_TEST_CASE(rowwise_operations_take_masks_gains_biases_and_addends) {
  on_every_target([](const table& kernels) {
    unsigned seed = 0;
    for (const extents& extent : shapes)
      for (unsigned over = 1; over < 1u << extent.size(); ++over)
        for (unsigned mix = 0; mix < 6; ++mix) {
          const auto some = [&] { return layouts[mix < 4 ? mix : ++seed % 4]; };
          array<float> result(extent, layouts[mix % 4], 0, true);
          array<float> x(extent, some()), g(extent, some()), addend(extent, some());
          const unsigned repeated = mix < 4 ? ~over : mix == 4 ? over : 0u;
          array<float> gain(extent, some(), repeated), bias(extent, some(), repeated);
          array<std::uint8_t> mask(extent, some(), repeated);
          for (auto* a : {&x, &g, &addend, &gain, &bias}) fill(*a, ++seed);
          fill(mask, ++seed);
          const auto check = [&](op kind, const others& more) {
            const int count = wrong(kernels, kind, extent, over, result, x, g, more);
            BOOST_TEST(count == 0, name_of(kind)
                                       << " is wrong " << count << " times, loops " << extent.size()
                                       << ", over " << over << ", mix " << mix);
          };
          check(op::softmax, {.mask = &mask});
          check(op::softmax, {.mask = &mask, .scale = -0.5});
          check(op::softmax, {.scale = 0.25});
          for (const op kind : {op::normalize, op::rms_normalize}) {
            check(kind, {.gain = &gain});
            check(kind, {.gain = &gain, .bias = &bias});
            check(kind, {.gain = &gain, .bias = &bias, .addend = &addend});
            check(adjoint_of_normalization(kind), {.gain = &gain});
            check(adjoint_of_normalization(kind), {.addend = &addend});
            check(adjoint_of_normalization(kind), {.gain = &gain, .addend = &addend});
          }
        }
  });
}

BOOST_AUTO_TEST_CASE(partitions_give_the_same_bits_as_the_whole_call) {
  on_every_target([](const table& kernels) {
    for (const op kind : kinds)
      for (const layout how : {layout::contiguous, layout::permuted})
        for (const std::ptrdiff_t rows : {1, 5, 30}) {
          const extents extent{rows, 2, 100};
          array<float> result(extent, layout::contiguous), x(extent, how), g(extent, how);
          fill_for(kind, x, 1);
          fill(g, 2);
          for (const unsigned over : {1u, 4u}) {
            call c = make_call(kind, extent);
            c.over = over;
            c.scalar = 1e-3;
            c.operands[0] = result.as_operand();
            c.operands[1] = x.as_operand();
            if (kind >= op::softmax_adjoint) c.operands[2] = g.as_operand();
            const aligned scratch = scratch_for(c, row_scratch_bytes(c));
            BOOST_TEST(same_in_parts(kernels.rowwise, c, result.memory), name_of(kind));
          }
        }
  });
}

BOOST_AUTO_TEST_CASE(normalization_adjoints_return_partial_sums_of_row_blocks) {
  constexpr auto block = static_cast<std::ptrdiff_t>(rows_per_partial);
  const auto check = [](const table& kernels, op kind) {
    for (const layout how : layouts)
      for (const std::ptrdiff_t rows : {std::ptrdiff_t{0}, std::ptrdiff_t{1}, block, 3 * block + 5})
        for (const std::ptrdiff_t n : {1, 17, 100}) {
          const extents extent{rows, n};
          array<float> x(extent, how), g(extent, how), gain(extent, layout::contiguous, 1);
          fill(x, 1), fill(g, 2), fill(gain, 3);
          const std::ptrdiff_t blocks = (rows + block - 1) / block + 1;  // the last has no rows
          constexpr std::ptrdiff_t apart = 3;
          std::vector<float> result(static_cast<std::size_t>(rows * n + apart + 2 * blocks * n),
                                    -7);
          call c = make_call(adjoint_of_normalization(kind), extent);
          c.over = 2;
          c.scalar = 1e-3;
          c.operands[0] = {result.data(), dtype::float32, {n, 1}};
          c.operands[1] = x.as_operand();
          c.operands[2] = g.as_operand();
          c.operands[3] = gain.as_operand();
          const aligned scratch = scratch_for(c, row_scratch_bytes(c));
          kernels.rowwise(c);
          const std::vector<float> alone(result.begin(), result.begin() + rows * n);
          c.axis_extent = blocks;
          c.axis_stride = rows * n + apart;
          kernels.rowwise(c);
          BOOST_TEST(std::equal(alone.begin(), alone.end(), result.begin()));
          const float* sums = result.data() + c.axis_stride;
          for (std::ptrdiff_t b = 0; b < blocks; ++b) {
            row of_gain(static_cast<std::size_t>(n)), of_bias = of_gain, tolerance = of_gain;
            for (std::ptrdiff_t r = b * block; r < std::min(rows, (b + 1) * block); ++r) {
              row values;
              for (std::ptrdiff_t i = 0; i < n; ++i)
                values.push_back(at(c.operands[1], offset(c.operands[1], {r, i})));
              const outcome h = reference(kind, values, {}, c.scalar);
              for (std::size_t i = 0; i < values.size(); ++i) {
                const double term =
                    at(c.operands[2], offset(c.operands[2], {r, static_cast<std::ptrdiff_t>(i)}));
                of_gain[i] += term * h.value[i];
                of_bias[i] += term;
                tolerance[i] +=
                    std::abs(term) * (h.tolerance[i] + static_cast<double>(block) * epsilon *
                                                           (std::abs(h.value[i]) + 1));
              }
            }
            for (std::size_t i = 0; i < of_gain.size(); ++i) {
              const std::size_t place = static_cast<std::size_t>(b * n) + i;
              BOOST_TEST(std::abs(static_cast<double>(sums[place]) - of_gain[i]) <= tolerance[i]);
              BOOST_TEST(
                  std::abs(static_cast<double>(sums[place + static_cast<std::size_t>(blocks * n)]) -
                           of_bias[i]) <= tolerance[i]);
            }
          }
          BOOST_TEST(same_in_parts(kernels.rowwise, c, result));
        }
  };
  on_every_target([&](const table& kernels) {
    check(kernels, op::normalize);
    check(kernels, op::rms_normalize);
  });
}

// A rowwise operation and its least and most operands; graph/op.hpp lists what they are.
struct row_form {
  op kind;
  int least, most;
};
constexpr row_form row_forms[]{{op::softmax, 1, 2},           {op::log_softmax, 1, 1},
                               {op::normalize, 1, 4},         {op::rms_normalize, 1, 4},
                               {op::softmax_adjoint, 2, 2},   {op::log_softmax_adjoint, 2, 2},
                               {op::normalize_adjoint, 2, 4}, {op::rms_normalize_adjoint, 2, 4}};

BOOST_AUTO_TEST_CASE(the_result_may_alias_any_operand_that_is_read_before_it_is_written) {
  const auto check = [](const table& kernels, op kind, int operands, layout how, int shared) {
    const extents extent{9, 100};
    std::vector<array<float>> floats(5, array<float>(extent, how));
    for (unsigned o = 0; o < floats.size(); ++o) fill_for(o == 1 ? kind : op::copy, floats[o], o);
    array<std::uint8_t> mask(extent, how);
    fill(mask, 7);
    call c = make_call(kind, extent);
    c.over = 2;
    c.scalar = 1e-3;
    for (int o = 0; o <= operands; ++o)
      c.operands[o] = floats[static_cast<std::size_t>(o)].as_operand();
    if (kind == op::softmax && operands == 2) c.operands[2] = mask.as_operand();
    const aligned scratch = scratch_for(c, row_scratch_bytes(c));
    floats[0].memory = floats[static_cast<std::size_t>(shared)].memory;  // gaps between rows too
    kernels.rowwise(c);
    c.operands[0] = c.operands[shared];
    kernels.rowwise(c);
    BOOST_TEST(
        (floats[0].memory == floats[static_cast<std::size_t>(shared)].memory),
        name_of(kind) << " of " << operands << " operands in the memory of number " << shared);
  };
  on_every_target([&](const table& kernels) {
    for (const auto& [kind, least, most] : row_forms)
      for (int operands = least; operands <= most; ++operands)
        for (int o = 1; o <= operands; ++o)
          if (reads_before_writing(kind, operands, o - 1) &&
              !(kind == op::softmax && o == 2))  // a mask has another dtype
            for (const layout how : layouts) check(kernels, kind, operands, how, o);
  });
}

BOOST_AUTO_TEST_CASE(the_log_softmax_adjoint_takes_one_element_of_g_per_row_by_index) {
  on_every_target([](const table& kernels) {
    unsigned seed = 0;
    for (const extents& extent : shapes) {
      if (extent.size() < 2) continue;
      for (unsigned mix = 0; mix < 8; ++mix) {
        const std::size_t last = extent.size() - 1, over = mix < 4 ? last : 0;
        const auto without = 1u << over;
        array<float> result(extent, layouts[mix % 4], 0, true), y(extent, layouts[++seed % 4]);
        array<float> g(extent, layouts[++seed % 4], without);
        array<std::int32_t> indices(extent, layouts[++seed % 4], without);
        fill_for(op::log_softmax_adjoint, y, ++seed);
        fill(g, ++seed);
        fill(indices, ++seed);  // many out of range, on both sides
        call c = make_call(op::log_softmax_adjoint, extent);
        c.over = without;
        c.operands[0] = result.as_operand();
        c.operands[1] = y.as_operand();
        c.operands[2] = g.as_operand();
        c.operands[3] = indices.as_operand();
        const aligned scratch = scratch_for(c, row_scratch_bytes(c));
        expectation expected(result);
        for_points(c, [&](const extents& point) {
          const auto value = [&](int o) { return at(c.operands[o], offset(c.operands[o], point)); };
          const double index = value(3);
          const bool inside = index >= 0 && index < static_cast<double>(extent[over]);
          const bool here = index == static_cast<double>(point[over]);
          const double of_row = inside ? value(2) : 0, e = std::exp(value(1));
          // exp is within 2 ulp; a product and a sum follow.
          expected.expect(result, offset(c.operands[0], point), (here ? of_row : 0) - e * of_row,
                          4 * epsilon * std::abs(of_row) * (here + e));
        });
        kernels.rowwise(c);
        BOOST_TEST(expected.wrong(result) == 0, "over loop " << over << " of " << extent.size());
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(scratch_size_grows_with_extents_and_is_a_constant_expression) {
  constexpr auto bytes_of = [](op kind, std::ptrdiff_t n, unsigned over) {
    call c;
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
