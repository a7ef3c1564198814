// A case: weft and its peers at the same work, in turns.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/contender.hpp"
#include "benchmarks/peers/peer.hpp"

namespace bench {

struct contest {
  // What the work is held to; 0: nothing.
  double operations = 0;  // floating-point operations, held to the peak of the cores
  double bytes = 0;       // bytes read, held to the bandwidth of the level that holds so many
  double elements = 0;    // not held to anything; shown as time for each
  int threads = 1;
  // The peers' results may differ from weft's by so much of the largest element.
  double tolerance = 0;
  contender weft;
  // Others, by name. What is weft's in another form begins with "weft".
  std::vector<std::pair<std::string, contender>> others;
};

struct named_contest {
  std::string name;
  std::function<contest()> make;  // called just before it is timed
};

// The main of a program: measures its contests as the command line says, and prints a line of JSON
// for each.
int measure(int argc, char** argv, const std::vector<named_contest>& contests, int threads = 1);

// Adds every peer that takes part: add_peers(c, &peer::product, task).
template <class Task>
void add_peers(contest& c, contender (peer::*work)(const Task&), const Task& task) {
  static const std::vector<std::unique_ptr<peer>> all = peers();
  for (const auto& p : all)
    if (contender other = (p.get()->*work)(task); other.repeat)
      c.others.emplace_back(p->name(), std::move(other));
}

}  // namespace bench
