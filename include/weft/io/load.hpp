// Parameters from files and into files, by their names: safetensors.hpp says what a file is. Link
// weft::io.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "weft/axes/name.hpp"
#include "weft/io/safetensors.hpp"
#include "weft/run/module.hpp"
#include "weft/run/parameters.hpp"
#include "weft/run/trainer.hpp"

namespace weft {

struct load_options {
  // What a parameter is called in the file; none: as in the model. For an encoder that is a part of
  // a larger model in the file: [](const std::string& name) { return "bert.encoder." + name; }
  std::function<std::string(const std::string&)> name_in_file{};
  // Leave tensors that are unknown, no parameter of the model, alone, rather than refuse the file,
  // as torch.nn.Module.load_state_dict does where strict is False. A parameter that the file has
  // not is always an error.
  bool ignore_others = false;
};

struct save_options {
  stored_type type =
      stored_type::float32;  // one of the floating types; rounded to nearest, ties to even
  std::map<std::string, std::string, std::less<>> metadata{};  // texts for the header
};

// Sets every parameter to what the file has under its name. The file's elements are of any floating
// type, and its shape is that of the parameter, each axis at its bound; one number there may stand
// for several axes that follow one another, as [384, 384] for [Heads, HeadDim, Embed], so PyTorch's
// weights load as they are. Throws weft::error where the file is not one, where anything is
// missing, unknown or different, which the message sums up in a few lines, or where the file is
// written to meanwhile: then no parameter has changed, as all are read before the first is set.
// Gives the names of the tensors that were left alone.
std::vector<std::string> load(const parameter_block& parameters, const tensor_file& file,
                              const load_options& options = {});
// Writes every parameter under its name, with the extents of its axes. Throws weft::error where the
// file cannot be written; until it is whole, an older one stays.
void save(const parameter_block& parameters, const std::filesystem::path& file,
          const save_options& options = {});

// The parameters of a module, or of anything else that runs. One that is frozen goes on with those
// that it has packed until it is frozen again.
template <model_like Model, class Unit>
std::vector<std::string> load(detail::runnable<Model, Unit>& net, const std::filesystem::path& file,
                              const load_options& options = {}) {
  return load(net.parameters(), tensor_file(file), options);
}
template <model_like Model, class Unit>
void save(const detail::runnable<Model, Unit>& net, const std::filesystem::path& file,
          const save_options& options = {}) {
  save(net.parameters(), file, options);
}

namespace detail {

// What a trainer goes on from.
struct training_state {
  parameter_block parameters;
  std::vector<parameter_block> optimizer;
  std::string optimizer_name;
  std::int64_t steps = 0;
};

void load(training_state& state, const std::filesystem::path& file);
void save(const training_state& state, const std::filesystem::path& file);

template <model_like Model, class Optimizer, fixed_string Loss>
training_state state_of(const trainer<Model, Optimizer, Loss>& t) {
  training_state all{t.parameters(), {}, std::string(type_name<Optimizer>()), t.steps()};
  for (std::size_t s = 0; s < Optimizer::states; ++s)
    all.optimizer.push_back(t.state_of_optimizer(s));
  return all;
}

}  // namespace detail

// All that training goes on from: the parameters, under their names, the optimizer's state, under
// "optimizer.0." and the parameter's name and so on, and the number of steps. A trainer that loads
// what another one has saved takes the steps that that one would have taken, to the bit, if it is
// made with the same optimizer and options. The parameters alone are save(trainer.parameters(),
// file); a module that loads a trainer's file passes over the rest.
template <model_like Model, class Optimizer, fixed_string Loss>
void load(trainer<Model, Optimizer, Loss>& t, const std::filesystem::path& file) {
  auto state = detail::state_of(t);
  detail::load(state, file);
  t.go_on_after(state.steps);
}
template <model_like Model, class Optimizer, fixed_string Loss>
void save(const trainer<Model, Optimizer, Loss>& t, const std::filesystem::path& file) {
  detail::save(detail::state_of(t), file);
}

}  // namespace weft
