// To define models: all that a header with models needs.
#pragma once
#include "weft/header_begin.hpp"

// Included first: g++ lists the headers through which WEFT_REJECT and WEFT_REJECT_LAYER were
// included in every message, so fewer of them make shorter messages.
#include "weft/graph/reject.hpp"
#include "weft/nn/layer_rules.hpp"

#include "weft/graph/trace.hpp"
#include "weft/nn/attention.hpp"
#include "weft/nn/cache.hpp"
#include "weft/nn/causal_block.hpp"
#include "weft/nn/convolution.hpp"
#include "weft/nn/decoder.hpp"
#include "weft/nn/embedding.hpp"
#include "weft/nn/encoder.hpp"
#include "weft/nn/feed_forward.hpp"
#include "weft/nn/linear.hpp"
#include "weft/nn/loss.hpp"
#include "weft/nn/mask.hpp"
#include "weft/nn/multi_head_attention.hpp"
#include "weft/nn/norm.hpp"
#include "weft/nn/position.hpp"
#include "weft/nn/recurrent.hpp"
#include "weft/nn/rolling.hpp"
#include "weft/nn/score.hpp"
#include "weft/nn/segments.hpp"
#include "weft/nn/sink.hpp"
#include "weft/nn/streamed.hpp"
#include "weft/nn/transformer.hpp"
#include "weft/ops/arithmetic.hpp"
#include "weft/ops/compare.hpp"
#include "weft/ops/concatenate.hpp"
#include "weft/ops/convert.hpp"
#include "weft/ops/dot.hpp"
#include "weft/ops/dropout.hpp"
#include "weft/ops/expect.hpp"
#include "weft/ops/functions.hpp"
#include "weft/ops/gather.hpp"
#include "weft/ops/mask.hpp"
#include "weft/ops/normalize.hpp"
#include "weft/ops/pad.hpp"
#include "weft/ops/reduce.hpp"
#include "weft/ops/rotate.hpp"
#include "weft/ops/scan.hpp"
#include "weft/ops/sources.hpp"
#include "weft/ops/view.hpp"
#include "weft/ops/windows.hpp"
#include "weft/ops/write.hpp"

// The language of models, and what trains, runs, saves and explains them.
namespace weft {
// Layers, written with the operations of weft as a user could write them. Parameters have PyTorch's
// names, layouts and initial values.
namespace nn {}
}  // namespace weft
#include "weft/header_end.hpp"
