// Models at the limits and beyond them: what examples/LIMITS.md has in a table is what the same
// functions find that a compiler evaluates. messages/models/limits.cpp has what compilers print.
#include <array>
#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "support/run_time.hpp"
#include "weft/weft.hpp"

namespace {

using weft::graph, weft::pass, weft::testing::kept, weft::testing::run_time_program;

// The sentence with which a unit of the model is refused; empty: it is not.
template <class Model, std::size_t N, class... Loss>
std::string refusal(const pass (&pipeline)[N], Loss... loss) {
  // By its address, since compilers evaluate what is called here, though it is no constant.
  auto g = kept(&weft::detail::trace_unchecked<Model>);
  if (!g->rejected) g = kept([&] { return keep_outputs(*g, std::string_view(loss)...); });
  for (const pass& p : pipeline)
    if (!g->rejected) g = kept([&] { return p.run(*g); });
  const auto fault = g->rejected ? g->fault : run_time_program(*g).fault();
  return std::string(weft::sentence_of(fault));
}
template <class Model>
std::string of_run() {
  return refusal<Model>(weft::inference_passes);
}
template <class Model>
std::string of_training() {
  return refusal<Model>(weft::training_passes, "loss");
}

const std::string too_large{weft::sentence_of(weft::model_fault::elements)};

// "n0", "n1", …
template <int I>
constexpr auto numbered() {
  weft::fixed_string<7> name;
  name.chars[0] = 'n';
  for (int i = I, at = 5; at > 0; i /= 10) name.chars[at--] = static_cast<char>('0' + i % 10);
  return name;
}
template <int N, class F>
constexpr auto with_numbers(F f) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return f(std::integral_constant<int, I>()...);
  }
  (std::make_integer_sequence<int, N>());
}
// The sum of f(number) for N numbers.
template <int N, class F>
constexpr auto sum_of(F f) {
  return with_numbers<N>([&](auto... i) {
    decltype(f(std::integral_constant<int, 0>())) const terms[]{f(i)...};
    auto sum = terms[0];
    for (int n = 1; n < N; ++n) sum = sum + terms[n];
    return sum;
  });
}

struct E : weft::axis<4> {};
struct Pos : weft::axis<3> {};
template <int I>
struct At : weft::axis<2> {};

template <int N>
struct parameters {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, E>();
    for (int i = 0; i < N; ++i) x = x + (s / "layers" / i).param<"w", E>();
    return weft::as<"loss">(weft::sum<E>(x * x));
  }
};
template <int N>
struct operations {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, E>();
    for (int i = 1; i < N; ++i) x = weft::exp(x);
    return x;
  }
};
struct gradients {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.param<"x", E>();
    for (int i = 0; i < 20000; ++i) x = weft::tanh(x);
    return weft::as<"loss">(weft::sum<E>(x));
  }
};
template <int N>
struct inputs {
  constexpr auto operator()(weft::scope s) const {
    return sum_of<N>([&](auto i) { return s.input<numbered<i()>(), float, E>(); });
  }
};
template <int N>
struct states {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, E>();
    for (int i = 0; i < N; ++i) {
      auto y = (s / i).state<"y", float, E>();
      s.update(y, x);
      x = x + y;
    }
    return x;
  }
};
template <int N>
struct scans {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Pos, E>();
    auto h = s.input<"h", float, E>();
    for (int i = 0; i < N; ++i)
      h = weft::scan<Pos>(h, x, [](auto h, auto x) { return h * x; }).last;
    return h;
  }
};
template <int Size>
struct long_names {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, E>();
    for (int i = 0; i < 1100; ++i) {
      scope_of<Size> path;
      x = x + (s / path.view() / i).template param<"w", E>();
    }
    return x;
  }
  template <int N>
  struct scope_of {
    char of[N];
    constexpr scope_of() {
      for (char& c : of) c = 'a';
    }
    constexpr std::string_view view() const { return {of, N}; }
  };
};
template <int I>
struct Part : weft::axis<weft::up_to<200 - I>> {};
struct Long : weft::axis<weft::up_to<200>> {};
template <int N>
struct derived_lengths {
  constexpr auto operator()(weft::scope s) const {
    auto x = s.input<"x", float, Long>();
    return sum_of<N>(
        [&](auto i) { return weft::sum<Part<i()>>(weft::slice<Long, Part<i()>, i()>(x)); });
  }
};
template <int I>
struct Length : weft::axis<weft::up_to<9>> {};
template <int N>
struct lengths {
  constexpr auto operator()(weft::scope s) const {
    return sum_of<N>([&](auto i) {
      return weft::sum<Length<i()>>(s.input<numbered<i()>(), float, Length<i()>>());
    });
  }
};
struct Signal : weft::axis<60000> {};
struct Cache : weft::axis<100> {};
struct Huge : weft::axis<(std::size_t{1} << 30)> {};
struct Wide : weft::axis<1024> {};
template <class... More>
struct elements {
  constexpr auto operator()(weft::scope s) const {
    return weft::exp(s.input<"x", float, Huge, More...>());
  }
};
// Each step's product has 8 axes in all; the gradient for w is one product over all steps.
struct axes {
  constexpr auto operator()(weft::scope s) const {
    auto w = s.param<"w", At<0>, At<1>, At<2>, At<3>, At<4>>();
    auto h = weft::scan<Pos>(s.input<"h", float, At<0>, At<5>, At<6>, At<7>>(),
                             s.input<"x", float, Pos>(), [&](auto h, auto x) {
                               auto y = weft::dot<At<0>>(w, h);
                               return h * x * weft::sum<At<1>, At<2>, At<3>, At<4>>(y);
                             });
    return weft::as<"loss">(weft::sum<At<0>, At<5>, At<6>, At<7>>(h.last));
  }
};
struct kept_axes {
  constexpr auto operator()(weft::scope s) const {
    auto w = with_numbers<8>([&](auto... i) { return s.param<"w", At<i()>...>(); });
    auto h =
        weft::scan<Pos>(s.param<"h", At<0>>(), s.input<"x", float, Pos>(), [&](auto h, auto x) {
          return with_numbers<7>(
              [&](auto... i) { return weft::sum<At<i() + 1>...>(weft::exp(w * h * x)); });
        });
    return weft::as<"loss">(weft::sum<At<0>>(h.last));
  }
};
struct Both : weft::axis<weft::up_to<72>> {};
template <int N>
struct offsets {
  constexpr auto operator()(weft::scope s) const {
    return with_numbers<8>([&](auto... i) {
      auto x = s.input<"x", float>();
      for (int n = 0; n < N; ++n)
        x = weft::sum<Both>(weft::concatenate<Both, weft::shape<Length<i()>...>>(
            weft::tanh(x * s.shared().param<numbered<i()>(), Length<i()>>())...));
      return x;
    });
  }
};
struct Keys : weft::alias<Pos> {};
template <int N>
struct attentions {
  constexpr auto operator()(weft::scope s) const {
    auto k = s.input<"k", float, Keys, E>();
    auto x = s.input<"x", float, Pos, E>();
    for (int i = 0; i < N; ++i) x = weft::dot<Keys>(weft::softmax<Keys>(weft::dot<E>(x, k)), k);
    return x;
  }
};
template <int I>
struct Row : weft::axis<1 + I> {};
template <int N>
struct indices {
  constexpr auto operator()(weft::scope s) const {
    auto ids = with_numbers<32>(
        [&](auto... i) { return std::array{s.input<numbered<i()>(), std::int32_t, Pos>()...}; });
    int n = 0;
    return sum_of<33>([&](auto i) {
      auto table = s.param<numbered<i()>(), Row<i()>>();
      auto all = weft::sum<Row<i()>>(table) + weft::cast<float>(ids[0]);
      for (auto x : ids)
        if (n++ < N) all = all + weft::gather<Row<i()>>(table, x);
      return all;
    });
  }
};
template <int N>
struct writes {
  constexpr auto operator()(weft::scope s) const {
    auto cache = s.input<"cache", float, Cache>();
    auto rows = s.input<"rows", float, Pos>();
    auto place = [&](auto... i) { return std::array{s.input<numbered<i()>(), std::int32_t>()...}; };
    auto at = with_numbers<65>(place);
    for (std::size_t i = 0; i < N; ++i)
      cache = weft::write<Cache, Pos>(cache, rows, at[i / 33], at[32 + i % 33]);
    return cache;
  }
};
template <int Taps>
struct Tap : weft::axis<Taps> {};
template <int Taps>
struct instructions {
  constexpr auto operator()(weft::scope s) const {
    auto w = weft::windows<Signal, Signal, Tap<Taps>, weft::window{.left = Taps - 1}>(
        s.param<"x", Signal>());
    return weft::as<"loss">(weft::sum<Signal>(weft::dot<Tap<Taps>>(w, s.param<"w", Tap<Taps>>())));
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(limits, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(a_model_at_a_limit_runs) {
  BOOST_TEST(of_run<parameters<8192>>() == "");
  BOOST_TEST(of_training<parameters<8192>>() == "");
  BOOST_TEST(of_run<operations<40960>>() == "");
  BOOST_TEST(of_run<inputs<256>>() == "");
  BOOST_TEST(of_run<states<1024>>() == "");
  BOOST_TEST(of_run<scans<1024>>() == "");
  BOOST_TEST(of_run<long_names<220>>() == "");
  BOOST_TEST(of_run<derived_lengths<40>>() == "");
  BOOST_TEST(of_run<lengths<64>>() == "");
  BOOST_TEST((of_run<elements<Wide>>() == ""));
  BOOST_TEST(of_run<axes>() == "");
  BOOST_TEST(of_run<kept_axes>() == "");
  BOOST_TEST(of_run<offsets<200>>() == "");
  BOOST_TEST(of_run<attentions<2048>>() == "");
  BOOST_TEST(of_run<indices<1024>>() == "");
  BOOST_TEST(of_run<writes<1024>>() == "");
  BOOST_TEST(of_training<instructions<40000>>() == "");
}

BOOST_AUTO_TEST_CASE(beyond_a_limit_one_sentence_names_it) {
  BOOST_TEST(of_run<parameters<8193>>() == "model: more than 8192 parameters");
  BOOST_TEST(of_run<operations<40961>>() ==
             "model: more than 40960 operations, those of gradients included");
  BOOST_TEST(of_training<gradients>() ==
             "model: more than 40960 operations, those of gradients included");
  BOOST_TEST(of_run<inputs<257>>() == "model: more than 256 inputs");
  BOOST_TEST(of_run<states<1025>>() == "model: more than 1024 states");
  BOOST_TEST(of_run<scans<1025>>() == "model: more than 1024 scans, those of gradients included");
  BOOST_TEST(of_run<long_names<230>>() == "model: more than 250000 characters in all names");
  BOOST_TEST(of_run<long_names<240>>() ==
             "scope: a name of more than 240 characters; give its parts shorter ones");
  BOOST_TEST(of_run<derived_lengths<129>>() ==
             "model: more than 128 axes whose lengths follow from those of others");
  BOOST_TEST(of_run<lengths<65>>() ==
             "model: more than 64 axes whose lengths are known at run time only");
  BOOST_TEST((of_run<elements<Wide, At<0>>>() == too_large));
  BOOST_TEST((of_run<elements<Wide, Cache, Signal>>() == too_large));
  BOOST_TEST(of_training<axes>() ==
             "model: an operation over more than 8 axes, those that it sums over included");
  BOOST_TEST(of_training<kept_axes>() ==
             "trainer: a scan, of which the gradient keeps a tensor of 8 axes for each step");
  BOOST_TEST(of_run<offsets<300>>() ==
             "model: more than 8192 offsets that are known at run time only");
  BOOST_TEST(of_run<attentions<2049>>() ==
             "model: more than 2048 attentions, their gradients included");
  BOOST_TEST(of_run<indices<1025>>() ==
             "model: more than 1024 uses of indices, offsets and lengths");
  BOOST_TEST(of_run<writes<1025>>() == "model: more than 1024 writes of rows");
  BOOST_TEST(of_training<instructions<50000>>() == "model: more than 49152 instructions");
}

// A model that returns so many takes a compiler minutes.
BOOST_AUTO_TEST_CASE(one_result_more_than_the_limit_is_refused) {
  const auto added_to = [](int count) {
    return kept([count] {
      graph g;
      const auto x = weft::scope(g).input<"x", float, E>();
      g.output_count = count;
      weft::detail::add_result(g, weft::as<"y">(x), 0);
      return g;
    });
  };
  BOOST_TEST(!added_to(weft::max_results - 1)->rejected);
  BOOST_TEST(weft::sentence_of(added_to(weft::max_results)->fault) ==
             "model: more than 1024 results");
}

BOOST_AUTO_TEST_SUITE_END()
