// Runs of recurrent models: their memory and their threads.
#include <boost/test/unit_test.hpp>
#include <vector>

#include "run/allocations.hpp"
#include "run/pool.hpp"
#include "weft/weft.hpp"

namespace {

struct Batch : weft::axis<16> {};
struct Pos : weft::axis<weft::up_to<20>> {};
struct In : weft::axis<24> {};
struct Hidden : weft::axis<64> {};

struct recurrent {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Batch, Pos, In>();
    auto h = weft::nn::gru<Pos, In, Hidden>(s, x);
    return weft::results(weft::as<"all">(h.all),
                         weft::as<"loss">(weft::mean<Batch, Hidden>(h.last * h.last)));
  }
};

std::vector<float> numbers(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
  return x;
}

// The parameters after training steps on sequences of several lengths.
std::vector<float> trained(const weft::executor& threads) {
  weft::trainer<recurrent> t(weft::adamw{}, {.seed = 5});
  t.run_on(threads);
  for (const std::size_t length : {20u, 0u, 1u, 13u}) {
    const auto x = numbers(16 * length * 24);
    using sequences = weft::view<const float, weft::shape<Batch, Pos, In>>;
    const sequences given(x.data(), length);
    float loss = 0;
    BOOST_TEST(allocations_in([&] { loss = t.step(weft::arg<"x">(given)); }) == 0);
    BOOST_TEST((length == 0 ? loss == 0 : loss > 0));
  }
  const auto p = t.parameters().floats();
  return {p.begin(), p.end()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recurrent_runs)

BOOST_AUTO_TEST_CASE(training_gives_the_same_bits_on_any_threads_and_allocates_nothing) {
  const auto alone = trained({});
  for (const int width : {2, 3}) {
    pool mine(width);
    const weft::executor threads(width, [&](int n, weft::job f) { mine.for_each(n, f); });
    BOOST_TEST((trained(threads) == alone));
  }
}

BOOST_AUTO_TEST_SUITE_END()
