// The attention kernels alone, in the forms that models use: for comparing compilers and SIMD
// targets.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "benchmarks/contest.hpp"
#include "benchmarks/operand_memory.hpp"
#include "weft/kernels/attention_adjoint_scratch.hpp"
#include "weft/kernels/attention_scratch.hpp"
#include "weft/kernels/kernels.hpp"

namespace bench {
namespace {

using weft::role;
using weft::kernels::operand;

enum class addend { none, for_each_key, for_each_pair };

struct extents {
  std::ptrdiff_t queries, keys;
};

struct form {
  std::ptrdiff_t heads = 4, sharing = 1;  // `sharing`: query heads per key head
  std::ptrdiff_t depth = 64;
  weft::kernels::band seen{};
  addend mask = addend::none, bias = addend::none;
  bool relative_bias = false;
  double soft_cap = 0, dropout = 0;
};

// Copies share the memory.
class attention_of : public weft::kernels::attention_call {
 public:
  // In the layout of models, [position, head, depth].
  attention_of(const extents& n, const form& f, bool with_adjoint) {
    loops = 6;
    const std::ptrdiff_t groups = f.heads / f.sharing, row = f.heads * f.depth;
    const std::ptrdiff_t key_row = groups * f.depth, pairs = n.queries * n.keys;
    for (int l = 0;
         const std::ptrdiff_t count : {groups, f.sharing, n.queries, n.keys, f.depth, f.depth})
      extent[l++] = count;
    const auto lay_queries = [&](operand& o, int columns) {
      lay(o, n.queries * row, {f.sharing * f.depth, f.depth, row});
      o.stride[columns] = 1;
    };
    const auto lay_keys = [&](operand& o, int columns) {
      lay(o, n.keys * key_row, {f.depth, 0, 0, key_row});
      o.stride[columns] = 1;
    };
    lay_queries(at(role::query), 4);
    lay_keys(at(role::key), 4);
    lay_keys(at(role::value), 5);
    lay_queries(at(role::result), 5);
    scale = 1 / std::sqrt(static_cast<double>(f.depth));
    scalar = f.soft_cap;
    attention.visible = f.seen;
    if (f.mask != addend::none) {
      const bool for_each_pair = f.mask == addend::for_each_pair;
      const std::ptrdiff_t count = for_each_pair ? pairs : n.keys;
      auto* const sees =
          reinterpret_cast<std::uint8_t*>(memory_.take(static_cast<std::size_t>(count)));
      for (std::ptrdiff_t i = 0; i < count; ++i) sees[i] = i % 5 != 0;
      at(role::mask).data = sees;
      at(role::mask).stride[2] = for_each_pair ? n.keys : 0;
      at(role::mask).stride[3] = 1;
    }
    if (f.bias == addend::for_each_key) lay(at(role::bias), n.keys, {0, 0, 0, 1});
    if (f.bias == addend::for_each_pair) lay(at(role::bias), pairs, {0, 0, n.keys, 1});
    if (f.relative_bias) {
      attention.distances = 2 * n.keys - 1;
      attention.origin = n.keys - 1;
      lay(at(role::relative), attention.distances, {0, 0, 0, 1});
    }
    if (f.dropout > 0) {
      attention.drop = {7, static_cast<std::uint32_t>(f.dropout * (1 << 24))};
      for (int l = 0; const std::ptrdiff_t step : {f.sharing * pairs, pairs, n.keys})
        at(role::element_ids).stride[l++] = step;
      at(role::element_ids).stride[3] = 1;
    }
    if (with_adjoint) {
      lay(at(role::statistics), f.heads * n.queries, {f.sharing * n.queries, n.queries, 1});
      lay_queries(at(role::g), 5);
      lay_queries(at(role::query_gradient), 4);
      lay_keys(at(role::key_gradient), 4);
      lay_keys(at(role::value_gradient), 5);
      if (f.bias != addend::none) gradient_of(at(role::bias), at(role::bias_gradient), pairs);
      if (f.relative_bias)
        gradient_of(at(role::relative), at(role::relative_gradient), attention.distances);
    }
    scratch = memory_.take(std::max(weft::kernels::attention_adjoint_scratch_bytes(*this),
                                    weft::kernels::attention_scratch_bytes(*this)));
  }

 private:
  operand& at(role what) { return (*this)[what]; }
  // Random values, with these strides in the first loops.
  void lay(operand& o, std::ptrdiff_t count, std::initializer_list<std::ptrdiff_t> strides) {
    auto* const at =
        reinterpret_cast<float*>(memory_.take(static_cast<std::size_t>(count) * sizeof(float)));
    std::minstd_rand bits(static_cast<unsigned>(count));
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (std::ptrdiff_t i = 0; i < count; ++i) at[i] = uniform(bits);
    o.data = at;
    for (int l = 0; const std::ptrdiff_t stride : strides) o.stride[l++] = stride;
  }
  void gradient_of(const operand& o, operand& to, std::ptrdiff_t count) {
    to = o;
    to.data = memory_.take(static_cast<std::size_t>(count) * sizeof(float));
  }

  operand_memory memory_;
};

class case_list {
 public:
  void add(const std::string& name, const extents& n, const form& f = {}) {
    add_forward(name, n, f);
    add("attention_adjoint, " + name, n, f, true);
  }
  void add_forward(const std::string& name, const extents& n, const form& f = {}) {
    add("attention, " + name, n, f, false);
  }

  std::vector<named_contest> cases;

 private:
  void add(const std::string& name, const extents& n, const form& f, bool is_adjoint) {
    const std::string size = std::to_string(n.queries) + "," + std::to_string(n.keys);
    cases.push_back(
        {"kernels/" + name + "/" + size, [=] {
           contest c;
           // A query by itself is to take as long as its keys and values take to be read.
           if (n.queries == 1 && n.keys >= 128)
             c.bytes =
                 static_cast<double>(2 * n.keys * f.heads / f.sharing * f.depth) * sizeof(float);
           else
             c.elements = static_cast<double>(f.heads * n.queries * n.keys);
           const auto& kernels = weft::kernels::dispatch();
           attention_of call(n, f, is_adjoint);
           kernels.attention(call);  // the adjoint reads its results
           const auto run = is_adjoint ? kernels.attention_adjoint : kernels.attention;
           c.weft = {timed(1, [run, call] { run(call); }), [] { return std::vector<float>(); }};
           return c;
         }});
  }
};

std::vector<named_contest> all() {
  case_list l;
  for (const std::ptrdiff_t n : {100, 512}) {
    const weft::kernels::band past{.highest = 0}, near{-n / 8, n / 8};
    l.add("plain", {n, n});
    l.add("causal", {n, n}, {.seen = past});
    l.add("window", {n, n}, {.seen = near});
    l.add("mask, keys", {n, n}, {.mask = addend::for_each_key});
    l.add("mask", {n, n}, {.mask = addend::for_each_pair});
    l.add("bias, keys", {n, n}, {.bias = addend::for_each_key});
    l.add("bias", {n, n}, {.bias = addend::for_each_pair});
    l.add("relative bias", {n, n}, {.relative_bias = true});
    l.add("soft cap", {n, n}, {.soft_cap = 30});
    l.add("dropout, causal", {n, n}, {.seen = past, .dropout = 0.1});
    l.add("grouped heads", {n, n}, {.sharing = 4});
    for (const std::ptrdiff_t depth : {16, 20, 32, 128})
      l.add("heads of " + std::to_string(depth), {n, n}, {.depth = depth});
  }
  for (const std::ptrdiff_t n : {3, 16, 37}) l.add("few positions", {n, n});
  for (const std::ptrdiff_t queries : {2, 4, 8}) l.add_forward("few queries", {queries, 1024});
  for (const std::ptrdiff_t keys : {1, 16, 128, 1024}) {
    l.add_forward("single query", {1, keys});
    l.add_forward("single query, mask", {1, keys}, {.mask = addend::for_each_key});
    l.add_forward("single query, relative bias", {1, keys}, {.relative_bias = true});
    l.add_forward("single query, soft cap", {1, keys}, {.soft_cap = 30});
    l.add_forward("single query, grouped heads", {1, keys}, {.sharing = 4});
  }
  // A layer of SmolLM2-135M.
  for (const std::ptrdiff_t keys : {128, 896, 4096, 8192})
    l.add_forward("single query, 9 heads on 3", {1, keys}, {.heads = 9, .sharing = 3});
  return l.cases;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::measure(argc, argv, bench::all());
}
