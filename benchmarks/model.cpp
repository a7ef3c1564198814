// Whole models. The rates count the multiplications and additions of the contractions in the
// textbook's form, causal attention as a full square: what else a model does makes its share of the
// peak lower, and work that is left out makes it higher.
#include <weft/weft.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "benchmarks/cases.hpp"
#include "benchmarks/measure.hpp"
#include "examples/char_lm/model.hpp"

namespace bench {
namespace {

// Floating-point operations of a transformer's layer: four projections, scores and their use, and
// the feed-forward network.
constexpr double layer_operations(double tokens, double keys, double embed, double hidden) {
  return 2 * tokens * (4 * embed * embed + 2 * keys * embed + 2 * embed * hidden);
}

// Vaswani et al. 2017, figure 1, left: normalised after each residual sum; GELU by erf, no mask.
struct encoder_layer {
  struct Pos : weft::axis<weft::up_to<128>> {};
  struct KeyPos : weft::alias<Pos> {};
  struct Embed : weft::axis<384> {};
  struct Heads : weft::axis<6> {};
  struct HeadDim : weft::axis<64> {};
  struct Hidden : weft::axis<1536> {};

  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    using Inner = weft::shape<Heads, HeadDim>;
    auto x = s.input<"x", float, Pos, Embed>();
    auto query = nn::linear<weft::shape<Embed>, Inner>(s / "query", x);
    auto key = weft::rename<Pos, KeyPos>(nn::linear<weft::shape<Embed>, Inner>(s / "key", x));
    auto value = weft::rename<Pos, KeyPos>(nn::linear<weft::shape<Embed>, Inner>(s / "value", x));
    auto weights = nn::attention_weights<HeadDim, KeyPos>(query, key);
    auto attended =
        nn::linear<Inner, weft::shape<Embed>>(s / "out", weft::dot<KeyPos>(weights, value));
    auto between = nn::layer_norm<Embed>(s / "norm1", x + attended);
    return nn::layer_norm<Embed>(s / "norm2",
                                 between + nn::feed_forward<Embed, Hidden>(s, between));
  }
};

void encoder(benchmark::State& state) {
  using model = encoder_layer;
  constexpr std::size_t tokens = model::Pos::extent, embed = model::Embed::extent;
  weft::module<model> net;
  floats data(tokens * embed);
  const weft::view<const float, weft::shape<model::Pos, model::Embed>> x(data.data(), tokens);
  time_operations(state, layer_operations(tokens, tokens, embed, model::Hidden::extent),
                  [&] { net(weft::arg<"x">(x)); });
}

// The example's language model, 8 texts of 128 bytes.
struct batch {
  static constexpr std::size_t texts = 8, length = 128;
  using tokens = weft::array<std::int32_t, char_lm::Batch, char_lm::Pos>;
  tokens x{texts, length}, y{texts, length};

  batch() {
    std::int32_t next = 0;
    const auto byte = [&next] { return next = (next * 5 + 17) % 256; };  // each byte, in some order
    std::ranges::generate(x, byte);
    std::ranges::generate(y, byte);
  }

  static constexpr double operations() {
    constexpr double layers = 4, tokens = texts * length, embed = char_lm::Embed::extent;
    return layers * layer_operations(tokens, length, embed, char_lm::Hidden::extent) +
           2 * tokens * embed * char_lm::Vocab::extent;
  }
};

void forward(benchmark::State& state) {
  weft::module<char_lm::model<>, "logits"> net;
  const batch given;
  time_operations(state, batch::operations(), [&] { net(weft::arg<"tokens">(given.x)); });
}

// The gradient of a contraction is two contractions of the same size.
void training_step(benchmark::State& state) {
  weft::trainer<char_lm::model<>> trainer;
  const batch given;
  time_operations(state, 3 * batch::operations(), [&] {
    trainer.step(weft::arg<"tokens">(given.x), weft::arg<"targets">(given.y));
  });
}

}  // namespace

void add_model() {
  benchmark::RegisterBenchmark("model/encoder_layer/384x128", encoder);
  benchmark::RegisterBenchmark("model/char_lm/forward", forward);
  benchmark::RegisterBenchmark("model/char_lm/training_step", training_step);
}

}  // namespace bench
