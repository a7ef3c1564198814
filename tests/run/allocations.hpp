// How often memory has been asked for in this program: allocation_test.cpp counts it.
#pragma once

#include <atomic>

extern std::atomic<int> allocations;

template <class F>
int allocations_in(F f) {
  int const before = allocations;
  f();
  return allocations - before;
}
