// A kernel call, with memory for its operands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "benchmarks/operand_memory.hpp"
#include "weft/kernels/kernels.hpp"
#include "weft/kernels/scratch.hpp"

namespace bench {

struct sheet {
  std::ptrdiff_t rows, columns;
};

// The layout of an operand.
enum class layout {
  full,         // row-major, contiguous
  padded,       // row-major, with padding after each row
  transposed,   // column-major
  every_other,  // row-major with stride 2
  by_row,       // one element per row
  by_column,
  single,
  absent
};

struct operand_of {
  operand_of(layout how, weft::dtype what = weft::dtype::float32, std::int32_t below = 0)
      : lies(how), type(what), index_below(below) {}

  layout lies;
  weft::dtype type;
  std::int32_t index_below;  // int32: in [0, index_below); 0: any
};

// Copies share the memory.
class kernel_call : public weft::kernels::owning_call<> {
 public:
  // With loops over rows and columns.
  kernel_call(weft::op what, sheet s, const std::vector<operand_of>& all) {
    kind = what;
    loops = 2;
    extent[0] = s.rows;
    extent[1] = s.columns;
    for (int at = 0; const operand_of& o : all) {
      constexpr std::ptrdiff_t room = 16;
      weft::kernels::operand& to = operands[at++];
      to.type = o.type;
      switch (o.lies) {
        case layout::full:
          lay(to, s.columns, 1, s, o);
          break;
        case layout::padded:
          lay(to, s.columns + room, 1, s, o);
          break;
        case layout::transposed:
          lay(to, 1, s.rows, s, o);
          break;
        case layout::every_other:
          lay(to, 2 * s.columns, 2, s, o);
          break;
        case layout::by_row:
          lay(to, 1, 0, s, o);
          break;
        case layout::by_column:
          lay(to, 0, 1, s, o);
          break;
        case layout::single:
          lay(to, 0, 0, s, o);
          break;
        case layout::absent:
          break;
      }
    }
  }

  kernel_call& along(unsigned loops_of_rows) {
    over = loops_of_rows;
    return with_scratch();
  }
  kernel_call& with_scratch() {
    if (const std::size_t bytes = weft::kernels::scratch_bytes(*this); bytes > 0)
      scratch = memory_.take(bytes);
    return *this;
  }
  kernel_call& with_links(std::vector<weft::kernels::fused_op> chain) {
    chain_ = std::make_shared<const std::vector<weft::kernels::fused_op>>(std::move(chain));
    fused_ops = chain_->data();
    fused_count = static_cast<int>(chain_->size());
    return *this;
  }

  // Allocates and fills an operand with these strides, with `more` additional elements after the
  // last.
  void lay(weft::kernels::operand& o, std::ptrdiff_t row, std::ptrdiff_t column, sheet s,
           const operand_of& what, std::ptrdiff_t more = 0) {
    o.stride[0] = row;
    o.stride[1] = column;
    const auto count = static_cast<std::size_t>((s.rows - 1) * row + (s.columns - 1) * column + 1);
    o.data = memory_.take((count + static_cast<std::size_t>(more)) *
                          static_cast<std::size_t>(bytes(o.type)));
    fill(o, count, what.index_below);
  }

 private:
  // In (0.1, 4), so that every function is defined; negative values result from the operations.
  static void fill(const weft::kernels::operand& o, std::size_t count, std::int32_t below) {
    std::minstd_rand bits(static_cast<unsigned>(count));
    for (std::size_t i = 0; i < count; ++i) {
      const auto any = static_cast<std::int32_t>(bits() >> 8);
      switch (o.type) {
        case weft::dtype::float32:
          static_cast<float*>(o.data)[i] = std::uniform_real_distribution<float>(0.1f, 4)(bits);
          break;
        case weft::dtype::int32:
          static_cast<std::int32_t*>(o.data)[i] = below > 0 ? any % below : any;
          break;
        case weft::dtype::boolean:
          static_cast<bool*>(o.data)[i] = any % 2 == 1;
          break;
        case weft::dtype::bfloat16:
          static_cast<std::uint16_t*>(o.data)[i] = static_cast<std::uint16_t>(0x3f80 + any % 128);
          break;
      }
    }
  }

  operand_memory memory_;
  std::shared_ptr<const std::vector<weft::kernels::fused_op>> chain_;
};

}  // namespace bench
