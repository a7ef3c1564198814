#include "bits/subject.hpp"

#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "reference/lengths.hpp"
#include "run/fnv_hash.hpp"
#include "support/golden_init.hpp"
#include "weft/run/engine.hpp"
#include "weft/run/fingerprint.hpp"
#include "weft/run/memory.hpp"

namespace weft::testing {

namespace {

using name_and_index = std::pair<std::string_view, std::size_t>;

// Special numbers, numbers of any bits, and such as occur in models, in turns.
float any_number(name_and_index at) {
  constexpr std::uint32_t special[]{0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000,
                                    0xff800000, 0x7fc00000, 0x00000001, 0x807fffff, 0x00800000,
                                    0x7f7fffff, 0xff7fffff, 0x3f000000, 0x40490fdb, 0x42b17218,
                                    0xc2aeac50, 0x47c35000, 0x4f000000, 0xcf000000, 0x3effffff};
  const std::uint32_t bits = golden::hash(at.first, at.second);
  switch (at.second % 8) {
    case 0:
      return std::bit_cast<float>(special[(bits >> 8) % std::size(special)]);
    case 1:
      return std::bit_cast<float>(bits);
    case 2:  // of all signs, and of magnitudes from 2^-16 to 2^16
      return std::bit_cast<float>((bits & 0x807fffff) | ((bits >> 23) % 32 + 111) << 23);
    default:
      return static_cast<float>(static_cast<std::int32_t>(bits >> 8) - (1 << 23)) * 0x1p-20f;
  }
}

void put(std::byte* to, dtype type, name_and_index at, const number_options& n) {
  const std::uint32_t bits = golden::hash(at.first, at.second);
  const float u = static_cast<float>(static_cast<std::int32_t>(bits >> 8) - (1 << 23)) * 0x1p-23f;
  const float f = n.any ? any_number(at) : u * n.scale;
  const std::uint32_t below = (bits >> 8) % static_cast<std::uint32_t>(n.integers);
  const auto i = static_cast<std::int32_t>(below) * (n.any && bits % 2 != 0 ? -1 : 1);
  const auto b = static_cast<std::uint8_t>(bits >> 31);
  const bfloat16 h(f);
  const void* const from = type == dtype::float32    ? static_cast<const void*>(&f)
                           : type == dtype::int32    ? static_cast<const void*>(&i)
                           : type == dtype::bfloat16 ? static_cast<const void*>(&h)
                                                     : static_cast<const void*>(&b);
  std::memcpy(to, from, static_cast<std::size_t>(bytes(type)));
}

struct tensor {
  std::vector<std::byte> memory;
  binding bound;
};
tensor made(std::string_view name, dtype type, const std::vector<std::size_t>& lengths,
            const number_options& n) {
  tensor t;
  std::size_t size = 1;
  for (std::size_t a = lengths.size(); a-- > 0; size *= lengths[a]) {
    t.bound.length[a] = lengths[a];
    t.bound.stride[a] = static_cast<std::ptrdiff_t>(size);
  }
  const auto each = static_cast<std::size_t>(bytes(type));
  t.memory.resize(std::max<std::size_t>(size, 1) * each);
  for (std::size_t i = 0; i < size; ++i) put(t.memory.data() + i * each, type, {name, i}, n);
  t.bound.data = t.memory.data();
  return t;
}

// Of contiguous elements.
std::uint64_t hash_of(dtype type, const std::byte* data, std::size_t count) {
  const std::ptrdiff_t stride = 1;
  return weft::detail::fingerprint_of(type, data, {&count, 1}, {&stride, 1});
}

}  // namespace

subject::subject(const run_time_source& of)
    : plain_(plain_graph(of)),
      compiled_(compiled_graph(of)),
      lowered_(std::make_shared<run_time_program>(*compiled_)) {}

std::map<std::string, std::uint64_t> subject::run(const run_options& how) const {
  const program& p = lowered_->program;
  const reference::lengths of = reference::complete(*plain_, how.lengths);
  std::vector<tensor> inputs;
  for (const input_ref& r : p.inputs) {
    const std::string_view name = p.name(r.name);
    std::vector<std::size_t> lengths;
    for (int i = 0; i < plain_->input_count; ++i)
      if (const node& n = plain_->nodes[plain_->inputs[i].node];
          plain_->name(plain_->inputs[i].name) == name)
        for (int a = 0; a < n.axes.count; ++a) lengths.push_back(of(n.axes.at[a]));
    inputs.push_back(made(name, r.type, lengths, how.numbers));
  }
  std::vector<binding> arguments;
  for (const tensor& t : inputs) arguments.push_back(t.bound);
  std::vector<tensor> parameters;
  std::vector<std::byte*> addresses;
  for (const parameter_ref& r : p.parameters) {
    parameters.push_back(made(p.name(r.name), dtype::float32, {r.size}, how.numbers));
    addresses.push_back(parameters.back().memory.data());
  }
  const auto gradients = allocate(p.gradient_bytes), workspace = allocate(p.workspace_bytes),
             packed = allocate(packed_size(p.packed, how.frozen.value_or(precision::float32)));
  engine e(p, {addresses.data(), gradients.get(), workspace.get()},
           how.generated ? how.generated() : generated_steps{});
  e.draw_from({.seed = 3, .step = 5});
  if (how.frozen) e.freeze(packed.get(), *how.frozen);
  e.reset();
  e.bind(arguments);
  e.run();

  std::map<std::string, std::uint64_t> all;
  for (const result_ref& r : p.results) {
    const auto rank = static_cast<std::size_t>(r.rank);
    std::array<std::size_t, max_rank> lengths{};
    for (std::size_t a = 0; a < rank; ++a) lengths[a] = e.length(r.extent[a]);
    all[std::string(p.name(r.name))] = weft::detail::fingerprint_of(
        r.at.type, e.address(r.at), {lengths.data(), rank}, {r.at.stride, rank});
  }
  for (const state_ref& r : p.states)
    all["state " + std::string(p.name(r.name))] = hash_of(
        r.type, workspace.get() + r.offset, r.bytes / static_cast<std::size_t>(bytes(r.type)));
  if (p.gradient_bytes > 0)
    for (const parameter_ref& r : p.parameters)
      all["gradient " + std::string(p.name(r.name))] =
          hash_of(dtype::float32, gradients.get() + r.offset, r.size);
  return all;
}

std::uint64_t subject::hash(const run_options& how) const {
  weft::detail::fnv_hash hash;
  for (const auto& [name, of] : run(how)) {
    hash.add(name);
    hash.add(static_cast<std::int64_t>(of));
  }
  return hash.value();
}

void subject::add_to(operations& covered) const {
  for (int i = 0; i < compiled_->count; ++i) {
    covered.set(static_cast<std::size_t>(compiled_->nodes[i].kind));
    covered.set(static_cast<std::size_t>(compiled_->nodes[i].epilogue));
  }
}

}  // namespace weft::testing
