// The contraction kernel of every target that this machine runs, against a plain loop nest.

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "kernels/aligned.hpp"
#include "kernels/amx.hpp"
#include "kernels/product.hpp"
#include "kernels/targets.hpp"
#include "weft/kernels/dot_blocking.hpp"
#include "weft/weights/stored.hpp"

namespace {

using namespace weft::kernels::products;
using weft::kernels::aligned, weft::kernels::owning_call;

const std::ptrdiff_t lengths[]{0, 1, 3, 17, 100};

}  // namespace

BOOST_AUTO_TEST_SUITE(dot)

BOOST_AUTO_TEST_CASE(matrix_products_are_right_in_every_layout_and_for_every_extent) {
  for (const char* result : {"mn", "nm"}) {
    for (const char* left : {"mk", "km"}) {
      for (const char* right : {"kn", "nk"}) {
        for (const auto m : lengths) {
          for (const auto n : lengths) {
            for (const auto k : lengths) {
              check_paddings({result, left, right, {{'m', m}, {'n', n}, {'k', k}}});
            }
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(batched_matrix_products_are_right) {
  for (const auto batch : lengths) {
    for (const auto n : lengths) {
      const extents e{{'b', batch}, {'m', 5}, {'n', n}, {'k', 17}};
      check_paddings({"bmn", "bmk", "bkn", e});
      check_paddings({"bmn", "bmk", "bnk", e});
      check_paddings({"mnb", "mkb", "knb", e});  // the batch is innermost
      check_paddings({"mbn", "kbm", "bkn", e});
    }
  }
}

BOOST_AUTO_TEST_CASE(products_with_vectors_are_right) {
  for (const auto n : lengths) {
    for (const auto k : lengths) {
      const extents e{{'n', n}, {'k', k}};
      check_paddings({"n", "k", "kn", e});
      check_paddings({"n", "k", "nk", e});
      check_paddings({"n", "kn", "k", e});
      check_paddings({"n", "nk", "k", e});
      check_paddings({"kn", "k", "n", e});  // an outer product
      check_paddings({"", "k", "k", {{'k', k}}});
    }
  }
}

// m, n and k consist of several loops that do not coalesce into one.
BOOST_AUTO_TEST_CASE(tensor_contractions_are_right_for_any_axis_order) {
  for (const std::ptrdiff_t d : {3, 16, 32, 100}) {
    const extents attention{{'b', 2}, {'p', 17}, {'h', 3}, {'d', d}, {'k', 19}};
    check_paddings({"bphk", "bphd", "bkhd", attention});
    check_paddings({"bphd", "bphk", "bkhd", attention});
    check_paddings({"bhpk", "bphd", "bkhd", attention});
    const extents projection{{'b', 2}, {'p', 7}, {'h', 3}, {'d', d}, {'e', 33}};
    check_paddings({"bphd", "bpe", "ehd", projection});
    check_paddings({"bphd", "bpe", "hde", projection});
    check_paddings({"bphd", "bpe", "hed", projection});
    check_paddings({"bphd", "bpe", "dhe", projection});
    check_paddings({"bhpd", "bpe", "ehd", projection});
    check_paddings({"hbdp", "bpe", "ehd", projection});
    check_paddings({"bpe", "bphd", "hde", projection});
    check_paddings({"bpe", "bphd", "dhe", projection});
    check_paddings({"bpe", "bhpd", "ehd", projection});
    check_paddings({"ehd", "bpe", "bphd", projection});
    check_paddings({"hde", "bpe", "bhpd", projection});
    check_paddings({"dhe", "ebp", "pbdh", projection});
  }
}

BOOST_AUTO_TEST_CASE(products_larger_than_the_cache_blocks_are_right) {
  for (const auto& e :
       {extents{{'m', 130}, {'n', 515}, {'k', 97}}, extents{{'m', 200}, {'n', 1030}, {'k', 70}},
        extents{{'m', 140}, {'n', 70}, {'k', 1060}}, extents{{'m', 470}, {'n', 50}, {'k', 99}}}) {
    check({"mn", "mk", "kn", e});
    check({"mn", "mk", "nk", e});
    check({"mn", "km", "kn", e});
    check({"nm", "km", "nk", e});
  }
  for (const std::ptrdiff_t k : {2000, 2085})
    check({"mn", "mk", "kn", {{'m', 21}, {'n', 70}, {'k', k}}});
  const extents e{{'b', 3}, {'p', 101}, {'h', 33}, {'d', 32}, {'e', 20}};
  check_paddings({"bphd", "bpe", "hed", e});
  check_paddings({"bpe", "bphd", "hed", e});
  check_paddings({"hed", "bpe", "bphd", e});
}

// Each activation that a contraction can apply, with these addends and this scale.
std::vector<epilogue> activations(const std::vector<std::string>& addends, double scale) {
  std::vector<epilogue> all{{addends, scale}};
  for (int k = 0; k < weft::op_count; ++k)
    if (const auto kind = static_cast<weft::op>(k); has_flag(kind, weft::op_flag::epilogue))
      all.push_back({addends, scale, kind});
  return all;
}

// The addends (biases and residuals) that a matrix product can have.
const std::vector<std::string> addends_of_matrices[]{
    {}, {"n"}, {"m"}, {"mn"}, {"nm"}, {""}, {"n", "mn"}, {"nm", "m"}, {"mn", "mn"}};

BOOST_AUTO_TEST_CASE(the_epilogue_scales_adds_and_applies_the_activation) {
  std::vector<epilogue> scaled, unscaled;
  for (const auto& addends : addends_of_matrices) {
    for (const epilogue& e : activations(addends, -1.75)) scaled.push_back(e);
    for (const epilogue& e : activations(addends, 1)) unscaled.push_back(e);
  }
  for (const char* result : {"mn", "nm"}) {
    for (const char* right : {"kn", "nk"}) {
      for (const auto& e :
           {extents{{'m', 1}, {'n', 50}, {'k', 20}}, extents{{'m', 3}, {'n', 1}, {'k', 17}},
            extents{{'m', 21}, {'n', 50}, {'k', 5}}, extents{{'m', 8}, {'n', 48}, {'k', 3}},
            extents{{'m', 4}, {'n', 19}, {'k', 1}}, extents{{'m', 5}, {'n', 18}, {'k', 0}}}) {
        check_paddings({result, "mk", right, e}, scaled);
        check({result, "mk", right, e}, unscaled);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_epilogue_is_applied_once_to_sums_over_several_cache_blocks,
                     *boost::unit_test::label("full")) {
  const extents e{{'m', 139}, {'n', 70}, {'k', 1060}};
  std::vector<epilogue> tanh, relu;
  for (const auto& addends : addends_of_matrices) {
    tanh.push_back({addends, 0.125, weft::op::tanh});
    relu.push_back({addends, 0.125, weft::op::relu});
  }
  check_paddings({"mn", "mk", "kn", e}, tanh);
  check_paddings({"nm", "km", "nk", e}, relu);
  const extents wide{{'m', 9}, {'n', 1100}, {'k', 260}};
  check_paddings({"mn", "mk", "nk", wide}, {{{"n", "mn"}, 0.125, weft::op::gelu}});
}

BOOST_AUTO_TEST_CASE(the_epilogue_is_applied_to_tensor_contractions) {
  const auto quarter = [](const std::vector<std::string>& addends) {
    return activations(addends, 0.25);
  };
  for (const std::ptrdiff_t d : {3, 16, 32}) {
    const extents attention{{'b', 2}, {'p', 17}, {'h', 3}, {'d', d}, {'k', 19}};
    check_paddings({"bphk", "bphd", "bkhd", attention}, quarter({"pk"}));
    check_paddings({"bhpk", "bphd", "bkhd", attention}, quarter({"bk", "hpk"}));
    check_paddings({"bphd", "bphk", "bkhd", attention}, quarter({"bphd", "hd"}));
    const extents projection{{'b', 2}, {'p', 7}, {'h', 3}, {'d', d}, {'e', 33}};
    check_paddings({"bphd", "bpe", "hde", projection}, quarter({"hd", "bphd"}));
    check_paddings({"bhpd", "bpe", "ehd", projection}, quarter({"dh", "bphd"}));
    check_paddings({"bhpd", "bpe", "hed", projection}, quarter({"d", "h"}));
    check_paddings({"bpe", "bphd", "hde", projection}, quarter({"e", "bpe"}));
  }
}

// The depth of the rhs is dense, but in another order than the lhs has it: a convolution's weight
// [n, channel, tap] and windows [m, tap, channel]. Few rows read it line by line, others transpose
// it; a depth of more than a block of it, and one much longer, too.
BOOST_AUTO_TEST_CASE(products_with_another_order_of_a_dense_depth_are_right) {
  for (const std::ptrdiff_t m : {1, 4, 21})
    for (const std::ptrdiff_t c : {1, 5, 16, 400, 1400}) {
      const extents one{{'m', m}, {'n', 19}, {'c', c}, {'t', 3}};
      for (const char* left : {"mtc", "mct", "tcm"})
        check_paddings({"mn", left, "nct", one}, {{{"n"}}});
      extents two = one;
      two['u'] = 2;
      for (const char* left : {"mtuc", "mtcu", "ctum"})
        check_paddings({"mn", left, "nctu", two}, {{{"n"}}});
    }
}

// Small m and large n, as in a model that decodes token by token.
BOOST_AUTO_TEST_CASE(products_with_few_rows_are_right) {
  for (const std::ptrdiff_t m : {1, 2, 4, 5}) {
    for (const std::ptrdiff_t n : {8, 64, 401, 1000}) {
      for (const std::ptrdiff_t k : {1, 7, 100, 600}) {
        const extents e{{'m', m}, {'n', n}, {'k', k}};
        const epilogue relu{{"n"}, 0.5, weft::op::relu};
        check({"mn", "mk", "kn", e, 3}, {relu});
        check({"mn", "mk", "kn", e});
        check({"mn", "mk", "nk", e, 3}, {{{"mn"}}});
        check({"mn", "km", "nk", e, 3}, {relu});
      }
    }
  }
  // Strided rows of the lhs that are too long for the scratch they would be copied to.
  for (const std::ptrdiff_t m : {2, 4})
    check({"mn", "km", "nk", {{'m', m}, {'n', 8}, {'k', 20000}}});
}

// Refused, it would go unseen: vectors give right results, too. An emulator of another processor
// shows the report of the one that it runs on.
BOOST_AUTO_TEST_CASE(amx_is_used_where_linux_reports_it) {
  if (!HWY_ARCH_X86) return;
  std::ifstream file("/proc/cpuinfo");
  const std::string flags(std::istreambuf_iterator<char>(file), {});
  if (flags.find(" amx_bf16 ") == std::string::npos) return;
  BOOST_TEST(weft::kernels::may_use_amx());
}

BOOST_AUTO_TEST_CASE(packed_bfloat16_weights_are_rounded_to_nearest_even) {
  // A unit in the last place of a bfloat16 in [1, 2) is 2^-7.
  const std::pair<float, float> cases[]{{1, 1},
                                        {1 + 0x1p-8f, 1},  // ties go to even
                                        {1 + 0x1.8p-7f, 1 + 0x1p-6f},
                                        {1 + 0x1.01p-8f, 1 + 0x1p-7f},
                                        {-1 - 0x1.01p-8f, -1 - 0x1p-7f},
                                        {0x1.fffp0f, 2},
                                        {-0x1p-130f, -0x1p-130f}};
  for (const std::ptrdiff_t rows : {1, 9}) {
    for (const auto& [value, rounded] : cases) {
      owning_call<> c = call_of({"mn", "mk", "kn", {{'m', rows}, {'n', 2}, {'k', 1}}});
      std::vector<float> ones(9, 1.0f), weights{value, value};
      const std::vector<float> expected(static_cast<std::size_t>(2 * rows), rounded);
      const aligned scratch = scratch_for(c, weft::kernels::dot_scratch_bytes(c));
      const aligned packed(weft::kernels::packed_bytes(c, weft::precision::bfloat16));
      c.operands[1].data = ones.data();
      c.operands[2].data = weights.data();
      weft::kernels::on_every_target([&](const weft::kernels::table& kernels) {
        std::vector<float> result(expected.size());
        c.operands[0].data = result.data();
        kernels.pack_dot(c, weft::stored_type::bfloat16, packed.data());
        owning_call<> q = c;
        q.operands[2].packed = weft::stored_type::bfloat16;
        q.operands[2].data = packed.data();
        kernels.dot(q);
        BOOST_TEST(result == expected, boost::test_tools::per_element());
      });
    }
  }
}

// Also where vectors run along the depth, and where a long depth is summed in parts.
BOOST_AUTO_TEST_CASE(products_have_the_same_bits_on_all_targets_of_a_family) {
  for (const std::ptrdiff_t rows : {1, 2, 3, 4, 9})
    for (const std::ptrdiff_t depth : {1, 4, 7, 8, 17, 24, 100, 513, 9001})
      for (const std::ptrdiff_t columns : {1, 5, 19}) {
        const extents e{{'m', rows}, {'n', columns}, {'k', depth}};
        check({"mn", "mk", "nk", e});
        check({"mn", "km", "nk", e, 3});
        check({"mn", "mk", "kn", e});
      }
}

BOOST_AUTO_TEST_SUITE_END()
