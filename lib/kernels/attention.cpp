// Forward attention: blocks of queries iterate over blocks of keys with online softmax, as in
// FlashAttention (Dao et al. 2022, algorithm 1).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/attention_view.hpp"
#include "kernels/band.hpp"
#include "weft/kernels/attention_scratch.hpp"
#include "weft/kernels/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cpp"
#include "hwy/foreach_target.h"  // must come before hwy-inl.h
#include "kernels/attention_decode-inl.h"
#include "kernels/attention_products-inl.h"
#include "kernels/attention_scores-inl.h"
#include "kernels/export-inl.h"
#include "kernels/transpose-inl.h"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

// Vectors of queries in a tile.
constexpr std::size_t tile_vectors = has_32_registers ? max_attention_vectors : 2;

// Computes the attention of each batch index.
class forward {
 public:
  explicit forward(const call& c)
      : c_(c),
        loop_(c.loops),
        queries_(c.extent[loop_.query]),
        depth_(static_cast<std::size_t>(c.extent[loop_.depth])),
        value_(static_cast<std::size_t>(c.extent[loop_.value])),
        block_(static_cast<std::ptrdiff_t>(block_size(static_cast<std::size_t>(queries_),
                                                      attention_query_block, max_attention_tile))),
        value_row_(round_up(static_cast<std::ptrdiff_t>(value_), lanes())),
        schedule_(c.random, c.attention.drop.stream) {
    const attention_scratch offsets(c);
    const auto floats = [&](std::size_t at) { return reinterpret_cast<float*>(c.scratch + at); };
    packed_queries_ = floats(offsets.queries);
    results_ = floats(offsets.results);
    running_max_ = floats(offsets.running_max);
    running_sum_ = floats(offsets.running_sum);
    rescale_ = floats(offsets.rescale);
    scores_ = floats(offsets.scores);
    bias_ = floats(offsets.bias);
    packed_values_ = floats(offsets.values);
    widened_ = floats(offsets.widened);
  }

  // Computes the blocks of queries of the call's partition. After run_decode, only those whose
  // results are not finite are computed again.
  //
  // A masked-out key has weight 0, but 0 * NaN and 0 * infinity are NaN. So a block with results
  // that are not finite is recomputed with such values replaced by 0, and those that a query does
  // see are added afterwards. run_query_block has a single call site, so that it is inlined here.
  void run_partition(bool is_decoded) {
    const std::ptrdiff_t batch = batch_size(c_);
    if (batch == 0 || queries_ == 0) return;
    const std::ptrdiff_t blocks = (queries_ + block_ - 1) / block_;
    const item_range blocks_of_part = range_of(batch * blocks, c_.part);
    for (std::ptrdiff_t i = blocks_of_part.begin; i < blocks_of_part.end; ++i) {
      find(i / blocks);
      const std::ptrdiff_t first = i % blocks * block_;
      const index_range block{first, std::min(first + block_, queries_)};
      if (is_decoded && (!may_mask() || rows_are_finite(at_.result.at(0, 0), 0, 1, value_)))
        continue;
      for (index_range queries{first, first}; queries.end != block.end;) {
        queries = at_.limits.queries_with_shared_keys({queries.end, block.end}, {0, at_.keys});
        only_finite_ = is_decoded;
        for (;; only_finite_ = true) {
          is_finite_ = true;
          run_query_block(queries);
          if (only_finite_ || is_finite_) break;
        }
        if (only_finite_) add_visible_infinities(queries);
      }
    }
  }

 private:
  static std::ptrdiff_t lanes() { return static_cast<std::ptrdiff_t>(hn::Lanes(query_tag())); }
  // Queries in a tile, which is also the row stride of its scores.
  static std::ptrdiff_t pitch() { return static_cast<std::ptrdiff_t>(tile_vectors) * lanes(); }

  // Sets the operands of a batch index.
  void find(std::ptrdiff_t batch) {
    // Constructed in place: a copy would load what was just stored, which stalls until the stores
    // are in the cache.
    std::construct_at(&at_, c_, batch_index(c_, batch));
    band_range_ = band_range(at_.band, {0, queries_}, {0, at_.keys});
  }

  // The keys that the band and the length leave visible to at least one, or to all, of the queries;
  // and that also their limits leave visible to at least one.
  index_range within_band(const index_range& queries) const { return band_range_.keys(queries); }
  index_range visible_to_any(const index_range& queries) const {
    return at_.limits.keys_seen_by_any(queries, within_band(queries));
  }
  index_range visible_to_all(const index_range& queries) const {
    return {band_range_.keys({queries.end - 1, queries.end}).begin,
            band_range_.keys({queries.begin, queries.begin + 1}).end};
  }

  // Computes one block of queries. Each block of keys is multiplied with all tiles of queries while
  // it is in the cache.
  void run_query_block(const index_range& queries) {
    const std::ptrdiff_t tiles = (queries.end - queries.begin + pitch() - 1) / pitch();
    const auto tile = [&](std::ptrdiff_t t) {
      const std::ptrdiff_t first = queries.begin + t * pitch();
      return index_range{first, std::min(first + pitch(), queries.end)};
    };
    for (std::ptrdiff_t t = 0; t < tiles; ++t) init_tile(t, tile(t));
    constexpr auto block = static_cast<std::ptrdiff_t>(attention_key_block);
    const index_range visible = visible_to_any(queries);
    for (index_range keys{visible.begin, 0}; keys.begin < visible.end; keys.begin = keys.end) {
      keys.end = std::min(keys.begin + block, visible.end);
      const key_rows own = keys_of(keys);
      const value_rows values = values_of(keys, tiles);
      for (std::ptrdiff_t t = 0; t < tiles; ++t) process_block(t, tile(t), keys, own, values);
    }
  }

  // Whether a tile may process a key that is masked out for one of its queries.
  bool may_mask() const {
    return operand_of(c_, role::mask).data != nullptr ||
           operand_of(c_, role::bias).data != nullptr ||
           operand_of(c_, role::relative).data != nullptr ||
           c_.attention.visible.lowest != PTRDIFF_MIN ||
           c_.attention.visible.highest != PTRDIFF_MAX || at_.limits.any();
  }

  HWY_NOINLINE void add_visible_infinities(const index_range& queries) const {
    const auto width = static_cast<std::ptrdiff_t>(value_);
    const index_range keys = visible_to_any(queries);
    for (std::ptrdiff_t j = keys.begin; j < keys.end; ++j) {
      std::ptrdiff_t first = 0;
      while (first < width && std::isfinite(value_at(at_, j, first))) ++first;
      if (first == width) continue;
      for (std::ptrdiff_t i = queries.begin; i < queries.end; ++i)
        for (std::ptrdiff_t e = is_visible(i, j) ? first : width; e < width; ++e)
          if (const float value = value_at(at_, j, e); !std::isfinite(value))
            *at_.result.at(i, e) += value;
    }
  }
  bool is_visible(std::ptrdiff_t i, std::ptrdiff_t j) const {
    const index_range keys = visible_to_any({i, i + 1});
    if (j < keys.begin || j >= keys.end) return false;
    if (at_.mask.data != nullptr && *at_.mask.at(i, j) == 0) return false;
    if (at_.bias.data != nullptr && *at_.bias.at(i, j) == minus_infinity) return false;
    return at_.relative == nullptr || relative_bias(i, j).at(0, 0) != minus_infinity;
  }
  // From a query and a key on.
  bias_tile<const float> relative_bias(std::ptrdiff_t i, std::ptrdiff_t j) const {
    return relative_bias_tile(c_, at_.relative, operand_of(c_, role::relative), at_.band, i, j);
  }

  // The keys of a block, in place or as float.
  struct key_rows {
    const float* data;
    std::ptrdiff_t row, column;
  };
  key_rows keys_of(const index_range& keys) const {
    if (at_.narrow_key.data == nullptr)
      return {at_.key.at(keys.begin, 0), at_.key.row, at_.key.column};
    const std::ptrdiff_t pitch = round_up(static_cast<std::ptrdiff_t>(depth_), lanes());
    widen_rows(at_.narrow_key, keys, static_cast<std::ptrdiff_t>(depth_), widened_, pitch);
    return {widened_, pitch, 1};
  }

  // The values of a block of keys, in rows padded to full vectors. Every register tile of queries
  // reads all of them: strided rows map to few sets of the L1 cache, so that each pass would load
  // them from L2. A contiguous copy mostly stays in L1, which pays where more than a few tiles read
  // it.
  static constexpr std::ptrdiff_t max_unpacked_tiles = 4;
  struct value_rows {
    const float* data;
    std::ptrdiff_t row;
  };
  value_rows values_of(const index_range& keys, std::ptrdiff_t tiles) const {
    const bool full = at_.value.column == 1 && static_cast<std::ptrdiff_t>(value_) == value_row_;
    if (full && !only_finite_ && (tiles <= max_unpacked_tiles || at_.value.row == value_row_))
      return {at_.value.at(keys.begin, 0), at_.value.row};
    if (at_.narrow_value.data != nullptr)
      widen_rows(at_.narrow_value, keys, static_cast<std::ptrdiff_t>(value_), packed_values_,
                 value_row_);
    else
      transpose<row_end::filled>(
          query_tag(),
          {at_.value.at(keys.begin, 0), at_.value.column, at_.value.row, value_, keys.count()}, 1,
          packed_values_, value_row_);
    if (only_finite_)
      std::replace_if(
          packed_values_, packed_values_ + keys.size() * value_row_,
          [](float value) { return !std::isfinite(value); }, 0.0f);
    return {packed_values_, value_row_};
  }

  float* queries_of(std::ptrdiff_t tile) const {
    return packed_queries_ + tile * pitch() * static_cast<std::ptrdiff_t>(depth_);
  }
  float* results(std::ptrdiff_t tile) const { return results_ + tile * pitch() * value_row_; }
  std::size_t vectors_of(const index_range& queries) const {
    return (queries.count() + static_cast<std::size_t>(lanes()) - 1) /
           static_cast<std::size_t>(lanes());
  }
  // The queries in vector v of a tile.
  index_range vector_of(const index_range& queries, std::size_t v) const {
    const std::ptrdiff_t first = queries.begin + static_cast<std::ptrdiff_t>(v) * lanes();
    return queries.intersect({first, first + lanes()});
  }

  void init_tile(std::ptrdiff_t t, const index_range& queries) const {
    const auto width = static_cast<std::size_t>(pitch());
    transpose<row_end::filled>(
        query_tag(),
        {at_.query.at(queries.begin, 0), at_.query.row, at_.query.column, queries.count(), depth_},
        at_.scale_before_cap, queries_of(t), pitch());
    std::fill_n(running_max_ + t * pitch(), width, lowest_score);
    std::fill_n(running_sum_ + t * pitch(), width, 0.0f);
    if (!visible_to_any(queries).empty()) return;
    std::fill_n(results(t), pitch() * value_row_, 0.0f);
    end_sums(t, queries);
    store_results(t, queries);
  }

  // A block of keys and its values, for a tile of queries: the keys of it that any query sees, and
  // those that each vector of queries sees.
  struct tile_block {
    std::ptrdiff_t tile;
    index_range queries, keys;
    std::size_t vectors;
    bool is_first, is_last;  // of the blocks with keys that the tile sees
    index_range visible[tile_vectors];
  };

  // Updates a tile of queries with a block of keys and its values: scores, online softmax, and the
  // product with the values.
  void process_block(std::ptrdiff_t t, const index_range& queries, const index_range& block,
                     const key_rows& own, const value_rows& values) {
    const index_range all = visible_to_any(queries);
    if (block.intersect(all).empty()) return;
    tile_block b{
        t, queries, {}, vectors_of(queries), block.begin <= all.begin, all.end <= block.end, {}};
    b.keys = in_groups(block.intersect(all), block);
    for (std::size_t v = 0; v < b.vectors; ++v)
      b.visible[v] = in_groups(within_band(vector_of(queries, v)).clamped_to(b.keys), block);
    multiply_with_keys(b, {own.data + (b.keys.begin - block.begin) * own.row, own.row, own.column});
    update_softmax(b);
    multiply_with_values(b, {values.data + (b.keys.begin - block.begin) * values.row, values.row});
  }

  // Rounded out to whole groups of keys, which begin where the block does: the sum of a query's
  // weights does not depend on which other queries are in its vector. A key that it does not see
  // has weight 0.
  static index_range in_groups(const index_range& keys, const index_range& block) {
    constexpr std::ptrdiff_t group = keys_at_once;
    return {block.begin + (keys.begin - block.begin) / group * group,
            std::min(block.begin + round_up(keys.end - block.begin, group), block.end)};
  }

  float* scores_of(const tile_block& b, std::ptrdiff_t key, std::size_t v) const {
    return scores_ + (key - b.keys.begin) * pitch() + static_cast<std::ptrdiff_t>(v) * lanes();
  }

  HWY_INLINE void multiply_with_keys(const tile_block& b, const key_rows& own) const {
    key_run r{};
    for (std::ptrdiff_t key = b.keys.begin; key < b.keys.end; key = r.keys.end) {
      r = run_from(key, b.keys.end, b.visible, b.vectors);
      if (r.vectors == 0) continue;
      const matmul p{own.data + (r.keys.begin - b.keys.begin) * own.row,
                     own.row,
                     own.column,
                     queries_of(b.tile) + static_cast<std::ptrdiff_t>(r.vector) * lanes(),
                     pitch(),
                     scores_of(b, r.keys.begin, r.vector),
                     pitch(),
                     r.keys.count()};
      multiply(p, r.vectors, [this](std::size_t, std::size_t) {
        return index_range{0, static_cast<std::ptrdiff_t>(depth_)};
      });
    }
  }

  HWY_INLINE void update_softmax(const tile_block& b) const {
    for (std::size_t v = 0; v < b.vectors; ++v) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(v) * lanes(),
                           of_tile = b.tile * pitch() + at;
      const index_range queries = vector_of(b.queries, v), visible = b.visible[v];
      const score_rows s{scores_of(b, visible.begin, v), pitch(), visible.count()};
      finish_scores(s, queries, visible);
      online_softmax_update(s, {running_max_ + of_tile, running_sum_ + of_tile, rescale_ + at});
      if (c_.attention.drop.threshold != 0)
        drop_scores(s, ids_from(queries.begin, visible.begin), schedule_,
                    c_.attention.drop.threshold);
      zero_padding(s, visible.begin - b.keys.begin, b.keys.end - visible.end);
    }
  }

  HWY_INLINE void multiply_with_values(const tile_block& b, const value_rows& values) {
    const std::ptrdiff_t t = b.tile;
    if (b.is_last) end_sums(t, b.queries);
    const bool in_place = b.is_last && stores_full_vectors();
    float* const to = in_place ? at_.result.at(b.queries.begin, 0) : results(t);
    const std::ptrdiff_t to_row = in_place ? at_.result.row : value_row_;
    const matmul p{scores_,
                   1,
                   pitch(),
                   values.data,
                   values.row,
                   to,
                   to_row,
                   b.queries.count(),
                   b.is_first ? nullptr : results(t),
                   value_row_,
                   rescale_,
                   b.is_last ? running_sum_ + t * pitch() : nullptr};
    // For queries that see none of the keys the depth is empty: their results are kept, or 0 if
    // this block is the first.
    const band_range here(at_.band, b.queries, b.keys);
    multiply(p, static_cast<std::size_t>(value_row_ / lanes()),
             [&](std::size_t first, std::size_t count) {
               return here.keys({static_cast<std::ptrdiff_t>(first),
                                 static_cast<std::ptrdiff_t>(first + count)});
             });
    if (b.is_last && may_mask())  // while they are in the cache
      is_finite_ = is_finite_ && rows_are_finite(to, to_row, b.queries.count(), value_);
    if (b.is_last && !in_place) store_results(t, b.queries);
  }

  // The element ids of the weights from a query and a key on, for dropout.
  element_ids ids_from(std::ptrdiff_t query, std::ptrdiff_t key) const {
    const auto& stride = operand_of(c_, role::element_ids).stride;
    const std::ptrdiff_t row = stride[loop_.query], column = stride[loop_.key];
    return {static_cast<std::uint32_t>(at_.first_element_id + query * row + key * column),
            static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(column)};
  }

  // Turns products of queries and keys into capped, biased and masked scores, for one vector of
  // queries.
  void finish_scores(const score_rows& s, const index_range& queries,
                     const index_range& keys) const {
    if (c_.scalar != 0) cap_scores(s, static_cast<float>(c_.scalar));
    if (at_.bias.data != nullptr)
      add_bias(s, {at_.bias.at(queries.begin, keys.begin), at_.bias.row, at_.bias.column},
               queries.count(), bias_);
    if (at_.relative != nullptr)
      add_bias(s, relative_bias(queries.begin, keys.begin), queries.count(), bias_);
    if (at_.mask.data != nullptr)
      apply_mask(s, {at_.mask.at(queries.begin, keys.begin), at_.mask.row, at_.mask.column},
                 queries.count(), bias_);
    if (at_.limits.any()) apply_limits(s, at_.limits, queries, keys);
    const index_range all = visible_to_all(queries);
    const index_range before{keys.begin, std::min(all.begin, keys.end)};
    const index_range after{std::max({all.end, before.end, keys.begin}), keys.end};
    for (const index_range& edge : {before, after}) {
      if (edge.empty()) continue;
      const std::ptrdiff_t offset = edge.begin - queries.begin;
      apply_band({s.data + (edge.begin - keys.begin) * pitch(), pitch(), edge.count()},
                 band_range_.lowest() - offset, band_range_.highest() - offset);
    }
  }

  bool stores_full_vectors() const {
    return at_.result.column == 1 && static_cast<std::ptrdiff_t>(value_) == value_row_;
  }
  void store_results(std::ptrdiff_t t, const index_range& queries) const {
    store_rows(results(t), value_row_, at_.result, queries, value_);
  }

  // Replaces the running sums by the factors that normalize the results, and stores the logsumexp
  // if it is wanted. If all keys of a query are masked out, its sum, factor and results are 0.
  void end_sums(std::ptrdiff_t t, const index_range& queries) const {
    const query_tag d;
    const auto zero = hn::Zero(d);
    for (std::size_t v = 0; v < vectors_of(queries); ++v) {
      const std::ptrdiff_t at = t * pitch() + static_cast<std::ptrdiff_t>(v) * lanes();
      auto max = hn::Load(d, running_max_ + at), sum = hn::Load(d, running_sum_ + at);
      auto scale = hn::Set(d, kept_scale(c_.attention.drop.threshold));
      if (at_.sink.data != nullptr) {
        const index_range of_vector = vector_of(queries, v);
        std::fill_n(bias_, lanes(), 0.0f);
        for (std::ptrdiff_t i = of_vector.begin; i < of_vector.end; ++i)
          bias_[i - of_vector.begin] = *at_.sink.at(i, 0);
        scale = hn::Mul(scale, add_sink(d, hn::Load(d, bias_), max, sum));
      }
      if (at_.statistics.data != nullptr) {
        // The sums are of 2 * exp(s - m).
        const auto half = hn::Mul(hn::Set(d, 0.5f), sum);
        hn::Store(hn::Add(max, math::log(d, half)), d, running_max_ + at);
      }
      const auto inverse = hn::Div(scale, sum);
      hn::Store(hn::IfThenElse(hn::Eq(sum, zero), zero, inverse), d, running_sum_ + at);
    }
    if (at_.statistics.data != nullptr)
      for (std::ptrdiff_t i = queries.begin; i < queries.end; ++i)
        *at_.statistics.at(i, 0) = running_max_[t * pitch() + i - queries.begin];
  }

  const call& c_;
  attention_loops loop_;
  std::ptrdiff_t queries_;
  std::size_t depth_, value_;
  attention_view at_;  // at the current batch index
  band_range band_range_;
  std::ptrdiff_t block_;      // queries in a block
  std::ptrdiff_t value_row_;  // row stride of results and copied values
  bool only_finite_ = false;  // copied values have 0 for those that are not finite
  bool is_finite_ = true;     // whether the block's results are
  philox_schedule schedule_;
  float *packed_queries_, *results_, *running_max_, *running_sum_, *rescale_, *scores_, *bias_,
      *packed_values_, *widened_;
};

void attention(const call& c) noexcept {
  const bool decode = is_decode(c);
  if (decode && run_decode(c)) return;
  forward(c).run_partition(decode);
}

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

WEFT_EXPORT(kernel_function, attention)
