// A program that misses its line of CMake.
#include "generate/models.hpp"

int main() {
  weft::module<weft::generating::single_element> net(
      weft::generated<weft::generating::single_element>());
}
