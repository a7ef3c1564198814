// What tables of a graph and of a program are made of has no initializers: clang needs no memory
// for elements that are zeros by themselves, and tens of megabytes a model for others.
#include <type_traits>

#include "weft/graph/graph.hpp"
#include "weft/lower/program.hpp"

template <class... T>
constexpr bool are_zeros = (std::is_trivially_default_constructible_v<T> && ...);

static_assert(are_zeros<weft::node, weft::output, weft::step, weft::attention_ref,
                        weft::kernels::chain_link>);
