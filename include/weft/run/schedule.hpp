// Learning rate schedules: functions from the number of steps done, 0 at first, to a factor of the
// optimizer's learning rate. Any callable double(std::int64_t) is one.
#pragma once
#include "weft/header_begin.hpp"

#include <cstdint>

#include "weft/language.hpp"

namespace weft {

// Linear warmup over `warmup` steps, from 1 / warmup to 1, then half a cosine down to `floor` at
// step `total` (Loshchilov and Hutter 2017, equation 5, without restarts), and `floor` afterwards.
struct warmup_cosine {
  std::int64_t warmup = 0;  // steps
  std::int64_t total = 1;   // steps, the warmup included
  double floor = 0;         // a fraction of the learning rate

  // The factor of the learning rate after `step` steps.
  double operator()(std::int64_t step) const;
};

}  // namespace weft
#include "weft/header_end.hpp"
