// The law of streams: a model of convolutions, windowed attention, recurrences and pooling gives,
// cut into frames of any sizes, what it gives for the whole signal.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <vector>

#include "nn/encodings.hpp"

namespace {

using namespace weft;

constexpr std::size_t batch = 2, steps = 40;
constexpr int window = 6;

struct Batch : axis<batch> {};
template <std::size_t Most>
struct samples : axis<up_to<2 * Most>> {};
struct In : axis<3> {};
struct Embed : axis<6> {};
struct Heads : axis<2> {};
struct HeadDim : axis<4> {};
struct Hidden : axis<7> {};
struct State : axis<5> {};
struct Cache : axis<up_to<steps>> {};
struct Tap : axis<2> {};

constexpr auto halved = nn::causal_window(5, {.stride = 2});
template <padding_mode Outside>
constexpr auto wide = nn::causal_window(3, {.dilation = 2, .outside = Outside});
constexpr auto pairs = nn::causal_window(2, {.outside = padding_mode::replicated});

// Streamed, or in one run with a cache that is as long as the signal.
template <bool Streamed, std::size_t Most, class Order, bool Long, padding_mode Outside>
struct model {
  using Samples = samples<Most>;
  using Pos = nn::convolved<Samples, 5, halved>;
  struct Recent : nn::rolling<Pos, window> {};
  struct axes {
    using cache = std::conditional_t<Streamed, Recent, Cache>;
    using embed = Embed;
    using heads = Heads;
    using head_dim = HeadDim;
    using hidden = Hidden;
  };
  template <class From, class To, class Along>
  static constexpr auto convolution(scope s, const auto& x) {
    if constexpr (Streamed)
      return nn::streamed_convolution<From, To, Along>(s, x);
    else
      return nn::convolution<From, To, Along>(s, x);
  }
  constexpr auto operator()(scope s) const {
    const auto x = s.input<"x", float, Batch, Samples, In>();
    auto y = convolution<In, Embed, nn::along<Samples, 5, halved>>(s / "front", x);
    y = tanh(convolution<Embed, Embed, nn::along<Pos, 3, wide<Outside>>>(s / "conv", y));
    const auto z = [&] {
      if constexpr (Streamed)
        return nn::causal_block<axes>(s / "block", y, nn::rolling_state<Recent, Batch>(s / "at"),
                                      {}, Order{});
      else
        return nn::causal_block<axes>(s / "block", y, nn::decode_state<Pos, Batch>(s / "at"),
                                      {.window = window}, Order{});
    }();
    constexpr nn::recurrence two{.layers = 2};
    const auto r = [&] {
      if constexpr (Streamed && Long)
        return nn::streamed_lstm<Pos, Embed, State>(s / "rnn", z);
      else if constexpr (Streamed)
        return nn::streamed_gru<Pos, Embed, State, two>(s / "rnn", z);
      else if constexpr (Long)
        return nn::lstm<Pos, Embed, State>(s / "rnn", z);
      else
        return nn::gru<Pos, Embed, State, two>(s / "rnn", z);
    }();
    if constexpr (Streamed)
      return max<Tap>(nn::streamed_windows<Pos, Pos, Tap, pairs>(s / "pool", r.all));
    else
      return max<Tap>(windows<Pos, Pos, Tap, pairs>(r.all));
  }
};

template <class Model>
std::vector<float> in_frames(module<Model>& net, unsigned seed, std::size_t most,
                             std::size_t first) {
  using Samples = typename Model::Samples;
  std::vector<float> all(batch * steps * State::extent);
  net.reset();
  for (std::size_t done = 0; done < steps;) {
    seed = seed * 1664525 + 1013904223;
    const std::size_t length =
        std::min(done == 0 && first > 0 ? first : (seed >> 16) % (most + 1), steps - done);
    array<float, Batch, Samples, In> x(2 * length);
    for (std::size_t b = 0; b < batch; ++b)
      for (std::size_t p = 0; p < 2 * length; ++p)
        for (std::size_t i = 0; i < In::extent; ++i) {
          const std::size_t t = 2 * done + p;
          x(b, p, i) = std::sin(static_cast<float>(t * t * 7 + i * 5 + b));
        }
    const auto y = net(arg<"x">(x));
    for (std::size_t b = 0; b < batch; ++b)
      for (std::size_t p = 0; p < length; ++p)
        for (std::size_t e = 0; e < State::extent; ++e)
          all[(b * steps + done + p) * State::extent + e] = y(b, p, e);
    done += length;
  }
  return all;
}
double greatest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    most = std::max(most, std::abs(static_cast<double>(a[i]) - b[i]));
  return most;
}

// Each has an encoding, a recurrence and a padding; frames begin with enough for the reflected one.
template <class Order, bool Long, padding_mode Outside>
struct trial {
  template <bool Streamed, std::size_t Most>
  using of = model<Streamed, Most, Order, Long, Outside>;
  static constexpr std::size_t first = Outside == padding_mode::reflected ? 5 : 0;
};
using trials = std::tuple<trial<nn::position::rotary<>, true, padding_mode::zeros>,
                          trial<nn::position::alibi, false, padding_mode::replicated>,
                          trial<nn::position::t5<8, 5>, true, padding_mode::reflected>>;
using trials_model = std::tuple_element_t<2, trials>::of<true, 5>;

}  // namespace

BOOST_AUTO_TEST_SUITE(streams)

BOOST_AUTO_TEST_CASE_TEMPLATE(a_signal_in_frames_of_any_sizes_gives_the_results_of_the_whole, T,
                              trials) {
  module<typename T::template of<false, steps>> whole({.seed = 5});
  module<typename T::template of<true, steps>> wide({.seed = 1});
  module<typename T::template of<true, 5>> narrow({.seed = 1});
  std::ranges::copy(whole.parameters().floats(), wide.parameters().floats().begin());
  std::ranges::copy(whole.parameters().floats(), narrow.parameters().floats().begin());
  const auto expected = in_frames(whole, 0, steps, steps);
  const auto at_once = in_frames(wide, 0, steps, steps);
  BOOST_TEST(greatest_difference(expected, at_once) < 1e-5);
  for (const unsigned seed : {1u, 2u, 3u}) {
    // Not the same bits: contractions of one row and of several have other orders of sums.
    BOOST_TEST(greatest_difference(expected, in_frames(wide, seed, 7, T::first)) < 1e-5);
    BOOST_TEST(greatest_difference(expected, in_frames(narrow, seed, 5, T::first)) < 1e-5);
    BOOST_TEST(greatest_difference(expected, in_frames(narrow, seed, 1, T::first)) < 1e-5);
  }
}

BOOST_AUTO_TEST_CASE(frames_that_are_no_whole_strides_or_too_short_to_reflect_are_errors) {
  module<trials_model> net;
  const auto refuses = [&](std::size_t length) {
    BOOST_CHECK_EXCEPTION(
        net(arg<"x">(array<float, Batch, samples<5>, In>(length))), error, [](const error& e) {
          return std::string_view(e.what()).find("frame_of_whole_strides_beyond_its_reflection") !=
                 std::string_view::npos;
        });
  };
  refuses(3);
  net.reset();
  refuses(2 * 4);  // four positions, of which four are reflected
  net.reset();
  net(arg<"x">(array<float, Batch, samples<5>, In>(2 * 5)));
  net(arg<"x">(array<float, Batch, samples<5>, In>(2)));
}

BOOST_AUTO_TEST_SUITE_END()
