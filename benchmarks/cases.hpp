// The groups of cases: each makes its own known to Google Benchmark.
#pragma once

namespace bench {

void add_dot();    // contractions
void add_rows();   // along rows, and element by element
void add_model();  // whole models: a run, a training step

}  // namespace bench
