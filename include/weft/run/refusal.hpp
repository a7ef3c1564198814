// Compile errors for modules and trainers of a model whose names clash or that is beyond a limit,
// or for results that it does not have.
#pragma once
#include "weft/header_begin.hpp"
// g++ omits the notes on macro expansion for a system header's macros.
#pragma GCC system_header

#include <cstddef>
#include <string_view>
#include <utility>

#include "weft/graph/reject.hpp"
#include "weft/lower/lower.hpp"
#include "weft/lower/units.hpp"

namespace weft::detail {

// Types whose names carry the model's results and states into a compile error.
template <class...>
struct results {};
template <class...>
struct states {};
template <class>
struct loss {};

template <class Unit, int I>
struct describe_result {
  static constexpr message make() {
    const auto& g = Unit::g;
    const node& n = g.nodes[g.outputs[I].node];
    if (g.outputs[I].kind != output_kind::result) return {};
    return describe(g.name(g.outputs[I].name), n.type, n.axes);
  }
};
template <class Unit, std::size_t... I>
results<spelled_t<text_of<describe_result<Unit, static_cast<int>(I)>>()>...> describe_results(
    std::index_sequence<I...>);
template <class Unit>
using results_of_graph = decltype(describe_results<Unit>(
    std::make_index_sequence<static_cast<std::size_t>(count_results(Unit::g))>()));

template <class Unit, int I>
struct describe_state {
  static constexpr message make() {
    const auto& g = Unit::g;
    const node& n = g.nodes[g.states[I].node];
    return describe(g.name(g.states[I].name), n.type, n.axes);
  }
};
template <class Unit, std::size_t... I>
states<spelled_t<text_of<describe_state<Unit, static_cast<int>(I)>>()>...> describe_states(
    std::index_sequence<I...>);
template <class Unit>
using states_of = decltype(describe_states<Unit>(
    std::make_index_sequence<static_cast<std::size_t>(Unit::g.state_count)>()));

// The traced graph of a model with all its results.
template <class Model>
struct defined {
  static constexpr const auto& g = traced_graph<Model>;
};

// The first of the requested results that the model does not have.
template <class...>
struct missing_result {};
template <class Model, fixed_string... Results>
struct describe_missing_result {
  static constexpr message make() {
    message m;
    [[maybe_unused]] const auto look = [&](std::string_view name) {
      if (m.size == 0 && find_output(traced_graph<Model>, name) < 0) m << name;
    };
    (look(Results.view()), ...);
    return m;
  }
};

// Why a unit of the model is refused.
template <class Model, class Unit>
constexpr model_fault fault_of() {
  if (traced_graph<Model>.fault != model_fault::none) return traced_graph<Model>.fault;
  return lowered<Unit>::fault;
}

template <class Model>
struct describe_fault {
  static constexpr message make() {
    message m;
    return m << traced_graph<Model>.name(traced_graph<Model>.fault_name);
  }
};
template <class Model>
using name_at_fault = spelled_t<text_of<describe_fault<Model>>()>;

// The sentence of an error in a model, for g++.
template <model_fault Fault>
struct describe_sentence {
  static constexpr message make() {
    message m;
    return m << sentence_of(Fault);
  }
};
template <model_fault Fault>
using sentence_of_fault = spelled_t<text_of<describe_sentence<Fault>>()>;

template <class Model, class Unit, fixed_string... Results>
constexpr bool ill_formed() {
  return fault_of<Model, Unit>() != model_fault::none || !has_results<Model, Results...>();
}

// Whether a trainer accepts the model and its loss.
template <class Model, fixed_string Loss>
constexpr bool is_trainable() {
  return fault_of<Model, training<Model, Loss>>() == model_fault::none &&
         rule_of_loss<Model, Loss>() == rule::none;
}

}  // namespace weft::detail

// Declares the constructor that reports why a unit of the model is refused.
#define WEFT_REJECT_MODELS(Model, Unit, parameters, ...)                 \
  WEFT_REJECT_FAULT((::weft::detail::fault_of<Model, WEFT_BARE Unit>()), \
                    (::weft::detail::name_at_fault<Model>), parameters, __VA_ARGS__)
#if defined(__clang__)
#define WEFT_FAULT(which, sentence) \
  __attribute__((                   \
      diagnose_if(sizeof(this) > 0 && Fault == ::weft::model_fault::which, sentence, "error")))
#define WEFT_REJECT_FAULT(found, about, parameters, ...)             \
 public:                                                             \
  template <WEFT_BARE parameters, ::weft::model_fault Fault = found, \
            class Because = ::weft::because<WEFT_BARE about>>        \
  requires(Fault != ::weft::model_fault::none)                       \
      WEFT_QUIET_BEGIN WEFT_MODEL_FAULTS WEFT_QUIET_END __VA_ARGS__ private:
#else
#define WEFT_REJECT_FAULT(found, about, parameters, ...)                                    \
  template <WEFT_BARE parameters, ::weft::model_fault Fault = found,                        \
            class Because =                                                                 \
                ::weft::because<::weft::detail::sentence_of_fault<Fault>, WEFT_BARE about>> \
  requires(Fault != ::weft::model_fault::none) __VA_ARGS__
#endif
// The same for a class that trains, and for each way in which Loss can be no loss of the model.
#define WEFT_REJECT_LOSSES(Model, Loss, ...)                                         \
  WEFT_REJECT_MODELS(Model, (::weft::training<Model, Loss>), (int = 0), __VA_ARGS__) \
  WEFT_REJECT_CALLS(                                                                 \
      (::weft::detail::rule_of_loss<Model, Loss>()),                                 \
      (::weft::detail::loss<::weft::detail::spelled_t<Loss>>,                        \
       ::weft::detail::results_of_graph<::weft::detail::defined<Model>>,             \
       ::weft::detail::states_of<::weft::detail::defined<Model>>),                   \
      (int = 0), (__VA_ARGS__),                                                      \
      (result, "trainer: the model has no result with the name of the loss"),        \
      (other_axes, "trainer: the loss has axes; take its mean over them"),           \
      (elements, "trainer: the loss is not float"),                                  \
      (states, "trainer: the loss depends on a state, and no gradient goes through one"))
// Declares the constructor that reports the requested results that the model does not have, for a
// class of template <model_like Model, fixed_string... Results>.
#define WEFT_REJECT_RESULTS(sentence, Model, ...)                                          \
  WEFT_REJECT_CALL(sentence,                                                               \
                   (::weft::detail::missing_result<                                        \
                       ::weft::detail::spelled_t<::weft::detail::text_of<                  \
                           ::weft::detail::describe_missing_result<Model, Results...>>()>, \
                       ::weft::detail::results_of_graph<::weft::detail::defined<Model>>>), \
                   (class... Args), (!::weft::detail::has_results<Model, Results...>()),   \
                   __VA_ARGS__)
#include "weft/header_end.hpp"
