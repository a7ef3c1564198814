// A hash of results: whether two machines, threads or programs have computed the same numbers.
#pragma once
#include "weft/header_begin.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "weft/graph/op.hpp"
#include "weft/graph/reject.hpp"
#include "weft/graph/tensor.hpp"
#include "weft/kernels/family.hpp"
#include "weft/run/parameter_block.hpp"
#include "weft/run/results.hpp"
#include "weft/run/view.hpp"

namespace weft {

namespace detail {

std::uint64_t fingerprint_of(dtype type, const void* data, std::span<const std::size_t> lengths,
                             std::span<const std::ptrdiff_t> strides) noexcept;
std::uint64_t fingerprint_of_results(const engine& e) noexcept;

}  // namespace detail

// A hash of a view: of the type of its elements, its lengths, and the elements in the order of its
// axes, whatever their strides are. Two views of one type that differ in a single element have two
// hashes; -0 and 0 differ, and every NaN counts as the same. The names of axes do not count. It is
// the same number on every processor and compiler, and in later versions of weft. Results of the
// two families of targets (weft::family) differ.
template <class T, class... Axes>
std::uint64_t fingerprint(const view<T, shape<Axes...>>& x) noexcept {
  return detail::fingerprint_of(dtype_of<std::remove_const_t<T>>, x.data(), x.lengths(),
                                x.strides());
}
// The same of an array's elements.
template <class T, class... Axes>
std::uint64_t fingerprint(const array<T, Axes...>& x) noexcept {
  return fingerprint(x.view());
}
// Of all results of a run, with their names, in the order in which the model declares them:
// weft::fingerprint(net(weft::arg<"x">(x))).
template <model_like Model, class Unit>
std::uint64_t fingerprint(const run_results<Model, Unit>& all) noexcept {
  return detail::fingerprint_of_results(*all.engine_);
}
// Of all parameters, with their names, in the order in which the model declares them, such as those
// of a trainer, or its optimizer_state(0). Throws weft::error where the values are not there.
std::uint64_t fingerprint(const parameter_block& parameters);

// Of the result of a model that does not compile.
inline std::uint64_t fingerprint(const detail::no_view&) noexcept {
  return 0;
}
template <class... T>
requires(sizeof...(T) != 1 || !(std::is_base_of_v<parameter_block, T> && ...)) WEFT_REJECT(
    rule::arguments, fingerprint(const T&...),
    (arguments,
     "fingerprint: it is of one weft::array or weft::view, of the results of a run, or of "
     "parameters"))

}  // namespace weft
#include "weft/header_end.hpp"
