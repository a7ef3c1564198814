// The check of a kernel on every SIMD target against a result that is computed once.
#pragma once

#include <boost/test/unit_test.hpp>
#include <initializer_list>
#include <sstream>
#include <string>
#include <type_traits>

#include "kernels/aligned.hpp"
#include "kernels/arrays.hpp"
#include "kernels/families.hpp"
#include "kernels/parts.hpp"
#include "kernels/targets.hpp"
#include "weft/kernels/kernels.hpp"
#include "weft/kernels/scratch.hpp"

namespace weft::kernels {

// The words for a case.
template <class... Words>
std::string words(const Words&... all) {
  std::ostringstream text;
  (text << ... << all);
  return text.str();
}

// Runs a call in partitions, the last one first, each with scratch of exactly the size it needs.
inline void run(kernel_function f, owning_call<> c, int partitions = 1) {
  for (int i = partitions - 1; i >= 0; --i) {
    const aligned scratch = scratch_for(c, scratch_bytes(c));
    c.part = part_of(i, partitions);
    f(c);
  }
}

// Runs a call on every target, whole or in numbers of partitions, each time into a copy of
// `result`, and compares that with what is expected, and floats with the bits of the family.
template <class T>
void check(kernel k, owning_call<> c, const array<T>& result, const expectation& expected,
           const std::string& what, std::initializer_list<int> partitions = {1}) {
  results_of_families same;
  on_every_target([&](const table& kernels) {
    for (const int count : partitions) {
      array<T> mine = result;
      c.operands[0].data = mine.as_operand().data;
      run(kernels.of(k), c, count);
      const std::string differences = expected.differences(mine);
      BOOST_TEST(differences == "", what << ", partitions " << count << ": " << differences);
      if constexpr (std::is_same_v<T, float>) {
        const std::string different = same.differences(mine.memory);
        BOOST_TEST(different == "", what << ": not the family's bits: " << different);
      }
    }
  });
}

// On all targets of a family, a call gives the same bits.
inline void check_families(kernel k, owning_call<> c, const array<float>& result,
                           const std::string& what) {
  results_of_families same;
  on_every_target([&](const table& kernels) {
    array<float> mine = result;
    c.operands[0].data = mine.as_operand().data;
    run(kernels.of(k), c);
    const std::string different = same.differences(mine.memory);
    BOOST_TEST(different == "", what << ": " << different);
  });
}

// On every target, a call gives the same bits in any number of partitions as in one.
template <class T>
void check_partitions(kernel k, owning_call<> c, const array<T>& result, const std::string& what) {
  on_every_target([&](const table& kernels) {
    array<T> whole = result;
    c.operands[0].data = whole.as_operand().data;
    run(kernels.of(k), c);
    for (const int count : {2, 3, 7, 64}) {
      array<T> parts = result;
      c.operands[0].data = parts.as_operand().data;
      run(kernels.of(k), c, count);
      const std::string different = different_bits(parts.memory, whole.memory);
      BOOST_TEST(different == "", what << " in " << count << " partitions: " << different);
    }
  });
}

}  // namespace weft::kernels
