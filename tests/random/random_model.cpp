#include "random/random_model.hpp"

#include <fstream>
#include <limits>
#include <stdexcept>

namespace weft::testing {

random_model::random_model(const std::string& file, const std::string& name) {
  std::ifstream in(file);
  std::string word, of;
  while (std::getline(in, word) && word != "model " + name) {
  }
  if (!in) throw std::runtime_error("no model " + name + " in " + file);
  settings_.results.emplace();
  settings_.states.emplace();
  settings_.gradients.emplace();
  std::map<std::string, std::size_t> size;
  std::size_t count = 0;
  while (in >> word && word != "end") {
    in >> of >> count;
    std::vector<double> x(count);
    for (double& v : x) in >> v;
    if (word == "parameter") size[of] = count;
    if (word == "input" || word == "parameter" || word == "state") settings_.given[of] = x;
    if (word == "result") (*settings_.results)[of].value = x;
    if (word == "tolerance") (*settings_.results)[of].tolerance = x;
    if (word == "updated") (*settings_.states)[of].value = x;
    if (word == "updated_tolerance") (*settings_.states)[of].tolerance = x;
    if (word == "gradient") {  // of some elements: (index, value, tolerance)...
      settings::outcome& o = (*settings_.gradients)[of];
      o.value.assign(size[of], 0);
      o.tolerance.assign(size[of], std::numeric_limits<double>::infinity());
      for (std::size_t i = 0; i < count; i += 3) {
        o.value[static_cast<std::size_t>(x[i])] = x[i + 1];
        o.tolerance[static_cast<std::size_t>(x[i])] = x[i + 2];
      }
    }
  }
  if (!in) throw std::runtime_error(file + " ends within " + name);
}

void random_model::check(const run_time_source& of, program_code generated) const {
  trial(of, settings_, generated);
}

}  // namespace weft::testing
