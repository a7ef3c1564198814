// The axes of multi-head attention, where its operands do not share one width or one set of heads.
#pragma once

#include "weft/axes/shape.hpp"

namespace weft::nn {

// Given instead of one axis Embed: the axes of features of a layer's query, key and value, and of
// its output.
template <class Query, class Key, class Value = Key, class Output = Query>
struct widths {};

// Grouped-query attention (Ainslie et al. 2023, section 2.2), given instead of one axis of heads:
// queries have the axes Heads and Group, keys and values only Heads, each of which serves a group
// of query heads.
template <class Heads, class Group>
struct grouped {};
// Multi-query attention (Shazeer 2019, section 3): queries have Heads, and share one head of keys
// and values.
template <class Heads>
struct multi_query {};

// Given instead of one axis HeadDim: the axis of queries and keys within a head, and that of
// values.
template <class KeyDim, class ValueDim>
struct head_dims {};

namespace detail {

// The axes of a layer by role.
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
