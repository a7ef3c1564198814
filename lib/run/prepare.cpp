// For threads that must not wait: what the first runs would cost more, done before them; and
// weights that are exchanged between runs.
#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "run/step_list.hpp"
#include "weft/run/engine.hpp"
#include "weft/run/error.hpp"
#include "weft/run/packed.hpp"

namespace weft {

void engine::load_weights(const memory& of) const {
  if (of.packed != nullptr)
    load_pages({of.packed, detail::size_of_packed(*p_, of.packed, of.weights_as)}, locks_);
  for (std::size_t i = 0; i < p_->parameters.size(); ++i) {
    const parameter_ref& p = p_->parameters[i];
    // Generated code may read one in place that is packed, too.
    const bool is_read = of.packed == nullptr || generated_.of != nullptr ||
                         detail::reads_floats(*p_, i, of.packed, of.weights_as);
    if (is_read && of.parameters[i] != nullptr)
      load_pages({of.parameters[i], p.size * sizeof(float)}, locks_);
  }
}

void engine::prepare(bool locks) {
  allocate_scratch(width());
  std::size_t most = 0;
  for (const input_ref& input : p_->inputs) {
    auto size = static_cast<std::size_t>(bytes(input.type));
    for (int a = 0; a < input.rank; ++a) size *= input.extent[a].most;
    most = std::max(most, size);
  }
  const aligned_bytes zeros = allocate(most);
  const auto lengths = lengths_;
  const auto inputs = inputs_;
  const std::span workspace(memory_.workspace,
                            p_->scratch_offset() + (memory_.has_scratch ? scratch_size_ : 0));
  const std::vector<std::byte> before(workspace.begin(), workspace.end());

  for (std::size_t i = 0; i < p_->lengths.size(); ++i) lengths_[i] = p_->lengths[i].most;
  std::ranges::fill(inputs_, zeros.get());
  bind_calls();
  locks_ = locks;
  load_weights(memory_);
  load_pages(workspace, locks);
  std::ranges::fill(own_scratch_, std::byte{0});
  load_pages(own_scratch_, locks);
  for (int i = 0; i < 3; ++i) {
    std::ranges::fill(workspace.first(p_->state_bytes), std::byte{0});
    run();
  }
  std::ranges::copy(before, workspace.begin());  // writes to every page
  outside_ = outside_in_all_runs_;
  lengths_ = lengths;
  inputs_ = inputs;
  bind_calls();
}

void engine::exchange(const engine& from, weight_set next, weight_set before) {
  const memory &theirs = from.weights(), &ours = weights();
  if ((theirs.packed == nullptr) != (ours.packed == nullptr) ||
      theirs.weights_as != ours.weights_as)
    detail::raise(
        "exchange: one of the two modules is frozen and the other is not, or in another precision; "
        "freeze both in the same one");
  if (ours.packed != nullptr) check_packing(from);
  next.of = ours;
  next.of.parameters = next.parameters.addresses();
  next.of.packed = theirs.packed;
  load_weights(next.of);
  if (sets_.empty()) {
    before.of = memory_;
    sets_.push_back(std::make_unique<weight_set>(std::move(before)));
  }
  exchanged();
  sets_.push_back(std::make_unique<weight_set>(std::move(next)));
  offered_.store(sets_.back().get(), std::memory_order_release);
}

bool engine::exchanged() noexcept {
  if (sets_.empty()) return true;
  const weight_set* const taken = taken_.load(std::memory_order_acquire);
  const auto at = std::ranges::find(sets_, taken, &std::unique_ptr<weight_set>::get);
  if (at != sets_.end()) sets_.erase(sets_.begin(), at);
  return taken == sets_.back().get();
}

void engine::take(const weight_set& w) noexcept {
  memory_.parameters = w.of.parameters;
  memory_.packed = w.of.packed;
  bind_calls();
  taken_.store(&w, std::memory_order_release);
}

void engine::settle_weights() noexcept {
  take_weights();
  sets_.clear();
  taken_ = nullptr;
  offered_ = nullptr;
}

}  // namespace weft
