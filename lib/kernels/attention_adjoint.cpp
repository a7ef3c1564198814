// The adjoint of attention: the gradients for query, key and value from one pass over tiles of the
// scores (Dao et al. 2022, appendix B.4), which are computed again.
//
// Blocks of keys are outermost: what belongs to one, its gradients and the transposes of key and
// value among it, is in the scratch while the queries pass by in blocks. With rows of scores along
// the keys nothing else needs a transpose: the three products after the scores want vectors along
// the depths, as all operands have them, and from the scores one element after the other.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/entry.hpp"
#include "kernels/indexing.hpp"
#include "kernels/visible.hpp"
#include "weft/kernels/attention_adjoint_scratch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_adjoint.cpp"
#include "hwy/foreach_target.h"  // must come before hwy-inl.h
#include "kernels/math-inl.h"
#include "kernels/tile_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {
namespace {

using tiles::factors;
using tiles::lanes;
using tiles::left_operand;
using tiles::packed_matrix;
using tiles::range;
using tiles::store;
using tiles::strip_extent;
using tiles::tag;
using tiles::vec;

constexpr std::ptrdiff_t round_up(std::ptrdiff_t n, std::ptrdiff_t unit) {
  return (n + unit - 1) / unit * unit;
}

HWY_INLINE vec load_first(const float* p, std::ptrdiff_t n) {
  return n >= lanes() ? hn::LoadU(tag(), p) : load_n(tag(), p, static_cast<std::size_t>(n));
}

HWY_INLINE void store_first(vec v, float* p, std::ptrdiff_t n) {
  if (n >= lanes()) return hn::StoreU(v, tag(), p);
  store_n(v, tag(), p, static_cast<std::size_t>(n));
}

// A matrix in an operand.
template <class T>
struct strided_matrix {
  T* data;
  std::ptrdiff_t row, column;

  strided_matrix from_row(std::ptrdiff_t i) const { return {data + i * row, row, column}; }
  strided_matrix from_column(std::ptrdiff_t j) const { return {data + j * column, row, column}; }
};

// The first row, as it is or, if its elements are apart, in `copy`.
const float* contiguous_row(const strided_matrix<const float>& m, std::ptrdiff_t columns,
                            float* copy) {
  if (m.column == 1) return m.data;
  for (std::ptrdiff_t j = 0; j < columns; ++j) copy[j] = m.data[j * m.column];
  return copy;
}

// to = factor * from, with zeros up to whole vectors, and as many rows of zeros as are asked for.
void pack(const strided_matrix<const float>& from, std::ptrdiff_t rows, std::ptrdiff_t columns,
          float factor, const packed_matrix& to, std::ptrdiff_t all_rows) {
  const tag d;
  const vec f = hn::Set(d, factor);
  for (std::ptrdiff_t i = 0; i < rows; ++i) {
    float* row = to.data + i * to.row;
    if (from.column != 1 && columns > 0) row[round_up(columns, lanes()) - 1] = 0;
    const float* x = contiguous_row(from.from_row(i), columns, row);
    for (std::ptrdiff_t j = 0; j < columns; j += lanes())
      hn::StoreU(hn::Mul(f, load_first(x + j, columns - j)), d, row + j);
  }
  for (std::ptrdiff_t i = rows; i < all_rows; ++i)
    std::fill_n(to.data + i * to.row, round_up(columns, lanes()), 0.0f);
}

// to = factor * from, or to += factor * from.
void unpack(const packed_matrix& from, std::ptrdiff_t rows, std::ptrdiff_t columns, float factor,
            const strided_matrix<float>& to, store how) {
  const tag d;
  const vec f = hn::Set(d, factor);
  for (std::ptrdiff_t i = 0; i < rows; ++i) {
    const float* x = from.data + i * from.row;
    float* y = to.data + i * to.row;
    if (to.column != 1) {
      for (std::ptrdiff_t j = 0; j < columns; ++j) {
        float& place = y[j * to.column];
        place = factor * x[j] + (how == store::add ? place : 0.0f);
      }
      continue;
    }
    for (std::ptrdiff_t j = 0; j < columns; j += lanes()) {
      const vec before = how == store::add ? load_first(y + j, columns - j) : hn::Zero(d);
      store_first(hn::MulAdd(f, hn::LoadU(d, x + j), before), y + j, columns - j);
    }
  }
}

// Scores of a row, or their gradients: zeros where j < begin or end <= j, in the vectors that hold
// the places from `begin` to `end`.
HWY_INLINE void clear_outside(range visible, range vectors, float* row) {
  const tag d;
  if (const std::ptrdiff_t n = visible.begin - vectors.begin; n > 0) {
    float* first = row + vectors.begin;
    hn::StoreU(hn::IfThenZeroElse(hn::FirstN(d, static_cast<std::size_t>(n)), hn::LoadU(d, first)),
               d, first);
  }
  if (vectors.end > visible.end) {
    float* last = row + vectors.end - lanes();
    const std::ptrdiff_t n = visible.end - (vectors.end - lanes());
    hn::StoreU(hn::IfThenElseZero(hn::FirstN(d, static_cast<std::size_t>(n)), hn::LoadU(d, last)),
               d, last);
  }
}

// What else than products a row of scores goes through.
struct score_row {
  float* scores;           // in: query * key; out: twice the weights
  float* score_gradients;  // in: g * value; out: twice the gradients for query * key
  const float* addend;
  float soft_cap, statistics, dot;
};

template <bool Capped, bool Added>
HWY_INLINE void weigh(const score_row& r, range vectors) {
  const tag d;
  const vec statistics = hn::Set(d, r.statistics), dot = hn::Set(d, r.dot);
  const vec soft_cap = hn::Set(d, r.soft_cap), one = hn::Set(d, 1.0f);
  for (std::ptrdiff_t j = vectors.begin; j < vectors.end; j += lanes()) {
    vec s = hn::LoadU(d, r.scores + j);
    vec slope = one;
    if constexpr (Capped) {
      const vec t = math::tanh(d, s);
      slope = hn::NegMulAdd(t, t, one);
      s = hn::Mul(soft_cap, t);
    }
    if constexpr (Added) s = hn::Add(s, hn::LoadU(d, r.addend + j));
    const vec weight = math::twice_exp(d, hn::Sub(s, statistics));
    vec ds = hn::Mul(weight, hn::Sub(hn::LoadU(d, r.score_gradients + j), dot));
    if constexpr (Capped) ds = hn::Mul(ds, slope);
    hn::StoreU(weight, d, r.scores + j);
    hn::StoreU(ds, d, r.score_gradients + j);
  }
}

// Where one index of the batch loops is, and whether it is the first of those that are summed in a
// gradient.
struct batch_index {
  std::ptrdiff_t index[max_loops]{};

  std::ptrdiff_t offset(const operand& o) const {
    std::ptrdiff_t sum = 0;
    for (int l = 0; l < max_loops; ++l) sum += index[l] * o.stride[l];
    return sum;
  }
  store into(const operand& gradient) const {
    for (int l = 0; l < max_loops; ++l)
      if (gradient.stride[l] == 0 && index[l] != 0) return store::add;
    return store::put;
  }
};

class adjoint {
 public:
  explicit adjoint(const attention_call& c)
      : c_(c),
        at_(c.loops),
        queries_(c.extent[at_.query]),
        keys_(c.extent[at_.key]),
        depth_(c.extent[at_.depth]),
        values_(c.extent[at_.value]),
        visible_(c.seen, queries_, keys_),
        depth_vectors_((depth_ + lanes() - 1) / lanes()),
        value_vectors_((values_ + lanes() - 1) / lanes()),
        scale_(static_cast<float>(c.scale)),
        soft_cap_(static_cast<float>(c.soft_cap)) {
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
    dots_ = floats + s.dots;
    weights_ = {floats + s.weights, s.score_row};
    score_gradient_ = {floats + s.score_gradient, s.score_row};
    addend_ = floats + s.addend;
    row_ = floats + s.row;
  }

  void run(const batch_index& b) {
    batch_ = b;
    for (block_.keys = {0, 0}; block_.keys.begin < keys_; block_.keys.begin = block_.keys.end) {
      block_.keys.end = std::min(keys_, block_.keys.begin + max_adjoint_keys);
      begin_keys();
      // The first block meets all queries, so that each of them gets a gradient.
      const bool first = block_.keys.begin == 0;
      const index_range seen = first ? index_range{0, queries_} : visible_.queries(block_.keys);
      for (std::ptrdiff_t i = seen.begin; i < seen.end; i = block_.queries.end) {
        block_.queries = {i, std::min(seen.end, i + max_adjoint_queries)};
        run_block(first);
      }
      end_keys();
    }
  }

 private:
  struct {
    index_range queries, keys;
  } block_{};

  std::ptrdiff_t query_count() const { return block_.queries.end - block_.queries.begin; }
  std::ptrdiff_t key_count() const { return block_.keys.end - block_.keys.begin; }

  // An operand at the batch index, from one row of it on.
  template <class T>
  strided_matrix<T> matrix(const operand& o, int rows, int columns, std::ptrdiff_t from) const {
    return strided_matrix<T>{static_cast<T*>(o.data) + batch_.offset(o), o.stride[rows],
                             o.stride[columns]}
        .from_row(from);
  }

  void begin_keys() {
    const std::ptrdiff_t rows = key_count(), all_rows = round_up(rows, adjoint_unit);
    const std::ptrdiff_t from = block_.keys.begin;
    pack(matrix<const float>(c_.key, at_.key, at_.depth, from), rows, depth_, 1, key_, all_rows);
    tiles::transpose(key_, all_rows, round_up(depth_, 4), key_transposed_);
    // Where the gradient will be, there is room for the values as they are.
    pack(matrix<const float>(c_.value, at_.key, at_.value, from), rows, values_, 1, value_gradient_,
         all_rows);
    tiles::transpose(value_gradient_, all_rows, round_up(values_, 4), value_transposed_);
    std::fill_n(key_gradient_.data, all_rows * key_gradient_.row, 0.0f);
    std::fill_n(value_gradient_.data, all_rows * value_gradient_.row, 0.0f);
  }

  // The weights and the gradients of scores are twice what they are called, as twice_exp gives.
  void end_keys() const {
    const std::ptrdiff_t from = block_.keys.begin;
    const float query_factor = 0.5f * (soft_cap_ == 0 ? 1 : soft_cap_);
    unpack(key_gradient_, key_count(), depth_, query_factor,
           matrix<float>(c_.key_gradient, at_.key, at_.depth, from), batch_.into(c_.key_gradient));
    unpack(value_gradient_, key_count(), values_, 0.5f,
           matrix<float>(c_.value_gradient, at_.key, at_.value, from),
           batch_.into(c_.value_gradient));
  }

  void run_block(bool first_keys) {
    begin_queries();
    multiply_scores();
    weigh_scores();
    const range depth_range{0, depth_vectors_}, value_range{0, value_vectors_};
    tiles::multiply<store::put, left_operand::as_it_is>(
        {score_gradient_, key_, query_gradient_}, query_count(), depth_vectors_,
        [&](std::ptrdiff_t i) {
          return strip_extent{depth_range, keys_of(i)};
        });
    tiles::multiply<store::add, left_operand::transposed>(
        {weights_, g_, value_gradient_}, key_count(), value_vectors_, [&](std::ptrdiff_t j) {
          return strip_extent{value_range, queries_of(j)};
        });
    tiles::multiply<store::add, left_operand::transposed>(
        {score_gradient_, query_, key_gradient_}, key_count(), depth_vectors_,
        [&](std::ptrdiff_t j) {
          return strip_extent{depth_range, queries_of(j)};
        });
    unpack(query_gradient_, query_count(), depth_, 0.5f * scale_,
           matrix<float>(c_.query_gradient, at_.query, at_.depth, block_.queries.begin),
           first_keys ? batch_.into(c_.query_gradient) : store::add);
  }

  // The keys of the block, counted from its first, that a strip of queries sees.
  range keys_of(std::ptrdiff_t i) const {
    const std::ptrdiff_t first = block_.queries.begin + i;
    return within(visible_.keys({first, std::min(first + tiles::rows, block_.queries.end)}),
                  block_.keys);
  }

  // The queries of the block, counted from its first, that see a strip of keys.
  range queries_of(std::ptrdiff_t j) const {
    const std::ptrdiff_t first = block_.keys.begin + j;
    return within(visible_.queries({first, std::min(first + tiles::rows, block_.keys.end)}),
                  block_.queries);
  }

  static range within(index_range r, index_range block) {
    return {std::clamp(r.begin, block.begin, block.end) - block.begin,
            std::clamp(r.end, block.begin, block.end) - block.begin};
  }

  void begin_queries() {
    const tag d;
    const std::ptrdiff_t rows = query_count(), all_rows = round_up(rows, tiles::rows);
    const std::ptrdiff_t from = block_.queries.begin;
    pack(matrix<const float>(c_.query, at_.query, at_.depth, from), rows, depth_,
         soft_cap_ == 0 ? scale_ : scale_ / soft_cap_, query_, all_rows);
    pack(matrix<const float>(c_.g, at_.query, at_.value, from), rows, values_, 1, g_, all_rows);
    const auto result = matrix<const float>(c_.result, at_.query, at_.value, from);
    const auto statistics = matrix<const float>(c_.statistics, at_.query, at_.query, from);
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (std::ptrdiff_t i = 0; i < rows; ++i) {
      const float* x = contiguous_row(result.from_row(i), values_, row_);
      const float* y = g_.data + i * g_.row;
      vec sum = hn::Zero(d);
      for (std::ptrdiff_t j = 0; j < values_; j += lanes())
        sum = hn::MulAdd(load_first(x + j, values_ - j), hn::LoadU(d, y + j), sum);
      dots_[i] = hn::GetLane(hn::SumOfLanes(d, sum));
      // A row whose keys are all hidden has no weights: less infinity, every score gives 0.
      const float s = statistics.data[i * statistics.row];
      statistics_[i] = s == -infinity ? infinity : s;
    }
  }

  void multiply_scores() const {
    const std::ptrdiff_t vectors = (key_count() + lanes() - 1) / lanes();
    const auto extent = [&](std::ptrdiff_t depth) {
      return [this, depth](std::ptrdiff_t i) {
        const range seen = keys_of(i);
        return strip_extent{{seen.begin / lanes(), (seen.end + lanes() - 1) / lanes()}, {0, depth}};
      };
    };
    tiles::multiply<store::put, left_operand::as_it_is>({query_, key_transposed_, weights_},
                                                        query_count(), vectors, extent(depth_));
    tiles::multiply<store::put, left_operand::as_it_is>({g_, value_transposed_, score_gradient_},
                                                        query_count(), vectors, extent(values_));
  }

  void weigh_scores() {
    const bool added = c_.bias.data != nullptr || c_.mask.data != nullptr;
    if (soft_cap_ == 0)
      added ? weigh_rows<false, true>() : weigh_rows<false, false>();
    else
      added ? weigh_rows<true, true>() : weigh_rows<true, false>();
  }

  template <bool Capped, bool Added>
  void weigh_rows() {
    const range all{0, round_up(key_count(), lanes())};
    const bool one_addend = c_.bias.stride[at_.query] == 0 && c_.mask.stride[at_.query] == 0;
    for (std::ptrdiff_t i = 0; i < query_count(); ++i) {
      if (Added && (i == 0 || !one_addend)) find_addend(block_.queries.begin + i);
      const std::ptrdiff_t query = block_.queries.begin + i;
      range seen = within(visible_.keys({query, query + 1}), block_.keys);
      seen.end = std::max(seen.begin, seen.end);
      range vectors{seen.begin / lanes() * lanes(), round_up(seen.end, lanes())};
      if (seen.empty()) vectors.end = vectors.begin;
      const score_row r{weights_.data + i * weights_.row,
                        score_gradient_.data + i * score_gradient_.row,
                        addend_,
                        soft_cap_,
                        statistics_[i],
                        dots_[i]};
      weigh<Capped, Added>(r, vectors);
      // The strips that this row is in go at most their rows beyond what it sees.
      const range zeros = tiles::intersection(all, {(seen.begin - tiles::rows) / lanes() * lanes(),
                                                    round_up(seen.end + tiles::rows, lanes())});
      for (float* row : {r.scores, r.score_gradients}) {
        if (!seen.empty()) clear_outside(seen, vectors, row);
        std::fill(row + zeros.begin, row + std::max(zeros.begin, vectors.begin), 0.0f);
        std::fill(row + vectors.end, row + std::max(vectors.end, zeros.end), 0.0f);
      }
    }
  }

  // A query's row of the bias, -infinity where the mask hides the key.
  void find_addend(std::ptrdiff_t query) {
    const std::ptrdiff_t count = key_count();
    if (c_.bias.data == nullptr) {
      std::fill_n(addend_, count, 0.0f);
    } else {
      const auto bias =
          matrix<const float>(c_.bias, at_.query, at_.key, query).from_column(block_.keys.begin);
      for (std::ptrdiff_t j = 0; j < count; ++j) addend_[j] = bias.data[j * bias.column];
    }
    if (c_.mask.data == nullptr) return;
    const auto mask = matrix<const std::uint8_t>(c_.mask, at_.query, at_.key, query)
                          .from_column(block_.keys.begin);
    constexpr float infinity = std::numeric_limits<float>::infinity();
    for (std::ptrdiff_t j = 0; j < count; ++j)
      if (mask.data[j * mask.column] == 0) addend_[j] = -infinity;
  }

  const attention_call& c_;
  const attention_loops at_;
  const std::ptrdiff_t queries_, keys_, depth_, values_;
  const visible visible_;
  const std::ptrdiff_t depth_vectors_, value_vectors_;
  const float scale_, soft_cap_;
  batch_index batch_;
  // In the scratch.
  packed_matrix key_, key_transposed_, value_transposed_, key_gradient_, value_gradient_;
  packed_matrix query_, g_, query_gradient_, weights_, score_gradient_;
  float *statistics_, *dots_, *addend_, *row_;
};

// Zeros for a gradient that nothing adds to.
void clear(const attention_call& c, const operand& gradient) {
  call zeros;
  zeros.loops = c.loops;
  zeros.operands[0] = gradient;
  for (int l = 0; l < c.loops; ++l) zeros.extent[l] = gradient.stride[l] == 0 ? 1 : c.extent[l];
  zero(zeros);
}

void attention_adjoint(const attention_call& c) noexcept {
  const attention_loops at(c.loops);
  bool empty = c.extent[at.key] == 0 || c.extent[at.query] == 0;
  // Parts share the loops that all gradients have; the others, inside of them, are sums.
  std::ptrdiff_t items = 1, terms = 1;
  const auto is_shared = [&](int l) {
    return c.query_gradient.stride[l] != 0 && c.key_gradient.stride[l] != 0 &&
           c.value_gradient.stride[l] != 0;
  };
  for (int l = 0; l < at.query; ++l) (is_shared(l) ? items : terms) *= c.extent[l];
  empty = empty || items == 0 || terms == 0;
  if (empty) {
    if (c.part.index != 0) return;
    for (const operand* o : {&c.query_gradient, &c.key_gradient, &c.value_gradient}) clear(c, *o);
    return;
  }
  adjoint each(c);
  const auto [begin, end] = items_of(items, c.part);
  for (std::ptrdiff_t item = begin; item < end; ++item) {
    for (std::ptrdiff_t term = 0; term < terms; ++term) {
      batch_index b;
      std::ptrdiff_t item_left = item, term_left = term;
      for (int l = at.query - 1; l >= 0; --l) {
        std::ptrdiff_t& left = is_shared(l) ? item_left : term_left;
        b.index[l] = left % c.extent[l];
        left /= c.extent[l];
      }
      each.run(b);
    }
  }
}

}  // namespace

// Highway's tables take no functions that are noexcept, but ones that return them.
void (*AttentionAdjointOfTarget())(const attention_call&) noexcept {
  return &attention_adjoint;
}

}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace weft::kernels {

HWY_EXPORT(AttentionAdjointOfTarget);

void (*attention_adjoint_kernel() noexcept)(const attention_call&) noexcept {
  return HWY_DYNAMIC_DISPATCH(AttentionAdjointOfTarget)();
}

}  // namespace weft::kernels
#endif
