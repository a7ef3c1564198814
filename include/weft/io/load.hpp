// Its former place: include weft/files/load.hpp.
#pragma once

#include "weft/files/load.hpp"
