#include "weft/inspect/explain.hpp"

#include <cstdio>
#include <sstream>

#include "inspect/instruction_costs.hpp"
#include "weft/graph/attention.hpp"
#include "weft/kernels/family.hpp"
#include "weft/passes/dump.hpp"
#include "weft/run/error.hpp"

namespace weft::detail {

namespace {

// What a function of passes/dump.hpp writes.
template <class X>
std::string text_of(void write(std::ostringstream&, X), X x) {
  std::ostringstream out;
  write(out, x);
  return out.str();
}
std::string axes_text(const axis_list& axes) {
  return text_of<const axis_list&>(write_axes, axes);
}

std::string element_text(dtype e) {
  if (e == dtype::float32) return {};
  return std::string(" ").append(detail::name_of_type(e));
}

std::string padded(std::string s, std::size_t width) {
  if (s.size() < width) s.append(width - s.size(), ' ');
  return s;
}

class explainer {
 public:
  explicit explainer(const graph_parts& g) : g_(g) {}

  // How a line refers to a node: leaves by name, views by their operand, nodes fused into their
  // user as expressions, others by id.
  std::string call(int id) const {
    const node& n = at(id);
    if (n.kind == op::constant) return text_of<double>(write_number, constant_value(n));
    if (is_leaf(n.kind)) return leaf_name(n);
    if (is_view(n.kind)) {
      std::string text = std::string(name_of(n.kind)).append("(").append(call(n.operand[0]));
      if (n.kind == op::get_result) text.append(", ").append(std::to_string(result_index(n)));
      return text.append(")");
    }
    if (n.fused) return expression(n);
    return std::string(1, '%').append(std::to_string(id));
  }

  // The line of a state, with its offset.
  std::string line(const state_ref& s, int id) const {
    const std::string shape = axes_text(at(id).axes) + std::string(element_text(s.type));
    char whole[400];
    std::snprintf(whole, sizeof whole, "%-64s %-36s %15s %10sB  workspace + %zu\n",
                  ("state " + call(id)).c_str(), shape.c_str(), "",
                  short_number(static_cast<double>(s.bytes)).c_str(), s.offset);
    return whole;
  }

  // The lines before and after the instructions of a scan.
  static std::string begin(const loop_ref& l) {
    const std::string most = l.length.fixed() ? "" : "at most ";
    return std::string("scan ") + (l.backwards ? "backwards " : "") + "along " +
           std::string(l.axis->name) + ", " + most + std::to_string(l.length.most) + " times:\n";
  }
  static std::string end(const loop_ref& l) {
    return "end of the scan along " + std::string(l.axis->name) + "\n";
  }

  instruction_text text(const instruction& s) const {
    const node& n = at(s.node);
    std::string text(1, '%');
    text.append(std::to_string(s.node)).append(" = ").append(name_of(n.kind));
    if (s.kind != n.kind)
      text.append(s.run == kernel::zero ? " (zeros)"
                  : s.kind == op::add   ? " (add)"
                  : s.kind == op::copy  ? " (copy)"
                                        : "");
    const axis_list over = runs_over(n);
    if (over.count > 0) text.append(" over ").append(axes_text(over));
    text.append(" ").append(operands(n));
    text.append(text_of<const node&>(write_numbers, n));
    return {{}, text, axes_text(n.axes) + element_text(n.type), {}};
  }

 private:
  // Those that are not always there by their roles.
  std::string operands(const node& n) const {
    std::string text;
    for_each_operand(n, [&](const slot& s, int id) {
      text.append(text.empty() ? "" : ", ");
      if (s.is == presence::optional) text.append(name_of(s.what)).append(" ");
      text.append(call(id));
    });
    return "(" + text + ")";
  }
  std::string expression(const node& n) const {
    return std::string(name_of(n.kind)).append(operands(n));
  }
  const node& at(int id) const { return g_.nodes[id]; }
  std::string leaf_name(const node& n) const {
    const auto at = static_cast<std::size_t>(n.leaf);
    if (n.kind == op::input) return name(g_.inputs[at]);
    if (n.kind == op::parameter) return name(g_.parameters[at]);
    return n.kind == op::state ? name(g_.states[at]) : std::string(name_of(n.kind));
  }
  std::string name(const leaf& l) const {
    return {g_.text.begin() + l.name.begin, static_cast<std::size_t>(l.name.size)};
  }
  axis_list runs_over(const node& n) const {
    axis_list gone{};
    if (is_attention(n.kind)) {
      gone.push(key_axis(n));
      return gone;
    }
    if (n.kind != op::dot) return n.named;
    const axis_list& left = at(n.operand[0]).axes;
    for (int a = 0; a < left.count; ++a)
      if (!n.axes.contains(left.at[a])) gone.push(left.at[a]);
    return gone;
  }

  graph_parts g_;
};

// The first operand that an instruction writes.
const operand_ref& result_of(const program& p, const instruction& s) {
  int o = 0;
  while (is_operand(info(s.kind).slots[o]) || info(s.kind).slots[o].by == access::of_result) ++o;
  return operands_of(p, s)[o];
}

}  // namespace

std::string short_number(double x) {
  constexpr std::string_view units[]{"", " k", " M", " G", " T"};
  std::size_t u = 0;
  for (; x >= 999.5 && u + 1 < std::size(units); ++u) x /= 1000;
  char digits[32];
  std::snprintf(digits, sizeof digits, u == 0 ? "%.0f" : "%.3g", x);
  return std::string(digits).append(units[u]);
}

std::vector<instruction_text> instruction_texts(const program& p, const graph_parts& g) {
  const explainer e(g);
  std::vector<instruction_text> texts;
  for (const instruction& s : p.instructions) texts.push_back(e.text(s));
  for (const loop_ref& l : p.loops) {
    texts[static_cast<std::size_t>(l.first)].before = e.begin(l);
    texts[static_cast<std::size_t>(l.last - 1)].after = e.end(l);
  }
  return texts;
}

std::string explained_text(const program& p, const graph_parts& g, const model_cost& total) {
  if (g.fault != model_fault::none) return std::string(sentence_of(g.fault)) + "\n";
  const explainer e(g);
  const auto texts = instruction_texts(p, g);
  const auto costs = instruction_costs(p, g);
  std::string text;
  for (std::size_t i = 0; i < p.states.size(); ++i) text += e.line(p.states[i], g.states[i].node);
  if (p.once > 0) text += "once:\n";
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (p.once > 0 && i == static_cast<std::size_t>(p.once)) text += "in every run:\n";
    const operand_ref& to = result_of(p, p.instructions[i]);
    char numbers[96];
    std::snprintf(numbers, sizeof numbers, " %10s flop %10sB  %s + %zu\n",
                  short_number(costs[i].flops).c_str(), short_number(costs[i].bytes).c_str(),
                  to.where == block::gradients ? "gradients" : "workspace", to.offset);
    text.append(texts[i].before).append(padded(texts[i].operation + " ", 65));
    text.append(padded(texts[i].axes, 36)).append(numbers).append(texts[i].after);
  }
  text += std::to_string(total.operations) + " steps, " + short_number(total.flops) + "flop, " +
          short_number(total.bytes) + "B moved; parameters " +
          short_number(static_cast<double>(total.parameter_bytes)) + "B, workspace " +
          short_number(static_cast<double>(total.workspace_bytes)) + "B";
  if (total.state_bytes > 0)
    text += ", of it states " + short_number(static_cast<double>(total.state_bytes)) + "B";
  if (p.once > 0)
    text += "; once " + std::to_string(p.once) + " steps, " + short_number(total.once.flops) +
            "flop, " + short_number(static_cast<double>(total.once_bytes)) +
            "B of the workspace stay";
  text.append("\nresults: those of processors with");
  text.append(family() == target_family::fused ? "" : "out").append(" fused multiply-add (");
  return text.append(target_name()).append(")\n");
}

void refuse_pass(std::string_view name, array_view<pass> pipeline) {
  std::string text = "explain: there is no pass " + std::string(name) + ", but";
  for (const pass& p : pipeline) text.append(" ").append(p.name);
  detail::raise(text);
}

}  // namespace weft::detail
