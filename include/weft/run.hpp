// To run models.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/run/denormals.hpp"
#include "weft/run/error.hpp"
#include "weft/run/fingerprint.hpp"
#include "weft/run/module.hpp"
#include "weft/run/monte_carlo.hpp"

#include "weft/header_end.hpp"
