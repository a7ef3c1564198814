// A case: weft and its peers at the same work, in turns.
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
  // What the work is held to; 0: nothing.
  double operations = 0;  // floating-point operations, held to the peak of the cores
  double bytes = 0;       // bytes read, held to the bandwidth of the level that holds so many
  double elements = 0;    // not held to anything; shown as time for each
  int threads = 1;
  // The peers' results may differ from weft's by so much of the largest element.
  double tolerance = 0;
  // Some of the result in double, where errors are shown.
  std::function<std::vector<sample>()> exact;
  contender weft;
  // Weft in another form, by a name that begins with "weft".
  std::vector<std::pair<std::string, contender>> variants;
  // Those peers that take part, by name; called where there is a comparison. None: weft is alone.
  std::function<std::vector<std::pair<std::string, contender>>()> peers;
};

struct named_contest {
  std::string name;
  std::function<contest()> make;  // called just before it is timed
};

// The main of a program: measures its contests as the command line says, and prints a line of JSON
// for each.
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
