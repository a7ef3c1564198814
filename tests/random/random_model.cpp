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
  settings::outcomes gradients, results[2], states[2];  // without dropout, and with it
  std::map<std::string, std::size_t> size;
  std::size_t count = 0;
  while (in >> word && word != "end") {
    in >> of >> count;
    std::vector<double> x(count);
    for (double& v : x) {
      std::string number;  // a stream does not read nan
      in >> number;
      v = std::stod(number);
    }
    if (word == "parameter") size[of] = count;
    if (word == "input" || word == "parameter" || word == "state") inference_.given[of] = x;
    for (int sampled = 0; sampled < 2; ++sampled) {
      const std::string mode = sampled == 1 ? "sampled_" : "";
      if (word == mode + "result") results[sampled][of].value = x;
      if (word == mode + "result_tolerance") results[sampled][of].tolerance = x;
      if (word == mode + "updated") states[sampled][of].value = x;
      if (word == mode + "updated_tolerance") states[sampled][of].tolerance = x;
    }
    if (word == "gradient") {  // of some elements: (index, value, tolerance)...
      settings::outcome& o = gradients[of];
      o.value.assign(size[of], 0);
      o.tolerance.assign(size[of], std::numeric_limits<double>::infinity());
      for (std::size_t i = 0; i < count; i += 3) {
        o.value[static_cast<std::size_t>(x[i])] = x[i + 1];
        o.tolerance[static_cast<std::size_t>(x[i])] = x[i + 2];
      }
    }
  }
  if (!in) throw std::runtime_error(file + " ends within " + name);
  inference_.random = {0x9E3779B97F4A7C15, 0x100000003};  // as in graphs.py
  inference_.gradients = gradients;
  sampling_ = inference_;
  inference_.results = results[0];
  inference_.states = states[0];
  sampling_.results = results[1];
  sampling_.states = states[1];
}

}  // namespace weft::testing
