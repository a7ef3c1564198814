// To train models.
#pragma once

#include "weft/run/error.hpp"
#include "weft/run/fingerprint.hpp"
#include "weft/run/trainer.hpp"
