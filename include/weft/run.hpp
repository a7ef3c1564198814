// To run models.
#pragma once

#include "weft/run/error.hpp"
#include "weft/run/module.hpp"
