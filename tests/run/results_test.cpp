// Results of a run: they belong to the run, and can be copied.
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/trial.hpp"
#include "weft/weft.hpp"

namespace {

using weft::arg;

struct Rows : weft::axis<weft::up_to<5>> {};
struct Columns : weft::axis<3> {};
struct Last : weft::axis<2> {};

// Returns only its input, its parameter and a slice of the input.
struct echo {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows, Columns>();
    auto p = s.param<"p", Columns>(weft::init::ones());
    return weft::results(weft::as<"x">(x), weft::as<"p">(p),
                         weft::as<"part">(weft::slice<Columns, Last, 1>(x)));
  }
};

struct one_name {
  constexpr auto operator()(weft::scope s) const {
    return weft::results(weft::as<"y">(s.input<"x", float, Rows, Columns>() * 2));
  }
};

struct threshold {
  constexpr auto operator()(weft::scope s) const {
    auto above = s.input<"x", float, Rows>() > s.input<"least", float>();
    return weft::results(weft::as<"floats">(where(above, 1.0, 0)),
                         weft::as<"integers">(where(above, 7, -7)));
  }
};

struct two_losses {
  constexpr auto operator()(weft::scope s) const {
    auto a = s.param<"a", Columns>(weft::init::ones());
    auto b = s.param<"b", Columns>(weft::init::ones());
    return weft::results(weft::as<"of_a">(weft::sum<Columns>(a * a)),
                         weft::as<"of_b">(weft::sum<Columns>(b * b)));
  }
};

struct one_name_twice {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Rows>();
    return weft::results(weft::as<"y">(x), weft::as<"y">(x + 1));
  }
};

struct Wide : weft::axis<200000> {};
struct long_rows {
  constexpr auto operator()(weft::scope s) const {
    return weft::exp(s.input<"x", float, Rows, Wide>());
  }
};

template <class Model, class... Args>
using given_by = decltype(std::declval<weft::module<Model>&>()(std::declval<Args>()...));
using rows = weft::array<float, Rows, Wide>;

}  // namespace

BOOST_AUTO_TEST_SUITE(results)

BOOST_AUTO_TEST_CASE(a_run_gives_the_view_of_a_result_without_a_name_and_others_by_name) {
  using of_a_tensor = given_by<long_rows, decltype(arg<"x">(std::declval<const rows&>()))>;
  static_assert(std::is_same_v<of_a_tensor, weft::view<const float, weft::shape<Rows, Wide>>>);
  weft::module<echo, "part"> net;
  const auto r = net(arg<"x">(weft::array<float, Rows, Columns>(2)));
  BOOST_TEST(r.get<"part">().length<Rows>() == 2u);
}

BOOST_AUTO_TEST_CASE(the_only_result_that_a_module_computes_is_its_view_also_where_it_has_a_name) {
  weft::module<one_name> net;
  weft::module<echo, "part"> one_of_three;
  weft::array<float, Rows, Columns> x(2);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i);
  const auto y = net(arg<"x">(x));
  BOOST_TEST(y(1u, 2u) == 10);
  BOOST_TEST(y.size() == 6u);
  BOOST_TEST(y.get<"y">()(1u, 2u) == 10);
  BOOST_TEST(y.at<Rows>(1)(2u) == 10);
  const weft::view<const float, weft::shape<Rows, Columns>> view = y;
  BOOST_TEST(view.data() == y.data());
  BOOST_TEST(one_of_three(arg<"x">(y))(1u, 1u) == 10);
  const weft::array<float, Rows, Columns> kept(y);
  BOOST_TEST(net(arg<"x">(kept))(1u, 2u) == 20);
}

BOOST_AUTO_TEST_CASE(a_result_does_not_change_with_arguments_or_parameters) {
  weft::module<echo> net;
  weft::array<float, Rows, Columns> x(2);
  std::fill(x.begin(), x.end(), 1.0f);
  const auto r = net(arg<"x">(x));
  std::fill(x.begin(), x.end(), 9.0f);
  net.parameters().get<"p", Columns>()(0u) = 9;
  BOOST_TEST(r.get<"x">()(1u, 2u) == 1);
  BOOST_TEST(r.get<"part">()(1u, 1u) == 1);
  BOOST_TEST(r.get<"p">()(0u) == 1);
}

BOOST_AUTO_TEST_CASE(an_element_is_at_an_index_along_each_axis_in_any_order) {
  weft::array<float, Rows, Columns> x(2);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i);
  const std::size_t r = 1, c = 2;
  BOOST_TEST(x(weft::at<Columns>(c), weft::at<Rows>(r)) == x(r, c));
  x(weft::at<Rows>(0), weft::at<Columns>(2)) = 7;
  const weft::view<const float, weft::shape<Rows, Columns>> strided(x.data(), {2, 2}, {1, 2});
  BOOST_TEST(strided(weft::at<Columns>(1), weft::at<Rows>(0)) == 7);
}

BOOST_AUTO_TEST_CASE(an_array_of_fixed_axes_is_a_member_that_braces_initialize) {
  struct pair {
    weft::array<float, Columns> x;
    int n = 3;
  };
  pair p{}, q{{}, 4};
  p.x(1) = 2;
  BOOST_TEST((p.x(1) == 2 && q.x(1) == 0 && q.n == 4));
  static_assert(!std::is_convertible_v<int, weft::array<float, Rows>>);
}

BOOST_AUTO_TEST_CASE(an_array_keeps_a_result_beyond_the_next_run) {
  weft::module<echo> net;
  weft::array<float, Rows, Columns> x(2), other(3);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i);
  const weft::array<float, Rows, Last> kept(net(arg<"x">(x)).get<"part">());
  net(arg<"x">(other));
  BOOST_TEST(kept.length<Rows>() == 2u);
  BOOST_TEST(kept(0u, 0u) == 1);
  BOOST_TEST(kept(1u, 1u) == 5);
}

BOOST_AUTO_TEST_CASE(an_input_without_axes_takes_a_scalar) {
  weft::module<threshold> net;
  const std::vector<float> x{1, 2, 3};
  const auto r = net(arg<"x">(x), arg<"least">(1.5f));
  BOOST_TEST(r.get<"floats">()(0u) == 0.0f);
  BOOST_TEST(r.get<"floats">()(2u) == 1.0f);
  BOOST_TEST(r.get<"integers">()(0u) == -7);
  BOOST_TEST(r.get<"integers">()(1u) == 7);
}

BOOST_AUTO_TEST_CASE(a_parameter_that_the_loss_does_not_depend_on_is_not_updated) {
  const weft::parameters<two_losses> p;
  weft::trainer<two_losses, weft::adamw, "of_b"> trainer(
      p, {.learning_rate = 0.1, .weight_decay = 0.5});
  trainer.step();
  const auto a = p.get<"a", Columns>();
  const auto b = p.get<"b", Columns>();
  BOOST_TEST(a(0u) == 1);
  BOOST_TEST(b(0u) < 1);
}

BOOST_AUTO_TEST_CASE(two_results_of_one_name_are_refused) {
  BOOST_CHECK_THROW(weft::testing::kept([] { return weft::trace<one_name_twice>(); }),
                    std::exception);
}

BOOST_AUTO_TEST_CASE(results_outlive_a_move_of_their_module) {
  std::vector<weft::module<threshold>> nets(1);
  const std::vector<float> x{1, 2, 3};
  const auto r = nets[0](arg<"x">(x), arg<"least">(1.5f));
  const auto view = r.get<"floats">();
  for (int i = 0; i < 5; ++i) nets.emplace_back();  // the vector grows, and moves the first one
  BOOST_TEST(view(1) == 1);
  BOOST_TEST(r.get<"floats">()(2) == 1);
  BOOST_TEST(r.get<"integers">()(0) == -7);
  BOOST_TEST(nets[0](arg<"x">(x), arg<"least">(0.5f)).get<"integers">()(0) == 7);
}

#if defined(__STDCPP_THREADS__)
// Of two threads in one module, the one that comes second gets an error, and none a wrong result.
BOOST_AUTO_TEST_CASE(a_second_thread_in_a_module_is_an_error) {
  weft::module<threshold> net;
  std::atomic<int> wrong = 0, right = 0, refused = 0;
  const auto run = [&](float low) {
    const std::vector<float> x{low, low + 1, low + 2, low + 3, low + 4};
    for (int i = 0; i < 20000; ++i) {
      try {
        net(arg<"x">(x), arg<"least">(low + 1.5f));
        ++right;
      } catch (const weft::error& e) {
        ++(std::string(e.what()).find("another thread uses this module") == 0 ? refused : wrong);
      }
    }
  };
  std::thread other(run, 10.f);
  run(-10.f);
  other.join();
  BOOST_TEST(wrong == 0);
  BOOST_TEST(right + refused == 40000);
  BOOST_TEST(right > 0);
}

// The same while a run waits in its executor, which is the only thread here.
BOOST_AUTO_TEST_CASE(a_run_of_a_module_that_runs_is_an_error) {
  weft::module<long_rows> net;
  weft::array<float, Rows, Wide> x(5);
  int refused = 0;
  bool inside = false;
  net.run_on(weft::executor(2, [&](int n, weft::job f) {
    for (int i = 0; i < n; ++i) f(i);
    if (!inside) return;
    try {
      net(arg<"x">(x));
    } catch (const weft::error&) {
      ++refused;
    }
  }));
  inside = true;
  net(arg<"x">(x));
  BOOST_TEST(refused > 0);
}
#endif

BOOST_AUTO_TEST_SUITE_END()
