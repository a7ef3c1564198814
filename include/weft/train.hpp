// To train models.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/run/error.hpp"
#include "weft/run/fingerprint.hpp"
#include "weft/run/trainer.hpp"

#include "weft/header_end.hpp"
