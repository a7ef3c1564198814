// A recurrent encoder and decoder with additive attention between them: Bahdanau, Cho and Bengio
// 2015, "Neural machine translation by jointly learning to align and translate".
#pragma once

#include <weft/model.hpp>

#include "text.hpp"

namespace dates {

struct Batch : weft::axis<weft::up_to<128>> {};
struct Pos : weft::axis<weft::up_to<40>> {};  // of the text
struct Step : weft::axis<10> {};              // of the date, YYYY-MM-DD
struct Character : weft::axis<alphabet.size()> {};
struct Symbol : weft::axis<symbols.size()> {};
struct Embed : weft::axis<32> {};
struct Hidden : weft::axis<64> {};       // the encoder's state, in each direction
struct Annotation : weft::axis<128> {};  // both directions, concatenated
struct State : weft::axis<64> {};        // the decoder's
struct Read : weft::axis<160> {};        // the decoder's input: a symbol and annotations
struct Align : weft::axis<64> {};

// The recurrent unit is torch.nn.GRU's, and a linear layer on the decoder's state replaces the
// paper's maxout (section A.2.2).
//
// Results: "loss", the mean of -log p(symbol) in nats; "written" [Batch, Step], the dates as
// symbols; "weights" [Batch, Step, Pos], the attention of each symbol to the characters.
struct model {
  constexpr auto operator()(weft::scope s) const {
    namespace nn = weft::nn;
    using weft::shape;
    auto text = s.input<"text", std::int32_t, Batch, Pos>();
    auto valid = s.input<"valid", std::int32_t, Batch>();  // the lengths of the texts
    // The target symbols, for teacher forcing; -1: the decoder is fed its own previous output.
    auto date = s.input<"date", std::int32_t, Batch, Step>();

    // An annotation of each character, from those before and after it (section 3.2). Backwards, a
    // text begins at the end of its padding.
    auto x = nn::embedding<Character, Embed>(s / "characters", text);
    auto ahead = nn::gru<Pos, Embed, Hidden>(s / "encoder", x).all;
    const nn::gru_cell<Embed, Hidden> cell(s / "encoder", "_l0_reverse");
    auto back = weft::scan<Pos, weft::backwards>(
        weft::broadcast<Batch, Hidden>(weft::constant(0.0f)),
        std::tuple_cat(cell.input(x), std::tuple{nn::valid<Pos>(valid)}),
        [&](auto h, auto r, auto z, auto n, auto inside) {
          return weft::where(inside, cell.step(h, r, z, n), h);
        });
    auto annotations = weft::concatenate<Annotation, shape<Hidden, Hidden>>(ahead, back.all);

    // Each symbol from the one before and the annotations that it attends to (section 3.1).
    const nn::gru_cell<Read, State> decoder(s / "decoder");
    auto begin = tanh(nn::linear<Hidden, State>(s / "begin", back.last));
    auto decoded = weft::scan<Step>(
        std::tuple{begin, weft::broadcast<Batch>(weft::constant(begin_sign))}, date,
        [&](auto state, auto before, auto given) {
          auto scores =
              nn::additive_score<State, Annotation, Align>(s / "alignment", state, annotations);
          auto attended = nn::attention<Pos>(scores, annotations, valid);
          auto y = nn::embedding<Symbol, Embed>(s / "symbols", before);
          auto read = weft::concatenate<Read, shape<Embed, Annotation>>(y, attended.output);
          auto after = decoder(read, state);
          auto logits = nn::linear<State, Symbol>(s / "output", after);
          auto symbol = weft::where(given >= 0, given, weft::argmax<Symbol>(logits));
          return weft::next(after, symbol).with(logits, symbol, attended.weights);
        });
    const auto [logits, written, weights] = decoded.all;
    auto loss = weft::mean<Batch, Step>(weft::cross_entropy<Symbol>(logits, date));
    return weft::results(weft::as<"loss">(loss), weft::as<"written">(written),
                         weft::as<"weights">(weights));
  }
};

}  // namespace dates
