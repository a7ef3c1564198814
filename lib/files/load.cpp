#include "weft/files/load.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "extents.hpp"
#include "file_content.hpp"
#include "weft/run/error.hpp"
#include "weft/weights/formats.hpp"

namespace weft {

namespace {

// What a file has to have for a parameter: a tensor, or several that are joined.
struct wanted_tensors {
  std::vector<std::string> names;
  std::span<const std::size_t> extents;
};

wanted_tensors wanted(std::string_view parameter, std::span<const std::size_t> extents,
                      const load_options& options) {
  const std::string own(parameter);
  std::vector<std::string> names;
  if (options.joined_in_file) names = options.joined_in_file(own);
  if (names.empty()) names.push_back(options.name_in_file ? options.name_in_file(own) : own);
  return {std::move(names), extents};
}

// Parameters and the mapping of their names to a file's.
struct named_block {
  const parameter_block& parameters;
  load_options options;

  bool sets(std::size_t i) const { return matches(options.only, parameters[i].name); }
  wanted_tensors of_file(const parameter& p) const { return wanted(p.name, p.extents, options); }
};

std::string to_string(std::span<const std::size_t> extents) {
  return detail::to_string({extents.begin(), extents.end()});
}

// Whether each extent of the shape is the product of one or more adjacent extents. Those of 1 that
// either begins with do not count.
bool joins(std::span<const std::size_t> shape, std::span<const std::size_t> extents) {
  for (auto* const all : {&shape, &extents})
    while (!all->empty() && all->front() == 1) *all = all->subspan(1);
  std::size_t next = 0;
  for (const std::size_t n : shape) {
    if (next == extents.size()) return false;
    std::size_t product = extents[next++];
    while (next < extents.size() && product < n) product *= extents[next++];
    if (product != n) return false;
  }
  return std::all_of(extents.begin() + static_cast<std::ptrdiff_t>(next), extents.end(),
                     [](std::size_t extent) { return extent == 1; });
}

// Whether tensors, one after another along their first axis, are a parameter of these extents.
bool make_up(const std::vector<const stored_tensor*>& parts, std::span<const std::size_t> extents) {
  std::vector<std::size_t> whole = parts.front()->shape;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto& shape = parts[i]->shape;
    if (whole.empty() || shape.size() != whole.size() ||
        !std::equal(shape.begin() + 1, shape.end(), whole.begin() + 1))
      return false;
    whole.front() += shape.front();
  }
  return joins(whole, extents);
}

// The tensors of a file, which has them.
std::vector<const stored_tensor*> tensors_of(const wanted_tensors& w, const tensor_file& file) {
  std::vector<const stored_tensor*> parts;
  for (const auto& name : w.names) parts.push_back(&file[name]);
  return parts;
}

// Throws weft::error where a file has, instead of a weight, what GPTQ or AWQ have made of it.
void check_methods(const std::string& name, const tensor_file& file) {
  if (!name.ends_with("weight")) return;
  const std::string stem = name.substr(0, name.size() - 6);
  const auto *const numbers = file.find(stem + "qweight"), *const scales =
                                                               file.find(stem + "scales");
  if (numbers == nullptr || scales == nullptr) return;
  // GPTQ has several inputs in an int32, AWQ several outputs.
  const bool gptq = !numbers->shape.empty() && !scales->shape.empty() &&
                    numbers->shape.back() == scales->shape.back();
  detail::raise(file.name() + ": tensor " + detail::in_quotes(numbers->name) +
                " has the weights of " + (gptq ? "GPTQ" : "AWQ") +
                ", which weft does not read; take the model's GGUF file, or one quantised by "
                "compressed-tensors");
}

// Compares a file's tensors with a model's parameters.
class comparison {
 public:
  void add(const wanted_tensors& w, const tensor_file& file) {
    ++parameters_;
    const std::string part_of = w.names.size() > 1 ? "a part of " : "";
    const std::string needed = part_of + to_string(w.extents) + " floating";
    bool is_whole = true;
    for (const auto& name : w.names) {
      const auto* const t = file.find(name);
      wanted_.insert(name);
      if (t == nullptr) check_methods(name, file);
      if (t == nullptr)
        missing_.push_back({name, needed});
      else if (!is_floating(t->type))
        different_.push_back(
            {name, needed + ", is " + t->description() + " in the file" +
                       (t->type == stored_type::other ? ", which weft does not read" : "")});
      is_whole = is_whole && t != nullptr && is_floating(t->type);
    }
    if (!is_whole) return;
    const auto parts = tensors_of(w, file);
    if (make_up(parts, w.extents)) return;
    for (const auto* const t : parts)
      different_.push_back({t->name, needed + ", is " + t->description() + " in the file"});
  }
  // The names of the tensors that are no parameter.
  std::vector<std::string> others(const tensor_file& file) const {
    std::vector<std::string> names;
    for (const auto& t : file.tensors())
      if (!wanted_.contains(t.name)) names.push_back(t.name);
    return names;
  }
  void refuse(const std::vector<std::string>& others, const tensor_file& file) {
    for (const auto& name : others) unknown_.push_back({name, file[name].description()});
  }
  // Throws weft::error if they differ; its message has at most ten lines, however much is wrong.
  void check(const tensor_file& file) const {
    struct {
      const char* name;
      const std::vector<detail::remark>& all;
      const char* word;
    } const faults[]{{"missing", missing_, "parameters"},
                     {"different", different_, "parameters"},
                     {"unknown", unknown_, "tensors"}};
    const auto kinds = static_cast<std::size_t>(std::count_if(
        std::begin(faults), std::end(faults), [](auto& f) { return !f.all.empty(); }));
    if (kinds == 0) return;
    std::string counts, lines;
    for (const auto& [name, all, word] : faults) {
      if (all.empty()) continue;
      counts += (counts.empty() ? "" : ", ") + std::to_string(all.size()) + " " + name;
      for (const auto& line : detail::grouped(all, word, 9 / kinds))
        lines += std::string("\n  ") + name + ": " + line;
    }
    detail::raise(file.name() + ": not the parameters of the model, which has " +
                  std::to_string(parameters_) + ", while the file has " +
                  std::to_string(file.tensors().size()) + " tensors: " + counts + lines);
  }

 private:
  std::size_t parameters_ = 0;
  std::set<std::string, std::less<>> wanted_;  // names in the file
  std::vector<detail::remark> missing_, different_, unknown_;
};

constexpr const char* steps_key = "weft.steps";
constexpr const char* optimizer_key = "weft.optimizer";
constexpr const char* optimizer_prefix = "optimizer.";

// The prefix of tensors that are neither errors nor reported where parameters are loaded: those of
// the optimizer in a trainer's file.
std::string_view passed_over(const tensor_file& file) {
  return file.metadata().contains(optimizer_key) ? optimizer_prefix : "";
}

// Throws weft::error unless the file has these tensors and, if others are not ignored, no others,
// which it returns.
std::vector<std::string> check_tensors(const std::vector<wanted_tensors>& all,
                                       const tensor_file& file, bool ignore_others,
                                       std::string_view passed_over) {
  comparison found;
  for (const auto& w : all) found.add(w, file);
  auto others = found.others(file);
  if (!passed_over.empty())
    std::erase_if(others, [&](const std::string& name) { return name.starts_with(passed_over); });
  if (!ignore_others) found.refuse(others, file);
  found.check(file);
  return others;
}

// Reads some elements of tensors one after another.
void read_joined(std::span<const stored_tensor> parts, std::size_t first, std::span<float> into) {
  for (const stored_tensor& t : parts) {
    if (first >= t.size()) {
      first -= t.size();
      continue;
    }
    const std::size_t count = std::min(into.size(), t.size() - first);
    t.read_part(first, into.first(count));
    into = into.subspan(count);
    first = 0;
  }
}

// Reads parameters from the tensors of a file, or of several; each is one tensor or several.
class tensor_reader : public parameter_reader {
 public:
  tensor_reader(const std::vector<wanted_tensors>& all, const tensor_file& file)
      : files_(std::make_shared<mapped_files>()) {
    for (const auto& w : all) {
      auto& parts = tensors_.emplace_back();
      for (const auto* t : tensors_of(w, file)) parts.push_back(*t);
    }
  }

  std::byte* in_memory(std::size_t i) override {
    const stored_tensor& t = tensors_[i].front();
    if (tensors_[i].size() > 1 || t.type != stored_type::float32) return nullptr;
    const auto [file, is_new] = files_->try_emplace(t.source.get());
    if (is_new) file->second = t.source->map();
    std::byte* const at = file->second ? file->second.get() + t.offset : nullptr;
    return detail::is_aligned(at, alignof(float)) ? at : nullptr;
  }
  std::shared_ptr<void> owner() const override { return files_; }
  void read(std::size_t i, std::size_t first, std::span<float> into) const override {
    read_joined(tensors_[i], first, into);
  }
  stored_type stored(std::size_t i) const override {
    const auto& all = tensors_[i];
    const auto same = [&](const stored_tensor& t) { return t.type == all.front().type; };
    return std::ranges::all_of(all, same) ? all.front().type : stored_type::other;
  }
  void read_blocks(std::size_t i, std::size_t first, std::span<std::byte> into) const override {
    for (const stored_tensor& t : tensors_[i]) {
      const std::size_t begin = std::min(first, t.size());
      const std::size_t skipped = detail::bytes_of(t.type, begin);
      const auto part = into.first(std::min(into.size(), t.bytes - skipped));
      t.source->read(t.offset + skipped, part);
      detail::check_scales(t, begin, part);
      into = into.subspan(part.size());
      first -= begin;
    }
  }

 private:
  using mapped_files = std::map<const detail::byte_source*, std::shared_ptr<std::byte[]>>;

  std::vector<std::vector<stored_tensor>> tensors_;
  std::shared_ptr<mapped_files> files_;
};

std::vector<std::string> load_all(const std::vector<named_block>& blocks, const tensor_file& file,
                                  bool ignore_others, std::string_view passed_over = {}) {
  std::vector<wanted_tensors> all;
  for (const auto& block : blocks)
    for (std::size_t i = 0; i < block.parameters.count(); ++i)
      if (block.sets(i)) all.push_back(block.of_file(block.parameters[i]));
  auto others = check_tensors(all, file, ignore_others, passed_over);
  // Reads all values before it sets any, so that a failing read changes no parameter.
  std::vector<std::vector<float>> values;
  for (const auto& w : all) {
    auto& of_parameter = values.emplace_back();
    for (const auto* t : tensors_of(w, file)) {
      const auto part = t->values<float>();
      of_parameter.insert(of_parameter.end(), part.begin(), part.end());
    }
  }
  auto next = values.begin();
  for (const auto& block : blocks)
    for (std::size_t i = 0; i < block.parameters.count(); ++i) {
      if (!block.sets(i)) continue;
      std::copy(next->begin(), next->end(), block.parameters[i].values.begin());
      ++next;
    }
  return others;
}

std::vector<tensor_to_store> to_store(const std::vector<named_block>& blocks,
                                      const save_options& options) {
  std::vector<tensor_to_store> tensors;
  for (const auto& block : blocks)
    for (std::size_t i = 0; i < block.parameters.count(); ++i) {
      const parameter p = block.parameters[i];
      tensors.push_back({block.of_file(p).names.front(),
                         {p.extents.begin(), p.extents.end()},
                         std::span<const float>(p.values),
                         options.type});
    }
  return tensors;
}

std::vector<named_block> blocks_of(const detail::training_state& state) {
  std::vector<named_block> blocks{{state.parameters, {}}};
  for (std::size_t s = 0; s < state.optimizer.size(); ++s)
    blocks.push_back({state.optimizer[s], {.name_in_file = [s](const std::string& name) {
                        return optimizer_prefix + std::to_string(s) + "." + name;
                      }}});
  return blocks;
}

}  // namespace

std::vector<std::string> load(const parameter_block& parameters, const tensor_file& file,
                              const load_options& options) {
  if (detail::has_packed_weights(file))
    detail::raise(file.name() +
                  ": the weights are packed; make a module from the file, with their precision");
  return load_all({{parameters, options}}, file, options.ignore_others, passed_over(file));
}

expected<std::vector<std::string>> try_load(const parameter_block& parameters,
                                            const std::filesystem::path& file,
                                            const load_options& options) {
  return attempt([&] { return load(parameters, tensor_file(file), options); });
}

weights::weights(tensor_file file, load_options options)
    : file_(std::move(file)), options_(std::move(options)) {}

std::unique_ptr<parameter_reader> weights::open(const program& tables) const {
  if (detail::has_packed_weights(file_)) return detail::read_packed(file_, tables);
  std::vector<wanted_tensors> all;
  for (const parameter_ref& r : tables.parameters)
    all.push_back(
        wanted(tables.name(r.name), {r.extent, static_cast<std::size_t>(r.rank)}, options_));
  check_tensors(all, file_, options_.ignore_others, passed_over(file_));
  return std::make_unique<tensor_reader>(all, file_);
}

std::unique_ptr<parameter_reader> tensor_file::open(const program& tables) const {
  return weights(*this).open(tables);
}

void save(const parameter_block& parameters, const std::filesystem::path& file,
          const save_options& options) {
  save_tensors(to_store({{parameters, {}}}, options), file, options.metadata);
}

std::vector<std::byte> saved(const parameter_block& parameters, const save_options& options) {
  return saved_tensors(to_store({{parameters, {}}}, options), options.metadata);
}

namespace {

// Calls f(T()) with the type of a state's elements.
template <class F>
auto with_type_of(const state& s, F f) {
  switch (s.type) {
    case dtype::int32:
      return f(std::int32_t());
    case dtype::boolean:
      return f(bool());
    case dtype::bfloat16:
      return f(bfloat16());
    case dtype::float32:
      break;
  }
  return f(float());
}

stored_type type_in_file(dtype type) {
  return type == dtype::int32      ? stored_type::int32
         : type == dtype::boolean  ? stored_type::boolean
         : type == dtype::bfloat16 ? stored_type::bfloat16
                                   : stored_type::float32;
}

template <class T>
std::span<T> elements_of(const state& s) {
  return {reinterpret_cast<T*>(s.bytes.data()), s.bytes.size() / sizeof(T)};
}

}  // namespace

void save(const state_block& states, const std::filesystem::path& file) {
  std::vector<tensor_to_store> tensors;
  for (std::size_t i = 0; i < states.count(); ++i) {
    const state s = states[i];
    tensors.push_back(
        {std::string(s.name), {s.extents.begin(), s.extents.end()}, {}, type_in_file(s.type)});
    with_type_of(
        s, [&]<class T>(T) { tensors.back().values = std::span<const T>(elements_of<T>(s)); });
  }
  save_tensors(tensors, file);
}

void load(const state_block& states, const tensor_file& file) {
  std::vector<std::vector<std::byte>> values;
  for (std::size_t i = 0; i < states.count(); ++i) {
    const state s = states[i];
    const stored_tensor& t = file[s.name];
    if (t.type != type_in_file(s.type) || !std::ranges::equal(t.shape, s.extents))
      detail::raise(file.name() + ": state '" + t.name + "' is " + t.description() +
                    " in the file, and has the extents " + to_string(s.extents) + " in the module");
    auto& bytes = values.emplace_back(s.bytes.size());
    with_type_of(s, [&]<class T>(T) {
      const std::span into(reinterpret_cast<T*>(bytes.data()), t.size());
      if constexpr (std::same_as<T, bfloat16>)
        std::ranges::transform(t.values<float>(), into.begin(),
                               [](float x) { return bfloat16(x); });
      else
        t.read(into);
    });
  }
  for (std::size_t i = 0; i < states.count(); ++i)
    std::ranges::copy(values[i], states[i].bytes.begin());
}

void detail::load(training_state& state, const std::filesystem::path& path) {
  const tensor_file file(path);
  const auto text = [&](const char* key) {
    const auto found = file.metadata().find(key);
    return found == file.metadata().end() ? std::string() : found->second;
  };
  if (const std::string optimizer = text(optimizer_key); optimizer != state.optimizer_name)
    detail::raise(file.name() + ": the training that was saved is by '" + optimizer +
                  "', and the trainer's is by '" + state.optimizer_name + "'");
  const std::string digits = text(steps_key);
  std::int64_t steps = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), steps);
  if (failed != std::errc() || end != digits.data() + digits.size() || steps < 0)
    detail::raise(file.name() + ": '" + digits + "' is no number of steps");
  load_all(blocks_of(state), file, false);
  state.steps = steps;
}

void detail::save(const training_state& state, const std::filesystem::path& path,
                  const save_options& options) {
  if (options.type != stored_type::float32)
    detail::raise(path.string() + ": the state of training is kept in float32");
  auto metadata = options.metadata;
  for (const auto& [key, value] :
       {std::pair<std::string, std::string>{steps_key, std::to_string(state.steps)},
        {optimizer_key, state.optimizer_name}})
    if (!metadata.emplace(key, value).second)
      detail::raise(path.string() + ": the metadata '" + key + "' are the trainer's");
  save_tensors(to_store(blocks_of(state), {}), path, metadata);
}

}  // namespace weft
