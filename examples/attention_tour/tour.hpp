// The attention chapter's demonstrations, one after another.
#pragma once

#include <ostream>
#include <vector>
#include <weft/io/page.hpp>

namespace attention_tour {

// Runs them: the numbers go to the stream, and the page has all of it.
weft::page run(std::ostream& out);

// Points on a curve with noise, by x, from which the regression estimates.
struct sample {
  std::vector<double> x, y;
};
sample noisy_sample();
// The curve without the noise.
double curve(double x);

}  // namespace attention_tour
