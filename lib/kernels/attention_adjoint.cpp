// The adjoint of attention: the gradients for query, key and value from one pass over tiles of the
// scores, which are recomputed (Dao et al. 2022, appendix B.4).
//
// The loop over blocks of keys is outermost: a block's gradients and its transposed keys and values
// stay in the scratch while blocks of queries are processed. With rows of scores along the keys
// nothing else needs a transpose: the three products after the scores load vectors along the
// depths, contiguous in all copies of operands, and broadcast the scores one by one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "kernels/attention_view.hpp"
#include "kernels/band.hpp"
#include "weft/kernels/attention_adjoint_scratch.hpp"
#include "weft/kernels/elementary.hpp"
#include "weft/kernels/kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_adjoint.cpp"
#include "hwy/foreach_target.h"  // must come before hwy-inl.h
#include "kernels/adjoint_blocks-inl.h"
#include "kernels/attention_scores-inl.h"
#include "kernels/export-inl.h"
#include "kernels/tile_product-inl.h"
#include "kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

// Whether a gradient is stored or added to: stored at the first of the batch indices that it is
// summed over.
store store_mode(const operand& gradient, const batch_index& batch) {
  for (int l = 0; l < max_loops; ++l)
    if (gradient.stride[l] == 0 && batch.index[l] != 0) return store::add;
  return store::overwrite;
}

class adjoint {
 public:
  explicit adjoint(const call& c)
      : c_(c),
        loop_(c.loops),
        query_extent_(c.extent[loop_.query]),
        key_extent_(c.extent[loop_.key]),
        depth_(c.extent[loop_.depth]),
        values_(c.extent[loop_.value]),
        depth_vectors_((depth_ + lanes() - 1) / lanes()),
        value_vectors_((values_ + lanes() - 1) / lanes()),
        soft_cap_(static_cast<float>(c.scalar)),
        kept_scale_(kept_scale(c.attention.drop.threshold)),
        schedule_(c.random, c.attention.drop.stream),
        bias_gradient_(scratch_at(&attention_adjoint_scratch::bias_sums)),
        relative_gradient_(scratch_at(&attention_adjoint_scratch::relative_sums)) {
    const attention_adjoint_scratch s(c);
    auto* const floats = reinterpret_cast<float*>(c.scratch);
    key_ = {floats + s.key, s.depth_row};
    key_transposed_ = {floats + s.key_transposed, s.score_row};
    value_transposed_ = {floats + s.value_transposed, s.score_row};
    key_gradient_ = {floats + s.key_gradient, s.depth_row};
    value_gradient_ = {floats + s.value_gradient, s.value_row};
    query_ = {floats + s.query, s.depth_row};
    g_ = {floats + s.g, s.value_row};
    query_gradient_ = {floats + s.query_gradient, s.depth_row};
    statistics_ = floats + s.statistics;
    delta_ = floats + s.delta;
    weights_ = {floats + s.weights, s.score_row};
    score_gradient_ = {floats + s.score_gradient, s.score_row};
    bias_row_ = floats + s.bias;
    before_cap_ = floats + s.before_cap;
    row_ = floats + s.row;
  }

  void run(const batch_index& b) {
    batch_ = b;
    // Constructed in place: a copy would load what was just stored, which stalls until the stores
    // are in the cache.
    std::construct_at(&at_, c_, b);
    const std::ptrdiff_t keys = at_.keys;
    if (keys == 0)
      store_zeros(at_.query_gradient, store_mode(operand_of(c_, role::query_gradient), b), depth_,
                  {0, query_extent_});
    store_zeros(at_.key_gradient, store_mode(operand_of(c_, role::key_gradient), b), depth_,
                {keys, key_extent_});
    store_zeros(at_.value_gradient, store_mode(operand_of(c_, role::value_gradient), b), values_,
                {keys, key_extent_});
    for (keys_ = {0, 0}; keys_.begin < keys; keys_.begin = keys_.end) {
      keys_.end = std::min(keys, keys_.begin + max_adjoint_keys);
      pack_keys();
      // The first block of keys is combined with all queries, so that each query gets a gradient.
      const index_range all{0, query_extent_};
      const index_range visible =
          keys_.begin == 0 ? all : band_range(at_.band, all, keys_).queries({0, keys_.size()});
      if (visible.begin >= visible.end) clear_key_gradients();
      for (queries_.begin = visible.begin; queries_.begin < visible.end;
           queries_.begin = queries_.end) {
        queries_.end = std::min(visible.end, queries_.begin + max_adjoint_queries);
        band_range_ = band_range(at_.band, queries_, keys_);
        pack_queries();
        if (keys_.begin == 0 && is_requested(operand_of(c_, role::sink_gradient)))
          add_sink_gradients();
        multiply_scores();
        begin_bias_gradients();
        softmax_and_grad_of_block();
        end_bias_gradients();
        add_query_gradient();
        queries_.begin == visible.begin ? add_key_gradients<store::overwrite>()
                                        : add_key_gradients<store::add>();
      }
      unpack_key_gradients();
    }
  }

 private:
  float* scratch_at(std::ptrdiff_t attention_adjoint_scratch::*field) const {
    return reinterpret_cast<float*>(c_.scratch) + attention_adjoint_scratch(c_).*field;
  }

  // The keys of `visible` rounded out to full vectors and whole strips of keys, so that products
  // which read one key of a strip can read all of it.
  index_range vectors_of(index_range visible) const {
    const std::ptrdiff_t unit = std::max(lanes(), tiles::rows);
    return {visible.begin / unit * unit, round_up(visible.end, unit)};
  }

  index_range strip_of_queries(std::ptrdiff_t i) const {
    return {i, std::min(i + tiles::rows, queries_.size())};
  }
  index_range strip_of_keys(std::ptrdiff_t j) const {
    return {j, std::min(j + tiles::rows, keys_.size())};
  }

  // Stores zeros to rows of a gradient that have no terms, unless the gradient is added to.
  static void store_zeros(const slice<float>& gradient, store how, std::ptrdiff_t columns,
                          index_range rows) {
    if (how == store::add) return;
    for (std::ptrdiff_t i = rows.begin; i < rows.end; ++i) {
      if (gradient.column == 1)
        std::fill_n(gradient.at(i, 0), columns, 0.0f);
      else
        for (std::ptrdiff_t j = 0; j < columns; ++j) *gradient.at(i, j) = 0;
    }
  }

  void pack_keys() {
    pack(at_.key.from(keys_.begin, 0), keys_.size(), depth_, 1, key_, keys_.size());
    transpose({key_.data, key_.row, 1}, depth_, key_transposed_);
    transpose(at_.value.from(keys_.begin, 0), values_, value_transposed_);
  }

  // Transposes `columns` columns of the block's keys.
  void transpose(const slice<const float>& from, std::ptrdiff_t columns,
                 const packed_matrix& to) const {
    HWY_NAMESPACE::transpose<row_end::filled>(
        tag(),
        {from.data, from.row, from.column, static_cast<std::size_t>(keys_.size()),
         static_cast<std::size_t>(columns)},
        1, to.data, to.row);
  }

  void clear_key_gradients() const {
    std::fill_n(key_gradient_.data, keys_.size() * key_gradient_.row, 0.0f);
    std::fill_n(value_gradient_.data, keys_.size() * value_gradient_.row, 0.0f);
  }

  // Weights and score gradients are twice their value, as twice_exp gives; hence 0.5.
  void add_query_gradient() const {
    tiles::multiply<store::overwrite, lhs_layout::row_major>(
        {score_gradient_, key_, query_gradient_}, queries_.size(), depth_vectors_,
        [&](std::ptrdiff_t i) {
          return strip_extent{{0, depth_vectors_}, band_range_.keys(strip_of_queries(i))};
        });
    unpack(
        query_gradient_, queries_.size(), depth_, 0.5f * at_.scale,
        at_.query_gradient.from(queries_.begin, 0),
        keys_.begin == 0 ? store_mode(operand_of(c_, role::query_gradient), batch_) : store::add);
  }

  template <store Store>
  void add_key_gradients() const {
    const auto extent = [&](std::ptrdiff_t vectors) {
      return [this, vectors](std::ptrdiff_t j) {
        return strip_extent{{0, vectors}, band_range_.queries(strip_of_keys(j))};
      };
    };
    tiles::multiply<Store, lhs_layout::transposed>({weights_, g_, value_gradient_}, keys_.size(),
                                                   value_vectors_, extent(value_vectors_));
    tiles::multiply<Store, lhs_layout::transposed>({score_gradient_, query_, key_gradient_},
                                                   keys_.size(), depth_vectors_,
                                                   extent(depth_vectors_));
  }

  void unpack_key_gradients() const {
    unpack(key_gradient_, keys_.size(), depth_, 0.5f * (soft_cap_ == 0 ? 1 : soft_cap_),
           at_.key_gradient.from(keys_.begin, 0),
           store_mode(operand_of(c_, role::key_gradient), batch_));
    unpack(value_gradient_, keys_.size(), values_, 0.5f, at_.value_gradient.from(keys_.begin, 0),
           store_mode(operand_of(c_, role::value_gradient), batch_));
  }

  void pack_queries() {
    const std::ptrdiff_t rows = queries_.size(), all_rows = round_up(rows, tiles::rows);
    pack(at_.query.from(queries_.begin, 0), rows, depth_,
         soft_cap_ == 0 ? at_.scale : at_.scale / soft_cap_, query_, all_rows);
    pack(at_.g.from(queries_.begin, 0), rows, values_, kept_scale_, g_, all_rows);
    const float unscale = kept_scale_ == 0 ? 0 : 1 / kept_scale_;
    const auto result = at_.result.from(queries_.begin, 0);
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (std::ptrdiff_t i = 0; i < rows; ++i) {
      prefetch_row(result, i, values_);
      delta_[i] =
          unscale * row_dot(contiguous_row(result.from(i, 0), values_, row_), g_.data + i * g_.row);
      // If all keys of a row are masked out its weights are 0: exp(s - infinity).
      const float s = *at_.statistics.at(queries_.begin + i, 0);
      statistics_[i] = s == -infinity ? infinity : s;
    }
  }

  // Of the block's queries, to which the sums over their keys have no terms to add.
  void add_sink_gradients() const {
    for (std::ptrdiff_t i = 0; i < queries_.size(); ++i) {
      const std::ptrdiff_t query = queries_.begin + i;
      // The weight of the sink: 1 if all keys of a row are masked out, but then delta is 0.
      const float score = *at_.sink.at(query, 0) - statistics_[i];
      const auto weight = static_cast<float>(exponential(static_cast<double>(score)));
      *at_.sink_gradient.at(query, 0) -= weight * delta_[i];
    }
  }

  // The inner product of a row of results and a contiguous row of their gradients.
  float row_dot(const float* x, const float* g) const {
    return static_cast<float>(sum_of_products(static_cast<std::size_t>(values_), x, g));
  }

  void multiply_scores() const {
    const auto extent = [&](std::ptrdiff_t depth) {
      return [this, depth](std::ptrdiff_t i) {
        const index_range columns = vectors_of(band_range_.keys(strip_of_queries(i)));
        return strip_extent{{columns.begin / lanes(), columns.end / lanes()}, {0, depth}};
      };
    };
    const std::ptrdiff_t vectors = round_up(keys_.size(), std::max(lanes(), tiles::rows)) / lanes();
    tiles::multiply<store::overwrite, lhs_layout::row_major>(
        {query_, key_transposed_, weights_}, queries_.size(), vectors, extent(depth_));
    tiles::multiply<store::overwrite, lhs_layout::row_major>(
        {g_, value_transposed_, score_gradient_}, queries_.size(), vectors, extent(values_));
  }

  // The tile of a dense or relative bias, or of its gradient, for the current blocks of queries and
  // keys.
  template <class T>
  bias_tile<T> dense(const slice<T>& bias) const {
    const slice<T> m = bias.from(queries_.begin, keys_.begin);
    return {m.data, m.row, m.column};
  }
  template <class T>
  bias_tile<T> relative(T* bias, const operand& o) const {
    return relative_bias_tile(c_, bias, o, at_.band, queries_.begin, keys_.begin);
  }

  void begin_bias_gradients() {
    if (is_requested(operand_of(c_, role::bias_gradient)))
      bias_gradient_.begin(dense(at_.bias_gradient), queries_.size(), keys_.size());
    if (is_requested(operand_of(c_, role::relative_gradient)))
      relative_gradient_.begin(
          relative(at_.relative_gradient, operand_of(c_, role::relative_gradient)), queries_.size(),
          keys_.size());
  }
  void end_bias_gradients() const {
    if (is_requested(operand_of(c_, role::bias_gradient))) bias_gradient_.end();
    if (is_requested(operand_of(c_, role::relative_gradient))) relative_gradient_.end();
  }
  static bool is_requested(const operand& gradient) { return gradient.data != nullptr; }

  void softmax_and_grad_of_block() {
    const bool biased = operand_of(c_, role::bias).data != nullptr ||
                        operand_of(c_, role::mask).data != nullptr ||
                        operand_of(c_, role::relative).data != nullptr || at_.limits.any();
    if (soft_cap_ == 0)
      biased ? softmax_and_grad_of_rows<false, true>() : softmax_and_grad_of_rows<false, false>();
    else
      biased ? softmax_and_grad_of_rows<true, true>() : softmax_and_grad_of_rows<true, false>();
  }

  template <bool Capped, bool Biased>
  void softmax_and_grad_of_rows() {
    const bool one_bias_row = operand_of(c_, role::bias).stride[loop_.query] == 0 &&
                              operand_of(c_, role::mask).stride[loop_.query] == 0 &&
                              operand_of(c_, role::relative).data == nullptr && !at_.limits.any();
    const bool of_bias = is_requested(operand_of(c_, role::bias_gradient)),
               drops = c_.attention.drop.threshold != 0;
    const bool of_relative = is_requested(operand_of(c_, role::relative_gradient));
    alignas(64) std::uint32_t buffer[random_words_capacity(max_adjoint_keys)];
    for (std::ptrdiff_t first = 0; first < queries_.size(); first += tiles::rows) {
      const index_range strip = strip_of_queries(first);
      const index_range all = vectors_of(band_range_.keys(strip));
      // Vectors that every row of the strip sees in full need no mask.
      const index_range each = band_range_.keys_seen_by_all(strip);
      index_range unmasked{round_up(each.begin, lanes()), each.end / lanes() * lanes()};
      if (unmasked.begin >= unmasked.end) unmasked = {all.end, all.end};
      for (std::ptrdiff_t i = strip.begin; i < strip.end; ++i) {
        if (Biased && (i == 0 || !one_bias_row)) sum_biases(i);
        const score_row r{weights_.data + i * weights_.row,
                          score_gradient_.data + i * score_gradient_.row,
                          bias_row_,
                          soft_cap_,
                          statistics_[i],
                          delta_[i],
                          of_bias || of_relative ? before_cap_ : nullptr};
        const index_range visible = band_range_.keys({i, i + 1});
        const std::uint32_t* const words = drops ? draw_words(i, all, buffer) : nullptr;
        if (drops)
          drop_elements(words, c_.attention.drop.threshold, all.size(),
                        r.score_gradients + all.begin);
        softmax_and_grad<Capped, Biased, true>(r, {all.begin, unmasked.begin}, visible);
        softmax_and_grad<Capped, Biased, false>(r, unmasked, visible);
        softmax_and_grad<Capped, Biased, true>(r, {unmasked.end, all.end}, visible);
        if (drops)
          drop_elements(words, c_.attention.drop.threshold, all.size(), r.scores + all.begin);
        const float* const bias_grads = Capped ? before_cap_ : r.score_gradients;
        if (of_bias) bias_gradient_.add(i, bias_grads, all, visible);
        if (of_relative) relative_gradient_.add(i, bias_grads, all, visible);
      }
    }
  }

  // The random words of query i's weights for a range of keys.
  const std::uint32_t* draw_words(std::ptrdiff_t i, index_range keys, std::uint32_t* buffer) const {
    const std::ptrdiff_t step = operand_of(c_, role::element_ids).stride[loop_.key];
    const std::ptrdiff_t first =
        at_.first_element_id +
        (queries_.begin + i) * operand_of(c_, role::element_ids).stride[loop_.query] +
        (keys_.begin + keys.begin) * step;
    return random_words(schedule_, static_cast<std::uint32_t>(first),
                        static_cast<std::uint32_t>(step), static_cast<std::size_t>(keys.size()),
                        buffer);
  }

  // Sums the biases of a query's row of scores; -infinity where the mask hides the key.
  void sum_biases(std::ptrdiff_t i) {
    const std::ptrdiff_t count = keys_.size();
    std::fill_n(bias_row_, count, 0.0f);
    const auto add = [&](std::ptrdiff_t first, std::ptrdiff_t n, const float* from,
                         std::ptrdiff_t stride) {
      add_elements(n, from, stride, bias_row_ + first);
    };
    if (operand_of(c_, role::bias).data != nullptr)
      dense(at_.bias).for_each_stride(i, {0, count}, add);
    if (operand_of(c_, role::relative).data != nullptr)
      relative(at_.relative, operand_of(c_, role::relative)).for_each_stride(i, {0, count}, add);
    constexpr float infinity = std::numeric_limits<float>::infinity();
    if (at_.limits.any()) at_.limits.apply(queries_.begin + i, keys_, bias_row_, 1);
    for (std::ptrdiff_t j = 0; operand_of(c_, role::mask).data != nullptr && j < count; ++j)
      if (*at_.mask.at(queries_.begin + i, keys_.begin + j) == 0) bias_row_[j] = -infinity;
  }

  const call& c_;
  const attention_loops loop_;
  const std::ptrdiff_t query_extent_, key_extent_, depth_, values_;
  const std::ptrdiff_t depth_vectors_, value_vectors_;
  const float soft_cap_, kept_scale_;
  const philox_schedule schedule_;
  // The current batch index, and the current blocks.
  batch_index batch_;
  adjoint_view at_;
  index_range queries_{}, keys_{};
  band_range band_range_;
  // Pointers into the scratch.
  packed_matrix key_, key_transposed_, value_transposed_, key_gradient_, value_gradient_;
  packed_matrix query_, g_, query_gradient_, weights_, score_gradient_;
  float *statistics_, *delta_, *bias_row_, *before_cap_, *row_;
  bias_gradient bias_gradient_, relative_gradient_;
};

void attention_adjoint(const call& c) noexcept {
  const attention_loops at(c.loops);
  const batch_loops shared = shared_loops(c);
  std::ptrdiff_t items = 1, terms = 1;
  for (int l = 0; l < at.query; ++l) (shared >> l & 1u ? items : terms) *= c.extent[l];
  if (c.extent[at.key] == 0 || c.extent[at.query] == 0 || items == 0 || terms == 0) {
    if (c.part.index != 0) return;
    for_each_gradient(
        c, [&](const slot& s, const operand& gradient) { clear(c, s, gradient, 0, {}); });
    return;
  }
  adjoint each(c);
  const auto index_of = [&](std::ptrdiff_t item, std::ptrdiff_t term) {
    batch_index b;
    b.loops = at.query;
    for (int l = at.query - 1; l >= 0; --l) {
      std::ptrdiff_t& remaining = shared >> l & 1u ? item : term;
      b.index[l] = remaining % c.extent[l];
      remaining /= c.extent[l];
    }
    return b;
  };
  const auto [begin, end] = range_of(items, c.part);
  for (std::ptrdiff_t item = begin; item < end; ++item) {
    for (std::ptrdiff_t term = 0; term < terms; ++term) {
      const batch_index b = index_of(item, term);
      if (term == 0) clear_bias_gradients(c, shared, b);
      each.run(b);
    }
  }
}

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

WEFT_EXPORT(kernel_function, attention_adjoint)
