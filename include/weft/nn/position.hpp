// All position encodings.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/language.hpp"

#include "weft/nn/position/alibi.hpp"
#include "weft/nn/position/cope.hpp"
#include "weft/nn/position/encoding.hpp"
#include "weft/nn/position/fire.hpp"
#include "weft/nn/position/forgetting.hpp"
#include "weft/nn/position/fourier.hpp"
#include "weft/nn/position/index.hpp"
#include "weft/nn/position/learned.hpp"
#include "weft/nn/position/rotary.hpp"
#include "weft/nn/position/shaw.hpp"
#include "weft/nn/position/sinusoidal.hpp"
#include "weft/nn/position/t5.hpp"
#include "weft/nn/position/transformer_xl.hpp"
#include "weft/nn/position/xpos.hpp"

#include "weft/header_end.hpp"
