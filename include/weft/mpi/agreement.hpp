// What all ranks must have alike before they train together. Internal: no stability promise.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/lower/program.hpp"
#include "weft/mpi/communicator.hpp"

namespace weft::detail {

// A hash of all that a program computes: its interface, instructions and constants.
std::uint64_t hash_of(const program& p);
// A hash of the bytes.
std::uint64_t hash_of(std::span<const std::byte> bytes);
// A hash of the numbers' bits.
std::uint64_t hash_of(std::span<const double> numbers);
std::uint64_t hash_of(std::string_view text);
// The version of weft that the library was built from.
std::string_view version() noexcept;

class agreement {
 public:
  // `what` completes a sentence: "another model than rank 0".
  void add(std::string what, std::uint64_t hash) { of_.emplace_back(std::move(what), hash); }
  // Throws the rank_error of the first rank that has something other than rank 0; all ranks have
  // called add as often.
  void check(const communicator& ranks) const;

 private:
  std::vector<std::pair<std::string, std::uint64_t>> of_;
};

}  // namespace weft::detail
#include "weft/header_end.hpp"
