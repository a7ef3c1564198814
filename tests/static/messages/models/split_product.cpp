// expect: split: the product of the new axes' extents is not the axis's extent
// expect: Embed
// expect: Heads, Batch
#include <weft/weft.hpp>

struct Batch : weft::axis<8> {};
struct Pos : weft::axis<weft::up_to<512>> {};
struct Embed : weft::axis<384> {};
struct Heads : weft::axis<6> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, Embed>();
    auto heads = weft::split<Embed, Heads, Batch>(x);  // error here: 6 * 8 is not 384
    return weft::sum<Pos>(heads);
  }
};

constexpr weft::graph g = weft::define<model>();
