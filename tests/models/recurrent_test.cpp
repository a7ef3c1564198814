// Recurrent layers against PyTorch's numbers (tests/golden): torch.nn.RNN and GRU of two layers,
// the GRU's in both directions.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <string>

#include "kernels/targets.hpp"
#include "support/safetensors.hpp"
#include "weft/weft.hpp"

namespace {

struct Batch : weft::axis<3> {};
struct Pos : weft::axis<6> {};
struct In : weft::axis<5> {};
struct Hidden : weft::axis<7> {};
struct Back : weft::alias<Hidden> {};
struct Both : weft::axis<14> {};

// The sum of the last state's elements, each with its weight.
template <weft::text Weights, weft::expression X>
constexpr auto weighed(weft::scope s, const X& last) {
  return weft::sum<Batch, Hidden>(last * s.input<Weights, float, Batch, Hidden>());
}

struct rnn {
  static constexpr auto name = "rnn.";
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    auto x = s.param<"x", Batch, Pos, In>();
    auto first = nn::rnn<Pos, In, Hidden, "_l0">(s, x, s.param<"h0.0", Batch, Hidden>());
    auto second =
        nn::rnn<Pos, Hidden, Hidden, "_l1">(s, first.all, s.param<"h0.1", Batch, Hidden>());
    auto of_y = s.input<"of_y", float, Batch, Pos, Hidden>();
    auto loss = sum<Batch, Pos, Hidden>(second.all * of_y) + weighed<"of_last.0">(s, first.last) +
                weighed<"of_last.1">(s, second.last);
    return results(as<"loss">(loss), as<"y">(second.all), as<"last.0">(first.last),
                   as<"last.1">(second.last));
  }
};

struct gru {
  static constexpr auto name = "gru.";
  constexpr auto operator()(weft::scope s) const {
    using namespace weft;
    auto const both = [](const auto& forth, const auto& back) {
      return concatenate<Both, shape<Hidden, Back>>(forth.all, rename<Hidden, Back>(back.all));
    };
    auto x = s.param<"x", Batch, Pos, In>();
    auto forth = nn::gru<Pos, In, Hidden, "_l0">(s, x, s.param<"h0.0", Batch, Hidden>());
    auto back =
        nn::gru<Pos, In, Hidden, "_l0_reverse", backwards>(s, x, s.param<"h0.1", Batch, Hidden>());
    auto between = both(forth, back);
    auto forth2 = nn::gru<Pos, Both, Hidden, "_l1">(s, between, s.param<"h0.2", Batch, Hidden>());
    auto back2 = nn::gru<Pos, Both, Hidden, "_l1_reverse", backwards>(
        s, between, s.param<"h0.3", Batch, Hidden>());
    auto y = both(forth2, back2);
    auto of_y = s.input<"of_y", float, Batch, Pos, Both>();
    auto loss = sum<Batch, Pos, Both>(y * of_y) + weighed<"of_last.0">(s, forth.last) +
                weighed<"of_last.1">(s, back.last) + weighed<"of_last.2">(s, forth2.last) +
                weighed<"of_last.3">(s, back2.last);
    return results(as<"loss">(loss), as<"y">(y), as<"last.0">(forth.last), as<"last.1">(back.last),
                   as<"last.2">(forth2.last), as<"last.3">(back2.last));
  }
};

// What the project asks of whole models.
constexpr double tolerance = 1e-4;

// Within the tolerance of the largest element: small elements are sums in which large ones cancel.
template <class Got>
void check_close(const std::string& what, const Got& got, const std::vector<float>& expected) {
  BOOST_TEST_REQUIRE(std::size(got) == expected.size(), what);
  double worst = 0, greatest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    worst = std::max(worst, static_cast<double>(std::abs(got[i] - expected[i])));
    greatest = std::max(greatest, static_cast<double>(std::abs(expected[i])));
  }
  BOOST_TEST(worst <= tolerance * greatest, what << ": off by " << worst << " of " << greatest);
}

template <class Model>
weft::parameters<Model> stored_parameters(const weft::golden::file& file) {
  weft::parameters<Model> p;
  for (std::size_t i = 0; i < p.count(); ++i) {
    std::string const name(p[i].name);
    bool const given = name == "x" || name.starts_with("h0");
    auto const& from = file[Model::name + (given ? "input." + name : "param." + name)];
    BOOST_TEST_REQUIRE(std::ranges::equal(from.shape, p[i].extents), name);
    std::ranges::copy(from.f32, p[i].values.begin());
  }
  return p;
}

template <class Model, weft::text... Last>
void check(const weft::golden::file& file) {
  std::string const in = Model::name + std::string("input."),
                    out = Model::name + std::string("output.");
  weft::kernels::on_every_target([&](const auto&) {
    auto const parameters = stored_parameters<Model>(file);
    weft::module<Model, "y", Last...> net(parameters);
    auto const results = net();
    auto const flat = [](const auto& v) { return std::span(v.data(), v.size()); };
    check_close("y", flat(results.template get<"y">()), file[out + "y"].f32);
    (check_close(std::string(Last.view()), flat(results.template get<Last>()),
                 file[out + std::string(Last.view())].f32),
     ...);
    weft::trainer<Model> trainer(parameters);
    auto const loss = [&]<std::size_t... I>(std::index_sequence<I...>) {
      constexpr weft::text<10> names[]{"of_last.0", "of_last.1", "of_last.2", "of_last.3"};
      return trainer.gradients(weft::arg<"of_y">(file[in + "of_y"].f32),
                               weft::arg<names[I]>(file[in + std::string(names[I].view())].f32)...);
    }
    (std::make_index_sequence<sizeof...(Last)>());
    BOOST_CHECK_CLOSE_FRACTION(static_cast<double>(loss), file[out + "loss"].f64[0], tolerance);
    auto const gradients = trainer.gradients_of_parameters();
    for (std::size_t i = 0; i < gradients.count(); ++i)
      check_close("gradient of " + std::string(gradients[i].name), gradients[i].values,
                  file[Model::name + ("grad." + std::string(gradients[i].name))].f32);
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recurrent_layers)

BOOST_AUTO_TEST_CASE(give_what_pytorch_gives) {
  weft::golden::file const file(std::string(WEFT_TEST_DATA) + "/rnn.safetensors");
  check<rnn, "last.0", "last.1">(file);
  check<gru, "last.0", "last.1", "last.2", "last.3">(file);
}

BOOST_AUTO_TEST_SUITE_END()
