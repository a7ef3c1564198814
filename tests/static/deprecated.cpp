// Each earlier name means what its successor means.
#include "weft/nn/deprecated.hpp"

#include "weft/lower/units.hpp"
#include "weft/nn/position.hpp"
#include "words.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

using namespace words;
namespace nn = weft::nn;
using weft::shape, weft::positions;

struct Cache : weft::axis<weft::up_to<1024>> {};

struct earlier_decoder {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Batch, Pos, HeadDim>();
    const auto count = s.input<"count", std::int32_t, Batch>();
    const auto at = nn::decoding<Pos, Batch>(s / "decoding", count);
    const auto past = nn::cached<Cache>(s / "cache", at, x, x);
    const auto y =
        nn::positioned<Pos, HeadDim>(s / "position", x, nn::position::sinusoidal(), nn::places(at));
    return nn::attention<Cache>(nn::dot_product_score<HeadDim>(y, past.keys), past.values,
                                nn::seen<Cache>(at))
        .output;
  }
};
struct decoder {
  constexpr auto operator()(weft::scope s) const {
    const auto x = s.input<"x", float, Batch, Pos, HeadDim>();
    const auto count = s.input<"count", std::int32_t, Batch>();
    const auto at = nn::decode_state<Pos, Batch>(s / "decoding", count);
    const auto past = nn::kv_cache<Cache>(s / "cache", at, x, x);
    const auto y = nn::add_positions<Pos, HeadDim>(s / "position", x, nn::position::sinusoidal(),
                                                   nn::position_ids(at));
    return nn::attention<Cache>(nn::dot_product_score<HeadDim>(y, past.keys), past.values,
                                nn::causal_cache_mask<Cache>(at))
        .output;
  }
};
static_assert(weft::dump<earlier_decoder, "remove-dropout">.view() ==
              weft::dump<decoder, "remove-dropout">.view());

using rotary = nn::position::rotary<>;
static_assert(is<decltype(nn::along<Pos>(rotary())), decltype(nn::for_queries<Pos>(rotary()))>);
static_assert(is<decltype(nn::places_in_attention<Pos, KeyPos>(tokens, 1)),
                 decltype(nn::positions_in_attention<Pos, KeyPos>(tokens, 1))>);

using length = integers<Batch>;
static_assert(is<nn::progress<Pos, length, nn::all_positions>,
                 nn::cache_position<Pos, length, nn::all_positions>>);
static_assert(is<nn::attention_places<Pos, KeyPos, integers<Pos>>,
                 nn::attention_positions<Pos, KeyPos, integers<Pos>>>);
static_assert(is<nn::encoding_along<Pos, rotary>, nn::query_encoding<Pos, rotary>>);
static_assert(is<nn::attended<int, long>, nn::attention_output<int, long>>);
static_assert(is<nn::decoded<int, long, char>, nn::decoder_output<int, long, char>>);
static_assert(is<nn::nothing, nn::no_term>);

static_assert(nn::rotary_pairs::neighbours == nn::rotary_pairs::interleaved);
static_assert(nn::rotary_pairs::halves == nn::rotary_pairs::half_split);
