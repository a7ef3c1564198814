#include "answer.hpp"

extern "C" [[gnu::visibility("default")]] int plugin_answers(void) {
  return answer() == 14 && refuses_other_lengths();
}
