// To see what models do, and what it costs.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/inspect/explain.hpp"
#include "weft/inspect/profile.hpp"
#include "weft/lower/cost.hpp"

#include "weft/header_end.hpp"
