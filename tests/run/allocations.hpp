// The number of allocations in this program so far, counted by allocation_test.cpp.
#pragma once

#include <atomic>

extern std::atomic<int> allocations;

template <class F>
int allocations_in(F f) {
  const int before = allocations;
  f();
  return allocations - before;
}
