// The axes of layers that have more than three, by name: such a layer takes one struct, whose
// members are the roles.
//
//   struct axes {
//     using positions = Pos;
//     using keys = KeyPos;
//     using embed = Embed;
//     using heads = Heads;
//     using head_dim = HeadDim;
//     using hidden = Hidden;
//   };
//   auto y = nn::encoder<axes>(s, x, 6).output;
//
// One struct may serve several layers: members that a layer does not need are ignored, but for
// optional ones that would change what it computes. One that differs may be derived from another.
//
//   positions     of the queries, and of the operand where it attends to itself
//   keys          of the keys: where an operand attends to itself, an alias of positions
//   memory        the positions of a decoder's memory
//   cache         of the keys and values that are kept from run to run
//   embed         the features of the operand, and of the result
//   heads         of attention, those of queries, keys and values
//   head_dim      the elements of a head
//   hidden        the hidden units of a feed-forward network
// Optional ones, and what they are if they are not named:
//   group         none. Grouped-query attention (Ainslie et al. 2023, section 2.2): queries have
//                 the axes heads and group, keys and values only heads
//   key_heads     shape<heads>. shape<> is multi-query attention (Shazeer 2019, section 3): all
//                 queries share one head of keys and values
//   value_dim     head_dim. The elements of a head's values
//   key_width     embed. The features of the operand key, as output_width are those of the result
//   value_width   embed. The features of the operand value
//   output_width  embed
// A misspelt optional member is one that is not named: nothing can find it.
#pragma once
#include "weft/header_begin.hpp"

#include "weft/axes/shape.hpp"
#include "weft/graph/tensor.hpp"
#include "weft/nn/layer_rules.hpp"

namespace weft::nn::detail {

namespace roles {

// What it is to be without a role, and the role whose axis an optional one has otherwise.
#define WEFT_ROLE(name, without, as)               \
  struct name {                                    \
    static constexpr rule missing = rule::without; \
    using otherwise = as;                          \
    template <class A>                             \
    using axis = typename A::name;                 \
  };
WEFT_ROLE(positions, no_positions, positions)
WEFT_ROLE(keys, no_keys, keys)
WEFT_ROLE(memory, no_memory, memory)
WEFT_ROLE(cache, no_cache, cache)
WEFT_ROLE(embed, no_embed, embed)
WEFT_ROLE(heads, no_heads, heads)
WEFT_ROLE(head_dim, no_head_dim, head_dim)
WEFT_ROLE(hidden, no_hidden, hidden)
WEFT_ROLE(group, none, group)
WEFT_ROLE(key_heads, none, key_heads)
WEFT_ROLE(value_dim, none, head_dim)
WEFT_ROLE(key_width, none, embed)
WEFT_ROLE(value_width, none, embed)
WEFT_ROLE(output_width, none, embed)
#undef WEFT_ROLE

}  // namespace roles

template <class... Roles>
struct role_list {};
template <class Role, class List>
inline constexpr bool has_role = false;
template <class Role, class... Listed>
inline constexpr bool has_role<Role, role_list<Listed...>> = (std::is_same_v<Role, Listed> || ...);

// Whether A names the role.
template <class A, class Role>
concept names = requires {
  typename Role::template axis<A>;
};

// An axis, and the role that it is named in, as compilers print them.
template <class Role, class Axis>
struct in_role {
  using role = Role;
  using axis = Axis;
};

// Instead of an axis, where A names none.
struct unnamed {};
// A role in A, or what an optional one is otherwise. Functions without a body, as they are not
// instantiated, here and in query_heads.
template <class A, class Role>
requires names<A, Role> in_role<Role, typename Role::template axis<A>> find_role();
template <class A, class Role>
requires(!names<A, Role> &&
         std::same_as<typename Role::otherwise, Role>) in_role<Role, unnamed> find_role();
template <class A, class Role>
requires(!names<A, Role> && !std::same_as<typename Role::otherwise, Role>) auto find_role()
    -> decltype(find_role<A, typename Role::otherwise>());
template <class A, class Role>
using role_in = decltype(find_role<A, Role>());
template <class A, class Role>
using axis_of = typename role_in<A, Role>::axis;

template <class A>
shape<typename A::heads> find_query_heads();
template <class A>
requires names<A, roles::group> shape<typename A::heads, typename A::group> find_query_heads();
template <class A>
shape<typename A::heads> find_key_heads();
template <class A>
requires names<A, roles::key_heads>
typename A::key_heads find_key_heads();
// The axes of heads that queries, and keys and values have.
template <class A>
using query_heads = decltype(find_query_heads<A>());
template <class A>
using key_heads = decltype(find_key_heads<A>());

// What a use of a layer breaks: the rule, and the roles and axes that it is about.
template <rule Broken, class... About>
struct fault {
  static constexpr rule broken = Broken;
};
template <bool Broken, rule Which, class... About>
using fault_if = fault<Broken ? Which : rule::none, About...>;
template <class F>
inline constexpr bool is_broken = false;
template <rule Broken, class... About>
inline constexpr bool is_broken<fault<Broken, About...>> = Broken != rule::none;

// The first that is broken.
template <class F, class... More>
constexpr auto first_fault() {
  if constexpr (is_broken<F>)
    return F{};
  else if constexpr ((is_broken<More> || ...))
    return first_fault<More...>();
  else
    return fault<rule::none>{};
}
template <class... F>
using first_fault_t = decltype(first_fault<F...>());

// F, or that a layer is not called as it has to be.
template <bool Called, class F>
using fault_of_call = first_fault_t<fault_if<!Called, rule::arguments>, F>;

// The one struct of axes, or void.
template <class... Axes>
struct only {
  using type = void;
};
template <class A>
struct only<A> {
  using type = A;
};
template <class... Axes>
using only_t = typename only<Axes...>::type;

template <class In>
inline constexpr rule rule_of_role = rule::none;
template <class Role, class Axis>
inline constexpr rule rule_of_role<in_role<Role, Axis>> =
    std::same_as<Axis, unnamed> ? Role::missing
    : axis_like<Axis>           ? rule::none
                                : rule::not_an_axis;

// Whether two roles have one axis, other than optional ones in the place of the same.
template <class In, class Other>
inline constexpr bool clash = false;
template <class Role, class Other, class Axis>
inline constexpr bool clash<in_role<Role, Axis>, in_role<Other, Axis>> =
    !std::is_same_v<typename Role::otherwise, typename Other::otherwise>;
template <class In, class List>
inline constexpr bool clashes = false;
template <class In, class... All>
inline constexpr bool clashes<In, role_list<All...>> = (clash<In, All> || ...);
template <class In, class... All>
constexpr auto fault_of_pairs() {
  if constexpr (clashes<In, role_list<All...>>)
    return first_fault_t<fault_if<clash<In, All>, rule::twice, In, All>...>{};
  else
    return fault_of_pairs<All...>();
}

// Optional roles that a layer does not have, and that would be ignored.
template <class A, class List, class Optional>
using fault_of_unused =
    fault_if<names<A, Optional> && !has_role<Optional, List>, rule::unused, Optional>;

// The fault of the axes of a layer alone; Given are such as are named elsewhere, in their roles.
template <class A, class List, class... All>
constexpr auto fault_of_roles() {
  if constexpr (((rule_of_role<All> != rule::none) || ...))
    return first_fault_t<fault<rule_of_role<All>, All>...>{};
  else if constexpr ((clashes<All, role_list<All...>> || ...))
    return fault_of_pairs<All...>();
  else if constexpr (!subset<key_heads<A>, query_heads<A>>)
    return fault<rule::key, in_role<roles::key_heads, key_heads<A>>>{};
  else
    return first_fault_t<fault_of_unused<A, List, roles::value_dim>,
                         fault_of_unused<A, List, roles::key_width>,
                         fault_of_unused<A, List, roles::value_width>,
                         fault_of_unused<A, List, roles::output_width>>{};
}
template <class A, class... Role, class... Given>
constexpr auto fault_of_axes(role_list<Role...>, Given...) {
  return fault_of_roles<A, role_list<Role...>, role_in<A, Role>..., Given...>();
}

// An operand has the axes of its roles.
template <class X, class In>
inline constexpr bool is_along = false;
template <class X, class Role, class Axis>
inline constexpr bool is_along<X, in_role<Role, Axis>> = has_axis<Axis, shape_t<X>>;
template <class X, class In>
using fault_of_operand = fault_if<!is_along<X, In>, rule::missing, In>;

}  // namespace weft::nn::detail
#include "weft/header_end.hpp"
