// What an encoding adds to the cost of attention, computed at compile time.
#include <boost/test/unit_test.hpp>

#include "weft/weft.hpp"

namespace {

using namespace weft;
namespace position = nn::position;

struct Batch : axis<4> {};
struct Pos : axis<100> {};
struct KeyPos : alias<Pos> {};
struct Embed : axis<24> {};
struct Heads : axis<3> {};
struct HeadDim : axis<8> {};
struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
};

template <class Order>
struct layer {
  constexpr auto operator()(scope s) const {
    const Order order;
    const auto embedded = s.input<"x", float, Batch, Pos, Embed>();
    const auto x = nn::add_positions<Pos, Embed>(s / "embedding", embedded, order);
    return nn::self_attention<axes>(s, x, {}, {}, order).output;
  }
};

template <class Order>
inline constexpr double more_flops = cost<layer<Order>>.flops - cost<layer<position::none>>.flops;
template <class Order>
std::size_t more_parameters() {
  return parameters<layer<Order>>().elements() - parameters<layer<position::none>>().elements();
}

constexpr double numbers = Batch::extent * Pos::extent * Heads::extent * HeadDim::extent,
                 pairs = Pos::extent * Pos::extent, scores = Batch::extent * Heads::extent * pairs;

// An upper bound of the flops of the sinusoids of all positions, or of their angles.
constexpr double sines = 20 * Pos::extent * Embed::extent;

}  // namespace

BOOST_AUTO_TEST_SUITE(position_costs, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(encodings_have_as_many_parameters_as_their_formulas) {
  BOOST_TEST(more_parameters<position::sinusoidal>() == 0);
  BOOST_TEST(more_parameters<position::learned<>>() == 100 * 24);
  BOOST_TEST(more_parameters<position::learned_sinusoidal>() == 12);
  BOOST_TEST((more_parameters<position::fourier<6, 5>>() == 3 + (6 * 5 + 5) + (5 * 24 + 24)));
  BOOST_TEST(more_parameters<position::rotary<>>() == 0);
  BOOST_TEST(more_parameters<position::learned_rotary<>>() == 4);
  BOOST_TEST(more_parameters<position::shaw_keys<16>>() == 33 * 8);
  BOOST_TEST(more_parameters<position::shaw<16>>() == 2 * 33 * 8);
  BOOST_TEST(more_parameters<position::transformer_xl<>>() == 2 * 24 + 24 * 24);
  BOOST_TEST(more_parameters<position::t5<>>() == 32 * 3);
  BOOST_TEST(more_parameters<position::alibi>() == 0);
  BOOST_TEST(more_parameters<position::learned_alibi>() == 3);
}

BOOST_AUTO_TEST_CASE(encodings_cost_what_their_formulas_say) {
  constexpr double added = numbers;  // one for each element of the embeddings
  BOOST_TEST(more_flops<position::learned<>> == added);
  BOOST_TEST(more_flops<position::sinusoidal> >= added);
  BOOST_TEST(more_flops<position::sinusoidal> <= added + sines);

  // Each element of queries and keys becomes a cos - b sin, or b cos + a sin.
  BOOST_TEST(more_flops<position::rotary<>> >= 2 * 3 * numbers);
  BOOST_TEST(more_flops<position::rotary<>> <= 2 * 3 * numbers + sines);
  BOOST_TEST(more_flops<position::learned_rotary<>> >= 2 * 3 * numbers);
  BOOST_TEST(more_flops<position::learned_rotary<>> <= 2 * 3 * numbers + sines);

  // One addition per score, and computing the bias, once for all sequences.
  for (const double more : {more_flops<position::alibi>, more_flops<position::learned_alibi>,
                            more_flops<position::t5<>>}) {
    BOOST_TEST(more >= scores);
    BOOST_TEST(more <= scores + 6 * pairs);
  }

  // Products of queries with the vectors of 5 distances, and of weights, summed by distance, with 5
  // more. Vectors of all pairs would take 2 scores * HeadDim for each.
  const double products = 2 * 5 * numbers;
  BOOST_TEST(more_flops<position::shaw_keys<2>> >= products);
  BOOST_TEST(more_flops<position::shaw_keys<2>> <= products + 2 * scores);
  BOOST_TEST(more_flops<position::shaw<2>> >= 2 * products);
  BOOST_TEST(more_flops<position::shaw<2>> <= 2 * products + 8 * scores);

  // Distances from -99 to 99 are projected to keys of their own, and multiplied with each query.
  constexpr double distances = 199, width = Heads::extent * HeadDim::extent;
  constexpr double relative = 2 * distances * (width * width + numbers);
  BOOST_TEST(more_flops<position::transformer_xl<>> >= relative);
  BOOST_TEST(more_flops<position::transformer_xl<>> <=
             relative + 2 * distances * numbers / HeadDim::extent);
}

BOOST_AUTO_TEST_SUITE_END()
