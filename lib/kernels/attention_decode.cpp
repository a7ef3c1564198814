// Attention of a single query (a decode step). Vectors of scores run along the keys; keys and
// values are read once, sequentially.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "kernels/attention_view.hpp"
#include "kernels/bias_tile.hpp"
#include "kernels/kernel_table.hpp"
#include "weft/kernels/attention_scratch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_decode.cpp"
#include "hwy/foreach_target.h"  // must come before hwy-inl.h
#include "kernels/attention_decode-inl.h"
#include "kernels/attention_sink-inl.h"
#include "kernels/gemv-inl.h"
#include "kernels/philox-inl.h"
#include "kernels/row-inl.h"
#include "kernels/transpose-inl.h"
#include "weft/kernels/lanes-inl.h"
#include "weft/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// Keys in a block. Their scores are in the part of the scratch that holds those of a tile of
// queries and a block of keys.
constexpr std::ptrdiff_t key_block = 512;
static_assert(key_block + max_dot_lanes <= attention_key_block * max_attention_tile);

class decode_step {
 public:
  explicit decode_step(const attention_call& c)
      : c_(c),
        loop_(c.loops),
        depth_(static_cast<std::size_t>(c.extent[loop_.depth])),
        width_(c.extent[loop_.value]),
        scale_(static_cast<float>(c.soft_cap == 0 ? c.scale : c.scale / c.soft_cap)),
        kept_scale_(kept_scale(c.drop.threshold)),
        schedule_(c.random, c.drop.stream) {
    const attention_scratch offsets(c);
    const auto floats = [&](std::size_t at) { return reinterpret_cast<float*>(c.scratch + at); };
    query_ = floats(offsets.queries);
    results_ = floats(offsets.results);
    block_results_ = floats(offsets.values);
    scores_ = floats(offsets.scores);
    // The padding of the last vector takes part in the arithmetic, but is never stored: zeros,
    // since subnormal garbage could be slow.
    for (float* row : {results_, block_results_})
      std::fill(row + width_, row + round_up(width_, lanes()), 0.0f);
  }

  // Returns false if a result is not finite.
  bool run(const batch_index& batch) {
    // Constructed in place: a copy would load what was just stored, which stalls until the stores
    // are in the cache.
    std::construct_at(&at_, c_, batch);
    // Stored in full vectors, as it is loaded: g++ would store half vectors, and a load of both
    // halves would stall on them.
    const vec scale = hn::Set(tag(), scale_);
    map<float>(
        depth_, [&](vec v) HWY_ATTR { return hn::Mul(scale, v); }, query_, at_.query.data);
    running_max_ = std::numeric_limits<float>::lowest();
    running_sum_ = 0;
    const index_range visible = at_.limits.keys_seen_by_any(
        {0, 1}, band_range(at_.band, {0, 1}, {0, at_.keys}).keys({0, 1}));
    if (visible.begin >= visible.end) std::fill_n(results_, width_, 0.0f);
    for (index_range keys{visible.begin, 0}; keys.begin < visible.end; keys.begin = keys.end) {
      keys.end = std::min(keys.begin + key_block, visible.end);
      at_.narrow_key.data != nullptr ? multiply_keys(at_.narrow_key, keys)
                                     : multiply_keys(at_.key, keys);
      finish_scores(keys);
      const float rescale = online_softmax_update(keys.size());
      if (c_.drop.threshold != 0) drop_weights(keys);
      keys.begin == visible.begin ? weigh_values(keys, results_) : accumulate_values(keys, rescale);
    }
    return store_results();
  }

 private:
  static std::ptrdiff_t lanes() { return static_cast<std::ptrdiff_t>(hn::Lanes(tag())); }

  template <class T>
  void multiply_keys(const slice<const T>& key, const index_range& keys) const {
    // One call for all keys: a call for every few keys took up to a tenth of the time.
    const T* rows[key_block];
    constexpr auto unit = static_cast<std::ptrdiff_t>(columns_at_once(1));
    static_assert(key_block % unit == 0);
    const std::ptrdiff_t count = keys.size(), padded = round_up(count, unit);
    const T* row = key.at(keys.begin, 0);
    for (std::ptrdiff_t j = 0; j < count; ++j, row += key.row) rows[j] = row;
    std::fill(rows + count, rows + padded, rows[0]);
    const float* const query = query_;
    dot_products<1>(&query, rows, static_cast<std::size_t>(padded), depth_, scores_);
  }

  void finish_scores(const index_range& keys) const {
    const std::ptrdiff_t count = keys.size();
    if (c_.soft_cap != 0) cap_scores(scores_, count, static_cast<float>(c_.soft_cap));
    const auto add = [&](const bias_tile<const float>& bias) {
      bias.for_each_stride(
          0, {0, count},
          [&](std::ptrdiff_t first, std::ptrdiff_t n, const float* from, std::ptrdiff_t step) {
            add_to_scores(scores_ + first, n, from, step);
          });
    };
    if (at_.bias.data != nullptr) add({at_.bias.at(0, keys.begin), 0, at_.bias.column});
    if (at_.relative != nullptr)
      add(relative_bias_tile(c_, at_.relative, c_.relative, at_.band, 0, keys.begin));
    if (at_.mask.data != nullptr)
      for (std::ptrdiff_t j = 0; j < count; ++j)
        if (*at_.mask.at(0, keys.begin + j) == 0) scores_[j] = -infinity;
  }

  // Not inlined: clang would spill tanh's constants, and reload them for each query.
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
  // m). Returns exp(m_old - m), which rescales the earlier results.
  float online_softmax_update(std::ptrdiff_t count) {
    const tag d;
    const auto add = [](auto x, auto y) HWY_ATTR { return hn::Add(x, y); };
    const auto max_of = [](auto x, auto y) HWY_ATTR { return hn::Max(x, y); };
    float* const s = scores_;
    hn::StoreU(hn::Set(d, -infinity), d, s + count);  // padding of the last vector
    vec max = hn::Set(d, running_max_);
    for (std::ptrdiff_t j = 0; j < count; j += lanes()) max = hn::Max(max, hn::LoadU(d, s + j));
    const float old_max = running_max_;
    running_max_ = reduce_to_scalar(d, max, max_of);
    max = hn::Set(d, running_max_);
    vec sum = hn::Zero(d);
    std::ptrdiff_t j = 0;
    constexpr int unroll = 4;
    for (; j + (unroll - 1) * lanes() < count; j += unroll * lanes()) {
      auto e = vec_array<tag, unroll>::of(
          [=](int i) HWY_ATTR { return hn::Sub(hn::LoadU(d, s + j + i * lanes()), max); });
      e = math::twice_exp(d, e);
      e.map_indexed([=](vec v, int i) HWY_ATTR {
        hn::StoreU(v, d, s + j + i * lanes());
        return v;
      });
      sum = hn::Add(sum, e.combine(add));
    }
    for (; j < count; j += lanes()) {
      const vec e = math::twice_exp(d, hn::Sub(hn::LoadU(d, s + j), max));
      hn::StoreU(e, d, s + j);
      sum = hn::Add(sum, e);
    }
    const float rescale = hn::GetLane(
        hn::Mul(hn::Set(d, 0.5f), math::twice_exp(d, hn::Set(d, old_max - running_max_))));
    running_sum_ = running_sum_ * rescale + reduce_to_scalar(d, sum, add);
    return rescale;
  }

  void drop_weights(const index_range& keys) const {
    const std::ptrdiff_t step = c_.element_ids.stride[loop_.key];
    const std::ptrdiff_t count = round_up(keys.size(), lanes());
    alignas(64) std::uint32_t buffer[random_words_capacity(key_block)];
    const std::uint32_t* const words = random_words(
        schedule_, static_cast<std::uint32_t>(at_.first_element_id + keys.begin * step),
        static_cast<std::uint32_t>(step), static_cast<std::size_t>(count), buffer);
    drop_elements(words, c_.drop.threshold, count, scores_);
  }

  // to = the sum over the keys of weight * value.
  void weigh_values(const index_range& keys, float* to) const {
    at_.narrow_value.data != nullptr ? weigh_values(at_.narrow_value, keys, to)
                                     : weigh_values(at_.value, keys, to);
  }
  template <class T>
  void weigh_values(const slice<const T>& value, const index_range& keys, float* to) const {
    const float* const weights = scores_;
    axpy_lines<1, T>({.lhs = &weights,
                      .lhs_step = 1,
                      .rhs = value.at(keys.begin, 0),
                      .rhs_step = value.row,
                      .depth = static_cast<std::size_t>(keys.size()),
                      .columns = static_cast<std::size_t>(width_),
                      .result = &to});
  }

  void accumulate_values(const index_range& keys, float rescale) const {
    weigh_values(keys, block_results_);
    const tag d;
    const vec f = hn::Set(d, rescale);
    const float* const from = block_results_;
    float* const to = results_;
    for (std::ptrdiff_t e = 0, width = width_; e < width; e += lanes())
      hn::StoreU(hn::MulAdd(hn::LoadU(d, to + e), f, hn::LoadU(d, from + e)), d, to + e);
  }

  // Normalises and stores the results; returns whether all are finite. If all keys are masked out,
  // the sum and the results are 0.
  bool store_results() const {
    const tag d;
    vec max = hn::Set(d, running_max_), sum = hn::Set(d, running_sum_);
    vec scale = hn::Set(d, kept_scale_);
    if (at_.sink.data != nullptr)
      scale = hn::Mul(scale, add_sink(d, hn::Set(d, *at_.sink.data), max, sum));
    if (at_.statistics.data != nullptr)  // the sum is of 2 * exp(s - m)
      *at_.statistics.data =
          hn::GetLane(hn::Add(max, math::log(d, hn::Mul(hn::Set(d, 0.5f), sum))));
    const vec inverse = hn::IfThenZeroElse(hn::Eq(sum, hn::Zero(d)), hn::Div(scale, sum));
    const float* const from = results_;
    float* const to = at_.result.data;
    vec nan_check = hn::Zero(d);  // sum of 0 * result: NaN if any result is not finite
    for (std::ptrdiff_t e = 0, width = width_; e < width; e += lanes()) {
      const vec result = hn::Mul(hn::LoadU(d, from + e), inverse);
      store_up_to(d, result, to + e, static_cast<std::size_t>(width - e));
      nan_check = hn::MulAdd(hn::Zero(d), result, nan_check);
    }
    return hn::AllTrue(d, hn::Eq(nan_check, nan_check));
  }

  const attention_call& c_;
  const attention_loops loop_;
  const std::size_t depth_;
  const std::ptrdiff_t width_;
  const float scale_, kept_scale_;
  const philox_schedule schedule_;
  attention_view at_;
  float running_max_ = 0;  // running maximum m of the scores
  float running_sum_ = 0;  // running sum of 2 * exp(s - m)
  // Pointers into the scratch.
  float *query_, *results_, *block_results_, *scores_;
};

}  // namespace

bool is_decode(const attention_call& c) noexcept {
  const attention_loops loop(c.loops);
  const auto contiguous = [&](const operand& o, int l) {
    return o.stride[l] == 1 || c.extent[l] == 1;
  };
  return c.extent[loop.query] == 1 && contiguous(c.query, loop.depth) &&
         contiguous(c.key, loop.depth) && contiguous(c.value, loop.value) &&
         contiguous(c.result, loop.value);
}

bool run_decode(const attention_call& c) noexcept {
  decode_step step(c);
  const item_range items = range_of(batch_size(c), c.part);
  bool all_finite = true;
  for (std::ptrdiff_t i = items.begin; i < items.end; ++i)
    all_finite = step.run({c, i}) && all_finite;
  return all_finite;
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
