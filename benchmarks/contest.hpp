// A case: weft and its peers at the same work, interleaved.
#pragma once

#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/contender.hpp"
#include "benchmarks/exact.hpp"
#include "benchmarks/peers/peer.hpp"

namespace bench {

struct contest {
  // The work per execution, compared with a limit of the machine; 0: no limit.
  double operations = 0;  // floating-point operations, compared with the peak of the cores
  double bytes = 0;       // bytes read, compared with the bandwidth of the level that holds them
  double elements = 0;    // compared with no limit; shown as time per element
  int threads = 1;
  // The largest allowed difference of a peer's result, relative to the largest element.
  double tolerance = 0;
  // Samples of the result in double, where errors are reported.
  std::function<std::vector<sample>()> exact;
  contender weft;
  // Other configurations of weft, with names that begin with "weft".
  std::vector<std::pair<std::string, contender>> variants;
  // The peers that take part, by name; called when a comparison is made. Empty: weft alone.
  std::function<std::vector<std::pair<std::string, contender>>()> peers;
};

struct named_contest {
  std::string name;
  std::function<contest()> make;  // called just before it is timed
};

// The main function of a benchmark program: measures its cases as the command line says, and prints
// a line of JSON for each.
int measure(int argc, char** argv, const std::vector<named_contest>& contests, int threads = 1);

// Every peer that takes part in a task: peers_at(&peer::product, task).
template <class Task>
auto peers_at(contender (peer::*work)(const Task&), const Task& task) {
  return [work, task] {
    static const std::vector<std::unique_ptr<peer>> all = peers();
    std::vector<std::pair<std::string, contender>> found;
    for (const auto& p : all) try {
        if (contender one = (p.get()->*work)(task); one.repeat)
          found.emplace_back(p->name(), std::move(one));
      } catch (const std::exception& problem) {
        std::cerr << p->name() << " is left out: " << problem.what() << '\n';
      }
    return found;
  };
}

}  // namespace bench
