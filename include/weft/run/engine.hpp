// Carries out a program: the one place where lengths, memory and kernels meet. It knows no model;
// the typed faces are weft::module and weft::trainer.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "weft/kernels/kernels.hpp"
#include "weft/lower/program.hpp"
#include "weft/run/memory.hpp"
#include "weft/run/team.hpp"

namespace weft {

// What a caller gives for one input.
struct binding {
  const void* data = nullptr;
  std::array<std::size_t, max_rank> length{};
  std::array<std::ptrdiff_t, max_rank> stride{};  // in elements
};

// The memory of a program's blocks, aligned to 64 bytes; the engine does not own it.
struct memory {
  std::byte* parameters = nullptr;
  std::byte* gradients = nullptr;
  std::byte* workspace = nullptr;
  const std::byte* packed = nullptr;  // parameters as engine::freeze left them, if it did
  precision packed_as = precision::float32;
};

class engine;

// A program's steps as code of their own, for the best SIMD target.
struct program_code {
  void (*run)(const engine&) noexcept = nullptr;
  // Packs parameters, in float32, as `run` reads them.
  void (*pack)(const engine&, std::byte* packed) noexcept = nullptr;
};

class engine {
 public:
  // Where no code is given, the program's tables are followed. Computes what runs find there, for
  // the best SIMD target.
  engine(const program& p, memory m, program_code generated = {})
      : p_(&p), memory_(m), generated_(generated) {
    reset();
    compute_once();
  }

  // The threads that runs go on from now on. Allocates what they work in, so that runs need not.
  void run_on(const executor& threads);

  // Takes the arguments, one for each of the program's inputs, in order. Throws weft::error where a
  // length is wrong, an index lies outside the axis that it picks from, or there is no room for
  // what the run would write; the engine is then as it was before.
  void bind(std::span<const binding> arguments);

  // Takes the elements of all inputs, in order, where every one of them is known to be right: of a
  // program without lengths and indices.
  void bind_checked(std::span<const std::byte* const> elements) noexcept {
    std::copy(elements.begin(), elements.end(), inputs_.begin());
  }

  // What the dropouts of later runs draw from. The same state gives the same masks.
  void draw_from(const kernels::random_state& state) noexcept { random_ = state; }
  // All states become zeros.
  void reset() noexcept;
  // Of one state, the elements with an index along one of its axes do.
  void reset(const state_ref& s, int axis, std::size_t index) noexcept;

  // Runs the steps on the arguments bound last, with the kernels for the best SIMD target. No
  // allocation, no lock, no system call. Generated steps are the calling thread's alone, and read
  // no bfloat16: with parameters in that, the tables are followed.
  void run() noexcept {
    generated_.run != nullptr&& memory_.packed_as == precision::float32 ? generated_.run(*this)
                                                                        : run(kernels::best());
  }
  void run(const kernels::table& kernels) noexcept;
  // One of the program's steps, or a part of its work, on the calling thread, at a place of the
  // loop that it is in.
  void run(const instruction& s, const kernels::table& kernels, std::ptrdiff_t place = 0,
           const kernels::share& part = {}) const noexcept;
  // All of them.
  void run_alone(const kernels::table& kernels) const noexcept;

  // Calls f(begin, end) for the parts of n items, on the threads that runs go on.
  template <class F>
  void in_parts(std::ptrdiff_t n, F f) const noexcept {
    if (!team_ || n < 2) return f(std::ptrdiff_t{0}, n);
    auto const parts = static_cast<int>(std::min<std::ptrdiff_t>(n, team_->size()));
    team_->go(
        1, [=](int) { return parts; },
        [&](int, const kernels::share& part, int) {
          auto const [begin, end] = kernels::items_of(n, part);
          f(begin, end);
        });
  }

  // Packs the parameters that contractions multiply with, for the best SIMD target: the program's
  // packed_bytes in float32, half of them in bfloat16. Runs on that target read them from here, and
  // no longer where the parameters are, until the next freeze.
  void freeze(std::byte* packed, precision as) noexcept;
  // The same of one of the program's steps, as the table kernels want it.
  void pack(const instruction& s, const kernels::table& kernels, std::byte* packed,
            precision as) const noexcept;

  // Where the elements of an operand lie in the run of the arguments bound last, at a place of the
  // loop that its step is in.
  std::byte* address(const operand_ref& r, std::ptrdiff_t place = 0) const noexcept;
  // The run's number of elements.
  std::size_t length(const extent_ref& e) const noexcept { return e.in(lengths_.data()); }

  const memory& blocks() const { return memory_; }
  // The elements of each input.
  const std::byte* const* inputs() const { return inputs_.data(); }
  const program& tables() const { return *p_; }

 private:
  void compute_once() noexcept;
  void find_lengths(std::span<const binding> arguments,
                    std::array<std::size_t, max_lengths>& lengths) const;
  void check_indices(const input_ref& input, const binding& argument, std::size_t most) const;
  void check_writes(std::span<const binding> arguments,
                    const std::array<std::size_t, max_lengths>& lengths) const;
  const std::byte* stage(const input_ref& input, const binding& argument) const noexcept;
  // About how long the step takes on one thread.
  double microseconds(const instruction& s) const noexcept;
  // Decides on the parts of each step in this run. False where one thread has done it all before
  // others could be of help.
  bool share_out() noexcept;
  std::byte* scratch_of(int member) const noexcept;
  void carry_out(const instruction& s, std::ptrdiff_t place, const kernels::table& kernels,
                 const kernels::share& part, std::byte* scratch) const noexcept;
  void call(const instruction& s, std::ptrdiff_t place, const kernels::table& kernels,
            const kernels::share& part, std::byte* scratch) const noexcept;
  void attend(const instruction& s, std::ptrdiff_t place, const kernels::table& kernels,
              const kernels::share& part, std::byte* scratch) const noexcept;

  const program* p_;
  memory memory_;
  program_code generated_;
  kernels::random_state random_;
  std::unique_ptr<team> team_;  // none: the calling thread alone
  aligned_bytes scratch_;       // of the members after the first, whose scratch is in the workspace
  std::vector<int> parts_;      // of each step in this run
  std::array<std::size_t, max_lengths> lengths_{};
  std::array<const std::byte*, max_inputs> inputs_{};
};

}  // namespace weft
