#include "weft/run/parameter_block.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "weft/kernels/elementary.hpp"
#include "weft/run/error.hpp"
#include "weft/run/memory.hpp"
#include "weft/run/rounding.hpp"

namespace weft {

namespace {

// SplitMix64 (Steele et al. 2014): a bijection that mixes the bits.
std::uint64_t scatter(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Counter-based random values: uniform in [0, 1) and standard normal, by index i.
class generator {
 public:
  generator(std::uint64_t seed, std::string_view name) : key_(scatter(seed)) {
    for (const char c : name) key_ = scatter(key_ ^ static_cast<unsigned char>(c));
  }
  double uniform(std::uint64_t i) const {
    return static_cast<double>(scatter(key_ ^ scatter(i)) >> 11) * 0x1p-53;
  }
  // Box-Muller transform (Box and Muller 1958).
  double normal(std::uint64_t i) const {
    const double radius = std::sqrt(-2 * kernels::logarithm(1 - uniform(2 * i)));
    return radius * kernels::cosine_of_turns(uniform(2 * i + 1));
  }

 private:
  std::uint64_t key_;
};

double power(double base, double exponent) {
  if (exponent != std::floor(exponent) || std::abs(exponent) > 1e9)
    return kernels::exponential(exponent * kernels::logarithm(base));
  const double y = kernels::power(base, static_cast<std::int64_t>(std::abs(exponent)));
  return exponent < 0 ? 1 / y : y;
}

void begin(const parameter& p, const initializer& init, std::uint64_t seed) {
  const generator random(seed, p.name);
  const auto fill = [&](auto number) {
    for (std::size_t i = 0; i < p.values.size(); ++i) p.values[i] = static_cast<float>(number(i));
  };
  const auto within = [&](double half) {
    fill([&](std::size_t i) { return (2 * random.uniform(i) - 1) * half; });
  };
  using kind = initializer::kind;
  switch (init.what) {
    case kind::constant:
      return fill([&](std::size_t) { return init.a; });
    case kind::normal:
      return fill([&](std::size_t i) { return init.a + init.b * random.normal(i); });
    case kind::uniform:
      return fill([&](std::size_t i) { return init.a + (init.b - init.a) * random.uniform(i); });
    case kind::powers:
      return fill([&](std::size_t i) {
        return power(init.a, init.begin + init.b * static_cast<double>(i));
      });
    case kind::xavier_uniform:
      return within(init.a * std::sqrt(6 / (init.fan_in + init.fan_out)));
    case kind::xavier_normal: {
      const double deviation = init.a * std::sqrt(2 / (init.fan_in + init.fan_out));
      return fill([&](std::size_t i) { return deviation * random.normal(i); });
    }
    case kind::fan_in_uniform:
      return within(1 / std::sqrt(init.fan_in));
  }
}

std::vector<std::byte*> addresses_in(const program& tables, std::byte* block) {
  std::vector<std::byte*> addresses;
  for (const parameter_ref& r : tables.parameters) addresses.push_back(block + r.offset);
  return addresses;
}

parameter_memory new_block(const program& tables) {
  const std::shared_ptr<std::byte[]> block = allocate(tables.parameter_bytes);
  return {addresses_in(tables, block.get()), block};
}

// The addresses of the parameters of another program that have the same names.
parameter_memory shared_memory(const program& tables, const parameter_block& shared,
                               std::shared_ptr<const parameter_memory> owner) {
  parameter_memory memory;
  for (const parameter_ref& r : tables.parameters) {
    const std::size_t i = shared.index_of(tables.name(r.name));
    if (!std::ranges::equal(shared.extents(i),
                            std::span(r.extent, static_cast<std::size_t>(r.rank))))
      detail::raise("parameters: '" + std::string(tables.name(r.name)) +
                    "' has other extents in the model whose memory is shared");
    memory.addresses.push_back(shared.addresses()[i]);
  }
  // The owner is kept alive; nothing is changed through this pointer.
  memory.owner = std::const_pointer_cast<parameter_memory>(std::move(owner));
  return memory;
}

}  // namespace

parameter_memory::parameter_memory() = default;
parameter_memory::parameter_memory(std::vector<std::byte*> all, std::shared_ptr<void> by)
    : addresses(std::move(all)), owner(std::move(by)) {}

parameter_block::parameter_block(const program& tables, parameter_memory memory)
    : tables_(&tables), memory_(std::make_shared<parameter_memory>(std::move(memory))) {}

parameter_block::parameter_block(const program& tables, parameter_options options)
    : parameter_block(tables, new_block(tables)) {
  initialize(options.seed);
}

parameter_block::parameter_block(const program& tables, const parameter_source& source)
    : parameter_block(tables, detail::read_parameters(tables, *source.open(tables),
                                                      [](std::size_t) { return true; })) {}

parameter_memory detail::read_parameters(const program& tables, parameter_reader& from,
                                         const std::function<bool(std::size_t)>& keeps) {
  struct memory_of_source {
    std::shared_ptr<void> in_source;
    aligned_bytes converted;
  };
  const auto owner = std::make_shared<memory_of_source>();
  parameter_memory memory{std::vector<std::byte*>(tables.parameters.size()), owner};
  const auto room_for = [&](std::size_t i) {
    return align(tables.parameters[i].size * sizeof(float));
  };
  std::vector<std::size_t> converted;
  std::size_t room = 0;
  for (std::size_t i = 0; i < memory.addresses.size(); ++i) {
    if (!keeps(i)) continue;
    memory.addresses[i] = from.in_memory(i);
    if (memory.addresses[i] != nullptr) continue;
    converted.push_back(i);
    room += room_for(i);
  }
  owner->in_source = from.owner();
  owner->converted = allocate(room);
  std::byte* next = owner->converted.get();
  for (const std::size_t i : converted) {
    from.read(i, 0, {reinterpret_cast<float*>(next), tables.parameters[i].size});
    memory.addresses[i] = std::exchange(next, next + room_for(i));
  }
  return memory;
}

parameter_block::parameter_block(const program& tables, std::span<std::byte> bytes)
    : parameter_block(tables,
                      {addresses_in(tables, checked(bytes, tables.parameter_bytes)), nullptr}) {}

parameter_block::parameter_block(const program& tables, const parameter_block& shared)
    : parameter_block(tables, shared_memory(tables, shared, shared.memory_)) {}

parameter_memory parameter_block::copied() const {
  parameter_memory fresh = new_block(*tables_);
  for (std::size_t i = 0; i < count(); ++i) {
    const auto values = std::as_bytes((*this)[i].values);
    std::copy(values.begin(), values.end(), fresh.addresses[i]);
  }
  return fresh;
}

void parameter_block::initialize(std::uint64_t seed) {
  const detail::rounding_to_nearest mode;
  for (std::size_t i = 0; i < count(); ++i) begin((*this)[i], tables_->parameters[i].init, seed);
}

bool parameter_block::is_partial() const {
  const auto& all = memory_->addresses;
  return std::find(all.begin(), all.end(), nullptr) != all.end();
}

parameter parameter_block::operator[](std::size_t i) const {
  const parameter_ref& r = tables_->parameters[i];
  if (memory_->addresses[i] == nullptr)
    detail::raise("parameters: '" + std::string(tables_->name(r.name)) +
                  "' is kept only as the module has packed it");
  return {
      tables_->name(r.name), extents(i), {reinterpret_cast<float*>(memory_->addresses[i]), r.size}};
}

std::size_t parameter_block::index_of(std::string_view name) const {
  for (std::size_t i = 0; i < count(); ++i)
    if (tables_->name(tables_->parameters[i].name) == name) return i;
  detail::raise("parameters: the model has none with the name '" + std::string(name) + "'");
}

std::span<const std::size_t> parameter_block::extents(std::size_t i) const {
  const parameter_ref& r = tables_->parameters[i];
  return {r.extent, static_cast<std::size_t>(r.rank)};
}

parameter parameter_block::find(std::string_view name) const {
  return (*this)[index_of(name)];
}

std::size_t parameter_block::elements() const {
  std::size_t n = 0;
  for (const parameter_ref& r : tables_->parameters) n += r.size;
  return n;
}

std::span<float> parameter_block::floats() const {
  if (count() == 0) return {};
  if (is_partial())
    detail::raise(
        "parameters: some are kept only as a module has packed them, which are not trained; make "
        "them of the file, without a module");
  for (std::size_t i = 0; i < count(); ++i)
    if (memory_->addresses[i] != memory_->addresses[0] + tables_->parameters[i].offset)
      detail::raise(
          "parameters: they are in the memory of a file, not in one block; copy() makes one");
  return {reinterpret_cast<float*>(memory_->addresses[0]),
          tables_->parameter_bytes / sizeof(float)};
}

void detail::add_lora(const parameter_block& to, const parameter_block& from, double alpha) {
  const rounding_to_nearest mode;
  constexpr std::string_view a_name = "lora_A.weight";
  for (std::size_t i = 0; i < from.count(); ++i) {
    const parameter a = from[i];
    if (!a.name.ends_with(a_name)) continue;
    const std::string layer(a.name.substr(0, a.name.size() - a_name.size()));
    const auto b = from.find(layer + "lora_B.weight").values, w = to.find(layer + "weight").values;
    const std::size_t rank = a.extents[0], in = a.values.size() / rank;
    for (std::size_t e = 0; e < w.size(); ++e) {
      double sum = 0;
      for (std::size_t r = 0; r < rank; ++r)
        sum += static_cast<double>(b[e / in * rank + r]) *
               static_cast<double>(a.values[r * in + e % in]);
      w[e] =
          static_cast<float>(static_cast<double>(w[e]) + alpha / static_cast<double>(rank) * sum);
    }
  }
}

void detail::fold_norms(const parameter_block& to, const parameter_block& from,
                        std::initializer_list<layer_and_norm> layers, double epsilon) {
  const rounding_to_nearest mode;
  const auto refuse_unless = [](bool fits, std::string_view name) {
    if (!fits)
      detail::raise("folded_batch_norm: a model lacks '" + std::string(name) +
                    "', or has it with other extents");
  };
  const auto in = [](const parameter_block& all, std::string_view name) -> std::span<float> {
    for (std::size_t i = 0; i < all.count(); ++i)
      if (all[i].name == name) return all[i].values;
    return {};
  };
  const auto is_bias = [&](std::string_view name) {
    return std::ranges::any_of(
        layers, [=](const auto& l) { return std::string(l.layer) + ".bias" == name; });
  };
  for (std::size_t i = 0; i < to.count(); ++i) {
    const parameter p = to[i];
    const std::span<float> values = in(from, p.name);
    const bool is_new = values.empty() && is_bias(p.name);
    refuse_unless(is_new || values.size() == p.values.size(), p.name);
    if (is_new)
      std::ranges::fill(p.values, 0.0f);
    else
      std::ranges::copy(values, p.values.begin());
  }
  for (const layer_and_norm& l : layers) {
    const std::string layer(l.layer), norm(l.norm);
    const std::span<float> w = in(to, layer + ".weight"), b = in(to, layer + ".bias");
    refuse_unless(!b.empty() && !w.empty(), layer + ".bias");
    const auto of_norm = [&](const char* name) {
      const std::span<float> values = in(from, norm + name);
      refuse_unless(values.size() == b.size(), norm + name);
      return values;
    };
    const auto gain = of_norm(".weight"), shift = of_norm(".bias"), mean = of_norm(".running_mean"),
               variance = of_norm(".running_var");
    for (std::size_t o = 0, each = w.size() / b.size(); o < b.size(); ++o) {
      const double scale = double{gain[o]} / std::sqrt(double{variance[o]} + epsilon);
      for (float& e : w.subspan(o * each, each)) e = static_cast<float>(double{e} * scale);
      b[o] = static_cast<float>((double{b[o]} - double{mean[o]}) * scale + double{shift[o]});
    }
  }
}

}  // namespace weft
