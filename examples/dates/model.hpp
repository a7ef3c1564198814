// A recurrent encoder and decoder with additive attention between them (Bahdanau, Cho and Bengio
// 2015).
#pragma once

#include <weft/weft.hpp>

#include "text.hpp"

namespace dates {

struct Batch : weft::axis<weft::up_to<128>> {};
struct Pos : weft::axis<weft::up_to<40>> {};  // of the text
struct Step : weft::axis<10> {};              // of the date, YYYY-MM-DD
struct Character : weft::axis<alphabet.size()> {};
struct Symbol : weft::axis<symbols.size()> {};
struct Embed : weft::axis<32> {};
struct Hidden : weft::axis<64> {};       // the encoder's state, in each direction
struct Annotation : weft::axis<128> {};  // both directions together
struct State : weft::axis<64> {};        // the decoder's
struct Align : weft::axis<64> {};

}  // namespace dates
