// Loads and saves parameters by name, in the file format of safetensors.hpp. Link weft::files.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "weft/axes/name.hpp"
#include "weft/files/safetensors.hpp"
#include "weft/run/error.hpp"
#include "weft/run/module.hpp"
#include "weft/run/packed.hpp"
#include "weft/run/parameters.hpp"
#include "weft/run/states.hpp"
#include "weft/run/trainer.hpp"

namespace weft {

// Options of weft::load.
struct load_options {
  // Maps a parameter's name to its name in the file; empty: the same. For an encoder that is part
  // of a larger model in the file: [](const std::string& name) { return "bert.encoder." + name; }
  std::function<std::string(const std::string&)> name_in_file{};
  // Maps a parameter's name to those of the tensors in the file that it is joined of, one after
  // another along its first axis; none for a parameter that is one tensor, whose name is that of
  // name_in_file. For query, key and value, which nn::encoder has as one:
  //   [](const std::string& name) -> std::vector<std::string> {
  //     if (!name.ends_with("in_proj_weight")) return {};
  //     return {"query.weight", "key.weight", "value.weight"};
  //   }
  std::function<std::vector<std::string>(const std::string&)> joined_in_file{};
  // The parameters that weft::load sets, by a pattern of their names (weft::matches): others stay,
  // and need not be in the file. "*.lora_*": those of a file of peft's.
  std::string only = "*";
  // Whether to ignore tensors that are no parameter of the model, as
  // torch.nn.Module.load_state_dict does with strict=False, instead of throwing. A parameter that
  // the file lacks is always an error.
  bool ignore_others = false;
};

// Options of weft::save.
struct save_options {
  // A floating-point type; values are rounded to the nearest, ties to even.
  stored_type type = stored_type::float32;
  std::map<std::string, std::string, std::less<>> metadata{};  // the header's "__metadata__"
};

// Sets every parameter to the file's tensor of its name. The tensor has any floating-point type and
// the parameter's shape, each axis at its bound; one extent in the file may stand for several
// adjacent axes, as 384 in [384, 384] for Heads and HeadDim of [Heads, HeadDim, Embed], and leading
// extents of 1 do not count, so PyTorch's weights load unchanged. Tensors that are joined agree in
// all extents but the first. Throws weft::error where the file
// is invalid, a tensor is missing, unknown or of another shape or type (the message lists these in
// at most ten lines), or the file is written to meanwhile. All tensors are read before the first
// parameter is set, so an error changes no parameter. Returns the names of the ignored tensors.
std::vector<std::string> load(const parameter_block& parameters, const tensor_file& file,
                              const load_options& options = {});
// The same of a file by its path, but what would be thrown is returned.
expected<std::vector<std::string>> try_load(const parameter_block& parameters,
                                            const std::filesystem::path& file,
                                            const load_options& options = {});
// Writes every parameter under its name, with the extents of its axes. Throws weft::error where the
// file cannot be written. The file is replaced atomically when it is complete; its mode stays, and
// a symbolic link is followed.
void save(const parameter_block& parameters, const std::filesystem::path& file,
          const save_options& options = {});
// The content of the file that save writes, for systems without files, and to send. A
// tensor_file(saved(parameters), "name") reads it.
std::vector<std::byte> saved(const parameter_block& parameters, const save_options& options = {});

// A file as the source of a model's parameters, to make a module of:
//
//   weft::module<bert> net(weft::weights("model.safetensors", {.ignore_others = true}));
//   weft::module<bert> net(weft::tensor_file("model.safetensors"));  // without options
//
// Tensors that are float32 in the file are not read: the file is mapped into memory, and a page of
// it takes memory once it is used. Others are converted to float32, and tensors that are joined are
// copied. Names and shapes are checked as
// in weft::load, with the same errors. Changes of the parameters are private to the module, and
// those that share its parameters. The file must not be changed in place or truncated while they
// exist; weft::save and others that rename a new file leave the mapped one as it is.
class weights : public parameter_source {
 public:
  // Of a file that is open.
  explicit weights(tensor_file file, load_options options = {});
  // Opens the file. Throws weft::error where it cannot be read or is not valid.
  explicit weights(const std::filesystem::path& file, load_options options = {})
      : weights(tensor_file(file), std::move(options)) {}

  // Compares names and shapes with the program's: see weft::load.
  std::unique_ptr<parameter_reader> open(const program& tables) const override;

 private:
  tensor_file file_;
  load_options options_;
};

// Loads the parameters of a module or a monte_carlo. A frozen one keeps using its packed parameters
// until it is frozen again.
template <model_like Model, class Unit>
std::vector<std::string> load(detail::runnable<Model, Unit>& net, const std::filesystem::path& file,
                              const load_options& options = {}) {
  return load(net.parameters(), tensor_file(file), options);
}
// The same, but what would be thrown is returned.
template <model_like Model, class Unit>
expected<std::vector<std::string>> try_load(detail::runnable<Model, Unit>& net,
                                            const std::filesystem::path& file,
                                            const load_options& options = {}) {
  return try_load(net.parameters(), file, options);
}
// Saves the parameters of a module or a monte_carlo.
template <model_like Model, class Unit>
void save(const detail::runnable<Model, Unit>& net, const std::filesystem::path& file,
          const save_options& options = {}) {
  save(net.parameters(), file, options);
}

// Saves what a frozen module keeps of its weights: net.packed(). A module made from that file, in
// the same precision, or `stored` for several, is ready at once: the weights are mapped into
// memory, and shared by all processes that do so.
//
//   weft::save(net.packed(), "llama.packed");
//   weft::module<llama> next(weft::tensor_file("llama.packed"), weft::precision::bfloat16);
//
// The file is a safetensors file, whose metadata say how the weights are interleaved. A machine
// with vectors of another length packs them anew, from the file, with the same bits. Throws
// weft::error where the file cannot be written. Such a file is for one model and one version of
// weft, and refused by others.
void save(const packed_weights& weights, const std::filesystem::path& file);

// Saves the states of a module, such as a cache after a long prompt: each under its name, with the
// extents of its axes, at their bounds. Throws weft::error where the file cannot be written.
void save(const state_block& states, const std::filesystem::path& file);
// Sets the states of a module to those of a file that save has written:
// weft::load(net.states(), weft::tensor_file("prompt.safetensors")). Throws weft::error where the
// file lacks a state, or has it with other elements or extents, before anything is changed.
void load(const state_block& states, const tensor_file& file);

namespace detail {

// The state of training.
struct training_state {
  parameter_block parameters;
  std::vector<parameter_block> optimizer;
  std::string optimizer_name;
  std::int64_t steps = 0;
};

void load(training_state& state, const std::filesystem::path& file);
void save(const training_state& state, const std::filesystem::path& file,
          const save_options& options);

template <model_like Model, class Optimizer, fixed_string Loss>
training_state state_of(const trainer<Model, Optimizer, Loss>& t) {
  training_state all{t.parameters(), {}, std::string(type_name<Optimizer>()), t.steps()};
  for (std::size_t s = 0; s < Optimizer::states; ++s) all.optimizer.push_back(t.optimizer_state(s));
  return all;
}

}  // namespace detail

// Loads what weft::save of a trainer has written. The trainer then takes the same steps, to the
// bit, as the one that saved the file would have, if it has the same optimizer and options; another
// type of optimizer throws weft::error.
template <model_like Model, class Optimizer, fixed_string Loss>
void load(trainer<Model, Optimizer, Loss>& t, const std::filesystem::path& file) {
  auto state = detail::state_of(t);
  detail::load(state, file);
  t.resume_at(state.steps);
}
// Saves all that training resumes from: the parameters under their names, the optimizer's state
// under "optimizer.0." and the parameter's name and so on, and the number of steps. To save the
// parameters alone: save(trainer.parameters(), file). A module that loads a trainer's file ignores
// the optimizer's state. The options' metadata, such as a vocabulary, come back as
// tensor_file(file).metadata(). Throws weft::error where they have one of the keys "weft.steps" and
// "weft.optimizer", or the type is not float32, which the same steps need.
template <model_like Model, class Optimizer, fixed_string Loss>
void save(const trainer<Model, Optimizer, Loss>& t, const std::filesystem::path& file,
          const save_options& options = {}) {
  detail::save(detail::state_of(t), file, options);
}

}  // namespace weft
#include "weft/header_end.hpp"
