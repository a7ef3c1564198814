// Attention of a single query (a decode step). Vectors of scores run along the keys. Heads that
// share their keys and values (grouped and multi-query attention) take a block of keys in turn, so
// that the first reads it from memory and the others from the cache.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

#include "kernels/attention_view.hpp"
#include "weft/kernels/attention_scratch.hpp"
#include "weft/kernels/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_decode.cpp"
#include "hwy/foreach_target.h"  // must come before hwy-inl.h
#include "kernels/attention_decode-inl.h"
#include "kernels/gemv-inl.h"
#include "kernels/philox-inl.h"
#include "kernels/row-inl.h"
#include "kernels/transpose-inl.h"
#include "weft/kernels/math-inl.h"
#include "weft/kernels/vec_array-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// Keys in a block. Their scores are in the part of the scratch that holds those of a tile of
// queries and a block of keys.
constexpr std::ptrdiff_t key_block = 512;

// The most heads for which keys are read at once. Three rows of four columns are twelve
// accumulators, which with a vector of each column just fit into 16 registers.
constexpr std::size_t decode_rows = has_32_registers ? 4 : 3;

constexpr std::ptrdiff_t score_pitch = key_block + max_dot_lanes;
static_assert(decode_rows * score_pitch <= attention_key_block * max_attention_tile);

// The most heads that take a block in turn: each has a row in the parts of the scratch that hold
// the queries and the results of a tile.
constexpr std::ptrdiff_t max_shared = 8;
static_assert(max_shared <= max_attention_tile);

// One head's query.
struct decode_head {
  attention_view at;
  index_range visible;    // the keys that it may see
  float* query;           // scaled
  float* results;         // not normalized yet
  float running_max = 0;  // running maximum m of the scores
  float running_sum = 0;  // running sum of 2 * exp(s - m)
};

class decode_step {
 public:
  explicit decode_step(const call& c)
      : c_(c),
        loop_(c.loops),
        depth_(static_cast<std::size_t>(c.extent[loop_.depth])),
        width_(c.extent[loop_.value]),
        kept_scale_(kept_scale(c.attention.drop.threshold)),
        schedule_(c.random, c.attention.drop.stream) {
    const attention_scratch offsets(c);
    const auto floats = [&](std::size_t at) { return reinterpret_cast<float*>(c.scratch + at); };
    const std::size_t row = round_up(static_cast<std::size_t>(width_), max_dot_lanes);
    for (std::size_t h = 0; h < max_shared; ++h) {
      heads_[h].query = floats(offsets.queries) + h * depth_;
      heads_[h].results = floats(offsets.results) + h * row;
    }
    for (std::size_t h = 0; h < decode_rows; ++h) {
      scores_[h] = floats(offsets.scores) + h * score_pitch;
      block_results_[h] = floats(offsets.values) + h * row;
      clear_padding(block_results_[h]);
    }
  }

  // Computes the batch indices [first, first + count), which share keys and values. Returns false
  // if a result is not finite.
  bool run(std::ptrdiff_t first, std::ptrdiff_t count) {
    index_range all{PTRDIFF_MAX, 0};  // the keys that at least one of the heads sees
    for (std::ptrdiff_t h = 0; h < count; ++h) {
      begin(heads_[h], {c_, first + h});
      const index_range& keys = heads_[h].visible;
      if (!keys.empty()) all = {std::min(all.begin, keys.begin), std::max(all.end, keys.end)};
    }
    // Blocks begin at multiples of their size, whichever heads are computed together: their sums
    // are the same to the bit.
    for (std::ptrdiff_t k = all.begin / key_block * key_block; k < all.end; k += key_block)
      for (std::ptrdiff_t h = 0, n; h < count; h += n) {
        const index_range keys = heads_[h].visible.intersect({k, k + key_block});
        n = heads_at_once(h, count);
        if (!keys.empty()) add_keys(heads_ + h, n, keys);
      }
    bool all_finite = true;
    for (std::ptrdiff_t h = 0; h < count; ++h) all_finite = store_results(heads_[h]) && all_finite;
    return all_finite;
  }

 private:
  static std::ptrdiff_t lanes() { return static_cast<std::ptrdiff_t>(hn::Lanes(tag())); }

  void begin(decode_head& head, const batch_index& batch) const {
    // Constructed in place: a copy would load what was just stored, which stalls until the stores
    // are in the cache.
    const attention_view& at = *std::construct_at(&head.at, c_, batch);
    // Stored in full vectors, as it is loaded: a load that spans two stores would wait for both.
    const vec scale = hn::Set(tag(), at.scale_before_cap);
    map<float>(
        depth_, [&](vec v) HWY_ATTR { return hn::Mul(scale, v); }, head.query, at.query.data);
    head.running_max = std::numeric_limits<float>::lowest();
    head.running_sum = 0;
    head.visible =
        at.limits.keys_seen_by_any({0, 1}, band_range(at.band, {0, 1}, {0, at.keys}).keys({0, 1}));
    if (head.visible.empty()) std::fill_n(head.results, width_, 0.0f);
    clear_padding(head.results);
  }

  // The padding of the last vector takes part in the arithmetic, but is never stored: zeros, since
  // subnormal garbage could be slow.
  void clear_padding(float* row) const {
    std::fill(row + width_, row + round_up(width_, lanes()), 0.0f);
  }

  // The number of heads, from the h-th on, that add keys together. Heads that see the same keys are
  // divided evenly: with at most three at once, four are two and two, since one alone takes longest
  // for each head.
  std::ptrdiff_t heads_at_once(std::ptrdiff_t h, std::ptrdiff_t count) const {
    std::ptrdiff_t n = 1;
    while (h + n < count && heads_[h + n].visible == heads_[h].visible) ++n;
    constexpr auto rows = static_cast<std::ptrdiff_t>(decode_rows);
    const std::ptrdiff_t times = (n + rows - 1) / rows;
    return (n + times - 1) / times;
  }

  // Adds the keys to `count` heads, at most Rows, for which they are read once.
  template <std::size_t Rows = decode_rows>
  void add_keys(decode_head* heads, std::ptrdiff_t count, const index_range& keys) const {
    if constexpr (Rows > 1) {
      if (count < static_cast<std::ptrdiff_t>(Rows)) return add_keys<Rows - 1>(heads, count, keys);
    }
    const attention_view& at = heads[0].at;
    at.narrow_key.data != nullptr ? multiply_keys<Rows>(heads, at.narrow_key, keys)
                                  : multiply_keys<Rows>(heads, at.key, keys);
    float rescale[Rows];
    for (std::size_t h = 0; h < Rows; ++h) {
      finish_scores(heads[h].at, keys, scores_[h]);
      rescale[h] = online_softmax_update(heads[h], scores_[h], keys.size());
      if (c_.attention.drop.threshold != 0) drop_weights(heads[h].at, keys, scores_[h]);
    }
    const bool is_first = keys.begin == heads[0].visible.begin;
    float* to[Rows];
    for (std::size_t h = 0; h < Rows; ++h) to[h] = is_first ? heads[h].results : block_results_[h];
    at.narrow_value.data != nullptr ? weigh_values<Rows>(at.narrow_value, keys, to)
                                    : weigh_values<Rows>(at.value, keys, to);
    for (std::size_t h = 0; !is_first && h < Rows; ++h)
      add_results(heads[h].results, rescale[h], block_results_[h]);
  }

  // scores_[h] = the products of head h's query with the keys.
  template <std::size_t Rows, class T>
  void multiply_keys(const decode_head* heads, const slice<const T>& key,
                     const index_range& keys) const {
    // One call for all keys: a call for every few keys took up to a tenth of the time.
    const T* rows[key_block];
    constexpr auto unit = static_cast<std::ptrdiff_t>(columns_at_once(Rows));
    static_assert(key_block % unit == 0);
    const std::ptrdiff_t count = keys.size(), padded = round_up(count, unit);
    const T* row = key.at(keys.begin, 0);
    for (std::ptrdiff_t j = 0; j < count; ++j, row += key.row) rows[j] = row;
    std::fill(rows + count, rows + padded, rows[0]);
    const float* queries[Rows];
    for (std::size_t h = 0; h < Rows; ++h) queries[h] = heads[h].query;
    dot_products<Rows>(queries, rows, static_cast<std::size_t>(padded), depth_, scores_[0],
                       score_pitch);
  }

  void finish_scores(const attention_view& at, const index_range& keys, float* scores) const {
    const std::ptrdiff_t count = keys.size();
    if (c_.scalar != 0) cap_scores(scores, count, static_cast<float>(c_.scalar));
    const auto add = [&](const bias_tile<const float>& bias) {
      bias.for_each_stride(
          0, {0, count},
          [&](std::ptrdiff_t first, std::ptrdiff_t n, const float* from, std::ptrdiff_t step) {
            add_to_scores(scores + first, n, from, step);
          });
    };
    if (at.bias.data != nullptr) add({at.bias.at(0, keys.begin), 0, at.bias.column});
    if (at.relative != nullptr)
      add(relative_bias_tile(c_, at.relative, operand_of(c_, role::relative), at.band, 0,
                             keys.begin));
    if (at.mask.data != nullptr)
      for (std::ptrdiff_t j = 0; j < count; ++j)
        if (*at.mask.at(0, keys.begin + j) == 0) scores[j] = -infinity;
  }

  // Not inlined: the constants of tanh would stay in registers, or be spilled, through other loops.
  HWY_NOINLINE static void cap_scores(float* s, std::ptrdiff_t count, float soft_cap) {
    const tag d;
    const vec cap = hn::Set(d, soft_cap);
    for (std::ptrdiff_t j = 0; j < count; j += lanes())
      hn::StoreU(hn::Mul(cap, math::tanh(d, hn::LoadU(d, s + j))), d, s + j);
  }

  // s[j] += from[j * step]. An addend of -infinity masks out the key, whatever its score. The
  // addends of the last vector are zero-padded.
  HWY_NOINLINE static void add_to_scores(float* s, std::ptrdiff_t n, const float* from,
                                         std::ptrdiff_t step) {
    const tag d;
    const vec masked = hn::Set(d, -infinity);
    const auto add = [=](std::ptrdiff_t j, vec b) HWY_ATTR {
      const vec sum = hn::Add(hn::LoadU(d, s + j), b);
      hn::StoreU(hn::IfThenElse(hn::Eq(b, masked), masked, sum), d, s + j);
    };
    if (step == 1) {
      std::ptrdiff_t j = 0;
      for (; j + lanes() <= n; j += lanes()) add(j, hn::LoadU(d, from + j));
      if (j < n) add(j, load_n(d, from + j, static_cast<std::size_t>(n - j)));
      return;
    }
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      const float b = from[j * step];
      s[j] = b == -infinity ? b : s[j] + b;
    }
  }

  // Online softmax update (Milakov and Gimelshein 2018, algorithm 3): the scores become 2 * exp(s -
  // m). Returns exp(m_old - m), which rescales the earlier results. Vectors are added to the one of
  // their place in a block of sum_lanes. The padding, for which the scores have room, is -infinity.
  float online_softmax_update(decode_head& head, float* s, std::ptrdiff_t count) const {
    const tag d;
    const auto add = [](auto x, auto y) HWY_ATTR { return hn::Add(x, y); };
    const auto max_of = [](auto x, auto y) HWY_ATTR { return hn::Max(x, y); };
    constexpr auto block = static_cast<std::ptrdiff_t>(sum_lanes);
    static_assert(key_block % block == 0);
    for (std::ptrdiff_t j = count, end = std::max(round_up(count, block), count + 1); j < end;
         j += lanes())
      hn::StoreU(hn::Set(d, -infinity), d, s + j);
    vec max = hn::Set(d, head.running_max);
    for (std::ptrdiff_t j = 0; j < count; j += lanes()) max = hn::Max(max, hn::LoadU(d, s + j));
    const float old_max = head.running_max;
    head.running_max = reduce_to_scalar(d, max, max_of);
    max = hn::Set(d, head.running_max);
    auto sum = vec_array<tag, sum_vectors>::of([=](int) HWY_ATTR { return hn::Zero(d); });
    const auto add_vectors = [&]<int n>(std::integral_constant<int, n>, float* from) HWY_ATTR {
      auto e = vec_array<tag, n>::of(
          [=](int i) HWY_ATTR { return hn::Sub(hn::LoadU(d, from + i * lanes()), max); });
      e = math::twice_exp(d, e);
      for (int i = 0; i < n; ++i) {
        hn::StoreU(e.at[i], d, from + i * lanes());
        sum.at[i % sum_vectors] = hn::Add(sum.at[i % sum_vectors], e.at[i]);
      }
    };
    constexpr int unroll = 4;
    static_assert(unroll % sum_vectors == 0);
    std::ptrdiff_t j = 0;
    for (; j + unroll * lanes() - block < count; j += unroll * lanes())
      add_vectors(std::integral_constant<int, unroll>(), s + j);
    for (; j < count; j += block) add_vectors(std::integral_constant<int, sum_vectors>(), s + j);
    const float rescale = hn::GetLane(
        hn::Mul(hn::Set(d, 0.5f), math::twice_exp(d, hn::Set(d, old_max - head.running_max))));
    head.running_sum = head.running_sum * rescale + reduce_to_scalar(d, sum, add);
    return rescale;
  }

  void drop_weights(const attention_view& at, const index_range& keys, float* scores) const {
    const std::ptrdiff_t step = operand_of(c_, role::element_ids).stride[loop_.key];
    const std::ptrdiff_t count = round_up(keys.size(), lanes());
    alignas(64) std::uint32_t buffer[random_words_capacity(key_block)];
    const std::uint32_t* const words =
        random_words(schedule_, static_cast<std::uint32_t>(at.first_element_id + keys.begin * step),
                     static_cast<std::uint32_t>(step), static_cast<std::size_t>(count), buffer);
    drop_elements(words, c_.attention.drop.threshold, count, scores);
  }

  // to[h] = the sum over the keys of head h's weight, in scores_[h], times the value.
  template <std::size_t Rows, class T>
  void weigh_values(const slice<const T>& value, const index_range& keys, float* const* to) const {
    axpy_lines<Rows, T>({.lhs = scores_,
                         .lhs_step = 1,
                         .rhs = value.at(keys.begin, 0),
                         .rhs_step = value.row,
                         .depth = static_cast<std::size_t>(keys.size()),
                         .columns = static_cast<std::size_t>(width_),
                         .result = to});
  }

  // to = rescale * to + more
  void add_results(float* to, float rescale, const float* more) const {
    const tag d;
    const vec f = hn::Set(d, rescale);
    for (std::ptrdiff_t e = 0, width = width_; e < width; e += lanes())
      hn::StoreU(hn::MulAdd(hn::LoadU(d, to + e), f, hn::LoadU(d, more + e)), d, to + e);
  }

  // Normalizes and stores the results; returns whether all are finite. If all keys are masked out,
  // the sum and the results are 0.
  bool store_results(const decode_head& head) const {
    const attention_view& at = head.at;
    const tag d;
    vec max = hn::Set(d, head.running_max), sum = hn::Set(d, head.running_sum);
    vec scale = hn::Set(d, kept_scale_);
    if (at.sink.data != nullptr)
      scale = hn::Mul(scale, add_sink(d, hn::Set(d, *at.sink.data), max, sum));
    if (at.statistics.data != nullptr)  // the sum is of 2 * exp(s - m)
      *at.statistics.data = hn::GetLane(hn::Add(max, math::log(d, hn::Mul(hn::Set(d, 0.5f), sum))));
    const vec inverse = hn::IfThenZeroElse(hn::Eq(sum, hn::Zero(d)), hn::Div(scale, sum));
    const float* const from = head.results;
    float* const to = at.result.data;
    vec nan_check = hn::Zero(d);  // sum of 0 * result: NaN if any result is not finite
    for (std::ptrdiff_t e = 0, width = width_; e < width; e += lanes()) {
      const vec result = hn::Mul(hn::LoadU(d, from + e), inverse);
      store_up_to(d, result, to + e, static_cast<std::size_t>(width - e));
      nan_check = hn::MulAdd(hn::Zero(d), result, nan_check);
    }
    return hn::AllTrue(d, hn::Eq(nan_check, nan_check));
  }

  const call& c_;
  const attention_loops loop_;
  const std::size_t depth_;
  const std::ptrdiff_t width_;
  const float kept_scale_;
  const philox_schedule schedule_;
  decode_head heads_[max_shared];
  // Pointers into the scratch.
  float* scores_[decode_rows];         // of a block of keys
  float* block_results_[decode_rows];  // of all blocks but the first
};

// How many batch indices from each multiple of it on share keys and values: the extent of the last
// batch loop, if these have no stride in it.
std::ptrdiff_t shared_heads(const call& c) {
  const int last = attention_loops(c.loops).query - 1;
  return last >= 0 && operand_of(c, role::key).stride[last] == 0 &&
                 operand_of(c, role::value).stride[last] == 0
             ? c.extent[last]
             : 1;
}

}  // namespace

bool is_decode(const call& c) noexcept {
  const attention_loops loop(c.loops);
  const auto contiguous = [&](const operand& o, int l) {
    return o.stride[l] == 1 || c.extent[l] == 1;
  };
  return c.extent[loop.query] == 1 && contiguous(operand_of(c, role::query), loop.depth) &&
         contiguous(operand_of(c, role::key), loop.depth) &&
         contiguous(operand_of(c, role::value), loop.value) &&
         contiguous(operand_of(c, role::result), loop.value);
}

bool run_decode(const call& c) noexcept {
  decode_step step(c);
  const item_range items = range_of(batch_size(c), c.part);
  bool all_finite = true;
  const std::ptrdiff_t shared = shared_heads(c);
  for (std::ptrdiff_t i = items.begin, next; i < items.end; i = next) {
    next = std::min({(i / shared + 1) * shared, i + max_shared, items.end});
    all_finite = step.run(i, next - i) && all_finite;
  }
  return all_finite;
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
