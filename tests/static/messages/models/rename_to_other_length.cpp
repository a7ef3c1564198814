// expect: rename: the two axes' lengths differ; declare one as weft::alias of the other
// expect: Pos
// expect: SourcePos
#include <vector>
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct SourcePos : weft::axis<weft::up_to<512>> {};
struct Embed : weft::axis<384> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, Embed>();
    auto source = weft::rename<Pos, SourcePos>(x);  // error here: SourcePos is no alias
    return dot<Embed>(x, source);
  }
};

float run(const std::vector<float>& x) {
  weft::module<model> net;
  auto const y = net(weft::arg<"x">(x)).get<"result">();
  return y.data()[0];
}
