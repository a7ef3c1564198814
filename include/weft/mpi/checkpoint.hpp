// Saves and loads the state of training on ranks. Link weft::mpi.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "weft/files/load.hpp"
#include "weft/mpi/distributed.hpp"

namespace weft {
namespace detail {

template <class Distributed>
class checkpoint {
  Distributed& of_;

 public:
  explicit checkpoint(Distributed& of) : of_(of) {}

  void save(const std::filesystem::path& file, const save_options& options) const {
    // With divided states, rank 0 collects the others' segments in copies.
    const bool divided = of_.sharding_.divides_state, is_first = of_.ranks_.rank() == 0;
    auto whole = states();
    of_.ranks_.attempt(divided && is_first, [&] {
      for (auto& state : whole) state = state.copy();
    });
    if (divided)
      for (const auto& state : whole) of_.exchange_.gather_segments(state.floats(), 0);
    of_.ranks_.attempt(is_first, [&] { detail::save(all(whole), file, options); });
  }

  void load(const std::filesystem::path& file) {
    // Rank 0 reads all states, and the others receive one after another.
    const communicator& ranks = of_.ranks_;
    auto own = states(), read = own;
    ranks.attempt(true, [&] {
      if (ranks.rank() != 0 && !read.empty()) read.erase(read.begin() + 1, read.end());
      for (auto& state : read) state = state.copy();
    });
    std::int64_t steps = 0;
    ranks.attempt(ranks.rank() == 0, [&] {
      auto state = all(read);
      detail::load(state, file);
      steps = state.steps;
    });
    ranks.broadcast(std::as_writable_bytes(std::span(&steps, 1)));
    ranks.broadcast(std::as_writable_bytes(of_.parts_.floats));
    for (std::size_t s = 0; s < own.size(); ++s) {
      const auto whole = read[std::min(s, read.size() - 1)].floats();
      ranks.broadcast(std::as_writable_bytes(whole));
      keep(whole, own[s].floats());
    }
    of_.resume_at(steps);
  }

 private:
  auto states() const {
    std::vector<decltype(of_.parameters())> states;
    for (std::size_t s = 0; s < of_.parts_.state.size(); ++s)
      states.push_back(of_.parts_.optimizer_state(s));
    return states;
  }
  training_state all(const auto& states) const {
    return {of_.parameters(),
            {states.begin(), states.end()},
            std::string(type_name<typename Distributed::optimizer_type>()),
            of_.steps()};
  }
  // Copies what this rank keeps of a state: all but the blocks of other ranks.
  void keep(std::span<const float> whole, std::span<float> own) const {
    std::size_t next = 0;
    const auto copy_to = [&](std::size_t end) {
      std::copy_n(whole.data() + next, end - next, own.data() + next);
      next = end;
    };
    for (std::size_t b = 0; b < of_.parts_.blocks.size(); ++b) {
      const auto& block = of_.parts_.blocks[b];
      copy_to(block.begin);
      if (!of_.sharding_.divides_state || of_.exchange_.owns(b)) copy_to(block.begin + block.size);
      next = block.begin + block.size;
    }
    copy_to(whole.size());
  }
};

}  // namespace detail

// Collective. Rank 0 writes what weft::save of a trainer writes, in one file that is replaced when
// it is complete: any number of ranks, and a weft::trainer, go on from it. Throws rank_error on all
// ranks where it cannot be written.
template <model_like Model, class Batch, class Optimizer, fixed_string Loss>
void save(const distributed<Model, Batch, Optimizer, Loss>& t, const std::filesystem::path& file,
          const save_options& options = {}) {
  detail::checkpoint(t).save(file, options);
}
// Collective. Rank 0 reads the file, and sends its content to all. Throws rank_error on all ranks
// where it cannot be read, or is of another model or type of optimizer.
template <model_like Model, class Batch, class Optimizer, fixed_string Loss>
void load(distributed<Model, Batch, Optimizer, Loss>& t, const std::filesystem::path& file) {
  detail::checkpoint(t).load(file);
}

}  // namespace weft
#include "weft/header_end.hpp"
