#include "support/bits.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "run/fnv_hash.hpp"
#include "weft/kernels/targets.hpp"

namespace weft::testing {

std::uint64_t hash_of(const std::vector<std::vector<double>>& values) {
  detail::fnv_hash hash;
  for (const auto& one : values) {
    hash.add(static_cast<std::int64_t>(one.size()));
    for (const double x : one) {
      std::int64_t bits = 0;
      std::memcpy(&bits, &x, sizeof bits);
      hash.add(bits);
    }
  }
  return static_cast<std::uint64_t>(hash.value());
}

void record_bits(const std::vector<std::vector<double>>& values) {
  const char* const path = std::getenv("WEFT_BITS");
  if (path == nullptr) return;
  static int runs = 0;
  const std::int64_t targets = kernels::targets();
  std::ostringstream line;
  line << boost::unit_test::framework::current_test_case().full_name() << ' ' << ++runs << ' '
       << hwy::TargetName(targets & -targets) << ' ' << std::hex << hash_of(values) << '\n';
  std::ofstream(path, std::ios::app) << line.str();
}

}  // namespace weft::testing
