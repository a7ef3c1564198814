// The attention chapter's demonstrations.
#pragma once

#include <ostream>
#include <vector>
#include <weft/pictures/page.hpp>

namespace attention_tour {

// Runs them in order: prints values to the stream, and returns the page with everything.
weft::page run(std::ostream& out);

// Points on a curve with noise, by x, from which the regression estimates.
struct sample {
  std::vector<double> x, y;
};
sample noisy_sample();
// The curve without the noise.
double curve(double x);

}  // namespace attention_tour
