#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "kernels/cast-inl.h"
#include "kernels/elementwise_driver.hpp"
#include "kernels/export-inl.h"
#include "kernels/philox-inl.h"
#include "kernels/transpose-inl.h"
#include "weft/kernels/hwy-inl.h"
#include "weft/kernels/kernels.hpp"
#include "weft/kernels/math-inl.h"
#include "weft/kernels/vector_ops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace weft::kernels::HWY_NAMESPACE {

// For a result and a first operand of these types.
using find_loop = elementwise_loop (*)(op kind, dtype to, dtype from);
// In the file of frequent operations: their loops, and the kernel with what a function finds.
elementwise_loop frequent_loop(op kind, dtype to, dtype from);
void elementwise_with(const call& c, find_loop find);

namespace {

// Vectors have as many lanes as one of floats; where all elements are booleans, as one of bytes.
using boolean = std::uint8_t;
using booleans = hn::ScalableTag<boolean>;

// The vector to store: a mask becomes booleans.
template <class T, class D, class V>
HWY_INLINE hn::Vec<hn::Rebind<T, D>> to_store(D d, V v) {
  if constexpr (std::is_same_v<V, hn::Vec<hn::Rebind<T, D>>>)
    return v;
  else if constexpr (std::is_same_v<D, booleans>)
    return hn::IfThenElseZero(v, hn::Set(d, 1));
  else
    return bytes_of(d, v);
}

// Loads and stores of n lanes, or of full vectors.
template <class D, class T>
HWY_INLINE auto load(D, const T* p) {
  return hn::LoadU(hn::Rebind<T, D>(), p);
}
template <class D, class T>
HWY_INLINE auto load(D, const T* p, std::size_t n) {
  return load_n(hn::Rebind<T, D>(), p, n);
}
template <class D, class V, class T>
HWY_INLINE void store(D d, V v, T* p) {
  hn::StoreU(to_store<T>(d, v), hn::Rebind<T, D>(), p);
}
template <class D, class V, class T>
HWY_INLINE void store(D d, V v, T* p, std::size_t n) {
  store_n(to_store<T>(d, v), hn::Rebind<T, D>(), p, n);
}

template <class F>
concept is_long_latency = requires {
  F::unroll;
};
template <class F>
constexpr std::size_t vectors_at_once() {
  if constexpr (is_long_latency<F> && !has_32_registers) return F::unroll;
  return 4;  // with one, the loop itself would cost as much as a short function
}

// Applies F to `vectors` vectors.
template <class F, std::size_t vectors, class D, class R, class... A>
HWY_INLINE void map_vectors(D d, R* to, const A*... from) {
  const std::size_t lanes = hn::Lanes(d);
  if constexpr (vectors > 1 && std::is_base_of_v<of_vec_arrays, F>) {
    using array = vec_array<D, vectors>;
    const auto loaded = [&](const auto* p) HWY_ATTR {
      return array::of([&](int j)
                           HWY_ATTR { return load(d, p + static_cast<std::size_t>(j) * lanes); });
    };
    array y = F()(d, loaded(from)...);
    y.map_indexed([&](auto v, int j) HWY_ATTR {
      store(d, v, to + static_cast<std::size_t>(j) * lanes);
      return v;
    });
  } else {
    store(d, F()(d, load(d, from)...), to);
    if constexpr (vectors > 1) map_vectors<F, vectors - 1>(d, to + lanes, from + lanes...);
  }
}

template <class F, class R, class... A>
HWY_INLINE void map(std::size_t n, R* to, const A*... from) {
  constexpr bool of_booleans = (std::is_same_v<R, boolean> && ... && std::is_same_v<A, boolean>);
  const std::conditional_t<of_booleans, booleans, floats> d;
  const std::size_t lanes = hn::Lanes(d);
  constexpr std::size_t at_once = vectors_at_once<F>();
  const std::size_t groups = n - n % (at_once * lanes), vectors = n - n % lanes;
  std::size_t i = 0;
  if constexpr (at_once > 1)
    for (; i < groups; i += at_once * lanes) map_vectors<F, at_once>(d, to + i, (from + i)...);
  for (; i < vectors; i += lanes) map_vectors<F, 1>(d, to + i, (from + i)...);
  if (i < n) store(d, F()(d, load(d, from + i, n - i)...), to + i, n - i);
}

// Calls f(to, from...) for each row of an elementwise_loop, with as many inputs as there are
// indices.
template <std::size_t... I, class F>
HWY_INLINE void for_rows(std::ptrdiff_t rows, void* to_first, const void* const* from_first,
                         const std::ptrdiff_t* step, std::index_sequence<I...>, F f) {
  const std::byte* from[]{static_cast<const std::byte*>(from_first[I])...};
  auto* to = static_cast<std::byte*>(to_first);
  for (;;) {
    f(to, from[I]...);
    if (--rows == 0) return;
    to += step[0];
    ((from[I] += step[1 + I]), ...);
  }
}

// Calls f(to, from...) in each row at elements begin, begin + next, … before end, in one loop.
template <class R, class... A, std::size_t... I, class F>
HWY_INLINE void for_each_group(std::ptrdiff_t rows, std::size_t begin, std::size_t end,
                               std::size_t next, void* to_first, const void* const* from_first,
                               const std::ptrdiff_t* step, std::index_sequence<I...>, F f) {
  if (begin == end) return;
  const std::byte* from[]{static_cast<const std::byte*>(from_first[I])...};
  auto* to = static_cast<std::byte*>(to_first);
  for (std::size_t i = begin;;) {
    f(reinterpret_cast<R*>(to) + i, (reinterpret_cast<const A*>(from[I]) + i)...);
    i += next;
    if (i < end) continue;
    if (--rows == 0) return;
    i = begin;
    to += step[0];
    ((from[I] += step[1 + I]), ...);
  }
}

// map_vectors for for_each_group. Not a lambda, as g++ would not inline those of long functions.
template <class F, std::size_t vectors>
struct vectors_of {
  template <class R, class... A>
  HWY_INLINE void operator()(R* to, const A*... from) const {
    map_vectors<F, vectors>(floats(), to, from...);
  }
};

// `map` of all rows, with each of its loops over all rows at once: g++ would reload the constants
// of a long function in each row.
template <class F, class R, class... A>
HWY_INLINE void map_rows(std::ptrdiff_t rows, std::size_t n, void* to, const void* const* from,
                         const std::ptrdiff_t* step) {
  const floats d;
  const std::size_t lanes = hn::Lanes(d), groups = n - n % (4 * lanes), vectors = n - n % lanes;
  const std::size_t left = n - vectors;
  const auto inputs = std::index_sequence_for<A...>();
  for_each_group<R, A...>(rows, 0, groups, 4 * lanes, to, from, step, inputs, vectors_of<F, 4>());
  for_each_group<R, A...>(rows, groups, vectors, lanes, to, from, step, inputs, vectors_of<F, 1>());
  for_each_group<R, A...>(rows, vectors, n, left, to, from, step, inputs,
                          [=](R* y, const A*... x)
                              HWY_ATTR { store(d, F()(d, load(d, x, left)...), y, left); });
}

// R = F(A...), as the loop that run_elementwise takes.
template <class F, class R, class... A>
void loop(std::ptrdiff_t rows, std::size_t n, void* to, const void* const* from,
          const std::ptrdiff_t* step, const dropout_state&) {
  if constexpr (is_long_latency<F> && has_32_registers && masks_memory<R>())
    map_rows<F, R, A...>(rows, n, to, from, step);
  else
    for_rows(rows, to, from, step, std::index_sequence_for<A...>(),
             [n](std::byte* result, auto*... inputs) HWY_ATTR {
               map<F>(n, reinterpret_cast<R*>(result), reinterpret_cast<const A*>(inputs)...);
             });
}

using std::int32_t;

// For one row of at most as many elements as are staged: element ids are not in memory, so a
// dropout is always staged.
[[maybe_unused]] void dropout_loop(std::ptrdiff_t, std::size_t n, void* to, const void* const* from,
                                   const std::ptrdiff_t*, const dropout_state& d) {
  const auto* x = static_cast<const float*>(from[0]);
  auto* y = static_cast<float*>(to);
  alignas(64) std::uint32_t buffer[random_words_capacity(staged_elements)];
  const auto* numbers = static_cast<const std::uint32_t*>(from[1]);  // of two consecutive elements
  const std::uint32_t* words =
      random_words(d.schedule, numbers[0], n < 2 ? 1 : numbers[1] - numbers[0], n, buffer);
  const floats df;
  const hn::RebindToUnsigned<floats> dw;
  const auto scale = hn::Set(df, kept_scale(d.threshold));
  const auto keep = [=](hn::Vec<floats> v, hn::Vec<decltype(dw)> word)
                        HWY_ATTR { return drop(df, word, d.threshold, hn::Mul(v, scale)); };
  const std::size_t lanes = hn::Lanes(df);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(keep(hn::LoadU(df, x + i), hn::LoadU(dw, words + i)), df, y + i);
  if (i < n)
    store_n(keep(load_n(df, x + i, n - i), load_n(dw, words + i, n - i)), df, y + i, n - i);
}

#if !WEFT_RARE
template <class T>
void fill_rows(std::ptrdiff_t rows, std::ptrdiff_t n, std::byte* to, std::ptrdiff_t pitch,
               const std::byte* from, std::ptrdiff_t step) {
  const hn::CappedTag<T, overrun / sizeof(T)> d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  // Vectors per iteration. The tail is stored first, by vectors clamped to end where the row does.
  constexpr auto at_once =
      static_cast<std::ptrdiff_t>(std::max<std::size_t>(32 / hn::MaxLanes(d), 2));
  const std::ptrdiff_t groups =
      std::max<std::ptrdiff_t>(n - 1, 0) / (at_once * lanes) * (at_once * lanes);
  const std::ptrdiff_t last = std::max<std::ptrdiff_t>(n - lanes, 0);
  for (; rows > 0; --rows, to += pitch, from += step) {
    T value;
    std::memcpy(&value, from, sizeof value);
    const auto v = hn::Set(d, value);
    auto* p = reinterpret_cast<T*>(to);
    for (std::ptrdiff_t j = 0; j < at_once; ++j)
      hn::StoreU(v, d, p + std::min(groups + j * lanes, last));
    for (const T* const end = p + groups; p < end; p += at_once * lanes)
      for (std::ptrdiff_t j = 0; j < at_once; ++j) hn::StoreU(v, d, p + j * lanes);
  }
}

void fill(dtype type, std::ptrdiff_t rows, std::ptrdiff_t n, std::byte* to, std::ptrdiff_t pitch,
          const std::byte* from, std::ptrdiff_t step) {
  if (bytes(type) == 1) return fill_rows<boolean>(rows, n, to, pitch, from, step);
  if (bytes(type) == 2) return fill_rows<half>(rows, n, to, pitch, from, step);
  fill_rows<int32_t>(rows, n, to, pitch, from, step);
}
#endif

// Calls f(T()) with the type of elements.
template <class F>
elementwise_loop with_type(dtype type, F f) {
  switch (type) {
    case dtype::float32:
      return f(float());
    case dtype::int32:
      return f(int32_t());
    case dtype::boolean:
      return f(boolean());
    case dtype::bfloat16:
      break;
  }
  return f(half());
}
[[maybe_unused]] elementwise_loop copy_loop(dtype type) {
  return with_type(type, []<class T>(T) { return &loop<vector_op<op::copy>, T, T>; });
}
[[maybe_unused]] elementwise_loop where_loop(dtype type) {
  return with_type(type, []<class T>(T) { return &loop<vector_op<op::where>, T, boolean, T, T>; });
}
[[maybe_unused]] elementwise_loop cast_loop(dtype to, dtype from) {
  return with_type(to, [from]<class R>(R) {
    return with_type(from, []<class A>(A) {
      using f = std::conditional_t<std::is_same_v<R, A>, vector_op<op::copy>, conversion<R, A>>;
      return &loop<f, R, A>;
    });
  });
}

// F(A...) for as many operands, all of type A.
template <class F, int operands, class R, class A>
constexpr elementwise_loop loop_over() {
  if constexpr (operands == 1)
    return &loop<F, R, A>;
  else
    return &loop<F, R, A, A>;
}

// The loop of operation K for a result and a first operand of these types.
template <op K>
elementwise_loop loop_of(dtype to, dtype from) {
  using f = vector_op<K>;
  constexpr element_types types = info(K).types;
  constexpr int operands = operands_of_elementwise(K);
  if constexpr (has_flag(K, op_flag::rare) != WEFT_RARE) {
    return WEFT_RARE ? frequent_loop(K, to, from) : nullptr;
  } else if constexpr (K == op::where) {
    return where_loop(to);
  } else if constexpr (K == op::cast) {
    return cast_loop(to, from);
  } else if constexpr (K == op::dropout) {
    return &dropout_loop;
  } else if constexpr (types == element_types::same) {
    return copy_loop(to);
  } else if constexpr (types == element_types::booleans) {
    return loop_over<f, operands, boolean, boolean>();
  } else if constexpr (types == element_types::comparison || types == element_types::equality) {
    if constexpr (types == element_types::equality)
      if (from == dtype::boolean) return loop_over<f, operands, boolean, boolean>();
    return from == dtype::int32 ? loop_over<f, operands, boolean, int32_t>()
                                : loop_over<f, operands, boolean, float>();
  } else {
    static_assert(types == element_types::floats || types == element_types::numbers,
                  "kernels: an operation of mixed element types has no loop in elementwise.cpp");
    if constexpr (types == element_types::numbers)
      if (to == dtype::int32) return loop_over<f, operands, int32_t, int32_t>();
    return loop_over<f, operands, float, float>();
  }
}
constexpr auto loops_of_operations =
    table_of_operations([]<op K>() -> elementwise_loop (*)(dtype, dtype) {
      if constexpr (K == op::cast || K == op::dropout || (is_elementwise(K) && has_vector_op<K>))
        return &loop_of<K>;
      else
        return nullptr;
    });

elementwise_loop loop_of(op kind, dtype to, dtype from) {
  return loops_of_operations[kind](to, from);
}

#if !WEFT_RARE

void fused(const call& c, find_loop find) {
  elementwise_loop loops[max_fused_ops];
  for (int l = 0; l < c.fused_count; ++l) {
    const int v = c.fused_ops[l].from[0];
    const dtype from =
        v < max_fused_inputs ? c.operands[v + 1].type : c.fused_ops[v - max_fused_inputs].type;
    loops[l] = find(c.fused_ops[l].kind, c.fused_ops[l].type, from);
  }
  run_fused(c, &fill, loops);
}

// Transposes matrices: copies floats that are contiguous along another loop than the result.
// Returns whether c, a copy, is such a one.
bool copy_transposed(const call& c) {
  const operand &to = c.operands[0], &from = c.operands[1];
  if (to.type != dtype::float32) return false;
  int along = -1, across = -1;  // the loops along the result's rows, and along its columns
  for (int l = 0; l < c.loops; ++l) {
    if (c.extent[l] == 1) continue;
    if (to.stride[l] == 1 && from.stride[l] != 0 && from.stride[l] != 1) along = l;
    if (from.stride[l] == 1 && to.stride[l] != 1) across = l;
  }
  if (along < 0 || across < 0) return false;
  const loop_nest matrices = coalesce(c, 2, ~(1u << along | 1u << across));
  if (matrices.empty() || c.extent[along] == 0) return true;
  // As many rows of the result at a time as a cache line of the source has elements: each line is
  // read once, and written in one go.
  constexpr std::ptrdiff_t at_once = 64 / sizeof(float);
  const item_range rows = range_of(c.extent[across], c.part);
  const std::ptrdiff_t pitch = to.stride[across];
  for_each(matrices, matrices.loops, [&](const std::ptrdiff_t* at) {
    for (std::ptrdiff_t row = rows.begin; row < rows.end; row += at_once) {
      const matrix m{static_cast<const float*>(from.data) + (at[1] + row), from.stride[along], 1,
                     static_cast<std::size_t>(c.extent[along]),
                     static_cast<std::size_t>(std::min(at_once, rows.end - row))};
      transpose(floats(), m, 1, static_cast<float*>(to.data) + (at[0] + row * pitch), pitch);
    }
  });
  return true;
}

}  // namespace

elementwise_loop frequent_loop(op kind, dtype to, dtype from) {
  return loop_of(kind, to, from);
}

void elementwise_with(const call& c, find_loop find) {
  if (c.fused_count > 0) return fused(c, find);
  if (c.kind == op::copy && copy_transposed(c)) return;
  const elementwise_loop f = find(c.kind, c.operands[0].type, c.operands[1].type);
  const void* from[max_operands - 1]{};
  static constexpr dropout_state none{};  // initialized once: that takes as long as a short row
  run_elementwise(c, operands_of_elementwise(c.kind), PTRDIFF_MAX, &fill, from,
                  [=, &from](std::ptrdiff_t rows, std::size_t n, void* to,
                             const std::ptrdiff_t* step) { f(rows, n, to, from, step, none); });
}

namespace {

#endif

void WEFT_PART(elementwise)(const call& c) noexcept {
  elementwise_with(c, &loop_of);
}

}  // namespace
}  // namespace weft::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

WEFT_EXPORT_PART(kernel_function, WEFT_PART(elementwise))
