// Its former place: include weft/files/load.hpp.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/files/load.hpp"

#include "weft/header_end.hpp"
