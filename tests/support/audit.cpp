#include "support/audit.hpp"

#include <array>
#include <cstring>

#include "weft/run/stages.hpp"

namespace weft::testing {

namespace {

void run_in_parts(const engine& e, int at, std::ptrdiff_t place, int parts) {
  // The last partition first: no partition may depend on another one.
  for (int i = parts; i-- > 0;) e.run(at, place, kernels::partition(i, parts));
}

}  // namespace

auditor::auditor(const graph& g, const program& p)
    : g_(g), p_(p), plan_(new memory_plan(plan(g))), ranges_(g, *plan_) {
  for (int i = 0; i < g.count; ++i)
    if (owns(i)) extra_ = std::max(extra_, align(bytes_at(i)));
}

// Whether node `id` is an intermediate with a buffer of its own in the workspace.
bool auditor::owns(int id) const {
  const layout& l = plan_->of[id];
  return l.root == id && l.where == block::workspace && !g_.nodes[id].fused &&
         l.offset >= plan_->state_bytes;
}

std::size_t auditor::bytes_at(int root) const {
  return weft::detail::memory_of(g_, g_.nodes[root]);
}

// Whether an elementwise or rowwise instruction's result begins at the address of one of its
// operands.
bool auditor::is_in_place(const instruction& s) const {
  if (s.run != kernel::elementwise && s.run != kernel::rowwise) return false;
  const operand_ref* const operands = operands_of(p_, s);
  if (operands->where != block::workspace) return false;
  for (int o = 1; o < s.operands; ++o)
    if (operands[o].where == block::workspace && operands[o].offset == operands->offset)
      return true;
  return false;
}

bool auditor::differs_in_memory_of_its_own(const engine& e, int i, std::ptrdiff_t place,
                                           int parts) const {
  const instruction& s = p_.instructions[i];
  const operand_ref& result = *operands_of(p_, s);
  kernels::operand operands[kernels::max_operands];
  const kernels::call apart = e.call_of(i, place, operands);
  auto* const own = e.blocks().workspace + p_.workspace_bytes;
  operands[0].data = own;
  kernels::dispatch().of(s.run)(apart);
  run_in_parts(e, i, place, parts);
  const auto size = static_cast<std::size_t>(bytes(result.type));
  bool differs = false;
  const auto loop = [&](auto& self, int l, std::ptrdiff_t at) -> void {
    if (l == s.loops) {
      const auto offset = at * static_cast<std::ptrdiff_t>(size);
      differs = differs || std::memcmp(e.address(result, place) + offset, own + offset, size) != 0;
      return;
    }
    for (std::size_t i = 0; i < e.length(s.extent[l]); ++i)
      self(self, l + 1, at + static_cast<std::ptrdiff_t>(i) * result.stride[l]);
  };
  loop(loop, 0, 0);
  return differs;
}

// Fills memory that no instruction from that of `node` on may read.
void auditor::spoil_before(int node, std::vector<char>& spoiled, std::byte* workspace) const {
  for (int i = 0; i < g_.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (spoiled[at] || !owns(i) || ranges_.last[at] >= node) continue;
    spoiled[at] = true;
    std::vector<char> free(bytes_at(i), true);
    const std::size_t begin = plan_->of[i].offset, end = begin + free.size();
    for (int j = 0; j < g_.count; ++j) {
      const auto other = static_cast<std::size_t>(j);
      const bool lives = owns(j) && ranges_.first[other] < node && ranges_.last[other] >= node;
      if (!lives) continue;
      const std::size_t from = std::max(plan_->of[j].offset, begin);
      const std::size_t to = std::min(plan_->of[j].offset + bytes_at(j), end);
      for (std::size_t b = from; b < to; ++b) free[b - begin] = false;
    }
    for (std::size_t b = 0; b < free.size(); ++b)
      if (free[b]) workspace[begin + b] = std::byte{0xff};
  }
}

int auditor::run(const engine& e, int parts) const {
  std::array<std::size_t, max_lengths> lengths{};
  for (std::size_t i = 0; i < p_.lengths.size(); ++i)
    lengths[i] = e.length({p_.lengths[i].most, static_cast<std::int16_t>(i + 1)});
  std::byte* const workspace = e.blocks().workspace;
  std::vector<char> spoiled(static_cast<std::size_t>(g_.count));
  const stages all(p_, lengths.data());
  int differ = 0;
  for (int i = 0, n = all.count(); i < n; ++i) {
    const auto [at, place] = all[i];
    const instruction& s = p_.instructions[static_cast<std::size_t>(at)];
    // What a scan's body reads is needed until the last step of the scan. Carries are initialized,
    // and gradients cleared, before the instruction of their node.
    bool early =
        g_.nodes[s.node].kind == op::carry || operands_of(p_, s)->where == block::gradients;
    for (const loop_ref& l : p_.loops) early = early || (at >= l.first && at < l.last);
    if (!early) spoil_before(s.node, spoiled, workspace);
    if (is_in_place(s))
      differ += differs_in_memory_of_its_own(e, at, place, parts);
    else
      run_in_parts(e, at, place, parts);
  }
  return differ;
}

}  // namespace weft::testing
