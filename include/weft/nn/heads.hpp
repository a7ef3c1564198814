// The axes of multi-head attention.
#pragma once

#include "weft/axes/shape.hpp"

namespace weft::nn {

// In the place of an axis, where they are not all the same: the axes of the query, key and value
// that a layer is given, and of what it gives.
template <class Query, class Key, class Value = Key, class Output = Query>
struct widths {};

// In the place of the axis of heads: each of Heads serves a group of queries' heads (Ainslie et al.
// 2023, section 2.2). The queries have Heads × Group, keys and values Heads.
template <class Heads, class Group>
struct grouped {};
// One head of keys and values for all of the queries' (Shazeer 2019, section 3).
template <class Heads>
struct multi_query {};

// In the place of the size of a head: that of queries and keys, and that of values.
template <class KeyDim, class ValueDim>
struct head_dims {};

namespace detail {

// The axes of a layer, by their roles.
template <class E>
struct widths_of {
  using query = E;
  using key = E;
  using value = E;
  using output = E;
};
template <class Query, class Key, class Value, class Output>
struct widths_of<widths<Query, Key, Value, Output>> {
  using query = Query;
  using key = Key;
  using value = Value;
  using output = Output;
};
template <class H>
struct heads_of {
  using query = shape<H>;
  using key = shape<H>;
};
template <class Heads, class Group>
struct heads_of<grouped<Heads, Group>> {
  using query = shape<Heads, Group>;
  using key = shape<Heads>;
};
template <class Heads>
struct heads_of<multi_query<Heads>> {
  using query = shape<Heads>;
  using key = shape<>;
};
template <class D>
struct dims_of {
  using key = D;
  using value = D;
};
template <class KeyDim, class ValueDim>
struct dims_of<head_dims<KeyDim, ValueDim>> {
  using key = KeyDim;
  using value = ValueDim;
};

}  // namespace detail

}  // namespace weft::nn
