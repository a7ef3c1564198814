// The algebra of axes: lengths, shapes, names.
#include <type_traits>

#include "weft/axes/name.hpp"
#include "weft/axes/shape.hpp"
#include "words.hpp"

using namespace words;
using weft::shape;

// Extents. An alias has that of its axis, transitively.
struct KeyKeyPos : weft::alias<KeyPos> {};
struct OtherPos : weft::axis<weft::up_to<512>> {};
struct Six : weft::axis<6> {};

static_assert(Embed::extent == 384 && !Embed::bounded);
static_assert(Pos::extent == 512 && Pos::bounded);
static_assert(KeyKeyPos::extent == 512 && KeyKeyPos::bounded);
struct Filled : weft::axis<weft::between<1, 512>> {};
struct KeyFilled : weft::alias<Filled> {};
static_assert(Filled::extent == 512 && Filled::bounded && !weft::same_length<Filled, Pos>);
static_assert(weft::info_of<Filled>.least == 1 && weft::info_of<KeyFilled>.least == 1);
static_assert(weft::info_of<Pos>.least == 0 && weft::info_of<Embed>.least == 0);
static_assert(weft::axis_like<Embed> && weft::axis_like<Pos> && weft::axis_like<KeyPos>);
static_assert(!weft::axis_like<int> && !weft::axis_like<shape<Pos>> && !weft::axis_like<shape<>>);

static_assert(is<weft::length_axis_t<Pos>, Pos>);
static_assert(is<weft::length_axis_t<KeyKeyPos>, Pos>);

// Fixed lengths are the same if the extents are equal, run-time lengths only of aliases.
static_assert(weft::same_length<Heads, Six> && !weft::same_length<Heads, HeadDim>);
static_assert(weft::same_length<Pos, KeyPos> && weft::same_length<KeyKeyPos, KeyPos>);
static_assert(!weft::same_length<Pos, OtherPos> && !weft::same_length<KeyPos, OtherPos>);
struct Whole : weft::axis<512> {};
static_assert(!weft::same_length<Pos, Whole> && !weft::same_length<Whole, Pos>);

static_assert(weft::info_of<Embed>.length_axis() == &weft::info_of<Embed>);
static_assert(weft::info_of<KeyKeyPos>.length_axis() == &weft::info_of<Pos>);
static_assert(weft::info_of<KeyPos>.extent == 512 && weft::info_of<KeyPos>.bounded);
static_assert(weft::info_of<Heads>.name == "Heads");

// Shapes.
static_assert(shape<>::rank == 0 && shape<>::extent == 1 && !shape<>::bounded);
static_assert(shape<Batch, Pos>::rank == 2 && shape<Batch, Pos>::extent == 8 * 512);
static_assert(shape<Batch, Pos>::bounded && !shape<Batch, Embed>::bounded);

static_assert(weft::has_axis<Pos, shape<Batch, Pos>> && !weft::has_axis<KeyPos, shape<Batch, Pos>>);
static_assert(!weft::has_axis<Pos, shape<>>);
static_assert(!weft::has_axis<Heads, shape<Six>>);  // equal lengths do not make axes equal

static_assert(weft::distinct<shape<>> && weft::distinct<shape<Batch, Pos, KeyPos>>);
static_assert(!weft::distinct<shape<Pos, Batch, Pos>> && !weft::distinct<shape<Pos, Pos>>);

static_assert(weft::subset<shape<>, shape<>> && weft::subset<shape<>, shape<Pos>>);
static_assert(weft::subset<shape<Pos, Batch>, shape<Batch, Embed, Pos>>);
static_assert(!weft::subset<shape<Pos, KeyPos>, shape<Pos>> && !weft::subset<shape<Pos>, shape<>>);

static_assert(is<weft::without<shape<Batch, Pos, Embed>, shape<Pos>>, shape<Batch, Embed>>);
static_assert(is<weft::without<shape<Batch, Pos>, shape<Pos, Batch>>, shape<>>);
static_assert(is<weft::without<shape<Batch, Pos>, shape<Embed>>, shape<Batch, Pos>>);
static_assert(is<weft::without<shape<>, shape<Embed>>, shape<>>);
static_assert(is<weft::without<shape<Embed>, shape<>>, shape<Embed>>);

static_assert(is<weft::united<shape<Batch, Pos>, shape<Pos, Embed>>, shape<Batch, Pos, Embed>>);
static_assert(is<weft::united<shape<Pos, Embed>, shape<Batch, Pos>>, shape<Pos, Embed, Batch>>);
static_assert(is<weft::united<shape<>, shape<Pos>>, shape<Pos>>);
static_assert(is<weft::united<shape<>, shape<>>, shape<>>);

static_assert(weft::united_rank<shape<Batch, Pos>, shape<Pos, Embed>> == 3);
static_assert(weft::united_rank<shape<>, shape<>> == 0 &&
              weft::united_rank<shape<Pos>, shape<>> == 1);

static_assert(is<weft::replaced<shape<Batch, Embed>, Embed, shape<Heads, HeadDim>>,
                 shape<Batch, Heads, HeadDim>>);
static_assert(is<weft::replaced<shape<Batch, Embed>, Batch, shape<>>, shape<Embed>>);
static_assert(is<weft::replaced<shape<Batch, Embed>, Pos, shape<KeyPos>>, shape<Batch, Embed>>);

static_assert(is<weft::first_of<Pos, Batch>, Pos> && is<weft::first_of<Pos>, Pos>);

// The name of an axis is that of its type, without the scope that declares it.
namespace {
struct Unnamed : weft::axis<4> {};
}  // namespace
struct net {
  struct Inner : weft::axis<4> {};
};
template <int N>
struct sized {
  struct Inner : weft::axis<N> {};
};
template <class Of>
struct Twin : weft::alias<Of> {};

static_assert(weft::type_name<Embed>() == "Embed");
static_assert(weft::type_name<Six>() == "Six");
static_assert(weft::type_name<Unnamed>() == "Unnamed");
static_assert(weft::type_name<net::Inner>() == "Inner");
static_assert(weft::type_name<sized<3>::Inner>() == "Inner");
static_assert(weft::type_name<Level<3>>() == "Level<3>");
static_assert(weft::type_name<Twin<Six>>() == "Twin<Six>");

constexpr auto of_a_function() {
  struct Local : weft::axis<4> {};
  return weft::type_name<Local>();
}
static_assert(of_a_function() == "Local");

struct a_model {
  constexpr auto operator()() const {
    struct Local : weft::axis<4> {};
    return weft::type_name<Local>();
  }
};
static_assert(a_model{}() == "Local");

template <class T>
constexpr auto of_a_template() {
  struct Local : weft::axis<4> {};
  return weft::type_name<Local>();
}
static_assert(of_a_template<int>() == "Local");

constexpr auto of_a_lambda = [](auto) {
  struct Local : weft::axis<4> {};
  return weft::type_name<Local>();
};
static_assert(of_a_lambda(1) == "Local");
