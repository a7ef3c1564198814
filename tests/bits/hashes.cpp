#include "bits/hashes.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <utility>

#include "kernels/targets.hpp"
#include "support/golden_file.hpp"
#include "weft/kernels/family.hpp"

namespace weft::testing {

namespace {

constexpr int families = 2;
using line = std::map<int, std::uint64_t>;
using lines = std::map<std::string, line>;

lines read_all() {
  lines all;
  std::ifstream file(golden_file("hashes.txt"));
  for (std::string text; std::getline(file, text);) {
    std::istringstream words(text);
    std::string name;
    if (!(words >> name) || name[0] == '#') continue;
    for (int f = 0; f < families; ++f)
      if (std::string word; words >> word && word != "-")
        all[name][f] = std::stoull(word, nullptr, 16);
  }
  return all;
}

void write_all(const lines& all) {
  std::ofstream file(golden_file("hashes.txt"));
  file << "# The hashes of results, of processors with fused multiply-add and of those without. "
          "Written by\n"
          "#   WEFT_WRITE_HASHES=1 ctest --test-dir build-test -R '_bits$|^bits/'\n";
  for (const auto& [name, of] : all) {
    file << name;
    for (int f = 0; f < families; ++f)
      if (const auto at = of.find(f); at == of.end())
        file << " -";
      else
        file << ' ' << std::hex << std::setw(16) << std::setfill('0') << at->second;
    file << '\n';
  }
}

std::string hex(std::uint64_t hash) {
  std::ostringstream text;
  text << std::hex << hash;
  return text.str();
}

bool writes() {
  return std::getenv("WEFT_WRITE_HASHES") != nullptr;
}

}  // namespace

hashes::hashes(std::string part) : part_(std::move(part)) {
  const std::string prefix = part_ + "/";
  for (const auto& [name, of] : read_all())
    if (name.starts_with(prefix)) known_[name.substr(prefix.size())] = of;
}

void hashes::add(std::string name, std::uint64_t hash) {
  std::ranges::replace(name, ' ', '_');
  BOOST_TEST(added_.emplace(name, hash).second, part_ << '/' << name << " is there twice");
}

void hashes::check_on_every_target(const std::function<void()>& compute) {
  kernels::on_every_target([&](const auto&) {
    added_.clear();
    compute();
    compare(std::string(target_name()), static_cast<int>(family()));
  });
  if (!writes()) return;
  lines all = read_all();
  std::erase_if(all, [&](const auto& l) { return l.first.starts_with(part_ + "/"); });
  for (const auto& [name, of] : first_) {
    line& to = all[part_ + "/" + name];
    to = known_[name];  // of a family that this processor has not
    for (const auto& [f, hash] : of) to[f] = hash;
  }
  write_all(all);
}

void hashes::compare(const std::string& target, int family) {
  if (added_.empty()) return;  // a target for which there is nothing to compute
  std::ostringstream wrong;
  int count = 0;
  const auto differs = [&](const std::string& name, const std::string& how) {
    wrong << "\n  " << part_ << '/' << name << ' ' << target << ": " << how;
    ++count;
  };
  const bool is_first = first_target_.emplace(family, target).second;
  for (const auto& [name, hash] : added_) {
    if (is_first) {
      first_[name][family] = hash;
    } else if (const std::uint64_t other = first_[name][family]; other != hash) {
      differs(name, hex(hash) + ", on " + first_target_[family] + " " + hex(other));
      continue;
    }
    if (writes()) continue;
    const auto known = known_.find(name);
    if (known == known_.end() || !known->second.contains(family))
      differs(name, hex(hash) + ", and the file has no such line");
    else if (known->second.at(family) != hash)
      differs(name, hex(hash) + ", in the file " + hex(known->second.at(family)));
  }
  if (!writes())
    for (const auto& [name, of] : known_)
      if (!added_.contains(name)) differs(name, "only in the file");
  BOOST_TEST(count == 0, count << " of " << added_.size() << " results differ; if they have to, "
                               << "WEFT_WRITE_HASHES=1 writes the file anew:" << wrong.str());
}

}  // namespace weft::testing
