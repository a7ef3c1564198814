// Modules: models that can be run.
#pragma once
#include "weft/header_begin.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "weft/lower/lower.hpp"
#include "weft/lower/units.hpp"
#include "weft/run/argument.hpp"
#include "weft/run/engine.hpp"
#include "weft/run/error.hpp"
#include "weft/run/generated.hpp"
#include "weft/run/memory.hpp"
#include "weft/run/packed.hpp"
#include "weft/run/parameters.hpp"
#include "weft/run/refusal.hpp"
#include "weft/run/results.hpp"
#include "weft/run/states.hpp"
#include "weft/run/view.hpp"

namespace weft {

// How a module is prepared.
struct prepare_options {
  bool lock = false;   // keeps what runs use in memory, whatever else needs it
  bool freeze = true;  // packs the weights in float32, unless they are packed
};

namespace detail {  // documented, as its members are those of weft::module

template <model_like Model, class Unit>
class runnable;

// What weft::sharing returns.
template <model_like Model, class Unit>
struct shared_weights {
  const runnable<Model, Unit>& of;  // the module whose weights are shared
};

// Throws weft::error where some parameters are not there.
template <model_like Model>
const weft::parameters<Model>& complete(const weft::parameters<Model>& all) {
  if (all.is_partial())
    detail::raise(
        "module: some parameters are kept only as another module has packed them; share both with "
        "weft::sharing(module)");
  return all;
}

// Runs the graph that Unit makes of a model: see weft::module.
template <model_like Model, class Unit>
class runnable {
  using source = Unit;
  using code = lowered<source>;

  static constexpr int find_state(std::string_view name) {
    for (int i = 0; i < source::g.state_count; ++i)
      if (source::g.name(source::g.states[i].name) == name) return i;
    return -1;
  }
  template <fixed_string Name, class T, class... Axes>
  static constexpr bool has_state() {
    if (source::g.rejected) return true;
    const int i = find_state(Name.view());
    if (i < 0) return false;
    const node& n = source::g.nodes[source::g.states[i].node];
    return n.type == dtype_of<T> && n.axes == axes_of(shape<Axes...>{});
  }
  template <class A>
  static constexpr bool states_have() {
    if (source::g.rejected) return true;
    if constexpr (axis_like<A>)
      for (const leaf& s : source::g.states)
        if (source::g.nodes[s.node].axes.contains(&info_of<A>)) return true;
    return false;
  }

 public:
  // Each throws weft::error where another source file has another model of the same name: see
  // lower/fingerprint.hpp.
  //
  // With new parameters: net({.seed = 1}). `generated` is weft::generated<Model, Results...>() of
  // weft/run/generated.hpp; none: the library's kernels run.
  explicit runnable(parameter_options options = {}, generated_code<source> generated = {},
                    linked = linked_here<code, code::program.fingerprint, Model>())
      : runnable(weft::parameters<Model>(options), generated) {}
  // With generated code, and new parameters from seed 0.
  explicit runnable(generated_code<source> generated,
                    linked = linked_here<code, code::program.fingerprint, Model>())
      : runnable(parameter_options{}, generated) {}
  // With the parameters of a file, where the file has them in memory if it can: nothing is drawn,
  // and little is copied. weft::module<encoder> net(weft::tensor_file("encoder.safetensors"));
  explicit runnable(const parameter_source& file, generated_code<source> generated = {},
                    linked = linked_here<code, code::program.fingerprint, Model>())
      : runnable(weft::parameters<Model>(file), generated) {}
  // Frozen, from a file that is not loaded: weights that are packed, see freeze, are kept in that
  // form alone. So is an embedding whose table is the output projection too. The other parameters
  // are as above. `threads` read and pack, and are those of later runs. Of a file
  // that weft::save(net.packed(), file) has written, packed weights are mapped instead.
  // weft::module<llama> net(weft::tensor_file("llama.gguf"), weft::precision::bfloat16);
  runnable(const parameter_source& file, precision p, const executor& threads = {},
           generated_code<source> generated = {},
           linked = linked_here<code, code::program.fingerprint, Model>())
      : runnable(file.open(code::program), packing(p), threads, generated) {}
  // The same in several precisions, by name; a file of packed weights has its own.
  template <std::same_as<mixed_precision> P>
  runnable(const parameter_source& file, const P& p, const executor& threads = {},
           linked = linked_here<code, code::program.fingerprint, Model>())
      : runnable(file.open(code::program), p.types_of(code::program), threads, {}) {}
  // Shares the parameters of another module, and its packed weights if it is frozen, as for another
  // thread: weft::module<encoder> second(weft::sharing(first)). States and workspace are its own.
  // The other model may be another one that has all parameters of this one with the same extents,
  // such as a step beside a prefill, or the same layers with a larger batch. Packed memory that the
  // caller gave must outlive both. Throws weft::error where the other one is frozen and packs its
  // weights otherwise.
  template <model_like Other, class OtherUnit>
  requires(has_parameters_of<Other, Model>()) explicit runnable(
      shared_weights<Other, OtherUnit> first, generated_code<source> generated = {},
      linked = linked_here<code, code::program.fingerprint, Model>())
      : parameters_(first.of.parameters_),
        workspace_(allocate(code::tables.scratch_offset(), pages::small)),
        packed_(first.of.packed_),
        weights_as_(first.of.weights_as_),
        engine_(engine_of(workspace_.get(), generated, false)) {
    if (first.of.engine_->is_frozen()) engine_->freeze(*first.of.engine_);
  }
  // With existing parameters, whose memory is shared: changes in it are seen by the next run.
  // Throws weft::error where some are not there, but only packed in a module.
  explicit runnable(weft::parameters<Model> shared, generated_code<source> generated = {},
                    linked = linked_here<code, code::program.fingerprint, Model>())
      : parameters_(complete(shared)),
        workspace_(allocate(code::tables.scratch_offset(), pages::small)),
        engine_(engine_of(workspace_.get(), generated, false)) {}
  // And with a workspace in the caller's memory: workspace_bytes bytes, aligned to 64, for this
  // module alone while it lives. Throws weft::error where it is too small or not aligned.
  runnable(weft::parameters<Model> shared, std::span<std::byte> workspace,
           generated_code<source> generated = {},
           linked = linked_here<code, code::program.fingerprint, Model>())
      : parameters_(complete(shared)),
        engine_(engine_of(checked(workspace, workspace_bytes), generated, true)) {
    engine_->reset();
  }

  // The size of the workspace in bytes: states, loop-invariant results, intermediates, staged
  // inputs and scratch, but no parameters. In memory of its own, a frozen module has less scratch:
  // weft::cost<Model>.frozen_workspace_bytes.
  static constexpr std::size_t workspace_bytes = code::tables.workspace_bytes;
  // Of these the states.
  static constexpr std::size_t state_bytes = code::tables.state_bytes;

  // Sets the threads of later runs, which use the calling thread alone at first:
  // run_on(weft::threads(2)), or an executor of the caller's own. Allocates scratch for them. The
  // results have the same bits for any number of threads. An instruction with generated code runs
  // on one thread.
  void run_on(const executor& threads) { engine_->run_on(threads); }

  // Records the times of later runs while r lives: see weft::profile of weft/inspect/profile.hpp.
  void record(const std::shared_ptr<recording>& r) { engine_->record(r); }

  // The size in bytes of the packed parameters, at this precision.
  static constexpr std::size_t packed_bytes(precision p = precision::float32) {
    return packed_size(code::tables.packed, p);
  }

  // Packs weights once into the layout of this machine's microkernels; later runs read the packed
  // copies, and do not see changes of the parameters until freeze is called again. A module that
  // was never frozen sees every change.
  //
  // Packed are parameters that are the rhs of a contraction, the operand with the result's
  // innermost axes, as every weight of a linear layer is; not those with an axis of runtime length
  // or a batch axis, which the lhs and the result have too. In other precisions than float32, so
  // are tables of two axes that only weft::gather reads, row by row, such as those of
  // nn::embedding, if blocks make up a row. The others are read in place.
  //
  // In other precisions, packed weights take less memory and are rounded, see weft::precision; no
  // generated code reads these. The first call allocates packed_bytes(p), and
  // later ones with the same precision reuse that memory: getting pages from the system can take
  // longer than packing. With run_on before, several threads pack.
  void freeze() { pack_as({}); }
  void freeze(precision p) { pack_as(p); }  // in this precision
  // Packs into the caller's memory: packed_bytes(p) bytes, aligned to 64, in use until the next
  // freeze. Throws weft::error where it is too small or not aligned.
  void freeze(std::span<std::byte> memory) { pack_in(memory, {}); }
  void freeze(std::span<std::byte> memory, precision p) { pack_in(memory, p); }  // in this one
  // In several precisions, by name; each call allocates.
  void freeze(const std::same_as<mixed_precision> auto& p) { pack_as(p.types_of(code::program)); }

  // Does what the first runs would cost more than others: freezes the module, runs it twice on
  // zeros with every length at its bound, touches every page that runs use (weights, also of mapped
  // files, and the workspace, so that a cache takes all of its memory), and locks them. States and
  // results stay. Called after run_on and freeze, by the thread that runs the module, whose stack
  // it touches, too. Throws weft::error where the system does not lock so much memory.
  void prepare(const prepare_options& options = {}) {
    if (options.freeze && !engine_->is_frozen()) freeze();
    const engine::use one(*engine_);
    engine_->settle_weights();
    engine_->prepare(options.lock);
  }

  // The next run takes the weights of another module, without a copy, a lock or a missed frame:
  // net.exchange(weft::sharing(other)). The two are frozen alike, and have parameters of the same
  // names and extents. One thread may call this, and exchanged, while another one runs the module:
  // it touches and locks pages, and its next call of either frees what runs no longer read. States
  // stay. Throws weft::error where the other one is frozen otherwise, or pages are not locked.
  template <model_like Other, class OtherUnit>
  requires(has_parameters_of<Other, Model>()) void exchange(
      shared_weights<Other, OtherUnit> brought) {
    const weft::parameters<Model> next(brought.of.parameters_);
    engine_->exchange(*brought.of.engine_, {next, brought.of.packed_, {}},
                      {parameters_, packed_, {}});
    parameters_ = next;
    packed_ = brought.of.packed_;
  }
  // Whether a run has taken the weights that were brought last.
  bool exchanged() noexcept { return engine_->exchanged(); }

  // The packed weights, to save, see weft::save of weft/files/load.hpp. Throws weft::error where
  // the module is not frozen.
  packed_weights packed() const {
    if (!engine_->is_frozen()) detail::raise("packed: the module is not frozen");
    const memory& blocks = engine_->weights();
    return {
        &code::program,
        parameters_,
        {blocks.packed, detail::size_of_packed(code::program, blocks.packed, blocks.weights_as)},
        blocks.weights_as};
  }

  // Runs the model: one weft::arg per input, in any order. Returns a read-only view of the model's
  // result or, where the model gives its results names, a run_results: of one result, it is its
  // view as well. Throws weft::error where a length or an index is wrong, a write to a state has no
  // room, or another thread runs this module, before anything is computed; and after the run where
  // an index that it has computed was wrong: see weft::gather. Allocates nothing.
  template <class... Args>
  requires(detail::rule_of_arguments<source, Args...>() == rule::none) auto operator()(
      const Args&... args) {
    const engine::use one(*engine_);
    engine_->take_weights();
    bind_arguments<source>(*engine_, args...);
    engine_->run();
    engine_->check_run();
    return results_of_run<Model, source>(*engine_);
  }

  // The same, but what would be thrown is returned: a weft::expected of what a call returns.
  //
  //   if (auto y = net.try_run(weft::arg<"x">(x))) use(*y); else std::puts(y.error().what());
  template <class... Args>
  requires(detail::rule_of_arguments<source, Args...>() ==
           rule::none) auto try_run(const Args&... args) {
    using results = decltype(results_of_run<Model, source>(*engine_));
    auto bind = [&] { bind_arguments<source>(*engine_, args...); };
    if (std::string why; engine_->try_run(bind, why)) return expected<results>(error(why));
    return expected<results>(results_of_run<Model, source>(*engine_));
  }

  // The parameters; the copy shares their memory.
  weft::parameters<Model> parameters() const { return parameters_; }

  // The state `Name`: T [Axes...], every axis at its bound, to read and to change between runs:
  // state<"cache.length", std::int32_t, Batch>(). It must be a state on which these results depend.
  template <fixed_string Name, class T, class... Axes>
  requires(has_state<Name, T, Axes...>()) view<T, shape<Axes...>> state() {
    if constexpr (source::g.rejected) {
      return no_elements<T, Axes...>();
    } else {
      const std::array<std::size_t, sizeof...(Axes)> lengths{Axes::extent...};
      constexpr const state_ref& s = code::tables.states[find_state(Name.view())];
      return {reinterpret_cast<T*>(engine_->blocks().workspace + s.offset), lengths,
              detail::dense_strides(lengths)};
    }
  }
  // All states, by name at run time: to list, copy, save and load them.
  state_block states() { return {code::program, engine_->blocks().workspace}; }
  // Sets all states to zeros. Results of an earlier run may change with them.
  void reset() noexcept { engine_->reset(); }
  // Sets to zeros the slice of every state at one index of axis A: reset<Batch>(2) frees the third
  // sequence's entries for another one. States without the axis keep their values. Throws
  // weft::error where the index is not below the axis's bound.
  template <class A>
  requires(states_have<A>()) void reset(std::size_t index) {
    if (index >= A::extent)
      detail::raise("reset: index " + std::to_string(index) + " of axis " +
                    std::string(type_name<A>()) + ", which has " + std::to_string(A::extent));
    for (int i = 0; i < source::g.state_count; ++i) {
      const node& n = source::g.nodes[source::g.states[i].node];
      if (const int axis = n.axes.find(&info_of<A>); axis >= 0)
        engine_->reset(code::tables.states[i], axis, index);
    }
  }

 protected:
  // Sets the random state of later runs' dropout masks.
  void draw_from(const kernels::random_state& state) noexcept { engine_->draw_from(state); }

 private:
  std::unique_ptr<engine> engine_of(std::byte* workspace, const generated_code<source>& generated,
                                    bool has_scratch) const {
    memory m{parameters_.addresses(), nullptr, workspace};
    m.has_scratch = has_scratch;
    return std::make_unique<engine>(code::program, m, generated.steps());
  }
  void pack_as(packing p) {
    const engine::use one(*engine_);
    engine_->settle_weights();
    complete(parameters_);
    if (packed_ == nullptr || packed_.use_count() > 1 || weights_as_ != p.as ||
        p.as == precision::stored)
      packed_ = std::shared_ptr<std::byte[]>(allocate(engine_->packed_bytes(p, nullptr)));
    weights_as_ = p.as;
    engine_->freeze(packed_.get(), p);
  }
  void pack_in(std::span<std::byte> memory, packing p) {
    const engine::use one(*engine_);
    engine_->settle_weights();
    complete(parameters_);
    engine_->freeze(checked(memory, packed_bytes(p.as)), p);
    packed_.reset();
  }
  runnable(const std::unique_ptr<parameter_reader>& file, packing p, const executor& threads,
           generated_code<source> generated)
      : parameters_(read_unpacked(code::program, *file, p.as, p.types)),
        workspace_(allocate(code::tables.scratch_offset(), pages::small)),
        packed_(file->packed(p.as)),
        weights_as_(p.as),
        engine_(engine_of(workspace_.get(), generated, false)) {
    engine_->run_on(threads);
    if (packed_ != nullptr) {
      engine_->adopt(packed_.get(), p);
    } else {
      packed_ = allocate(engine_->packed_bytes(p, file.get()));
      engine_->freeze(packed_.get(), p, *file);
    }
  }

  template <model_like OtherModel, class OtherUnit>
  friend class runnable;

  weft::parameters<Model> parameters_;
  aligned_bytes workspace_;
  std::shared_ptr<std::byte[]> packed_;
  precision weights_as_ = precision::float32;
  std::unique_ptr<engine> engine_;  // results refer to it, also after a move of the module

  template <class T, class... Axes>
  static view<T, shape<Axes...>> no_elements() {
    return {nullptr, std::array<std::size_t, sizeof...(Axes)>{},
            std::array<std::ptrdiff_t, sizeof...(Axes)>{}};
  }

  WEFT_REJECT_ARGUMENTS(
      source, auto operator()(const Args&...) { return results_of_run<Model, source>(*engine_); })
  WEFT_REJECT_ARGUMENTS(
      source, auto try_run(const Args&...) {
        return attempt([&] { return results_of_run<Model, source>(*engine_); });
      })
  WEFT_REJECT_CALL(
      "exchange: the other model lacks a parameter of this one, or has it with other extents",
      (parameters_there_are<spelled_t<text_of<describe_lacking<Other, Model>>()>>),
      (model_like Other, class OtherUnit), (!has_parameters_of<Other, Model>()),
      void exchange(shared_weights<Other, OtherUnit>){})
  WEFT_REJECT_CALL(
      "state: these results depend on no state of this name, elements and axes",
      (states_of<source>), (fixed_string Name, class T, class... Axes),
      (!has_state<Name, T, Axes...>()),
      view<T, shape<Axes...>> state() { return no_elements<T, Axes...>(); })
  WEFT_REJECT_CALL(
      "module: a run writes to it, and it is const here; take it as weft::module<Model>&, and "
      "write "
      "mutable behind the parameters of a lambda that has it",
      (Model), (class... Args), (true),
      auto operator()(const Args&...) const { return results_of_run<Model, source>(*engine_); })
  WEFT_REJECT_CALL("reset: no state that these results depend on has the axis", (states_of<source>),
                   (class A), (!states_have<A>()), void reset(std::size_t){})
};

}  // namespace detail

// For a module that shares the weights of another one: see the constructors of detail::runnable.
template <model_like Model, class Unit>
detail::shared_weights<Model, Unit> sharing(const detail::runnable<Model, Unit>& first) {
  return {first};
}

// Declares the constructor that reports arguments of which no module is made.
#define WEFT_REJECT_MAKING(type)                                               \
  WEFT_REJECT_CALL(                                                            \
      "module: it is made of {.seed = 1}, of parameters or a file such as "    \
      "weft::tensor_file(\"name\"), or "                                       \
      "of weft::sharing(module), each with what may follow it",                \
      (Args...), (class... Args),                                              \
      (sizeof...(Args) > 0 && !std::constructible_from<base, const Args&...>), \
      explicit type(const Args&...){})

// module<Model> computes all results of a model; module<Model, "logits"> only that one, and only
// the nodes that it depends on. A call takes the inputs that these results depend on, by name:
//
//   weft::module<encoder> net;
//   auto y = net(weft::arg<"x">(x));
//
// Nodes that depend on no argument, parameter or state, such as a table of sinusoidal positions,
// are computed once, when the module is created: loop-invariant code motion across runs, see
// passes/hoist.hpp.
//
// It is made with new parameters, or with those of another module or a trainer, and may use a
// workspace of the caller's: see the constructors of detail::runnable. Given
// weft::generated<Model, Results...>(), it runs code that was generated for the model.
//
// A module may be used by one thread at a time. Modules may share parameters; states, which a model
// keeps from run to run, belong to one module.
template <model_like Model, fixed_string... Results>
class module : public detail::runnable<Model, inference<Model, Results...>> {
  using base = detail::runnable<Model, inference<Model, Results...>>;
  using code = lowered<inference<Model, Results...>>;

 public:
  using base::base;
  // With new parameters from seed 0. A default constructor is not inherited.
  module(detail::linked here = detail::linked_here<code, code::program.fingerprint, Model>()) :base(
      parameter_options{}, {}, here) {}
  WEFT_REJECT_COPIES(
      "module: it is not copied; move it, or share its weights: module<Model> other(sharing(net))",
      module)

 private:
  WEFT_REJECT_MAKING(module)
};
// For an ill-formed model, or results that it does not have: creating the module is a compile
// error.
template <model_like Model, fixed_string... Results>
requires(detail::ill_formed<Model, inference<Model, Results...>,
                            Results...>()) class module<Model, Results...>
    : public detail::runnable<Model, inference<Model, Results...>> {
  WEFT_REJECT_MODELS(Model, (inference<Model, Results...>), (class... Args),
                     explicit module(const Args&...){})
  WEFT_REJECT_RESULTS("module: the model has no result of this name", Model,
                      explicit module(const Args&...){})
};

}  // namespace weft
#include "weft/header_end.hpp"
