// The classes of the attention chapter of Dive into Deep Learning (Zhang et al.) against plain
// PyTorch: tests/golden/textbook.py.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <string>

#include "support/golden_file.hpp"
#include "support/golden_init.hpp"
#include "support/golden_model.hpp"
#include "weft/weft.hpp"

namespace {

using namespace weft;
using weft::testing::check_reference, weft::testing::check_stored, weft::testing::golden_trial;

struct Batch : axis<2> {};
struct Pos : axis<3> {};
struct KeyPos : axis<10> {};
struct ValueDim : axis<4> {};

weft::tensor_file stored(const std::string& name) {
  return weft::tensor_file(weft::testing::golden_file(name + ".safetensors"));
}

// Scores [2, 2, 4] and lengths over Axes.
struct Query : axis<2> {};
struct Key : axis<4> {};
template <class... Axes>
struct softmax_of {
  constexpr auto operator()(scope s) const {
    const auto scores = s.param<"scores", Batch, Query, Key>();
    const auto y = nn::masked_softmax<Key>(scores, s.input<"lengths", std::int32_t, Axes...>());
    const auto cotangent = s.input<"cotangent", float, Batch, Query, Key>();
    return results(as<"loss">(sum<Batch, Query, Key>(y * cotangent)), as<"y">(y));
  }
};

// A batched matrix product: the axis of both operands that is not contracted is the batch.
struct batched_product {
  struct Rows : axis<3> {};
  struct Inner : axis<4> {};
  struct Columns : axis<6> {};

  constexpr auto operator()(scope s) const {
    const auto x = s.param<"x", Batch, Rows, Inner>();
    const auto y = s.param<"y", Batch, Inner, Columns>();
    const auto product = dot<Inner>(x, y);
    const auto cotangent = s.input<"cotangent", float, Batch, Rows, Columns>();
    return results(as<"loss">(sum<Batch, Rows, Columns>(product * cotangent)),
                   as<"product">(product));
  }
};

// Score maps the query [Batch, Pos, QueryDim] and the key [Batch, KeyPos, KeyDim] to scores.
template <class QueryDim, class KeyDim, class Score>
struct attending {
  constexpr auto operator()(scope s) const {
    const auto query = s.param<"query", Batch, Pos, QueryDim>();
    const auto key = s.param<"key", Batch, KeyPos, KeyDim>();
    const auto value = s.param<"value", Batch, KeyPos, ValueDim>();
    const auto seen = nn::attention<KeyPos>(Score()(s, query, key), value,
                                            s.input<"lengths", std::int32_t, Batch>());
    const auto cotangent = s.input<"cotangent", float, Batch, Pos, ValueDim>();
    return results(as<"loss">(sum<Batch, Pos, ValueDim>(seen.output * cotangent)),
                   as<"y">(seen.output), as<"weights">(seen.weights));
  }
};
struct Two : axis<2> {};
struct Three : axis<3> {};
struct Five : axis<5> {};
struct Twenty : axis<20> {};
struct Hidden : axis<8> {};
struct dot_product {
  constexpr auto operator()(scope, auto q, auto k) const {
    return nn::dot_product_score<Two>(q, k);
  }
};
struct additive {
  constexpr auto operator()(scope s, auto q, auto k) const {
    return nn::additive_score<Twenty, Two, Hidden>(s, q, k);
  }
};
struct bilinear {
  constexpr auto operator()(scope s, auto q, auto k) const {
    return nn::bilinear_score<Five, Three>(s, q, k);
  }
};
struct gaussian {
  constexpr auto operator()(scope s, auto q, auto k) const {
    return nn::gaussian_score<Two>(s, q, k);
  }
};

// The book's num_hiddens, num_heads = 100, 5.
struct multi_head {
  struct Pos : axis<4> {};
  struct KeyPos : alias<Pos> {};
  struct Embed : axis<100> {};
  struct Heads : axis<5> {};
  struct HeadDim : axis<20> {};
  struct axes {
    using positions = Pos;
    using keys = KeyPos;
    using embed = Embed;
    using heads = Heads;
    using head_dim = HeadDim;
  };

  constexpr auto operator()(scope s) const {
    const auto x = s.param<"x", Batch, Pos, Embed>();
    const auto y =
        nn::self_attention<axes>(s, x, s.input<"lengths", std::int32_t, Batch>(), {.bias = false})
            .output;
    const auto cotangent = s.input<"cotangent", float, Batch, Pos, Embed>();
    return results(as<"loss">(sum<Batch, Pos, Embed>(y * cotangent)), as<"y">(y));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(textbook)

BOOST_AUTO_TEST_CASE(masked_softmax_matches_pytorch_for_lengths_per_sequence_and_per_query) {
  const auto file = stored("textbook");
  check_reference<softmax_of<Batch>>(file, "softmax.");
  check_reference<softmax_of<Batch, Query>>(file, "softmax_of_queries.");
  const auto s = check_reference<softmax_of<Batch, Query>>(file, "softmax_of_none.");
  weft::testing::trial<inference<softmax_of<Batch, Query>>>(s);
}

BOOST_AUTO_TEST_CASE(a_batched_matrix_product_matches_pytorch) {
  check_reference<batched_product>(stored("textbook"), "bmm.");
}

BOOST_AUTO_TEST_CASE(attention_with_each_score_function_matches_pytorch) {
  const auto file = stored("textbook");
  check_reference<attending<Two, Two, dot_product>>(file, "dot_product.");
  golden_trial<attending<Twenty, Two, additive>>(file, "additive.");
  check_reference<attending<Five, Three, bilinear>>(file, "bilinear.");
  check_reference<attending<Two, Two, gaussian>>(file, "gaussian.");
}

BOOST_AUTO_TEST_CASE(multi_head_attention_of_100_units_in_5_heads_matches_pytorch) {
  const auto file = stored("textbook_multi_head");
  weft::testing::settings s;
  s.tolerance = 1e-4;
  s.given["lengths"] = file["input.lengths"].values<double>();
  s.given["cotangent"] = file["input.cotangent"].values<double>();
  const auto from_formula = [&](const char* name, std::size_t size, float times) {
    for (const float x : golden::parameter_values(name, size))
      s.given[name].push_back(static_cast<double>(x * times));
  };
  from_formula("x", 800, 16);
  from_formula("in_proj_weight", 30000, 1);
  from_formula("out_proj.weight", 10000, 1);

  const auto g = weft::testing::plain_graph<training<multi_head, "loss">>();
  const auto forward = weft::testing::plain_graph<inference<multi_head>>();
  const weft::testing::expectation with_gradients(*g, s), expected(*forward, s);
  check_stored("y", reference::result(*forward, expected.values(), "y").data,
               file["output.y"].values<double>());
  check_stored("gradient of x", reference::gradient(*g, with_gradients.values(), "x").data,
               file["grad.x"].values<double>());
  for (const std::string name : {"in_proj_weight", "out_proj.weight"}) {
    const auto gradient = reference::gradient(*g, with_gradients.values(), name).data;
    const std::vector<double> sums{
        std::accumulate(gradient.begin(), gradient.end(), 0.0),
        std::inner_product(gradient.begin(), gradient.end(), gradient.begin(), 0.0)};
    check_stored("sums of " + name, sums, file["sums." + name].values<double>());
  }
  weft::testing::trial<inference<multi_head>>(s);

  std::ranges::fill(s.given["x"], 1);
  const weft::testing::expectation ones(*forward, s);
  check_stored("y of ones", reference::result(*forward, ones.values(), "y").data,
               file["output.ones"].values<double>());
}

BOOST_AUTO_TEST_SUITE_END()
