// Included last by every header that users include: see header_begin.hpp.
#pragma pop_macro("WEFT_HEADER")
#ifndef WEFT_HEADER
#include "weft/macros_back.hpp"
#pragma GCC diagnostic pop
#endif
