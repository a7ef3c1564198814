#include "inspect/instruction_costs.hpp"

#include <map>
#include <memory>

namespace weft::detail {

namespace {

// The graph with the lengths of a run as the extents of its axes.
class graph_of_run {
 public:
  graph_of_run(const program& p, const graph_parts& g, std::span<const std::size_t> lengths)
      : graph_(new graph(g.unpack())) {
    const auto replace = [&](const axis_info*& axis) {
      if (axis == nullptr || !axis->bounded) return;
      for (std::size_t slot = 0; slot < p.lengths.size(); ++slot) {
        if (p.lengths[slot].axis != axis->length_axis()) continue;
        axis_info& own = axes_.try_emplace(axis, *axis).first->second;
        own.extent = lengths[slot];
        axis = &own;
        return;
      }
    };
    for (int i = 0; i < graph_->count; ++i)
      for (axis_list* list : {&graph_->nodes[i].axes, &graph_->nodes[i].named})
        for (int a = 0; a < list->count; ++a) replace(list->at[a]);
    for (int r = 0; r < graph_->region_count; ++r) {
      replace(graph_->regions[r].axis);
      replace(graph_->regions[r].steps);
    }
  }
  const graph& operator*() const { return *graph_; }

 private:
  std::unique_ptr<graph> graph_;  // too large for the stack
  std::map<const axis_info*, axis_info> axes_;
};

}  // namespace

std::vector<operation_cost> instruction_costs(const program& p, const graph_parts& parts,
                                              std::span<const std::size_t> lengths) {
  const graph_of_run g(p, parts, lengths);
  struct of_node {
    bool computed = false;            // by an instruction with the node's operation
    double elements = 0, summed = 0;  // of the instructions with a cost; of those with flops
  };
  std::vector<of_node> nodes(parts.nodes.size());
  const auto at = [&](const instruction& s) -> of_node& {
    return nodes[static_cast<std::size_t>(s.node)];
  };
  const auto computes = [&](const instruction& s) {
    return s.kind == parts.nodes[s.node].kind && s.run != kernel::zero;
  };
  const auto elements = [&](const instruction& s) {
    double n = at(s).computed && !computes(s) ? 0 : 1;
    for (int l = 0; l < s.loops; ++l) n *= static_cast<double>(s.extent[l].in(lengths.data()));
    return n;
  };
  for (const instruction& s : p.instructions) at(s).computed |= computes(s);
  for (const instruction& s : p.instructions) {
    at(s).elements += elements(s);
    if (s.run != kernel::zero) at(s).summed += elements(s);
  }
  std::vector<operation_cost> costs;
  for (const instruction& s : p.instructions) {
    operation_cost c{};
    const operation_cost whole = cost_of_instruction(*g, s.node);
    if (elements(s) > 0) c.bytes = whole.bytes * (elements(s) / at(s).elements);
    if (elements(s) > 0 && s.run != kernel::zero)
      c.flops = whole.flops * (elements(s) / at(s).summed);
    costs.push_back(c);
  }
  return costs;
}

std::vector<operation_cost> instruction_costs(const program& p, const graph_parts& g) {
  std::vector<std::size_t> lengths;
  for (const length_ref& l : p.lengths) lengths.push_back(l.most);
  return instruction_costs(p, g, lengths);
}

}  // namespace weft::detail
