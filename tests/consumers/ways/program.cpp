#include "answer.hpp"

int main() {
  return answer() == 14 && refuses_other_lengths() ? 0 : 1;
}
