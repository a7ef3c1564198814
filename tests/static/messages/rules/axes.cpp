// Structs of axes in which a role is missing, wrong, doubled or of no use.
#include "weft/nn/causal_block.hpp"
#include "weft/nn/transformer.hpp"

#include "../../words.hpp"

using namespace words;
using namespace weft::nn;

struct Group : weft::axis<2> {};
struct Source : weft::axis<weft::up_to<512>> {};
struct KeySource : weft::alias<Source> {};

struct misspelt {
  using positions = Pos;
  using keys = KeyPos;
  using embed = Embed;
  using heads = Heads;
  using headdim = HeadDim;
  using hidden = Hidden;
  using cache = Source;
};
struct only_embed {
  using embed = Embed;
};
struct without_keys : only_embed {
  using positions = Pos;
};
struct without_embed {
  using positions = Pos;
  using keys = KeyPos;
};
struct without_heads : without_embed {
  using embed = Embed;
};
struct without_hidden : without_heads {
  using heads = Heads;
  using head_dim = HeadDim;
};
class hidden_axes : axes {};
struct number : axes {
  using heads = int;
};
struct list : axes {
  using embed = weft::shape<Embed>;
};
struct one_group : axes {
  using group = int;
};
struct no_group : axes {
  using group = void;
};
struct same_heads : axes {
  using head_dim = Heads;
};
struct same_group : axes {
  using group = HeadDim;
};
struct same_positions : axes {
  using keys = Pos;
};
struct hidden_is_embed : axes {
  using hidden = Embed;
};
struct cached : axes {
  using cache = Source;
};
struct cache_is_pos : axes {
  using cache = Pos;
};
struct with_values : cached {
  using value_dim = Vocab;
};
struct with_output : axes {
  using output_width = Vocab;
};
struct one_head : axes {
  using key_heads = Heads;
};
struct other_heads : axes {
  using key_heads = weft::shape<Group>;
};
struct with_memory : axes {
  using memory = Source;
};
struct memory_is_keys : axes {
  using memory = KeyPos;
};
struct memory_and_width : with_memory {
  using key_width = Vocab;
};
struct source_axes : axes {
  using positions = Source;
  using keys = KeySource;
};

constexpr floats<Source, Embed> source{};
constexpr floats<KeyPos, Embed> keys{};

void wrong(weft::scope s, const cache_position<Pos, integers<Batch>, all_positions>& at) {
  // errors: nn::encoder: the axes name no head_dim
  // note: misspelt
  encoder<misspelt>(s, x, 2);
  encoder<misspelt>(s, x, 2, {}, {.norm_first = true}, position::rotary());
  // error: nn::encoder: the axes name no hidden
  encoder<without_hidden>(s, x, 2);
  // errors: nn::encoder: the axes name no positions
  encoder<Embed>(s, x, 2);
  encoder<int>(s, x, 2);
  encoder<hidden_axes>(s, x, 2);
  // error: nn::encoder: the type in a role is no axis; see fault<>
  // note: roles::heads, int
  encoder<number>(s, x, 2);
  // error: nn::encoder: the type in a role is no axis; see fault<>
  // note: roles::embed, weft::shape<Embed>
  encoder<list>(s, x, 2);
  // error: nn::encoder: the type in a role is no axis; see fault<>
  // note: roles::group, int
  encoder<one_group>(s, x, 2);
  // error: nn::encoder: the type in a role is no axis; see fault<>
  // note: roles::group, void
  encoder<no_group>(s, x, 2);
  // error: nn::encoder: two roles have the same axis; see fault<>
  // note: roles::heads, Heads
  // note: roles::head_dim, Heads
  encoder<same_heads>(s, x, 2);
  // error: nn::encoder: two roles have the same axis; see fault<>
  // note: roles::head_dim, HeadDim
  // note: roles::group, HeadDim
  encoder<same_group>(s, x, 2);
  // error: nn::encoder: two roles have the same axis; see fault<>
  // note: roles::positions, Pos
  // note: roles::keys, Pos
  encoder<same_positions>(s, x, 2);
  // error: nn::encoder: two roles have the same axis; see fault<>
  // note: roles::embed, Embed
  // note: roles::hidden, Embed
  encoder<hidden_is_embed>(s, x, 2);
  // error: nn::encoder: it has no such role; see fault<>
  // note: roles::output_width
  encoder<with_output>(s, x, 2);
  // error: nn::encoder: key_heads are a shape of the queries' heads, or weft::shape<>
  // note: roles::key_heads, Heads
  encoder<one_head>(s, x, 2);
  // error: nn::encoder: key_heads are a shape of the queries' heads, or weft::shape<>
  // note: roles::key_heads, weft::shape<Group>
  encoder<other_heads>(s, x, 2);
  // error: nn::encoder_block: the axes name no head_dim
  encoder_block<misspelt>(s, x);
  // error: nn::encoder_block: two roles have the same axis; see fault<>
  // note: roles::head_dim, Heads
  encoder_block<same_heads>(s, x);
  // error: nn::self_attention: the axes name no keys
  self_attention<without_keys>(s, x);
  // error: nn::self_attention: the axes name no embed
  self_attention<without_embed>(s, x);
  // error: nn::self_attention: the axes name no heads
  self_attention<without_heads>(s, x);
  // error: nn::self_attention: two roles have the same axis; see fault<>
  // note: roles::keys, Pos
  self_attention<same_positions>(s, x, words::causal);
  // error: nn::multi_head_attention: the axes name no keys
  multi_head_attention<only_embed>(s, x, keys, keys);
  // error: nn::multi_head_attention: the type in a role is no axis; see fault<>
  // note: roles::heads, int
  multi_head_attention<number>(s, x, keys, keys);
  // error: nn::decoder_block: the axes name no memory
  decoder_block<axes>(s, x, source);
  // error: nn::decoder: the axes name no memory
  decoder<axes>(s, x, source, 2);
  // error: nn::decoder: two roles have the same axis; see fault<>
  // note: roles::memory, KeyPos
  decoder<memory_is_keys>(s, x, keys, 2);
  // error: nn::decoder_block: it has no such role; see fault<>
  // note: roles::key_width
  decoder_block<memory_and_width>(s, x, source);
  // errors: nn::transformer: the axes name no head_dim
  transformer<misspelt, axes>(s, source, x, 2, 2);
  transformer<source_axes, misspelt>(s, source, x, 2, 2, {}, {}, {}, {.norm_first = true});
  // error: nn::transformer: two roles have the same axis; see fault<>
  // note: roles::memory, Pos
  transformer<axes, axes>(s, x, x, 2, 2);
  // error: nn::causal_attention: the axes name no cache
  causal_attention<axes>(s, x, at);
  // errors: nn::causal_block: the axes name no head_dim
  causal_block<misspelt>(s, x, at);
  causal_block<misspelt>(s, x, at, {.window = 2}, position::none());
  // error: nn::causal_block: two roles have the same axis; see fault<>
  // note: roles::cache, Pos
  // note: roles::positions, Pos
  causal_block<cache_is_pos>(s, x, at);
  // error: nn::causal_block: it has no such role; see fault<>
  // note: roles::value_dim
  causal_block<with_values>(s, x, at);
  // errors: nn::causal_layer: the axes name no head_dim
  causal_layer<misspelt>(s, x, at);
  causal_layer<misspelt>(s, x, at, cached_rows{keys, keys}, {.window = 2});
  // error: nn::causal_attention: the axes name no head_dim
  causal_attention<misspelt>(s, x, at, cached_rows{keys, keys});
}
