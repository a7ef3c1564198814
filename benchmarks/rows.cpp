// Operations along rows and on each element: 64 rows of 512, which the level-2 cache holds.
#include <cstddef>
#include <string>

#include "benchmarks/cases.hpp"
#include "benchmarks/measure.hpp"
#include "weft/kernels/kernels.hpp"
#include "weft/kernels/scratch.hpp"

namespace bench {
namespace {

constexpr std::ptrdiff_t rows = 64, columns = 512;
constexpr std::size_t elements = rows * columns;

void run(benchmark::State& state, weft::op kind) {
  floats x(elements), y(elements);
  weft::kernels::call call;
  call.kind = kind;
  call.loops = 2;
  call.extent[0] = rows;
  call.extent[1] = columns;
  for (auto* operand : {&call.operands[0], &call.operands[1]}) {
    operand->stride[0] = columns;
    operand->stride[1] = 1;
  }
  call.operands[0].data = y.data();
  call.operands[1].data = x.data();
  if (weft::is_rowwise(kind)) call.over = 0b10;
  if (kind == weft::op::normalize) call.scalar = 1e-5;
  const weft::aligned_bytes scratch = weft::allocate(weft::kernels::scratch_bytes(call));
  call.scratch = scratch.get();

  const weft::kernels::table table = weft::kernels::best();
  const auto kernel = weft::is_rowwise(kind) ? table.rowwise : table.elementwise;
  time_elements(state, elements, [&] { kernel(call); });
}

}  // namespace

void add_rows() {
  using weft::op;
  for (const op kind : {op::softmax, op::normalize, op::gelu, op::gelu_tanh, op::exp})
    benchmark::RegisterBenchmark(("rows/" + std::string(name_of(kind))).c_str(), run, kind);
}

}  // namespace bench
