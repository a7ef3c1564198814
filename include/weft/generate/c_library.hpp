// What weft_add_c_library (CMake) makes the functions of a library in C, and its header, of. The
// file that it makes is compiled with exceptions, of which none leaves a function.
#pragma once
#include "weft/header_begin.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weft/lower/lower.hpp"
#include "weft/run/engine.hpp"
#include "weft/run/error.hpp"
#include "weft/run/memory.hpp"
#include "weft/run/packed.hpp"
#include "weft/run/parameter_block.hpp"

namespace weft::detail {

// The codes of lib/weft-c-library.h.in.
enum class c_code : int { ok, null, argument, weights, memory, busy, failed };

// An error with a code of its own.
struct c_error : error {
  c_code code;
  c_error(c_code c, const std::string& sentence) : error(sentence), code(c) {}
};

// What all objects of one library share.
struct c_library {
  const program* tables;
  packing weights_as;
  array_view<axis_list> state_axes;  // of each state
  // The slots of a run's lengths in the order of first use: `given` of inputs, which the caller
  // gives, then those that only results have, which the run finds.
  int given, lengths;
  std::int16_t slot[max_lengths];

  constexpr int find(const extent_ref& e) const {
    return static_cast<int>(std::find(slot, slot + lengths, e.length - 1) - slot);
  }
  constexpr void add_lengths(const extent_ref* extents, int rank) {
    for (int a = 0; a < rank; ++a)
      if (!extents[a].fixed() && find(extents[a]) == lengths)
        slot[lengths++] = static_cast<std::int16_t>(extents[a].slot());
  }
  constexpr std::size_t packed() const { return packed_size(tables->packed, weights_as.as); }
  // The axes that all states have, such as a batch: one index of these can be reset.
  constexpr axis_list reset_axes() const {
    axis_list common{};
    for (int a = 0; state_axes.size() > 0 && a < state_axes[0].count; ++a) {
      const auto has = [&](const axis_list& s) { return s.contains(state_axes[0].at[a]); };
      if (std::all_of(state_axes.begin(), state_axes.end(), has)) common.push(state_axes[0].at[a]);
    }
    return common;
  }
};

template <class Unit>
inline constexpr auto state_axes = [] {
  static_array<axis_list, static_cast<std::size_t>(Unit::g.state_count)> all;
  for (std::size_t i = 0; i < all.size(); ++i)
    all.at[i] = Unit::g.nodes[Unit::g.states[i].node].axes;
  return all;
}();
template <class Unit>
constexpr c_library c_library_of(precision weights_as) {
  const program& p = lowered<Unit>::program;
  c_library l{&p, weights_as, state_axes<Unit>.view(), 0, 0, {}};
  for (const input_ref& input : p.inputs) l.add_lengths(input.extent, input.rank);
  l.given = l.lengths;
  for (const result_ref& result : p.results) l.add_lengths(result.extent, result.rank);
  return l;
}

// A model of a library, at the start of its memory; workspace and packed weights follow.
class c_model {
 public:
  static constexpr std::size_t bytes(const c_library& l) {
    return align(sizeof(c_model)) + room_to_run(l) + align(l.packed());
  }
  // The workspace of a frozen model.
  static constexpr std::size_t room_to_run(const c_library& l) {
    return align(l.tables->scratch_offset() + l.tables->frozen_scratch(l.weights_as.as));
  }
  // In the caller's memory, with the parameters of a source; null if the model has none.
  static c_model* make_in(std::span<std::byte> memory, const c_library& l,
                          const parameter_source* from) {
    if (memory.data() == nullptr) throw c_error(c_code::null, "the memory for the model is null");
    if (memory.size() < bytes(l) || reinterpret_cast<std::uintptr_t>(memory.data()) % 64 != 0)
      throw c_error(c_code::memory,
                    "the model needs " + std::to_string(bytes(l)) + " bytes, aligned to 64");
    return new (memory.data()) c_model(l, from);
  }
  // In memory of its own, with these parameters or the weights of another model.
  template <class From>
  static c_model* make(const c_library& l, From* from) {
    aligned_bytes memory = allocate(bytes(l));
    auto* const m = new (memory.get()) c_model(l, from);
    m->memory_ = memory.get_deleter();
    return static_cast<void>(memory.release()), m;
  }
  // Ends one, and frees its memory if that is not the caller's.
  static void destroy(c_model& m) {
    m.in_turn([&m] {
      if (m.sharers_.load() != 0)
        throw c_error(c_code::busy, "other models use the weights of this one: destroy them first");
    });
    const free_around memory = m.memory_;
    if (m.first_ != nullptr) m.first_->sharers_.fetch_sub(1);
    m.~c_model();
    *const_cast<const c_library* volatile*>(&m.library_) = nullptr;  // refused from now on
    memory(nullptr);
  }

  // Throws c_error unless m is a model of this library.
  static c_model& checked(c_model* m, const c_library& l) {
    if (m == nullptr) throw c_error(c_code::null, "the model is null: it was not created");
    if (m->library_ != &l)
      throw c_error(c_code::null, "this is no model of this library, or it was destroyed");
    return *m;
  }
  // Calls f, for one thread at a time: throws c_error where another one is in here.
  template <class F>
  void in_turn(F f) {
    if (busy_.exchange(true, std::memory_order_acquire))
      throw c_error(c_code::busy, "another thread uses this model: give each thread its own");
    const struct at_end {
      std::atomic<bool>& busy;
      ~at_end() { busy.store(false, std::memory_order_release); }
    } leave{busy_};
    f();
  }

  void run(const std::size_t* lengths, const void* const* inputs, void* const* results,
           std::size_t* const* found) {
    const program& p = *library_->tables;
    for (std::size_t i = 0; i < p.inputs.size(); ++i)
      arguments_[i] = bound(p.inputs[i], lengths, inputs[i]);
    engine_.bind(arguments_);
    for (std::size_t i = 0; i < p.inputs.size(); ++i)
      if (p.inputs[i].type == dtype::boolean) check_booleans(p.inputs[i], arguments_[i]);
    engine_.run();
    engine_.check_run();
    for (std::size_t i = 0; i < p.results.size(); ++i)
      if (auto* to = static_cast<std::byte*>(results[i]))
        copy(p.results[i], to, engine_.address(p.results[i].at));
    for (int i = library_->given; i < library_->lengths; ++i)
      if (std::size_t* const length = found[i - library_->given])
        *length = engine_.length({0, static_cast<std::int16_t>(library_->slot[i] + 1)});
  }
  void reset() noexcept { engine_.reset(); }
  // At one index of the axis of this number among reset_axes().
  void reset(int number, std::size_t index) {
    const axis_info& axis = *library_->reset_axes().at[number];
    if (index >= axis.extent)
      throw error("reset: index " + std::to_string(index) + " of axis " + std::string(axis.name) +
                  ", which has " + std::to_string(axis.extent));
    for (std::size_t i = 0; i < library_->state_axes.size(); ++i)
      engine_.reset(library_->tables->states[i], library_->state_axes[i].find(&axis), index);
  }

 private:
  std::byte* workspace() { return reinterpret_cast<std::byte*>(this) + align(sizeof(c_model)); }
  c_model(const c_library& l, const parameter_source* from)
      : c_model(l, from ? from->open(*l.tables) : nullptr) {}
  c_model(const c_library& l, const std::unique_ptr<parameter_reader>& from)
      : library_(&l),
        parameters_(*l.tables, from ? read_unpacked(*l.tables, *from, l.weights_as.as, nullptr)
                                    : parameter_memory()),
        packed_(from ? from->packed(l.weights_as.as) : nullptr),
        arguments_(l.tables->inputs.size()),
        engine_(*l.tables, {parameters_.addresses(), nullptr, workspace()}) {
    if (packed_)
      engine_.adopt(packed_.get(), l.weights_as);
    else if (l.packed() > 0)
      engine_.freeze(workspace() + room_to_run(l), l.weights_as, *from);
    engine_.reset();
  }
  c_model(const c_library& l, c_model* first)
      : library_(&l),
        first_(first),
        parameters_(first->parameters_),
        arguments_(l.tables->inputs.size()),
        engine_(*l.tables, {parameters_.addresses(), nullptr, workspace()}) {
    if (first->engine_.is_frozen()) engine_.freeze(first->engine_);
    first->sharers_.fetch_add(1);
  }

  // The argument for an input: contiguous, with the lengths given.
  binding bound(const input_ref& input, const std::size_t* lengths, const void* data) const {
    binding b{.data = data};
    std::size_t size = 1;
    for (auto a = static_cast<std::size_t>(input.rank); a-- > 0;) {
      const extent_ref& e = input.extent[a];
      b.length[a] = e.fixed() ? e.most : lengths[library_->find(e)];
      b.stride[a] = static_cast<std::ptrdiff_t>(size);
      size *= b.length[a];
    }
    if (data == nullptr && size > 0) refuse(input, c_code::null, "is null");
    return b;
  }
  // Of C's type, other values are possible.
  void check_booleans(const input_ref& input, const binding& b) const {
    const auto* const first = static_cast<const unsigned char*>(b.data);
    const auto* const last =
        first + (input.rank > 0 ? b.length[0] * static_cast<std::size_t>(b.stride[0]) : 1);
    if (std::any_of(first, last, [](unsigned char x) { return x > 1; }))
      refuse(input, c_code::argument, "has an element that is neither 0 nor 1");
  }
  [[noreturn]] void refuse(const input_ref& input, c_code code, const char* why) const {
    throw c_error(code,
                  "argument '" + std::string(library_->tables->name(input.name)) + "' " + why);
  }
  // Makes a result contiguous at `to`, from this axis on, and advances `to` past its elements.
  void copy(const result_ref& r, std::byte*& to, const std::byte* from, int axis = 0) const {
    const auto size = static_cast<std::size_t>(weft::bytes(r.at.type));
    const std::size_t n = axis < r.rank ? engine_.length(r.extent[axis]) : 1;
    if (n > 0 && axis + 1 >= r.rank && (n == 1 || r.at.stride[axis] == 1)) {
      std::memcpy(to, from, n * size);
      to += n * size;
      return;
    }
    for (std::size_t i = 0; i < n; ++i)
      copy(r, to, from + static_cast<std::ptrdiff_t>(i * size) * r.at.stride[axis], axis + 1);
  }

  const c_library* library_;
  std::atomic<bool> busy_ = false;
  std::atomic<int> sharers_ = 0;
  c_model* first_ = nullptr;  // whose weights it uses
  free_around memory_;        // its own; null: the caller's
  parameter_block parameters_;
  std::shared_ptr<std::byte[]> packed_;  // what a file has packed
  std::vector<binding> arguments_;
  engine engine_;
};

// Calls f, and returns its code. Errors without a code have `of_errors`; `said` is their text.
template <std::size_t N, class F>
int c_call(char (&said)[N], c_code of_errors, F f) noexcept {
  const auto failed = [&said](c_code code, std::string_view sentence) {
    said[sentence.copy(said, N - 1)] = '\0';
    return static_cast<int>(code);
  };
  try {
    f();
    return static_cast<int>(c_code::ok);
  } catch (const c_error& e) {
    return failed(e.code, e.what());
  } catch (const error& e) {
    return failed(of_errors, e.what());
  } catch (const std::bad_alloc&) {
    return failed(c_code::memory, "there is not enough memory");
  } catch (const std::exception& e) {
    return failed(c_code::failed, e.what());
  } catch (...) {
    return failed(c_code::failed, "an error of unknown kind");
  }
}

// What weft-c-header.cmake writes a library's header of, as marked lines that it finds in an object
// file: so nothing is executed to make it, also where the library is for another machine.
struct c_lines {
  char at[1 << 18]{};
  std::size_t size = 0;
  constexpr c_lines& operator<<(std::string_view s) {
    for (const char c : s)
      if (size < sizeof at) at[size++] = c;
    return *this;
  }
  constexpr c_lines& operator<<(std::uint64_t number) {
    if (number > 9) *this << number / 10;
    return *this << std::string_view("0123456789").substr(number % 10, 1);
  }
  // An input or a result. Of an axis: its name and the length's, 1 + the slot, and bounds.
  constexpr void add(std::string_view kind, std::string_view name, dtype type,
                     const axis_list& axes, const extent_ref* extents) {
    *this << "\nweft_c|" << kind << "|" << name_of_type(type) << "|" << name;
    for (int a = 0; a < axes.count; ++a) {
      const axis_info& of = *axes.at[a]->length_axis();
      *this << "|" << (of.bounded ? kind : "fixed") << "~" << axes.at[a]->name << "~" << of.name
            << "~" << static_cast<std::uint64_t>(extents[a].length) << "~" << of.least << "~"
            << of.extent;
    }
  }
};
template <class Unit>
constexpr c_lines c_lines_of(const c_library& l) {
  const auto& g = Unit::g;
  const program& p = *l.tables;
  c_lines to;
  int i = 0;
  for (const input_ref& r : p.inputs)
    to.add("input", p.name(r.name), r.type, g.nodes[g.inputs[i++].node].axes, r.extent);
  i = 0;
  for (const result_ref& r : p.results)
    to.add("result", p.name(r.name), r.at.type, g.nodes[g.outputs[i++].node].axes, r.extent);
  const axis_list reset = l.reset_axes();
  for (i = 0; i < reset.count; ++i) to << "\nweft_c|reset|" << reset.at[i]->name;
  std::uint64_t hash = p.fingerprint;  // which has no names
  for (const char c : p.text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return to << "\nweft_c|model|" << c_model::bytes(l) << "|" << hash << "\n";
}

}  // namespace weft::detail
#include "weft/header_end.hpp"
