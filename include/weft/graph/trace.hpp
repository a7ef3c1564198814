// Tracing: a model's function is called once to record its graph.
//
// A model is a struct whose operator()(weft::scope) const declares its inputs, parameters and
// states, computes with them, and returns a tensor (a result named "result") or
// weft::results(weft::as<"loss">(l), …).
#pragma once
#include "weft/header_begin.hpp"

#include <boost/hana/for_each.hpp>
#include <boost/hana/tuple.hpp>
#include <concepts>
#include <type_traits>
#include <utility>

#include "weft/axes/fixed_string.hpp"
#include "weft/fault.hpp"
#include "weft/graph/lengths.hpp"
#include "weft/graph/reject.hpp"
#include "weft/graph/scope.hpp"
#include "weft/graph/tensor.hpp"

namespace weft {

// What weft::as returns.
template <fixed_string Name, class X>
struct named_result {
  X value;  // the tensor
};
namespace detail {

template <class>
inline constexpr bool is_named_result = false;
template <fixed_string Name, class X>
inline constexpr bool is_named_result<named_result<Name, X>> = true;

}  // namespace detail

// What weft::results returns.
template <class... Named>
struct result_list {
  hana::tuple<Named...> items;  // of named_result
};

// A result with its name, which a model returns, or passes to weft::results.
template <fixed_string Name, expression X>
constexpr named_result<Name, X> as(const X& x) {
  return {x};
}
template <fixed_string Name, class X>
requires(!expression<X>)
    WEFT_REJECT((rule::tensor), as(const X&),
                (tensor,
                 "as: it names a tensor; of what a layer or a scan returns, take one, such as "
                 ".output, .last or .all"))
// The results of a model with several; their names must differ.
template <class... Named>
requires(detail::is_named_result<Named>&&...) constexpr result_list<Named...> results(
    const Named&... items) {
  return {hana::make_tuple(items...)};
}
template <class... Named>
requires(!(detail::is_named_result<Named> && ...))
    WEFT_REJECT((rule::unnamed), results(const Named&...),
                (unnamed, "results: name each tensor, as in results(as<\"logits\">(x), ...)"))

namespace detail {

template <expression X>
constexpr result_list<named_result<"result", X>> to_results(const X& x) {
  return {hana::make_tuple(named_result<"result", X>{x})};
}
template <fixed_string Name, class X>
constexpr result_list<named_result<Name, X>> to_results(const named_result<Name, X>& x) {
  return {hana::make_tuple(x)};
}
template <class... Named>
constexpr const result_list<Named...>& to_results(const result_list<Named...>& r) {
  return r;
}

template <fixed_string Name, class X>
constexpr void add_result(graph& g, const named_result<Name, X>& r, int updates) {
  for (int i = 0; i < g.output_count; ++i)
    if (g.outputs[i].kind == output_kind::result && g.name(g.outputs[i].name) == Name.view())
      g.refuse(model_fault::two_results, Name.view());
  if (g.output_count == updates + max_results) return g.refuse(model_fault::results);
  output o{};
  o.kind = output_kind::result;
  o.name = g.intern(Name.view());
  o.node = attach(g, r.value);
  g.outputs[g.output_count++] = o;
}

template <class Model>
concept has_const_call_operator_with_a_scope = requires(const Model m, scope s) {
  m(scope(s));
};
template <class Model>
concept returns_a_tensor_or_results = requires(const Model m, scope s) {
  to_results(m(scope(s)));
};

// Whether Model has a member operator(), callable or not: then the name is ambiguous in a class
// that inherits another one as well.
struct call_operator {
  void operator()();
};
template <class Model>
struct with_another_call_operator : Model, call_operator {};
template <class Model>
concept has_call_operator = std::is_class_v<Model> && !std::is_final_v<Model> && !requires {
  &with_another_call_operator<Model>::operator();
};

// A function with an error in its body has no return type: it can neither be called nor have its
// address taken. Clang 14 lets it be called with result void, but not in a constant expression.
template <class Model>
concept has_a_function_with_a_mistake = has_call_operator<Model> && !requires(Model m, scope s) {
  m(scope(s));
}
&&!requires {
  &Model::operator();
};
#if defined(__clang__) && __clang_major__ < 19
template <class Model>
constexpr bool runs() {
  graph g;
  Model{}(scope(g));
  return true;
}
template <class Model>
concept returns_nothing_for_a_mistake = requires(const Model m, scope s) {
  { m(s) } -> std::same_as<void>;
}
&&!requires {
  typename std::bool_constant<runs<Model>()>;
};
#else
template <class Model>
concept returns_nothing_for_a_mistake = false;
#endif

// Whether the compiler has found an error in the model's function. Then uses of the model compile
// without further messages.
template <class Model>
concept refused = !returns_a_tensor_or_results<Model> &&
                  (has_a_function_with_a_mistake<Model> || returns_nothing_for_a_mistake<Model>);

// Calling the function again makes a compiler that has not reported the error yet report it. Not
// within a function, where clang would not evaluate it.
template <class Model>
struct called_again {
  using type = decltype(std::declval<const Model&>()(std::declval<scope>()));
};
template <class Model>
struct said_why {
  static_assert(sizeof(called_again<Model>) > 0);
};

template <class Model>
struct results_of_model {
  using type = std::remove_cvref_t<decltype(to_results(
      std::declval<const Model&>()(std::declval<scope>())))>;
};
template <class Model>
requires(!returns_a_tensor_or_results<Model>) struct results_of_model<Model> {
  using type = result_list<>;
};

// What keeps a struct from being a model, by its type alone.
template <class Model>
constexpr model_fault fault_of_struct() {
  if (!requires { Model{}; }) return model_fault::no_default;
  if (!has_const_call_operator_with_a_scope<Model>) return model_fault::no_operator;
  return returns_a_tensor_or_results<Model> ? model_fault::none : model_fault::no_tensor;
}

}  // namespace detail

// A model: a struct whose operator()(weft::scope) const returns a tensor, weft::as<"name">(x) or
// weft::results(...). Where a struct has none, the line that takes it as a model says so.
template <class Model>
concept model_like = requires {
  static_cast<int Model::*>(nullptr);  // a class
};

template <model_like Model>
using results_of = typename detail::results_of_model<Model>::type;

namespace detail {

// Not constexpr: where constant evaluation reaches it, the compiler prints its name as the error.
template <model_fault Why>
void refuse_the_model() {
  fault(sentence_of(Why).data());
}

// The graph of a model; of a refused one, an empty graph with the error that is to be reported.
template <model_like Model>
constexpr graph trace_unchecked() {
  if constexpr (refused<Model>) {
    static_assert(sizeof(said_why<Model>) > 0);
    return rejected_graph();
  } else if constexpr (fault_of_struct<Model>() != model_fault::none) {
    return refused_graph(fault_of_struct<Model>());
  } else {
    graph g;
    const auto r = Model{}(scope(g));
    const int updates = g.output_count;
    hana::for_each(to_results(r).items, [&](const auto& item) { add_result(g, item, updates); });
    if constexpr (requires { Model::hold(g); }) Model::hold(g);
    if (!g.rejected) derive_lengths(g);
    if (g.rejected) return rejected_graph(g);
    for (int u = 0; u < updates;
         ++u) {  // to the end; <algorithm> costs each file a tenth of a second
      const output update = g.outputs[0];
      for (int o = 1; o < g.output_count; ++o) g.outputs[o - 1] = g.outputs[o];
      g.outputs[g.output_count - 1] = update;
    }
    return g;
  }
}

// Whether tracing is a constant expression. Asking costs nothing: g++ remembers what a constant
// call gave. Clang does not, but evaluates the initializer of a variable of deduced type once, and
// says by __builtin_constant_p whether it was constant, as it folds variables that are const alone.
// Where it was not, the program initializes the variable, with what needs no large stack.
#if defined(__clang__)
template <class Model>
constexpr graph trace_while_compiling() {
  if (std::is_constant_evaluated()) return trace_unchecked<Model>();
  return refused_graph(model_fault::not_evaluated);
}
template <class Model>
inline const auto traced_once = trace_while_compiling<Model>();
#else
template <class Model>
concept is_traced_as_constant = requires {
  typename std::bool_constant<(trace_unchecked<Model>().count >= 0)>;
};
#endif

// The graph of a model; where it is not a constant, an empty one that says so.
template <model_like Model>
constexpr graph trace_if_constant() {
#if defined(__clang__)
  return __builtin_constant_p(traced_once<Model>.count) ? traced_once<Model>
                                                        : refused_graph(model_fault::not_evaluated);
#else
  if constexpr (is_traced_as_constant<Model>) return trace_unchecked<Model>();
  return refused_graph(model_fault::not_evaluated);
#endif
}

}  // namespace detail

// The graph of a model, with all its results, followed by the updates of its states. What
// WEFT_MODEL_FAULTS lists is an error: a std::exception, if it is not evaluated as a constant.
template <model_like Model>
constexpr graph trace() {
  graph g = detail::trace_unchecked<Model>();
#define WEFT_FAULT(why, sentence) \
  if (g.fault == model_fault::why) detail::refuse_the_model<model_fault::why>();
  WEFT_MODEL_FAULTS
#undef WEFT_FAULT
  return g;
}

namespace detail {

// A model of which the parameters are held as they are whose names a pattern stands for, if Those,
// or the others. One that the model holds stays so.
template <class Model, bool Those, fixed_string... Patterns>
struct holding : Model {
  static constexpr void hold(graph& g) {
    if constexpr (requires { Model::hold(g); }) Model::hold(g);
    bool selected[max_parameters]{};
    for (const std::string_view pattern : {Patterns.view()...}) {
      bool found = false;
      for (int i = 0; i < g.parameter_count; ++i)
        if (matches(pattern, g.name(g.parameters[i].name))) selected[i] = found = true;
      if (!found) g.refuse(model_fault::pattern, pattern);
    }
    for (int i = 0; i < g.parameter_count; ++i) g.parameters[i].held |= selected[i] == Those;
  }
};

}  // namespace detail

// The model, of which only the parameters train whose names a pattern stands for (weft::matches);
// the others are held as they are, as with requires_grad = False. It is given wherever a model that
// trains is, and shares its parameters with the model itself:
//
//   using tuned = weft::train_only<encoder, "*.bias", "head.*">;
//   weft::trainer<tuned> trainer(net.parameters());
//
// The gradients of held parameters are not computed, nor is what only these need; those of others
// have the same bits, but for a norm of which only the gain or only the bias trains.
// trainer::gradients() and the optimizer's state are zeros for held ones, whose pages take no
// memory. A pattern that stands for no parameter is an error where the trainer is made.
template <model_like Model, fixed_string... Patterns>
requires(sizeof...(Patterns) > 0) struct train_only : detail::holding<Model, false, Patterns...> {
};
// The model, of which the parameters whose names a pattern stands for are held, and others train.
template <model_like Model, fixed_string... Patterns>
requires(sizeof...(Patterns) > 0) struct train_except : detail::holding<Model, true, Patterns...> {
};

}  // namespace weft
#include "weft/header_end.hpp"
