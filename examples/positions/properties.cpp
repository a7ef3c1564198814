#include "properties.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <weft/weft.hpp>

namespace positions {

namespace {

namespace nn = weft::nn;
namespace position = weft::nn::position;

constexpr std::size_t trained = 32, longest = 8 * trained;

struct Pos : weft::axis<weft::up_to<longest>> {};
struct KeyPos : weft::alias<Pos> {};
struct Trained : weft::axis<trained> {};
struct Embed : weft::axis<16> {};
struct Heads : weft::axis<2> {};
struct HeadDim : weft::axis<8> {};

// A vector for each trained position, and none for those beyond, for which the table has no row.
struct learned_or_none : position::learned<Trained> {
  constexpr learned_or_none() = default;

  template <class Position, class Features, weft::expression At>
  constexpr auto embedding(weft::scope s, const At& at) const {
    constexpr int last = static_cast<int>(trained) - 1;
    const auto row = learned::embedding<Position, Features>(s, weft::minimum(at, last));
    return weft::where(at <= last, row, 0.0f);
  }
};

// Scores and vectors of a text with one word at every position, of the length of `text`.
template <class Encoding>
struct one_word {
  constexpr auto operator()(weft::scope s) const {
    using weft::as, weft::broadcast, weft::positions, weft::shape;
    using Each = shape<Heads>;
    constexpr Encoding encoding{};
    const auto text = s.input<"text", float, Pos>();
    const auto word = s.param<"word", Embed>(weft::init::normal());
    const auto embedded = text * 0 + word;
    const auto x = nn::add_positions<Pos, Embed>(s / "embedding", embedded, encoding);
    const auto keys = weft::rename<Pos, KeyPos>(x);
    const auto project = [&](auto name, const auto& of) {
      return nn::linear<Embed, shape<Heads, HeadDim>>(s / name, of, {.bias = false});
    };
    const auto query = project("query", x);
    const auto key = project("key", keys);
    const auto own = s / "position";
    const auto q = encoding.template query<Each, HeadDim>(own, query, positions<Pos>());
    const auto k = encoding.template key<Each, HeadDim>(own, key, positions<KeyPos>());
    const auto where = nn::positions_in_attention<Pos, KeyPos, Embed>(positions<Pos>(), keys, key);
    const auto scores = nn::dot_product_score<HeadDim>(q, k) +
                        encoding.template scores<Each, HeadDim>(own, query, where);
    return weft::results(as<"scores">(broadcast<Pos, KeyPos, Heads>(scores)),
                         as<"added">(x - embedded), as<"query">(q));
  }
};

using score_table = weft::array<float, Pos, Heads, KeyPos>;

// The vectors of all positions, contiguous, and the size of each.
struct vector_table {
  std::size_t size;
  std::vector<float> numbers;

  std::size_t count() const { return numbers.size() / size; }
  const float* operator[](std::size_t position) const { return numbers.data() + position * size; }
};

struct text {
  score_table scores;
  vector_table vectors;
};

template <class Range>
float largest(const Range& numbers) {
  float most = 0;
  for (const float x : numbers) most = std::max(most, std::abs(x));
  return most;
}
// The tolerance for values that are equal but for float32 rounding.
template <class Range>
float tolerance(const Range& numbers) {
  return 1e-4f * largest(numbers);
}

// The scores, and what is added to the embedding or, where that is nothing, the first head's query.
template <class Encoding>
text read(std::size_t length) {
  weft::module<one_word<Encoding>> net;
  const weft::array<float, Pos> x(length);
  const auto all = net(weft::arg<"text">(x));
  const weft::array<float, Pos, Embed> added(all.template get<"added">());
  const weft::array<float, Pos, Heads, HeadDim> query(all.template get<"query">());
  vector_table vectors{Embed::extent, {added.begin(), added.end()}};
  if (largest(added) == 0) {
    vectors = {HeadDim::extent, {}};
    for (std::size_t i = 0; i < length; ++i)
      for (std::size_t d = 0; d < HeadDim::extent; ++d) vectors.numbers.push_back(query(i, 0, d));
  }
  return {score_table(all.template get<"scores">()), vectors};
}

float distance(const vector_table& v, std::size_t i, std::size_t j) {
  float sum = 0;
  for (std::size_t d = 0; d < v.size; ++d) sum += (v[i][d] - v[j][d]) * (v[i][d] - v[j][d]);
  return std::sqrt(sum);
}
// Whether the vectors depend on the position.
bool has_vectors(const vector_table& v) {
  for (std::size_t i = 1; i < v.count(); ++i)
    if (distance(v, i, 0) > tolerance(v.numbers)) return true;
  return false;
}

bool are_unique(const score_table& s) {
  const std::size_t n = s.length<Pos>();
  const auto differ = [&, bound = tolerance(s)](std::size_t i, std::size_t j) {
    for (std::size_t h = 0; h < Heads::extent; ++h)
      for (std::size_t k = 0; k < n; ++k)
        if (std::abs(s(i, h, k) - s(j, h, k)) > bound) return true;
    return false;
  };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!differ(i, j)) return false;
  return true;
}

bool are_bounded(const text& one, const text& longer) {
  return has_vectors(one.vectors)
             ? largest(longer.vectors.numbers) <= 2 * largest(one.vectors.numbers)
             : largest(longer.scores) <= 2 * largest(one.scores);
}

bool are_the_same(const text& one, const text& other) {
  return std::equal(one.scores.begin(), one.scores.end(), other.scores.begin(),
                    other.scores.end()) &&
         one.vectors.numbers == other.vectors.numbers;
}

bool have_the_same_distances(const text& one, const text& longer) {
  const std::size_t n = one.scores.length<Pos>();
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      if (std::abs(distance(one.vectors, i, j) - distance(longer.vectors, i, j)) >
          tolerance(one.vectors.numbers))
        return false;
      for (std::size_t h = 0; h < Heads::extent; ++h)
        if (std::abs(one.scores(i, h, j) - longer.scores(i, h, j)) > tolerance(one.scores))
          return false;
    }
  return true;
}

bool depend_on_the_offset(const score_table& s) {
  const std::size_t n = s.length<Pos>();
  for (std::size_t i = 1; i < n; ++i)
    for (std::size_t h = 0; h < Heads::extent; ++h)
      for (std::size_t j = 1; j < n; ++j)
        if (std::abs(s(i, h, j) - s(i - 1, h, j - 1)) > tolerance(s)) return false;
  return true;
}

// Whether one rotation maps elements a and b of each vector to those of the vector δ later. The
// least-squares rotation has the cosine Σ (a a' + b b') / Σ (a² + b²), and the sine Σ (a b' - b a')
// over the same sum.
bool turn(const vector_table& v, std::size_t a, std::size_t b) {
  constexpr std::size_t delta = 3;
  float cosine = 0, sine = 0, norm = 0;
  for (std::size_t i = 0; i + delta < v.count(); ++i) {
    const float* const p = v[i];
    const float* const q = v[i + delta];
    cosine += p[a] * q[a] + p[b] * q[b];
    sine += p[a] * q[b] - p[b] * q[a];
    norm += p[a] * p[a] + p[b] * p[b];
  }
  cosine /= norm;
  sine /= norm;
  if (!(std::abs(cosine * cosine + sine * sine - 1) <= 1e-3f)) return false;
  for (std::size_t i = 0; i + delta < v.count(); ++i) {
    const float* const p = v[i];
    const float* const q = v[i + delta];
    if (std::abs(cosine * p[a] - sine * p[b] - q[a]) > tolerance(v.numbers) ||
        std::abs(sine * p[a] + cosine * p[b] - q[b]) > tolerance(v.numbers))
      return false;
  }
  return true;
}
// Pairs are interleaved or half-split.
bool all_pairs_turn(const vector_table& v) {
  const std::size_t half = v.size / 2;
  bool neighbours = true, halves = true;
  for (std::size_t j = 0; j < half; ++j) {
    neighbours = neighbours && turn(v, 2 * j, 2 * j + 1);
    halves = halves && turn(v, j, j + half);
  }
  return neighbours || halves;
}

template <class Encoding>
properties properties_of(std::string_view name) {
  const auto found = [](bool yes) { return yes ? finding::yes : finding::no; };
  const text one = read<Encoding>(trained), twice = read<Encoding>(2 * trained);
  return {name,
          {found(are_unique(one.scores)), found(are_bounded(one, read<Encoding>(longest))),
           found(are_the_same(one, read<Encoding>(trained))),
           found(have_the_same_distances(one, twice)), found(are_unique(twice.scores)),
           found(depend_on_the_offset(one.scores)),
           has_vectors(one.vectors) ? found(all_pairs_turn(one.vectors)) : finding::none}};
}

}  // namespace

std::vector<properties> properties_of_encodings() {
  return {properties_of<position::none>("none"),
          properties_of<position::index>("index"),
          properties_of<position::relative_index<>>("index/length"),
          properties_of<position::sinusoidal>("sinusoidal"),
          properties_of<learned_or_none>("learned"),
          properties_of<position::learned_sinusoidal>("learned-sinusoidal"),
          properties_of<position::fourier<>>("fourier"),
          properties_of<position::shaw<16>>("shaw"),
          properties_of<position::transformer_xl<>>("transformer-xl"),
          properties_of<position::t5<>>("t5"),
          properties_of<position::alibi>("alibi"),
          properties_of<position::learned_alibi>("learned-alibi"),
          properties_of<position::rotary<>>("rotary"),
          properties_of<position::learned_rotary<>>("learned-rotary"),
          properties_of<position::xpos<>>("xpos"),
          properties_of<position::fire<>>("fire"),
          properties_of<position::cope<>>("cope"),
          properties_of<position::forgetting>("forgetting")};
}

}  // namespace positions
