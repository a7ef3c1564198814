// The costs of layers in Vaswani et al. 2017, table 1, computed at compile time.
#include "weft/passes/receptive_field.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "examples/layer_costs/layers.hpp"

namespace {

using namespace layer_costs;

template <class Layer>
constexpr double flops = weft::cost<Layer>.flops;
template <class Layer>
constexpr double sequential = weft::cost<Layer>.sequential;
template <class Layer, int N>
constexpr double path = weft::path_length<Layer, Pos<N>>;

// The exponent p for which last / first = times^p.
double power(double first, double last, double times) {
  return std::log(last / first) / std::log(times);
}
// Terms of lower order are at most 1/20 of these costs, so exponents are off by less than 1/20.
void check_power(double found, double expected) {
  BOOST_TEST(std::abs(found - expected) < 0.05, found << " is not " << expected);
}

// Two stacked layers.
template <int N, int D, int R>
struct twice_restricted {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    auto x = s.input<"x", float, Pos<N>, Embed<D>>();
    const auto attend = [](const auto& y) {
      auto keys = rename<Pos<N>, KeyPos<N>>(y);
      auto weights = nn::attention_weights<Embed<D>, KeyPos<N>>(
          y, keys, nn::sliding_window<Pos<N>, KeyPos<N>>({.left = R, .right = R}));
      return rename<Value<D>, Embed<D>>(dot<KeyPos<N>>(weights, rename<Embed<D>, Value<D>>(keys)));
    };
    return attend(attend(x));
  }
};

// Attention of each position to its neighbours, whose sink, or bias, is computed from all
// positions.
template <int N, int D, bool Sink>
struct aware_of_all {
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    auto x = s.input<"x", float, Pos<N>, Embed<D>>();
    auto keys = rename<Pos<N>, KeyPos<N>>(x);
    auto all = sum<Pos<N>, Embed<D>>(x);
    auto scores = nn::dot_product_score<Embed<D>>(x, keys);
    auto masked = [&](const auto& y) {
      return where(nn::sliding_window<Pos<N>, KeyPos<N>>({.left = 1, .right = 1}), y, -infinity);
    };
    auto weights = [&] {
      if constexpr (Sink)
        return nn::softmax_with_sink<KeyPos<N>>(masked(scores), all);
      else
        return softmax<KeyPos<N>>(masked(scores + all * cast<float>(positions<KeyPos<N>>())));
    }();
    return dot<KeyPos<N>>(weights, rename<Embed<D>, Value<D>>(keys));
  }
};

// A position-wise layer.
template <int N, int D>
struct position_wise {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos<N>, Embed<D>>();
    return weft::gelu(weft::normalize<Embed<D>>(x) * 2);
  }
};

// The mean of all positions, added to each.
template <int N, int D>
struct pooled {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos<N>, Embed<D>>();
    return x + weft::sum<Pos<N>>(x) / static_cast<float>(N);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(paths, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(self_attention_costs_n_squared_d_in_one_operation_and_one_hop) {
  check_power(power(flops<self_attention<64, 64>>, flops<self_attention<512, 64>>, 8), 2);
  check_power(power(flops<self_attention<64, 64>>, flops<self_attention<64, 512>>, 8), 1);
  BOOST_TEST((sequential<self_attention<64, 64>>) == (sequential<self_attention<512, 64>>));
  BOOST_TEST((path<self_attention<64, 64>, 64>) == 1);
  BOOST_TEST((path<self_attention<512, 64>, 512>) == 1);
}

BOOST_AUTO_TEST_CASE(restricted_self_attention_costs_r_n_d_and_n_over_r_hops) {
  using one = restricted_self_attention<1024, 64, 16>;
  check_power(power(flops<one>, flops<restricted_self_attention<8192, 64, 16>>, 8), 1);
  check_power(power(flops<one>, flops<restricted_self_attention<1024, 512, 16>>, 8), 1);
  check_power(power(flops<restricted_self_attention<4096, 64, 16>>,
                    flops<restricted_self_attention<4096, 64, 64>>, 4),
              1);
  BOOST_TEST(sequential<one> == (sequential<restricted_self_attention<8192, 64, 16>>));
  BOOST_TEST((path<one, 1024>) == 64);                                      // 1023 / 16, rounded up
  BOOST_TEST((path<restricted_self_attention<1025, 64, 16>, 1025>) == 64);  // 1024 / 16
  BOOST_TEST((path<restricted_self_attention<1024, 64, 64>, 1024>) == 16);
  BOOST_TEST((path<restricted_self_attention<16, 64, 64>, 16>) == 1);
}

BOOST_AUTO_TEST_CASE(a_recurrent_layer_costs_n_d_squared_in_n_operations_and_n_hops) {
  check_power(power(flops<recurrent<64, 64>>, flops<recurrent<512, 64>>, 8), 1);
  check_power(power(flops<recurrent<64, 64>>, flops<recurrent<64, 512>>, 8), 2);
  check_power(power(sequential<recurrent<64, 64>>, sequential<recurrent<512, 64>>, 8), 1);
  BOOST_TEST((path<recurrent<64, 64>, 64>) == 64);
  BOOST_TEST((path<recurrent<512, 64>, 512>) == 512);
}

BOOST_AUTO_TEST_CASE(a_convolution_costs_k_n_d_squared_in_few_operations_and_n_over_k_hops) {
  using one = convolutional<64, 64, 5>;
  check_power(power(flops<one>, flops<convolutional<512, 64, 5>>, 8), 1);
  check_power(power(flops<one>, flops<convolutional<64, 512, 5>>, 8), 2);
  check_power(power(flops<one>, flops<convolutional<64, 64, 45>>, 9), 1);
  BOOST_TEST(sequential<one> == (sequential<convolutional<512, 64, 5>>));
  BOOST_TEST((path<one, 64>) == 32);  // 63 / 2, rounded up
  BOOST_TEST((path<convolutional<513, 64, 5>, 513>) == 256);
  BOOST_TEST((path<convolutional<513, 64, 17>, 513>) == 64);
}

BOOST_AUTO_TEST_CASE(biases_and_sinks_of_attention_connect_what_they_are_computed_from) {
  BOOST_TEST((path<aware_of_all<100, 8, true>, 100>) == 1);
  BOOST_TEST((path<aware_of_all<100, 8, false>, 100>) == 1);
}

BOOST_AUTO_TEST_CASE(stacked_layers_add_their_receptive_fields_and_their_hops) {
  BOOST_TEST((path<twice_restricted<1025, 16, 16>, 1025>) == 64);  // 2 * 1024 / 32
  BOOST_TEST((path<twice_restricted<8, 16, 16>, 8>) == 2);
}

BOOST_AUTO_TEST_CASE(a_sum_over_positions_connects_all_and_position_wise_layers_connect_none) {
  BOOST_TEST((path<pooled<100, 8>, 100>) == 1);
  BOOST_TEST((path<position_wise<100, 8>, 100>) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
