// The results of a run.
#pragma once
#include "weft/header_begin.hpp"

#include <array>
#include <boost/hana/at.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "weft/lower/units.hpp"
#include "weft/run/engine.hpp"
#include "weft/run/refusal.hpp"
#include "weft/run/view.hpp"

namespace weft {

namespace detail {

// Stands for a result of a model that does not compile, so that its uses cause no further errors:
// it has the members of a view.
struct no_view {
  const float* data() const { return nullptr; }
  std::size_t size() const { return 0; }
  std::array<std::size_t, max_rank> lengths() const { return {}; }
  std::array<std::ptrdiff_t, max_rank> strides() const { return {}; }
  template <class A>
  std::size_t length() const {
    return 0;
  }
  template <class A>
  no_view at(std::size_t) const {
    return {};
  }
  template <class... Indices>
  const float& operator()(Indices...) const {
    return *data();
  }
  template <class T, class S>
  operator view<T, S>() const {
    return {nullptr, {}, {}};
  }
  template <fixed_string Name>
  no_view get() const {
    return {};
  }
};

// The view type of result I of a model. The first outputs of a traced graph are its results, in
// order.
template <fixed_string Name, class X>
view<const element_t<X>, shape_t<X>> view_type(const named_result<Name, X>&);
template <model_like Model, int I>
using result_view = decltype(view_type(hana::at_c<I>(std::declval<results_of<Model>>().items)));

template <class T, class... Axes>
view<T, shape<Axes...>> view_of(const engine& e, const result_ref& r, view<T, shape<Axes...>>*) {
  std::array<std::size_t, sizeof...(Axes)> lengths{};
  std::array<std::ptrdiff_t, sizeof...(Axes)> strides{};
  for (std::size_t a = 0; a < sizeof...(Axes); ++a) {
    lengths[a] = e.length(r.extent[a]);
    strides[a] = r.at.stride[a];
  }
  return {reinterpret_cast<T*>(e.address(r.at)), lengths, strides};
}
// The view of result I of the graph that Unit makes of a model.
template <model_like Model, class Unit, int I>
auto view_of_result(const engine& e) {
  constexpr int in_model = find_output(traced_graph<Model>, Unit::g.name(Unit::g.outputs[I].name));
  return view_of(e, e.tables().results[I], static_cast<result_view<Model, in_model>*>(nullptr));
}

// What results are beside their names: where there is one, its view.
template <model_like Model, class Unit, int Count = count_results(Unit::g)>
class view_of_only_result {
 protected:
  explicit view_of_only_result(const engine&) {}

 private:
  WEFT_REJECT_CALL(
      "results: there are several; an element is y.get<\"name\">()(i, j)", (results_of_graph<Unit>),
      (class... Args), (true),
      const float& operator()(const Args&...) const { return *no_view().data(); })
};
template <model_like Model, class Unit>
class view_of_only_result<Model, Unit, 1>
    : public decltype(view_of_result<Model, Unit, 0>(std::declval<const engine&>())) {
 protected:
  using view_type = decltype(view_of_result<Model, Unit, 0>(std::declval<const engine&>()));
  explicit view_of_only_result(const engine& e) : view_type(view_of_result<Model, Unit, 0>(e)) {}
};

}  // namespace detail

template <model_like Model, class Unit>
class run_results;
template <model_like Model, class Unit>
std::uint64_t fingerprint(const run_results<Model, Unit>& all) noexcept;

// The results of a run of a model that names them; where the module computes one alone, this is
// its view, too. They lie in the module's workspace: the next run overwrites them, and they are
// valid as long as the module, also if it moves.
template <model_like Model, class Unit>
class run_results : public detail::view_of_only_result<Model, Unit> {
 public:
  // Of the last run of an engine: module::operator() makes it.
  explicit run_results(const engine& e)
      : detail::view_of_only_result<Model, Unit>(e), engine_(&e) {}

  // A read-only view of the result `Name`, over its axes in the declared order, with this run's
  // lengths and any strides. It must be a result that this module computes.
  template <fixed_string Name>
  requires(find_output(Unit::g, Name.view()) >= 0) auto get() const {
    return detail::view_of_result<Model, Unit, find_output(Unit::g, Name.view())>(*engine_);
  }

 private:
  friend std::uint64_t fingerprint<>(const run_results& all) noexcept;

  const engine* engine_;

  WEFT_REJECT_CALL(
      "results: this module does not compute a result of this name",
      (detail::results_of_graph<Unit>), (fixed_string Name),
      (find_output(Unit::g, Name.view()) < 0), detail::no_view get() const { return {}; })
};

namespace detail {

// Whether a model returns a tensor, and no results with names.
template <model_like Model>
constexpr bool has_unnamed_result() {
  return count_results(traced_graph<Model>) == 1 && find_output(traced_graph<Model>, "result") == 0;
}

// What a run gives: a view, or results by name.
template <model_like Model, class Unit>
auto results_of_run(const engine& e) {
  if constexpr (Unit::g.rejected)
    return no_view{};
  else if constexpr (has_unnamed_result<Model>())
    return view_of_result<Model, Unit, 0>(e);
  else
    return run_results<Model, Unit>(e);
}

}  // namespace detail

}  // namespace weft
#include "weft/header_end.hpp"
