// Two source files with models or axes of one name: making one of the two modules is an error that
// names the model, and none computes the other's. In namespaces of their own both are right.
#include <cstdio>
#include <string>

#include "weft/run/error.hpp"

float model_of_first(), axis_of_first(), trainer_of_first(), named_of_first();
float model_of_second(), axis_of_second(), trainer_of_second(), named_of_second();

namespace {

int wrong = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("%s\n", what);
  ++wrong;
}
bool refused(float (*f)(), const std::string& name) {
  try {
    f();
  } catch (const weft::error& e) {
    return std::string(e.what()).find("different models named " + name + ",") != std::string::npos;
  }
  return false;
}

}  // namespace

int main() {
  expect(refused(&model_of_first, "model") != refused(&model_of_second, "model"), "two models");
  expect(refused(&axis_of_first, "of_axis") != refused(&axis_of_second, "of_axis"), "two axes");
  expect(refused(&trainer_of_first, "trained") != refused(&trainer_of_second, "trained"),
         "two trainers");
  expect(named_of_first() == 2 && named_of_second() == 3, "models in namespaces");
  return wrong;
}
