// Keys that attention hides: they neither affect results nor are read where no query sees them.
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/attention_trial.hpp"

using namespace weft;
using namespace weft::kernels;
using namespace weft::kernels::attention_trials;

namespace {

// Floats in front of a page that cannot be accessed: reading one more ends the program.
class last_floats {
 public:
  explicit last_floats(std::size_t count)
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        bytes_((count * sizeof(float) + page_ - 1) / page_ * page_),
        at_(static_cast<std::byte*>(mmap(nullptr, bytes_ + page_, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
        count_(count) {
    BOOST_TEST_REQUIRE(mprotect(at_ + bytes_, page_, PROT_NONE) == 0);
  }
  last_floats(const last_floats&) = delete;
  ~last_floats() { munmap(at_, bytes_ + page_); }
  float* data() { return reinterpret_cast<float*>(at_ + bytes_) - count_; }

 private:
  std::size_t page_, bytes_;
  std::byte* at_;
  std::size_t count_;
};

// Runs attention with memory for the first `keys` keys and values only, whatever the extent is.
void reads_no_more_keys_than(std::ptrdiff_t keys, const attention_call& with) {
  constexpr std::ptrdiff_t depth = 20;
  const attention_loops of(with.loops);
  last_floats k(static_cast<std::size_t>(keys * depth)), v(static_cast<std::size_t>(keys * depth));
  const std::ptrdiff_t queries = with.extent[of.query];
  std::vector<float> q(static_cast<std::size_t>(queries * depth), 1), r(q.size());
  attention_call c = with;
  c.extent[of.depth] = c.extent[of.value] = depth;
  c[role::query] = {.data = q.data(), .type = dtype::float32, .stride = {depth, 0, 1, 0}};
  c[role::key] = {.data = k.data(), .type = dtype::float32, .stride = {0, depth, 1, 0}};
  c[role::value] = {.data = v.data(), .type = dtype::float32, .stride = {0, depth, 0, 1}};
  c[role::result] = {.data = r.data(), .type = dtype::float32, .stride = {depth, 0, 0, 1}};
  const aligned scratch = scratch_for(c, attention_scratch_bytes(c));
  on_every_target([&](const table& kernels) { kernels.attention(c); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(attention_hidden)

// Hidden keys must not affect the result, not even as NaN.
BOOST_AUTO_TEST_CASE(hidden_keys_may_be_nan) {
  on_every_target([](const table& kernels) {
    constexpr std::ptrdiff_t n = 37;
    std::vector<float> q(n, 1), k(n, 1), v(n, 1), r(n);
    std::vector<std::uint8_t> mask(n, 1);
    for (std::size_t j = 20; j < n; ++j) k[j] = std::numeric_limits<float>::quiet_NaN();
    for (std::size_t j = 20; j < n; ++j) mask[j] = 0;
    attention_call c;
    c.loops = 4;
    std::copy_n(std::vector<std::ptrdiff_t>{n, n, 1, 1}.begin(), 4, c.extent);
    c[role::query] = {.data = q.data(), .type = dtype::float32, .stride = {1, 0, 0, 0}};
    c[role::key] = {.data = k.data(), .type = dtype::float32, .stride = {0, 1, 0, 0}};
    c[role::value] = {.data = v.data(), .type = dtype::float32, .stride = {0, 1, 0, 0}};
    c[role::mask] = {.data = mask.data(), .type = dtype::boolean, .stride = {0, 1, 0, 0}};
    c[role::result] = {.data = r.data(), .type = dtype::float32, .stride = {1, 0, 0, 0}};
    const aligned scratch = scratch_for(c, attention_scratch_bytes(c));
    kernels.attention(c);
    for (const float x : r) BOOST_TEST(x == 1);
    c[role::mask] = {};
    c.attention.visible.highest = 0;
    kernels.attention(c);
    for (std::size_t i = 0; i < n; ++i) BOOST_TEST((i < 20 ? r[i] == 1 : std::isnan(r[i])));
  });
}

// Spoiled keys and values affect only the queries that see them.
BOOST_AUTO_TEST_CASE(nan_and_infinity_in_hidden_keys_and_values_do_not_reach_the_result) {
  using choice = attention_option;
  const auto spoil = [](bool keys, bool values, bool all) {
    return [=](options& o) {
      std::vector<std::ptrdiff_t> some{o.key - 1, 2, o.key / 2};
      if (all)
        for (std::ptrdiff_t j = 0; j < o.key; ++j) some.push_back(j);
      if (keys) o.spoiled_keys = some;
      if (values) o.spoiled_values = some;
    };
  };
  const optional_loops loops{std::nullopt, 0, no_query, no_batch, no_query | no_batch};
  check(pairwise<options>(
      {.batch = {2, 3}, .depth = 5},
      {queries_and_keys({{1, 40}, {1, 700}, {3, 3}, {17, 40}, {60, 300}}), in_bands,
       std::vector<choice::value>{{"spoiled values", spoil(false, true, false)},
                                  {"spoiled keys and values", spoil(true, true, false)},
                                  {"spoiled keys", spoil(true, false, false)},
                                  {"all are spoiled", spoil(true, true, true)}},
       limits(), in_layouts, choice("value", &options::value, {20, 64, 1}),
       choice("mask", &options::mask, loops), choice("bias", &options::bias, loops),
       choice("relative", &options::relative, {std::nullopt, 0}),
       choice("soft cap", &options::soft_cap, {0, 3}), choice("rate", &options::rate, {0, 0.3}),
       choice("keys without", &options::key_without, {0, no_batch})}));
}

BOOST_AUTO_TEST_CASE(keys_that_no_query_sees_are_not_read) {
  attention_call c;
  c.loops = 4;
  const std::int32_t filled = 10;
  c[role::lengths].data = const_cast<std::int32_t*>(&filled);
  for (const std::ptrdiff_t queries : {1, 5, 500}) {
    c.extent[0] = queries, c.extent[1] = 4096;
    reads_no_more_keys_than(filled, c);
  }
  // The first block of queries, with a window that extends to its right.
  constexpr auto block = static_cast<std::ptrdiff_t>(attention_query_block);
  c[role::lengths] = {};
  c.extent[0] = c.extent[1] = 8 * block;
  c.attention.visible = {-100, 30, 0};
  c.part = {0, 8};
  reads_no_more_keys_than(block + 30, c);
}

BOOST_AUTO_TEST_SUITE_END()
