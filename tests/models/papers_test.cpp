// Models of papers, as tests/golden/papers.py has them in PyTorch: state_dicts load as they are,
// and results and the losses of 50 training steps are PyTorch's.
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>
#include <tuple>

#include "kernels/targets.hpp"
#include "support/golden_file.hpp"
#include "support/greater_error.hpp"
#include "weft/files/load.hpp"
#include "weft/weft.hpp"

namespace {

namespace nn = weft::nn;
using weft::alias, weft::arg, weft::as, weft::axis, weft::shape;
using weft::testing::golden_file, weft::testing::greater_error;

struct Batch : axis<2> {};
constexpr weft::window same{.left = 1, .right = 1};  // three taps keep the length

// Ronneberger et al. 2015, of one level.
namespace unet {

struct Gray : axis<1> {};
struct Row : axis<12> {};
struct Column : axis<8> {};
struct HalfRow : axis<6> {};
struct HalfColumn : axis<4> {};
struct InRow : axis<2> {};
struct InColumn : axis<2> {};
struct Thin : axis<4> {};
struct Deep : axis<8> {};
struct Both : axis<12> {};
struct Class : axis<3> {};

template <class In, class Out, class R, class C>
constexpr auto block(weft::scope s, auto x, auto activation) {
  using down = nn::along<R, 3, same>;
  using across = nn::along<C, 3, same>;
  auto y = activation(nn::batch_norm<Out>(s / 1, nn::convolution<In, Out, down, across>(s / 0, x)));
  return activation(nn::batch_norm<Out>(s / 4, nn::convolution<Out, Out, down, across>(s / 3, y)));
}

struct model {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    auto x = s.input<"x", float, Batch, Gray, Row, Column>();
    auto targets = s.input<"targets", std::int32_t, Batch, Row, Column>();
    auto leaky = [](auto y) { return leaky_relu(y, 0.1); };
    auto swish = [](auto y) { return silu(y); };
    auto skip = block<Gray, Thin, Row, Column>(s / "down", x, leaky);
    auto tiles = split<Column, HalfColumn, InColumn>(split<Row, HalfRow, InRow>(skip));
    auto middle =
        block<Thin, Deep, HalfRow, HalfColumn>(s / "middle", max<InRow, InColumn>(tiles), swish);
    auto below = merge<Column, HalfColumn, InColumn>(
        merge<Row, HalfRow, InRow>(broadcast<InRow, InColumn>(middle)));
    auto merged = concatenate<Both, shape<Thin, Deep>>(skip, below);
    auto y = nn::convolution<Thin, Class, nn::along<Row, 1>, nn::along<Column, 1>>(
        s / "out", block<Both, Thin, Row, Column>(s / "up", merged, leaky));
    return results(as<"loss">(nn::cross_entropy<Class>(y, targets)), as<"y">(y));
  }
};

}  // namespace unet

// The block of Gulati et al. 2020, with absolute positions.
namespace conformer {

struct Pos : axis<weft::up_to<16>> {};
struct KeyPos : alias<Pos> {};
struct Embed : axis<12> {};
struct Heads : axis<3> {};
struct HeadDim : axis<4> {};
struct Hidden : axis<20> {};
struct Twice : axis<24> {};
struct axes {
  using positions = Pos;
  using keys = KeyPos;
  using embed = Embed;
  using heads = Heads;
  using head_dim = HeadDim;
};

constexpr auto half_feed_forward(weft::scope s, auto x) {
  auto up = nn::linear<Embed, Hidden>(s / 1, nn::layer_norm<Embed>(s / 0, x));
  return x + nn::linear<Hidden, Embed>(s / 3, silu(up)) / 2;
}

constexpr auto convolution_module(weft::scope s, auto x) {
  using depthwise = nn::along<Pos, 5, weft::window{.left = 2, .right = 2}>;
  auto gated = nn::convolution<Embed, Twice, nn::along<Pos, 1>>(s / 0, x);
  auto y = weft::slice<Twice, Embed>(gated) * sigmoid(weft::slice<Twice, Embed, 12>(gated));
  auto local =
      nn::convolution<nn::in_groups<Embed, 12>, Embed, depthwise>(s / 2, y, {.bias = false});
  auto normed = silu(nn::batch_norm<Embed>(s / 3, local));
  return nn::convolution<Embed, Embed, nn::along<Pos, 1>>(s / 5, normed);
}

struct model {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    auto input = s.input<"x", float, Batch, Pos, Embed>();
    auto lengths = s.input<"lengths", std::int32_t, Batch>();
    auto x = half_feed_forward(s / "ffn1", input);
    auto before = nn::layer_norm<Embed>(s / "attention_norm", x);
    x = expect<Batch, Pos, Embed>(
        x + nn::self_attention<axes>(s / "attention", before, lengths).output);
    x = x + convolution_module(s / "conv", nn::layer_norm<Embed>(s / "conv_norm", x));
    auto y = nn::layer_norm<Embed>(s / "norm", half_feed_forward(s / "ffn2", x));
    auto off = y - s.input<"target", float, Batch, Pos, Embed>();
    return results(as<"loss">(mean<Batch, Pos, Embed>(off * off)), as<"y">(y));
  }
};

}  // namespace conformer

// Shi et al. 2015: convolutions, whose columns an LSTM reads in both directions.
namespace crnn {

struct Gray : axis<1> {};
struct Row : axis<8> {};
struct Column : axis<20> {};
struct Channel : axis<6> {};
struct Feature : axis<12> {};
struct Hidden : axis<8> {};
struct Class : axis<7> {};
constexpr weft::window every{.left = 1, .right = 1, .outside = weft::padding_mode::reflected};
constexpr weft::window second{
    .stride = 2, .left = 1, .right = 1, .outside = weft::padding_mode::reflected};
using Half = nn::convolved<Row, 3, second>;
using Quarter = nn::convolved<Half, 3, second>;
using Time = nn::convolved<Column, 3, second>;

struct model {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    auto image = s.input<"x", float, Batch, Gray, Row, Column>();
    auto targets = s.input<"targets", std::int32_t, Batch, Time>();
    auto first =
        elu(nn::convolution<Gray, Channel, nn::along<Row, 3, second>, nn::along<Column, 3, second>>(
            s / "cnn" / 0, image));
    auto then = elu(
        nn::convolution<Channel, Channel, nn::along<Half, 3, second>, nn::along<Time, 3, every>>(
            s / "cnn" / 2, first));
    auto columns = merge<Feature, Channel, Quarter>(then);
    constexpr nn::recurrence both{.layers = 2, .bidirectional = true};
    auto read = nn::lstm<Time, Feature, Hidden, both>(s / "rnn", columns).all;
    auto y = nn::linear<nn::both_directions<Hidden>, Class>(s / "out", read);
    auto loss = nn::cross_entropy<Class>(y, targets, {.label_smoothing = 0.1});
    return results(as<"loss">(loss), as<"y">(y));
  }
};

}  // namespace crnn

// `examples` are the arguments of results and loss, `targets` those of the loss alone.
template <class Model, class Optimizer, class... Examples, class... Targets>
void check(const weft::tensor_file& file, const Optimizer& optimizer,
           const std::tuple<Examples...>& examples, const std::tuple<Targets...>& targets) {
  const auto y = file["output.y"].values<float>();
  const auto losses = file["output.losses"].values<double>();
  weft::kernels::on_every_target([&](const auto&) {
    weft::trainer<Model, Optimizer> trainer(optimizer);
    for (const auto& other : weft::load(trainer.parameters(), file, {.ignore_others = true}))
      BOOST_TEST((other.starts_with("input.") || other.starts_with("output.") ||
                  other.ends_with(".num_batches_tracked")),
                 other);
    weft::module<Model, "y"> net(trainer.parameters());
    const auto view = std::apply(net, examples);
    const weft::array got(view);
    double y_off = 0, losses_off = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
      y_off = greater_error(y_off, static_cast<double>(std::abs(got.data()[i] - y[i])));
    for (const double expected : losses) {
      const float loss = std::apply([&](const auto&... a) { return trainer.step(a...); },
                                    std::tuple_cat(examples, targets));
      losses_off = greater_error(losses_off, std::abs(static_cast<double>(loss) / expected - 1));
    }
    BOOST_TEST_MESSAGE("off by " << y_off << " in results, " << losses_off << " in losses");
    BOOST_TEST(got.size() == y.size());
    // At least four times the largest differences of any SIMD target.
    BOOST_TEST(y_off <= 2e-6);
    BOOST_TEST(losses_off <= 1e-5);
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(papers, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(a_u_net_matches_pytorch_over_fifty_training_steps) {
  const weft::tensor_file file(golden_file("unet.safetensors"));
  const auto x = file["input.x"].values<float>();
  const auto targets = file["input.targets"].values<std::int32_t>();
  check<unet::model>(file, weft::adamw{.learning_rate = 0.004, .weight_decay = 0.05},
                     std::tuple{arg<"x">(x)}, std::tuple{arg<"targets">(targets)});
}

BOOST_AUTO_TEST_CASE(a_conformer_matches_pytorch_over_fifty_training_steps) {
  const weft::tensor_file file(golden_file("conformer.safetensors"));
  const auto x = file["input.x"].values<float>();
  const auto lengths = file["input.lengths"].values<std::int32_t>();
  const auto target = file["input.target"].values<float>();
  check<conformer::model>(file, weft::adamw{.learning_rate = 0.01},
                          std::tuple{arg<"x">(x), arg<"lengths">(lengths)},
                          std::tuple{arg<"target">(target)});
}

BOOST_AUTO_TEST_CASE(a_crnn_matches_pytorch_over_fifty_training_steps) {
  const weft::tensor_file file(golden_file("crnn.safetensors"));
  const auto x = file["input.x"].values<float>();
  const auto targets = file["input.targets"].values<std::int32_t>();
  check<crnn::model>(
      file,
      weft::sgd{.learning_rate = 0.2, .momentum = 0.9, .weight_decay = 1e-3, .nesterov = true},
      std::tuple{arg<"x">(x)}, std::tuple{arg<"targets">(targets)});
}

BOOST_AUTO_TEST_SUITE_END()
