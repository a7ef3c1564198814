// The dumps of include/weft/README.md are what the passes print of the front page's model.
#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <weft/weft.hpp>

namespace {

struct Batch : weft::axis<weft::up_to<8>> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct KeyPos : weft::alias<Pos> {};
struct Embed : weft::axis<384> {};
struct Heads : weft::axis<6> {};
struct HeadDim : weft::axis<64> {};

struct causal_self_attention {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    auto wq = s.param<"wq", Embed, Heads, HeadDim>();
    auto wk = s.param<"wk", Embed, Heads, HeadDim>();
    auto wv = s.param<"wv", Embed, Heads, HeadDim>();
    auto wo = s.param<"wo", Heads, HeadDim, Embed>();
    auto q = dot<Embed>(x, wq);
    auto k = rename<Pos, KeyPos>(dot<Embed>(x, wk));
    auto v = rename<Pos, KeyPos>(dot<Embed>(x, wv));
    auto scores = dot<HeadDim>(q, k) / sqrt(HeadDim{});
    auto mask = positions<KeyPos>() <= positions<Pos>();
    auto weights = softmax<KeyPos>(where(mask, scores, -infinity));
    return dot<Heads, HeadDim>(dot<KeyPos>(weights, v), wo);
  }
};

constexpr auto simplified = weft::dump<causal_self_attention, "simplify">;
constexpr auto fused = weft::dump<causal_self_attention, "fuse-attention">;
// No later pass changes the graph.
static_assert(fused.view() == weft::dump<causal_self_attention>.view());
static_assert(weft::cost<causal_self_attention>.operations == 5);

}  // namespace

int main(int, char** arguments) {
  std::ifstream document(arguments[1]);
  const std::array<std::string_view, 2> texts{simplified.view(), fused.view()};
  std::array<int, 2> lines{};
  std::size_t text = 0;
  bool wrong = false;
  for (std::string line; std::getline(document, line);) {
    if (line == "```" && lines[text] > 0 && text == 0) text = 1;
    if (!line.starts_with('%')) continue;
    ++lines[text];
    if (texts[text].find(line + "\n") != std::string_view::npos) continue;
    std::cerr << "the passes do not print: " << line << "\n";
    wrong = true;
  }
  return wrong || lines[0] < 5 || lines[1] < 2 ? 1 : 0;
}
