// What each operation computes has the same bits on all SIMD targets of a family.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bits/hashes.hpp"
#include "bits/models.hpp"
#include "bits/subject.hpp"

namespace {

namespace bits = weft::testing::bits;
using weft::inference, weft::training, weft::sampling, weft::testing::hashes,
    weft::testing::lengths, weft::testing::run_options, weft::testing::subject;

constexpr weft::testing::number_options any{.any = true, .integers = 20000};

// The programs of one part of the file, run on each target.
class programs {
 public:
  explicit programs(std::string part) : hashes_(std::move(part)) {}

  // One hash for each result, or for all results together.
  template <class Unit>
  void add_results(const std::string& name, const run_options& how = {}) {
    add<Unit>([=, this](const subject& s) {
      for (const auto& [result, hash] : s.run(how))
        hashes_.add(name.empty() ? result : name + "." + result, hash);
    });
  }
  template <class Unit>
  void add_all(const std::string& name, const run_options& how = {}) {
    add<Unit>([=, this](const subject& s) { hashes_.add(name, s.hash(how)); });
  }
  // Also whether every operation is in one of the programs.
  void check() {
    for (int k = 0; k < weft::op_count; ++k)
      BOOST_TEST((covered_[static_cast<std::size_t>(k)] || !computes(static_cast<weft::op>(k))),
                 "no hash depends on the operation " << name_of(static_cast<weft::op>(k))
                                                     << ": add it to a model of bits/models.hpp");
    hashes_.check_on_every_target([&] {
      for (const auto& run : runs_) run();
    });
  }

 private:
  static bool computes(weft::op k) {
    const weft::op_class c = weft::info(k).in;
    return c != weft::op_class::leaf && c != weft::op_class::view && c != weft::op_class::scan;
  }
  template <class Unit>
  void add(const std::function<void(const subject&)>& run) {
    const auto s = std::make_shared<const subject>(weft::testing::source_of<Unit>());
    s->add_to(covered_);
    runs_.push_back([=] { run(*s); });
  }

  hashes hashes_;
  weft::testing::operations covered_;
  std::vector<std::function<void()>> runs_;
};

template <int... Lengths>
void add_rows(programs& all) {
  const auto add = [&]<int Length>(std::integral_constant<int, Length>) {
    const std::string name = "rows." + std::to_string(Length);
    all.add_results<inference<bits::rows<Length>>>(name, {.numbers = {.scale = 8}});
    all.add_all<inference<bits::rows<Length>>>(name + ".of_any_numbers", {.numbers = any});
    all.add_all<training<bits::row_gradients<Length>, "loss">>(
        name + ".gradients", {.numbers = {.integers = std::min(Length, 7)}});
  };
  (add(std::integral_constant<int, Lengths>()), ...);
}

template <class Products>
void add_products(programs& all, const std::string& name) {
  using weft::precision;
  all.add_results<inference<Products>>(name);
  all.add_all<inference<Products>>(name + ".frozen", {.frozen = precision::float32});
  all.add_all<inference<Products>>(name + ".frozen_in_bfloat16", {.frozen = precision::bfloat16});
  all.add_all<inference<Products>>(name + ".frozen_in_q8_0", {.frozen = precision::q8_0});
  all.add_all<inference<Products>>(name + ".frozen_in_q4_0", {.frozen = precision::q4_0});
  all.add_all<training<Products, "loss">>(name + ".gradients");
}

template <int Length>
void add_attention(programs& all) {
  using model = bits::attending<Length>;
  const std::string name = "attention." + std::to_string(Length);
  all.add_results<inference<model>>(name, {.numbers = {.integers = Length}});
  all.add_all<sampling<model>>(name + ".with_dropout", {.numbers = {.integers = Length}});
  all.add_all<training<model, "loss">>(name + ".gradients", {.numbers = {.integers = Length}});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(operations)

BOOST_AUTO_TEST_CASE(every_operation_has_the_same_bits_on_all_targets_of_a_family) {
  programs all("operations");
  all.add_results<inference<bits::elementwise<float>>>("float", {.numbers = any});
  all.add_results<inference<bits::elementwise<std::int32_t>>>("int32", {.numbers = any});
  all.add_results<inference<bits::elementwise<bool>>>("bool");
  all.add_results<sampling<bits::mixed>>("mixed", {.numbers = any});
  all.add_all<sampling<bits::mixed>>("mixed.of_small_numbers");
  add_rows<1, 3, 7, 16, 17, 33, 100, 1000>(all);
  add_products<bits::products<1, 20, 40>>(all, "products.1.20.40");
  add_products<bits::products<3, 17, 5>>(all, "products.3.17.5");
  add_products<bits::products<1, 777, 65>>(all, "products.1.777.65");
  add_products<bits::products<70, 600, 50>>(all, "products.70.600.50");
  // Full blocks and few rows, which are multiplied in registers.
  all.add_all<inference<bits::products<2, 64, 5>>>("products.2.64.5.frozen_in_q4_0",
                                                   {.frozen = weft::precision::q4_0});
  const auto inner = [](std::size_t n) {
    return run_options{.lengths = lengths<bits::indexed::Pos>(n).lengths};
  };
  for (const std::size_t n : {1u, 33u}) {
    const std::string name = "indexed." + std::to_string(n);
    all.add_results<inference<bits::indexed>>(name, inner(n));
    all.add_all<training<bits::indexed, "loss">>(name + ".gradients", inner(n));
  }
  add_attention<9>(all);
  add_attention<150>(all);
  for (const std::size_t n : {1u, 8u})
    all.add_results<inference<bits::decoding>>(
        "decoding." + std::to_string(n), {.lengths = lengths<bits::decoding::Pos>(n).lengths});
  all.check();
}

BOOST_AUTO_TEST_SUITE_END()
