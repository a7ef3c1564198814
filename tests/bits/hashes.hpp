// The hashes of results that every processor has to have, in tests/golden/hashes.txt.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace weft::testing {

// A part of the file, whose lines begin with its name: "rows/softmax.17 <hash> <hash>", those of
// the two families of SIMD targets (weft::family). With WEFT_WRITE_HASHES in the environment, the
// part is written anew instead of compared; targets of one family have to agree in any case.
class hashes {
 public:
  explicit hashes(std::string part);

  // Calls compute on each SIMD target that is compiled in and that this CPU supports, then compares
  // what it has added. Reports all names that differ, each with its target.
  void check_on_every_target(const std::function<void()>& compute);
  // Of a result on the present target.
  void add(std::string name, std::uint64_t hash);

 private:
  using line = std::map<int, std::uint64_t>;  // by family
  void compare(const std::string& target, int family);

  std::string part_;
  std::map<std::string, line> known_, first_;   // of the file; of the first target
  std::map<int, std::string> first_target_;     // of each family
  std::map<std::string, std::uint64_t> added_;  // on the present target
};

}  // namespace weft::testing
