// Axes that are called as they are long.
#pragma once

#include "weft/axes/axis.hpp"

namespace weft::testing {

struct One : axis<1> {};
struct Two : axis<2> {};
struct Three : axis<3> {};
struct Four : axis<4> {};
struct Five : axis<5> {};
struct Six : axis<6> {};
struct Seven : axis<7> {};
struct Ten : axis<10> {};
struct Seventeen : axis<17> {};
struct Hundred : axis<100> {};

}  // namespace weft::testing
