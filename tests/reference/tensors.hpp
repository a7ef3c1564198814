// The tensors of the reference: dense, and iterated over one element at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "support/operands.hpp"
#include "weft/graph/graph.hpp"
#include "weft/kernels/philox.hpp"

namespace weft::reference {

// A tensor: dense, the node's axes outermost first, with the lengths of the run.
struct values {
  std::vector<double> data;
};

// The arguments of a run. Inputs are dense, with the run's lengths; parameters are dense, with the
// bounds of their axes, as they are stored.
struct bindings {
  using map = std::map<std::string, std::vector<double>, std::less<>>;
  map inputs, parameters;
  kernels::random_state random{};  // seed and step of dropouts
  map states{};                    // as parameters; zeros where absent
};

// The length of each axis in a run. An alias has its axis's length; where a length is not set, it
// is the extent.
class lengths {
 public:
  std::size_t operator()(const axis_info* axis) const {
    const auto found = known_.find(axis->length_axis());
    return found == known_.end() ? axis->extent : found->second;
  }
  lengths& set(const axis_info* axis, std::size_t length) {
    if (length > axis->extent || (!axis->bounded && length < axis->extent))
      throw std::invalid_argument(std::string(axis->name) + " cannot have this length");
    if (!known_.emplace(axis->length_axis(), length).second && (*this)(axis) != length)
      throw std::invalid_argument(std::string(axis->name) + " would have two lengths");
    return *this;
  }
  template <axis_like A>
  lengths& set(std::size_t length) {
    return set(&info_of<A>, length);
  }
  bool is_set(const axis_info* axis) const { return known_.contains(axis->length_axis()); }

 private:
  std::map<const axis_info*, std::size_t> known_;  // by length axis
};

namespace detail {

using axes = std::vector<const axis_info*>;

inline axes to_axes(const axis_list& list) {
  return {list.at, list.at + list.count};
}
inline bool has(const axes& all, const axis_info* axis) {
  return std::find(all.begin(), all.end(), axis) != all.end();
}
// The axes of the first list, then those that only later lists have.
template <class... Lists>
axes united(const Lists&... lists) {
  axes all;
  const auto join = [&](const axes& more) {
    for (const auto* axis : more)
      if (!has(all, axis)) all.push_back(axis);
  };
  (join(to_axes(lists)), ...);
  return all;
}
inline axes without(axes all, const axes& some) {
  all.erase(
      std::remove_if(all.begin(), all.end(), [&](const auto* axis) { return has(some, axis); }),
      all.end());
  return all;
}

// The axis of `list` that `other` does not have; if there is none, `same`, which both have.
inline const axis_info* own_axis(const axis_list& list, const axis_list& other,
                                 const axis_info* same) {
  for (int i = 0; i < list.count; ++i)
    if (!other.contains(list.at[i])) return list.at[i];
  return same;
}
// slice, pad: the axis of the part; the axis of the whole is sliced_axis.
inline const axis_info* part_axis(const graph& g, const node& n) {
  const axis_list& operand = g.nodes[testing::operand_of(n, 0)].axes;
  return n.kind == op::slice ? own_axis(n.axes, operand, sliced_axis(n))
                             : own_axis(operand, n.axes, sliced_axis(n));
}
// split: the operand's axis, which has the position of the result's outermost new axis.
inline const axis_info* split_axis(const graph& g, const node& n) {
  return g.nodes[testing::operand_of(n, 0)].axes.at[n.axes.find(split_axes(n).at[0])];
}
// merge: the result's new axis, which may be one of those merged.
inline const axis_info* merged_axis(const graph& g, const node& n) {
  const axis_list& parts = merged_axes(n);
  for (int i = 0; i < parts.count; ++i)
    if (n.axes.contains(parts.at[i])) return parts.at[i];
  return own_axis(n.axes, g.nodes[testing::operand_of(n, 0)].axes, nullptr);
}
// concatenate: the axis of the whole, which has the position of operand 0's part.
inline const axis_info* whole_axis(const graph& g, const node& n) {
  return n.axes.at[g.nodes[testing::operand_of(n, 0)].axes.find(concatenated_axes(n).at[0])];
}

inline std::size_t product(const lengths& of, const axis_list& list) {
  std::size_t n = 1;
  for (int i = 0; i < list.count; ++i) n *= of(list.at[i]);
  return n;
}
// slice, pad: the index at which the part begins in the whole.
inline std::size_t start(const lengths& of, const node& n) {
  auto at = static_cast<std::size_t>(slice_offset(n));
  for (int i = 1; i < slice_axes(n).count; ++i) at += of(slice_axes(n).at[i]);
  return at;
}

// The memory layout of a dense tensor: its stride along each axis.
class layout {
 public:
  layout() = default;
  template <class Length>  // std::size_t(const axis_info*)
  layout(const axis_list& list, const Length& length) {
    for (int i = list.count; i-- > 0; size_ *= length(list.at[i])) put(list.at[i], size_);
  }
  std::size_t size() const { return size_; }
  // 0 for an axis that the tensor does not have: it is broadcast.
  std::size_t stride(const axis_info* axis) const {
    for (const auto& s : strides_)
      if (s.axis == axis) return s.stride;
    return 0;
  }
  // Removes the axis and returns its stride.
  std::size_t take(const axis_info* axis) {
    const std::size_t distance = stride(axis);
    strides_.erase(std::remove_if(strides_.begin(), strides_.end(),
                                  [&](const auto& s) { return s.axis == axis; }),
                   strides_.end());
    return distance;
  }
  void put(const axis_info* axis, std::size_t stride) { strides_.push_back({axis, stride}); }
  void rename(const axis_info* from, const axis_info* to) { put(to, take(from)); }

 private:
  struct entry {
    const axis_info* axis;
    std::size_t stride;
  };
  std::vector<entry> strides_;
  std::size_t size_ = 1;
};

template <std::size_t Tensors>
struct loop {
  std::size_t length;
  std::array<std::size_t, Tensors> stride;
};
template <std::size_t Tensors, class F>
void walk(const loop<Tensors>* at, const loop<Tensors>* end,
          std::array<std::size_t, Tensors> offset, F& f) {
  if (at == end) {
    std::apply(f, offset);
    return;
  }
  for (std::size_t i = 0; i < at->length; ++i) {
    walk(at + 1, end, offset, f);
    for (std::size_t t = 0; t < Tensors; ++t) offset[t] += at->stride[t];
  }
}
// f(offset in each tensor...) for every index of the axes, the last one fastest.
template <std::size_t Tensors, class F>
void for_each(const axes& over, const lengths& of, const layout (&tensors)[Tensors], F f) {
  std::vector<loop<Tensors>> loops;
  for (const auto* axis : over) {
    loops.push_back({of(axis), {}});
    for (std::size_t t = 0; t < Tensors; ++t) loops.back().stride[t] = tensors[t].stride(axis);
  }
  walk<Tensors>(loops.data(), loops.data() + loops.size(), {}, f);
}

}  // namespace detail

}  // namespace weft::reference
