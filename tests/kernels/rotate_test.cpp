// Rotations of pairs, half-split and interleaved, and their adjoints.
#include "kernels/check.hpp"
#include "kernels/families.hpp"

using namespace weft;
using namespace weft::kernels;

namespace {

// Distances in elements: from the first of a pair to the second, and from pair to pair.
struct form {
  std::ptrdiff_t partner, next;
};

// Rows of pairs along loop `over`.
struct rotation {
  extents pairs;
  std::size_t over;
  form of;

  // Of an operand of all elements, the pairs.
  operand in_pairs(operand o) const {
    o.stride[over] *= of.next;
    return o;
  }
  owning_call<> with(op kind, std::ptrdiff_t length) const {
    owning_call<> c = call_of(kind, pairs);
    c.over = 1u << over;
    c.axis_extent = length;
    c.axis_stride = of.partner;
    return c;
  }
  // The offset of the second of a pair from the first.
  std::ptrdiff_t second(const operand& o) const { return of.partner * o.stride[over] / of.next; }
};

// Calls check(rotation, whole extents, layout, seed) for rows of pairs with and without a rest.
template <class F>
void for_rotations(F check, const std::vector<extents>& all = shapes) {
  unsigned seed = 0;
  for (const extents& pairs : all)
    for (std::size_t over = 0; over < pairs.size(); ++over)
      for (const bool half_split : {false, true})
        for (const std::ptrdiff_t rest : {0, 3})
          for (const layout how : layouts) {
            // A partner at a distance of 1 means that pairs are interleaved.
            const form of = half_split && pairs[over] > 1 ? form{pairs[over], 1} : form{1, 2};
            extents whole = pairs;
            whole[over] = 2 * pairs[over] + rest;
            check(rotation{pairs, over, of}, whole, how, ++seed);
          }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rotate)

BOOST_AUTO_TEST_CASE(pairs_are_rotated_and_the_rest_of_a_row_is_copied) {
  for_rotations([](const rotation& r, const extents& whole, layout how, unsigned seed) {
    array<float> result(whole, how, 0, true), x(whole, layouts[seed % 4]);
    array<float> cosine(r.pairs, layouts[seed / 4 % 4], seed % 3 == 0 ? ~(1u << r.over) : 0u);
    array<float> sine(r.pairs, seed % 5 == 0 ? layout::spaced : how);
    fill(x, seed), fill(cosine, seed + 1), fill(sine, seed + 2);
    owning_call<> c = r.with(op::rotate, whole[r.over]);
    c.operands[0] = r.in_pairs(result.as_operand());
    c.operands[1] = r.in_pairs(x.as_operand());
    c.operands[2] = cosine.as_operand();
    c.operands[3] = sine.as_operand();
    expectation expected(result);
    for_points(whole, [&](const extents& point) {
      expected.expect(result, offset(result.as_operand(), point), get(x.as_operand(), point));
    });
    for_points(r.pairs, [&](const extents& point) {
      const std::ptrdiff_t to = offset(c.operands[0], point), from = offset(c.operands[1], point);
      const double a = at(c.operands[1], from),
                   b = at(c.operands[1], from + r.second(c.operands[1]));
      const double cos = get(c.operands[2], point), sin = get(c.operands[3], point);
      // Two products and their sum are rounded.
      expected.expect(result, to, a * cos - b * sin,
                      epsilon * (std::abs(a * cos) + std::abs(b * sin)));
      expected.expect(result, to + r.second(c.operands[0]), b * cos + a * sin,
                      epsilon * (std::abs(b * cos) + std::abs(a * sin)));
    });
    check(kernel::rotate, c, result, expected,
          words(r.pairs[r.over], " pairs and ", whole[r.over] - 2 * r.pairs[r.over], " along ",
                r.over, " of ", whole.size(), ", next ", r.of.next, ", seed ", seed),
          {1, 2, 3, 7});
  });
}

BOOST_AUTO_TEST_CASE(adjoints_give_the_gradients_of_cosines_and_sines) {
  for_rotations([](const rotation& r, const extents& whole, layout how, unsigned seed) {
    array<float> result(r.pairs, how, 0, true), x(whole, layouts[seed % 4]);
    array<float> g(whole, layouts[seed / 4 % 4]);
    fill(x, seed), fill(g, seed + 1);
    owning_call<> c = r.with(op::rotate_adjoint, whole[r.over]);
    c.operands[0] = result.as_operand();
    c.operands[1] = r.in_pairs(x.as_operand());
    c.operands[2] = r.in_pairs(g.as_operand());
    for (const int of_sine : {0, 1}) {
      c.scalar = of_sine;
      expectation expected(result);
      for_points(r.pairs, [&](const extents& point) {
        const auto of = [&](int o, bool second) {
          const operand& from = c.operands[o];
          return at(from, offset(from, point) + (second ? r.second(from) : 0));
        };
        const double one = of(2, of_sine == 1) * of(1, false),
                     other = of(2, of_sine == 0) * of(1, true);
        expected.expect(result, offset(result.as_operand(), point),
                        of_sine == 1 ? one - other : one + other,
                        epsilon * (std::abs(one) + std::abs(other)));
      });
      check(kernel::rotate_adjoint, c, result, expected,
            words(r.pairs[r.over], " pairs along ", r.over, " of ", whole.size(), ", next ",
                  r.of.next, ", of sine ", of_sine, ", seed ", seed),
            {1, 2, 3, 7});
    }
  });
}

// Also of the pairs that are left after full vectors, and of those with other strides.
BOOST_AUTO_TEST_CASE(rotations_and_their_adjoints_have_the_same_bits_on_all_targets_of_a_family) {
  const auto check = [](const rotation& r, const extents& whole, layout how, unsigned seed) {
    array<float> result(whole, how, 0, true), x(whole, how), g(whole, how);
    array<float> cosine(r.pairs, how), sine(r.pairs, how), gradient(r.pairs, how, 0, true);
    fill(x, seed), fill(g, seed + 1), fill(cosine, seed + 2), fill(sine, seed + 3);
    const std::string what = words(r.pairs[r.over], " pairs along ", r.over, " of ", whole.size(),
                                   ", next ", r.of.next, ", seed ", seed);
    owning_call<> c = r.with(op::rotate, whole[r.over]);
    c.operands[0] = r.in_pairs(result.as_operand());
    c.operands[1] = r.in_pairs(x.as_operand());
    c.operands[2] = cosine.as_operand();
    c.operands[3] = sine.as_operand();
    check_families(kernel::rotate, c, result, what);
    owning_call<> a = r.with(op::rotate_adjoint, whole[r.over]);
    a.operands[0] = gradient.as_operand();
    a.operands[1] = r.in_pairs(x.as_operand());
    a.operands[2] = r.in_pairs(g.as_operand());
    for (const int of_sine : {0, 1}) {
      a.scalar = of_sine;
      check_families(kernel::rotate_adjoint, a, gradient, what);
    }
  };
  for_rotations(check, {{1}, {3}, {13}, {24}, {3, 100}, {27, 5}});
}

BOOST_AUTO_TEST_SUITE_END()
