#include "tour.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <string>
#include <weft/pictures/line_chart.hpp>
#include <weft/weft.hpp>

#include "listings.hpp"
#include "models/additive.hpp"
#include "models/batch_product.hpp"
#include "models/bilinear.hpp"
#include "models/dot_product.hpp"
#include "models/gaussian.hpp"
#include "models/masked_softmax.hpp"
#include "models/multi_head.hpp"
#include "models/regression.hpp"
#include "report.hpp"

namespace attention_tour {

namespace {

template <class T, class... Axes>
weft::array<T, Axes...> holding(std::span<const T> values) {
  weft::array<T, Axes...> x;
  std::ranges::copy(values, x.begin());
  return x;
}

template <class... Axes>
weft::array<float, Axes...> ones() {
  weft::array<float, Axes...> x;
  std::ranges::fill(x, 1.0f);
  return x;
}

template <class... Axes>
weft::array<float, Axes...> normal(std::mt19937& random) {
  weft::array<float, Axes...> x;
  std::normal_distribution<float> number;
  for (float& element : x) element = number(random);
  return x;
}

template <class... Lengths>
void softmax_of(report& to, const std::vector<float>& chapter, const std::vector<int>& valid) {
  using namespace masked_softmax;
  auto scores = holding<float, Batch, Query, Key>(chapter);
  // Where the weight is 0 the score is masked, and may have any value.
  for (float& score : scores) score = score > 0 ? std::log(score) : 1.0f;
  const auto lengths = holding<std::int32_t, Lengths...>(valid);
  weft::module<model<Lengths...>> net;
  const auto weights = net(weft::arg<"scores">(scores), weft::arg<"lengths">(lengths));
  const axes a{"query", "key"};
  for (std::size_t b = 0; b < Batch::extent; ++b)
    to.numbers("sequence " + std::to_string(b), weights.template at<Batch>(b), a);
  for (std::size_t b = 0; b < Batch::extent; ++b)
    to.heat_map("Weights of sequence " + std::to_string(b), weights.template at<Batch>(b), a, 32);
}

void show_masked_softmax(report& to) {
  using namespace masked_softmax;
  to.step("Masked softmax, a length for each sequence",
          "Sequences in a batch differ in length. What lies beyond a sequence's length has to get "
          "no weight: its scores become −∞ before the softmax. The chapter draws its scores at "
          "random; here they are the logarithms of the weights that it prints, so that its "
          "numbers come out again. The lengths are 2 and 3.");
  to.listing(listings::masked_softmax);
  softmax_of<Batch>(to,
                    {0.4639f, 0.5361f, 0, 0, 0.3481f, 0.6519f, 0, 0,  //
                     0.4261f, 0.1981f, 0.3759f, 0, 0.4635f, 0.2937f, 0.2428f, 0},
                    {2, 3});
  to.step("Masked softmax, a length for each query",
          "The same model with lengths over two axes: 1 and 3 for the queries of the first "
          "sequence, 2 and 4 for those of the second.");
  softmax_of<Batch, Query>(
      to,
      {1, 0, 0, 0, 0.29248205f, 0.37135315f, 0.3361648f, 0,  //
       0.38551602f, 0.61448395f, 0, 0, 0.17129263f, 0.21547154f, 0.25191936f, 0.36131644f},
      {1, 3, 2, 4});
}

void show_batch_product(report& to) {
  using namespace batch_product;
  to.step("Batch matrix product",
          "A contraction goes by the axes' names. An axis that both operands have and that is not "
          "contracted is shared, so a product for each entry of a batch is a product. With ones of "
          "2 × 3 × 4 and 2 × 4 × 6 every element of the 2 × 3 × 6 is 4.");
  to.listing(listings::batch_product);
  const auto q = ones<Batch, A, B>();
  const auto k = ones<Batch, B, C>();
  weft::module<model> net;
  const auto product = net(weft::arg<"q">(q), weft::arg<"k">(k));
  for (std::size_t b = 0; b < Batch::extent; ++b)
    to.numbers("product " + std::to_string(b), product.at<Batch>(b), {"row", "column"});
}

// Attention of Model to equal keys, as in the chapter, and to keys drawn at random.
template <class Model, class QueryDim>
void show_attention(report& to) {
  using namespace toy;
  std::mt19937 random(1);
  weft::array<float, Batch, Key, ValueDim> values;
  for (std::size_t i = 0; i < values.size(); ++i)
    values.data()[i] = static_cast<float>(i % (Key::extent * ValueDim::extent));
  const auto lengths = holding<std::int32_t, Batch>(std::vector{2, 6});
  const auto queries = normal<Batch, Query, QueryDim>(random);
  weft::module<Model> net(weft::parameters<Model>({.seed = 1}));
  const auto attend = [&](const std::string& kind, const auto& keys) {
    const auto seen = net(weft::arg<"queries">(queries), weft::arg<"keys">(keys),
                          weft::arg<"values">(values), weft::arg<"lengths">(lengths));
    to.numbers("output, " + kind + " keys", seen.template get<"output">().template at<Query>(0),
               {"sequence", "value"});
    const auto weights = seen.template get<"weights">().template at<Query>(0);
    to.numbers("weights, " + kind + " keys", weights, {"sequence", "key"});
    to.heat_map("Weights of " + kind + " keys", weights, {"sequence", "key"});
  };
  attend("equal", ones<Batch, Key, KeyDim>());
  attend("random", normal<Batch, Key, KeyDim>(random));
}

void show_scores(report& to) {
  to.step(
      "Keys and values to try scores on",
      "Each score is tried on two sequences of ten keys, of which 2 and 6 are valid. The values "
      "are 0 to 39 in rows of four. Where the keys are equal, so are their weights, whatever "
      "the score, and the output is the mean of the valid values. Other keys have weights of "
      "their own.");
  to.listing(listings::toy);
  to.step("Scaled dot product",
          "The score of a query q and a key k, of d numbers each, is qᵀk / √d.");
  to.listing(listings::dot_product);
  show_attention<toy::dot_product, toy::KeyDim>(to);
  to.step(
      "Additive score",
      "Queries of 20 numbers and keys of 2 meet in a hidden layer of 8: vᵀ tanh(W_q q + W_k k).");
  to.listing(listings::additive);
  show_attention<toy::additive, toy::QueryDim>(to);
  to.step("Bilinear score", "A matrix between a query and a key of another size: qᵀMk.");
  to.listing(listings::bilinear);
  show_attention<toy::bilinear, toy::QueryDim>(to);
  to.step("Gaussian score",
          "The kernel's exponent is −‖q − k‖² / 2. Its part −‖q‖² / 2 is the same for all keys, "
          "and the softmax does not see it; what is left is qᵀk − ‖k‖² / 2.");
  to.listing(listings::gaussian);
  show_attention<toy::gaussian, toy::KeyDim>(to);
}

void show_regression(report& to) {
  using namespace regression;
  to.step(
      "Nadaraya–Watson regression",
      "With the Gaussian score, attention is a regression: 50 noisy points (x, y) of the curve "
      "2 sin x + x^0.8 are keys and values, and the estimate at another x is the mean of the y, "
      "weighted by how near their x are. The nearer a key, the lighter is its square.");
  to.listing(listings::regression);
  const sample known = noisy_sample();
  const std::vector<float> known_x(known.x.begin(), known.x.end());
  const std::vector<float> known_y(known.y.begin(), known.y.end());
  weft::array<float, Point, Dim> x;
  for (std::size_t i = 0; i < Point::extent; ++i) x(i, 0) = static_cast<float>(i) / 10;
  weft::module<model> net;
  const auto seen =
      net(weft::arg<"x">(x), weft::arg<"known x">(holding<float, Known, Dim>(known_x)),
          weft::arg<"known y">(holding<float, Known>(known_y)));
  const auto y = seen.get<"y">();

  weft::line truth{"curve", {}}, estimate{"estimate", {}};
  std::vector<double> each_unit;
  for (std::size_t i = 0; i < Point::extent; ++i) {
    truth.values.push_back(curve(static_cast<double>(x(i, 0))));
    estimate.values.push_back(static_cast<double>(y(i)));
    if (i % 10 == 0) each_unit.push_back(estimate.values.back());
  }
  to.numbers("estimates", weft::grid(each_unit, 1, each_unit.size()), {"", "x ="});
  to.picture(
      "Estimates and the curve without noise",
      weft::line_chart({truth, estimate}, {.down = "y", .across = "x", .step = 0.1, .scale = 2}));
  to.heat_map("Weights", seen.get<"weights">(), {"estimate", "known point"}, 6);
}

void show_multi_head(report& to) {
  using namespace multi_head;
  to.step("Multi-head attention",
          "Self-attention with 100 units in 5 heads, without biases, on two sequences of four "
          "positions, of which 3 and 2 are valid. All inputs are ones, so the valid keys are "
          "equal and share the weight, and all positions have one output.");
  to.listing(listings::multi_head);
  const auto x = ones<Batch, Pos, Embed>();
  const auto lengths = holding<std::int32_t, Batch>(std::vector{3, 2});
  weft::module<model> net(weft::parameters<model>({.seed = 1}));
  const auto seen = net(weft::arg<"x">(x), weft::arg<"lengths">(lengths));
  const auto output = seen.get<"output">();
  to.numbers("shape of the output",
             weft::grid({static_cast<double>(output.length<Batch>()),
                         static_cast<double>(output.length<Pos>()),
                         static_cast<double>(output.length<Embed>())},
                        1, 3),
             {"", "axis"});
  for (std::size_t b = 0; b < Batch::extent; ++b) {
    const auto weights = seen.get<"weights">().at<Batch>(b).at<Heads>(0);
    to.numbers("weights of sequence " + std::to_string(b) + ", head 0", weights, {"query", "key"});
  }
  for (std::size_t b = 0; b < Batch::extent; ++b)
    to.heat_map("Weights of sequence " + std::to_string(b) + ", head 0",
                seen.get<"weights">().at<Batch>(b).at<Heads>(0), {"query", "key"}, 32);
  to.heat_map("Output of sequence 0", output.at<Batch>(0), {"position", "unit"}, 6);
}

}  // namespace

double curve(double x) {
  return 2 * std::sin(x) + std::pow(x, 0.8);
}

sample noisy_sample() {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> place(0, 5);
  std::normal_distribution<double> noise(0, 0.5);
  sample s;
  for (std::size_t i = 0; i < regression::Known::extent; ++i) s.x.push_back(place(random));
  std::ranges::sort(s.x);
  for (const double x : s.x) s.y.push_back(curve(x) + noise(random));
  return s;
}

weft::page run(std::ostream& out) {
  report to(out);
  to.text(
      "The demonstrations of the attention chapter of “Dive into Deep Learning” (Zhang et al.) in "
      "weft. Each listing is the code that made the numbers and pictures below it.");
  show_masked_softmax(to);
  show_batch_product(to);
  show_scores(to);
  show_regression(to);
  show_multi_head(to);
  return to.page();
}

}  // namespace attention_tour
