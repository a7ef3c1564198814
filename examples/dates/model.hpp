// A recurrent encoder and decoder with additive attention between them: Bahdanau, Cho and Bengio
// 2015, "Neural machine translation by jointly learning to align and translate".
#pragma once

#include <weft/weft.hpp>

#include "text.hpp"

namespace dates {

struct Batch : weft::axis<weft::up_to<128>> {};
struct Pos : weft::axis<weft::up_to<40>> {};  // of the text
struct Step : weft::axis<10> {};              // of the date: YYYY-MM-DD
struct Character : weft::axis<alphabet.size()> {};
struct Symbol : weft::axis<symbols.size()> {};
struct Embed : weft::axis<32> {};
struct Hidden : weft::axis<64> {};  // the encoder's state, in each direction
struct Before : weft::alias<Hidden> {};
struct Annotation : weft::axis<128> {};  // of both directions
struct State : weft::axis<64> {};        // the decoder's
struct StateBefore : weft::alias<State> {};
struct Both : weft::axis<Embed::extent + Annotation::extent> {};
struct Align : weft::axis<64> {};

// The index of the greatest element along A; of several, the last.
template <class A, weft::expression X>
constexpr auto argmax(const X& x) {
  auto const places = weft::cast<float>(weft::positions<A>());
  return weft::cast<std::int32_t>(weft::max<A>(weft::where(x == weft::max<A>(x), places, -1)));
}

// PyTorch's GRU cell.
template <class In, class H, class HB, class X, class S>
constexpr auto gru(weft::scope s, const X& x, const S& h) {
  namespace nn = weft::nn;
  auto hb = weft::rename<H, HB>(h);
  auto in = [&](const char* n) {
    return nn::linear<weft::shape<In>, weft::shape<H>>(s / "in" / n, x);
  };
  auto re = [&](const char* n) {
    return nn::linear<weft::shape<HB>, weft::shape<H>>(s / "re" / n, hb);
  };
  auto r = weft::sigmoid(in("r") + re("r"));
  auto z = weft::sigmoid(in("z") + re("z"));
  auto n = weft::tanh(in("n") + r * re("n"));
  return (1 - z) * n + z * h;
}

// Results: "loss", the mean of -log p(symbol) in nats; "written" [Batch, Step], the date, and
// "weights" [Batch, Step, Pos], what each of its symbols was taken from.
struct model {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    using weft::shape;
    auto text = s.input<"text", std::int32_t, Batch, Pos>();
    auto valid = s.input<"valid", std::int32_t, Batch>();  // the texts' lengths
    // The date, where it is to be learnt. Negative symbols are to be written.
    auto date = s.input<"date", std::int32_t, Batch, Step>();

    // Section 3.2: an annotation for each character, from those before it and those after it.
    auto x = nn::embedding<Character, Embed>(s / "characters", text, weft::init::normal(0, 1));
    auto inside = weft::positions<Pos>() < valid;
    auto zero = weft::broadcast<Batch, Hidden>(weft::constant(0.0f));
    auto ahead = weft::scan<Pos>(
        zero, x, [&](auto h, auto x) { return gru<Embed, Hidden, Before>(s / "forward", x, h); });
    auto back = weft::scan<Pos, weft::backwards>(
        zero, std::tuple{x, inside}, [&](auto h, auto x, auto inside) {
          return weft::where(inside, gru<Embed, Hidden, Before>(s / "backward", x, h), h);
        });
    auto annotations = weft::concatenate<Annotation, shape<Hidden, Hidden>>(ahead.all, back.all);
    auto keys = nn::linear_without_bias<shape<Annotation>, shape<Align>>(s / "keys", annotations);

    // Section 3.1: the decoder looks for what it needs in each step.
    auto begin = weft::tanh(nn::linear<shape<Hidden>, shape<State>>(s / "begin", back.last));
    auto nothing = weft::broadcast<Batch>(weft::constant(begin_sign));
    auto written = weft::scan<Step>(
        std::tuple{begin, nothing}, date, [&](auto state, auto before, auto given) {
          auto y = nn::embedding<Symbol, Embed>(s / "symbols", before, weft::init::normal(0, 1));
          auto query = nn::linear<shape<State>, shape<Align>>(s / "query", state);
          auto v = s.param<"score", Align>(weft::init::fan_in_uniform<Align>());
          auto scores = weft::dot<Align>(weft::tanh(query + keys), v);
          auto weights = weft::softmax<Pos>(weft::where(inside, scores, -weft::infinity));
          auto context = weft::dot<Pos>(weights, annotations);
          auto in = weft::concatenate<Both, shape<Embed, Annotation>>(y, context);
          auto next = gru<Both, State, StateBefore>(s / "decoder", in, state);
          auto logits = nn::linear<shape<State>, shape<Symbol>>(s / "out", next) +
                        nn::linear_without_bias<shape<Both>, shape<Symbol>>(s / "outc", in);
          auto chosen = weft::where(given >= 0, given, argmax<Symbol>(logits));
          return weft::next(next, chosen).with(logits, chosen, weights);
        });
    auto const& [logits, symbols, weights] = written.all;
    auto loss = weft::mean<Batch, Step>(weft::cross_entropy<Symbol>(logits, date));
    return weft::results(weft::as<"loss">(loss), weft::as<"written">(symbols),
                         weft::as<"weights">(weights));
  }
};

}  // namespace dates
