// Executes a program: the one place where lengths, memory and kernels meet. It knows no model; the
// typed interfaces are weft::module and weft::trainer.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weft/kernels/kernels.hpp"
#include "weft/lower/program.hpp"
#include "weft/run/memory.hpp"
#include "weft/run/parameter_block.hpp"
#include "weft/run/recording.hpp"
#include "weft/run/rounding.hpp"
#include "weft/run/step.hpp"
#include "weft/run/team.hpp"
#include "weft/weights/stored.hpp"

namespace weft {

// The argument for one input: its address, and the length and stride of each of its axes.
struct binding {
  const void* data = nullptr;
  std::array<std::size_t, max_rank> length{};
  std::array<std::ptrdiff_t, max_rank> stride{};  // in elements
};

// The memory of a program, which the engine does not own: the address of each parameter, with any
// alignment, and regions aligned to 64 bytes. The states, at the start of the workspace, are those
// of the first run.
struct memory {
  std::byte* const* parameters = nullptr;
  std::byte* gradients = nullptr;
  std::byte* workspace = nullptr;
  const std::byte* packed = nullptr;  // parameters packed by engine::freeze; null: not frozen
  precision weights_as = precision::float32;
  stored_type stored{};                 // on the SIMD target that packed them; see place_of
  kernels::kernel_entry dot = nullptr;  // see packing
  // Whether the workspace has the scratch of the calling thread at its end. If not, the engine
  // allocates it, and less when it is frozen.
  bool has_scratch = true;
};

struct mixed_precision;  // see weft/run/mixed.hpp

// How weights are packed, and the kernel of contractions that reads them: null is the program's. A
// program links that of blocks only where it asks for such a precision.
struct packing {
  precision as = precision::float32;
  kernels::kernel_entry dot = nullptr;
  // As precision::stored, those of each parameter, which outlive this; null, or `other`: as the
  // source has it.
  const stored_type* types = nullptr;

  constexpr packing() = default;
  constexpr packing(precision p, kernels::kernel_entry read_by) : as(p), dot(read_by) {}
  constexpr packing(precision p)
      : packing(p, p > precision::bfloat16_products ? &kernels::dot_kernel : nullptr) {}
  template <class Types>
  requires requires(const Types& all) { all.data(); }
  constexpr packing(const Types& all) : packing(precision::stored) { types = all.data(); }
};

namespace detail {
struct packed_place;
}

// Weights of an engine, and what keeps them.
struct weight_set {
  parameter_block parameters;
  std::shared_ptr<std::byte[]> packed;
  memory of;  // their addresses
};

class engine {
 public:
  // Instructions run by the program's kernels, for the best SIMD target, or by their generated
  // steps. Executes the loop-invariant ones, whose results all runs read.
  explicit engine(const program& p, memory m, generated_steps generated = {});
  ~engine();
  // Runs until the next freeze use these kernels, instead of the program's and of generated steps.
  void use_kernels(const kernels::table& kernels) noexcept;

  // Marks the engine as used while it lives. Throws weft::error where it is used already, as by
  // another thread.
  class use {
   public:
    explicit use(engine& e) : used_(e.used_) {
      if (used_.exchange(true, std::memory_order_acquire)) refuse_second_use();
    }
    ~use() { used_.store(false, std::memory_order_release); }
    use(const use&) = delete;
    use& operator=(const use&) = delete;

   private:
    [[noreturn]] static void refuse_second_use() WEFT_NONBLOCKING;
    std::atomic<bool>& used_;
  };

  // Sets the threads of later runs, and allocates their scratch, so that runs allocate nothing.
  void run_on(const executor& threads);

  // Records later runs in r, as long as another owner keeps it alive. Throws weft::error if one is
  // recorded already.
  void record(const std::shared_ptr<recording>& r);
  // Null: runs are not recorded.
  std::shared_ptr<recording> recorded() const noexcept { return recording_.lock(); }

  // Binds the arguments, one for each of the program's inputs, in order. Throws weft::error where a
  // length is wrong, an index lies outside the axis that it indexes, or a write has no room; the
  // engine is then unchanged.
  void bind(std::span<const binding> arguments) WEFT_NONBLOCKING;

  // Throws weft::error where the last run has used an index that lies outside of its axis.
  void check_run() {
    if (outside_.load(std::memory_order_relaxed) != 0) refuse_outside();
  }
  // Records whether an instruction's computed indices lie outside; its operands are computed.
  void check_computed(const instruction& s, std::ptrdiff_t place = 0) const noexcept;

  // Throws weft::error where the loss of the last run is not finite and an axis had length 0.
  void check_loss(float loss) const;

  // Binds the data pointers of all inputs, in order, without checks: for a program without runtime
  // lengths, indices and writes, whose arguments have the planned strides.
  void bind_checked(std::span<const std::byte* const> elements) noexcept {
    std::copy(elements.begin(), elements.end(), inputs_.begin());
    bind_inputs();
  }

  // The random state of later runs' dropout masks. The same state gives the same masks.
  void draw_from(const kernels::random_state& state) noexcept WEFT_NONBLOCKING;
  // Sets all states to zeros.
  void reset() noexcept WEFT_NONBLOCKING;
  // Sets to zeros the slice of one state at an index of one of its axes.
  void reset(const state_ref& s, int axis, std::size_t index) noexcept WEFT_NONBLOCKING;

  // Binds the arguments by bind(), runs, and checks the run, as one use. Returns
  // whether these have thrown, and why.
  template <class F>
  bool try_run(F& bind, std::string& why) {
    return try_run([](void* with) { (*static_cast<F*>(with))(); }, std::addressof(bind), why);
  }
  bool try_run(void (*bind)(void*), void* with, std::string& why);

  // Executes the instructions on the arguments bound last. No allocation, no lock, no system call.
  void run() noexcept WEFT_NONBLOCKING;
  // The same, and calls done(i) after each execution of instruction i, by the thread that did the
  // last of its work, while no other instruction is executed.
  void run(const std::function<void(int)>& done) noexcept;
  // Executes instruction i, or a partition of its work, on the calling thread; `place` is the index
  // of the enclosing loop's iteration.
  void run(int i, std::ptrdiff_t place, const kernels::partition& part) const noexcept {
    execute(i, place, part, 0);
  }
  // The call of instruction i, whose operands `own` has room for: at least kernels::max_operands.
  kernels::call call_of(int i, std::ptrdiff_t place, kernels::operand* own) const noexcept;

  // Calls f(begin, end) for disjoint ranges that cover n items, on the threads of run_on.
  template <class F>
  void in_parts(std::ptrdiff_t n, F f) const noexcept {
    if (!team_ || n < 2) return f(std::ptrdiff_t{0}, n);
    const auto parts = static_cast<int>(std::min<std::ptrdiff_t>(n, team_->size()));
    team_->run(
        1, [=](int) { return parts; },
        [&](int, const kernels::partition& part, int) {
          const auto [begin, end] = kernels::range_of(n, part);
          f(begin, end);
        });
  }

  // Packs the parameters that are the rhs of contractions, and tables, for the best SIMD target, on
  // the threads of run_on: packed_size(program::packed, as) bytes. Runs on that target read the
  // packed copies instead of the parameters, until the next freeze.
  void freeze(std::byte* packed, packing as);
  // The same, where the addresses of parameters that are only packed are null: these are read from
  // the source, a part at a time. Throws weft::error where they cannot be read.
  void freeze(std::byte* packed, packing as, const parameter_reader& from);
  // How many bytes these pack; null: from memory.
  std::size_t packed_bytes(packing as, const parameter_reader* from) const;
  // Later runs read what is packed already, for this program and the best SIMD target. Frees the
  // scratch that only packing needs; the first of the functions above does not, so that a module
  // that is frozen again allocates nothing.
  void adopt(const std::byte* packed, packing as);
  // Later runs read what another engine has packed, which must outlive this one. Throws weft::error
  // where it is not frozen, or has other parameters or packs them otherwise.
  void freeze(const engine& frozen);

  // The address of an operand in the run of the arguments bound last, at iteration `place` of the
  // loop that encloses its instruction.
  std::byte* address(const operand_ref& r,
                     std::ptrdiff_t place = 0) const noexcept WEFT_NONBLOCKING;
  // The length of an extent in this run.
  std::size_t length(const extent_ref& e) const noexcept { return e.in(lengths_.data()); }

  bool is_frozen() const noexcept { return weights().packed != nullptr; }

  // See module::prepare.
  void prepare(bool locks);
  // Gives the next run the weights `next` of another engine, and keeps those `before` until then:
  // see module::exchange.
  void exchange(const engine& from, weight_set next, weight_set before);
  // Whether a run has taken the last ones; frees those before.
  bool exchanged() noexcept;
  // Takes those that are new, at the beginning of a run.
  void take_weights() noexcept {
    const weight_set* const w = offered_.load(std::memory_order_acquire);
    if (w != taken_.load(std::memory_order_relaxed)) take(*w);
  }
  // And frees all others: no other thread may use the engine.
  void settle_weights() noexcept;

  const memory& blocks() const { return memory_; }
  // With the weights that were brought last, taken or not.
  const memory& weights() const noexcept { return sets_.empty() ? memory_ : sets_.back()->of; }
  // The data pointer of each input.
  const std::byte* const* inputs() const { return inputs_.data(); }
  const program& tables() const { return *p_; }

 private:
  void take(const weight_set& w) noexcept WEFT_NONBLOCKING;
  void load_weights(const memory& of) const;
  void check_packing(const engine& other) const;

  // An instruction's function, and its call on the arguments bound last, at iteration 0.
  struct step;
  struct step_list;
  void describe_calls();
  // Chooses the functions of all steps, by how parameters are packed.
  void choose_functions() noexcept;
  bool runs_generated(int i) const noexcept;
  // Fills in what depends on lengths and addresses, in all calls, or on those of inputs alone.
  void bind_calls() noexcept;
  void bind_inputs() noexcept WEFT_NONBLOCKING;
  void bind_packed(kernels::operand& o, const instruction& packed_by) const noexcept;
  void compute_once() noexcept;
  void find_lengths(std::span<const binding> arguments,
                    std::array<std::size_t, max_lengths>& lengths) const;
  void check_indices(const index_check& check, const binding& argument,
                     const std::array<std::size_t, max_lengths>& lengths) const;
  void check_writes(std::span<const binding> arguments,
                    const std::array<std::size_t, max_lengths>& lengths) const;
  [[noreturn]] void refuse_outside() WEFT_NONBLOCKING;
  const std::byte* stage(const input_ref& input, const binding& argument) const noexcept;
  // Estimates the time of an instruction on one thread.
  double microseconds(const instruction& s) const noexcept;
  void pack(const instruction& s, std::byte* packed, precision as,
            std::byte* scratch) const noexcept;
  std::vector<detail::packed_place> places_of(packing as, const parameter_reader* from) const;
  // Rows [first, first + count) of a parameter, as they are stored.
  struct rows_of_parameter {
    const std::byte* data;
    stored_type type = stored_type::float32;  // or that of the blocks as which they are packed
    std::size_t first = 0, count = SIZE_MAX;  // all
  };
  void pack_rows(const instruction& s, const rows_of_parameter& rows, std::byte* packed,
                 precision as, std::byte* scratch) const noexcept;
  // Calls f(scratch) on each of the threads of run_on; the scratch is enough to pack, and the
  // engine's own if that is asked for and enough.
  template <class F>
  void on_threads(bool in_own, F f) const;
  // Chooses the number of partitions of each instruction in this run. Returns false for a run that
  // is too short to gain from threads.
  bool choose_partitions() noexcept;
  // Executes all instructions, on threads where they gain from that. Each thread calls
  // watch.begin() before its part of the first; done(i) as above.
  template <class Watch>
  void run_watched(Watch watch) noexcept;
  template <class Watch>
  void run_serial(Watch watch) const noexcept;
  std::byte* scratch_of(int thread_index) const noexcept;
  // Allocates scratch for `threads` threads, needed_scratch() bytes for each.
  void allocate_scratch(int threads);
  std::size_t needed_scratch() const noexcept {  // of each
    return memory_.packed == nullptr ? p_->scratch_bytes : p_->frozen_scratch(memory_.weights_as);
  }
  int width() const noexcept { return team_ ? team_->size() : 1; }
  void read_packed(const std::byte* packed, packing as);
  void execute(int i, std::ptrdiff_t place, const kernels::partition& part,
               int thread_index) const noexcept;
  void execute_with(const step& s, int i, std::ptrdiff_t place, const kernels::partition& part,
                    int thread_index) const noexcept;

  std::atomic<bool> used_ = false;
  // A computed index that lies outside, beneath 1 + the number of its check; 0: none.
  mutable std::atomic<std::uint64_t> outside_ = 0;
  std::uint64_t outside_in_all_runs_ = 0;  // among the loop-invariant ones
  const program* p_;
  memory memory_;
  generated_steps generated_;
  std::unique_ptr<team> team_;  // null: the calling thread alone
  aligned_bytes scratch_;       // of all threads, but for the first if the workspace has it
  std::size_t scratch_size_;    // of each
  std::span<std::byte> own_scratch_;
  std::vector<int> parts_;  // partitions of each instruction in this run
  std::weak_ptr<recording> recording_;
  std::unique_ptr<step_list> steps_;
  std::array<std::size_t, max_lengths> lengths_{};
  std::vector<const std::byte*> inputs_;

  // Exchanged weights, in their order, owned by the thread that brings them. The one that runs
  // takes the last and never goes back, so those before the taken one are free.
  std::vector<std::unique_ptr<weight_set>> sets_;
  std::atomic<const weight_set*> offered_ = nullptr;  // written by the thread that brings
  std::atomic<const weight_set*> taken_ = nullptr;    // by the one that runs
  bool locks_ = false;                                // the pages of weights
};

}  // namespace weft
#include "weft/header_end.hpp"
