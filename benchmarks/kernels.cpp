// The kernels alone, each operation over a few matrix sizes: for comparing compilers and SIMD
// targets.
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/contest.hpp"
#include "benchmarks/kernel_call.hpp"
#include "weft/graph/attributes.hpp"

namespace bench {
namespace {

using enum layout;
using weft::dtype;
using weft::op;
using weft::kernels::fused_op;
using weft::kernels::table;

constexpr double epsilon = 1e-5;
constexpr int words = 50;  // rows of the table in gather and scatter_add
constexpr unsigned rows_loop = 1, columns_loop = 2;

const operand_of whole(full, dtype::int32), truth(full, dtype::boolean);

class case_list {
 public:
  explicit case_list(sheet s) : sheet_(s) {}

  // make() returns a call of the kernel.
  template <class Make>
  void add(void (*table::*kernel)(const weft::kernels::call&) noexcept, const std::string& name,
           Make make) {
    add(name, [=] { return [run = weft::kernels::dispatch().*kernel, c = make()] { run(c); }; });
  }
  // make() returns the function to time.
  template <class Make>
  void add(const std::string& name, Make make) {
    const sheet s = sheet_;
    cases_.push_back(
        {"kernels/" + name + "/" + std::to_string(s.rows) + "," + std::to_string(s.columns), [=] {
           contest c;
           c.elements = static_cast<double>(s.rows * s.columns);
           c.weft = {timed(1, make()), [] { return std::vector<float>(); }};
           return c;
         }});
  }
  void elementwise(const std::string& name, op kind, std::initializer_list<operand_of> operands) {
    add(&table::elementwise, name,
        [s = sheet_, kind, all = std::vector(operands)] { return kernel_call(kind, s, all); });
  }
  void chain(const std::string& name, std::vector<fused_op> fused_ops,
             std::initializer_list<operand_of> operands) {
    add(&table::elementwise, name, [s = sheet_, fused_ops, all = std::vector(operands)] {
      return kernel_call(fused_ops.back().kind, s, all).with_links(fused_ops);
    });
  }
  void reduce(const std::string& name, op kind, unsigned over,
              std::initializer_list<operand_of> operands) {
    add(&table::reduce, name, [s = sheet_, kind, over, all = std::vector(operands)] {
      return kernel_call(kind, s, all).along(over);
    });
  }
  void rowwise(const std::string& name, op kind, std::initializer_list<operand_of> operands,
               unsigned over = columns_loop) {
    add(&table::rowwise, name, [s = sheet_, kind, over, all = std::vector(operands)] {
      kernel_call c(kind, s, all);
      c.scalar = epsilon;
      return c.along(over);
    });
  }

  const sheet& of() const { return sheet_; }
  std::vector<named_contest> cases() && { return std::move(cases_); }

 private:
  sheet sheet_;
  std::vector<named_contest> cases_;
};

std::string text(op kind) {
  return std::string(weft::name_of(kind));
}

void copies_and_casts(case_list& l) {
  l.elementwise("copy", op::copy, {full, full});
  l.elementwise("copy, boolean", op::copy, {truth, truth});
  l.elementwise("copy, padded", op::copy, {padded, padded});
  l.elementwise("copy, transposed", op::copy, {full, transposed});
  l.elementwise("copy, from every other", op::copy, {full, every_other});
  l.elementwise("copy, to every other", op::copy, {every_other, full});
  l.elementwise("spread, row", op::copy, {full, by_column});
  l.elementwise("spread, column", op::copy, {full, by_row});
  l.elementwise("spread, one", op::copy, {full, single});
  l.elementwise("cast, to int32", op::cast, {whole, full});
  l.elementwise("cast, to int32, padded", op::cast, {{padded, dtype::int32}, padded});
  l.elementwise("cast, from int32", op::cast, {full, whole});
  l.elementwise("cast, to boolean", op::cast, {truth, full});
  l.elementwise("cast, from boolean", op::cast, {full, truth});
  l.add(&table::zero, "zero", [s = l.of()] { return kernel_call(op::copy, s, {full}); });
}

void functions(case_list& l) {
  for (const op kind :
       {op::negate, op::exp, op::expm1, op::log, op::log1p, op::sqrt, op::tanh, op::erf, op::sin,
        op::cos, op::round, op::sigmoid, op::relu, op::gelu, op::gelu_tanh})
    l.elementwise(text(kind), kind, {full, full});
  l.elementwise("relu, padded", op::relu, {padded, padded});
  l.elementwise("tanh, padded", op::tanh, {padded, padded});
  l.elementwise("logical_not", op::logical_not, {truth, truth});
}

void arithmetic(case_list& l) {
  for (const op kind : {op::add, op::subtract, op::multiply, op::divide, op::maximum, op::minimum,
                        op::relu_adjoint, op::gelu_adjoint, op::gelu_tanh_adjoint})
    l.elementwise(text(kind), kind, {full, full, full});
  for (const op kind : {op::add, op::multiply, op::maximum})
    l.elementwise(text(kind) + ", int32", kind, {whole, whole, whole});
  for (const op kind : {op::less, op::equal}) {
    l.elementwise(text(kind), kind, {truth, full, full});
    l.elementwise(text(kind) + ", int32", kind, {truth, whole, whole});
  }
  l.elementwise("logical_and", op::logical_and, {truth, truth, truth});
  l.elementwise("add, padded", op::add, {padded, padded, padded});
  l.elementwise("add, transposed", op::add, {full, full, transposed});
  l.elementwise("add, for each column", op::add, {full, full, by_column});
  l.elementwise("multiply, for each row", op::multiply, {full, full, by_row});
  l.elementwise("multiply, by one", op::multiply, {full, full, single});
  l.elementwise("where", op::where, {full, truth, full, full});
  l.elementwise("where, for each column", op::where,
                {full, {by_column, dtype::boolean}, full, single});
  l.elementwise("where, for each row", op::where, {full, {by_row, dtype::boolean}, full, single});
}

// Value v is operand v + 1; link(i) is the result of the fusion group's operation i.
void chains(case_list& l) {
  const auto link = [](int i) { return weft::max_fused_inputs + i; };
  const auto of = [](op kind, int a, int b = 0, int c = 0, std::uint32_t below = 0) {
    const auto narrow = [](int v) { return static_cast<std::int8_t>(v); };
    const bool compares = kind == op::less;
    return fused_op{kind,
                    compares ? dtype::boolean : dtype::float32,
                    {narrow(a), narrow(b), narrow(c)},
                    {7, below}};
  };
  l.chain("sigmoid(a b) a + tanh(a)",
          {of(op::multiply, 0, 1), of(op::sigmoid, link(0)), of(op::multiply, link(1), 0),
           of(op::tanh, 0), of(op::add, link(2), link(3))},
          {full, full, single});
  l.chain("relu(a + bias)", {of(op::add, 0, 1), of(op::relu, link(0))}, {full, full, by_column});
  l.chain("gelu(a + bias) + b", {of(op::add, 0, 1), of(op::gelu, link(0)), of(op::add, link(1), 2)},
          {full, full, by_column, full});
  l.chain("a where a < b", {of(op::less, 0, 1), of(op::where, link(0), 0, 1)},
          {full, full, single});
  // A dropout rate of 0.1; the element ids have strides but no memory.
  constexpr std::uint32_t tenth = (1u << 24) / 10;
  l.add(&table::elementwise, "dropout(a) + b", [s = l.of(), of, link] {
    kernel_call c(op::add, s, {full, full, absent, full});
    c.operands[2].type = dtype::int32;
    c.operands[2].stride[0] = s.columns;
    c.operands[2].stride[1] = 1;
    return c.with_links({of(op::dropout, 0, 1, 0, tenth), of(op::add, link(0), 2)});
  });
}

void reductions(case_list& l) {
  for (const op kind : {op::sum, op::max}) {
    l.reduce(text(kind) + ", rows", kind, columns_loop, {by_row, full});
    l.reduce(text(kind) + ", rows, padded", kind, columns_loop, {by_row, padded});
    l.reduce(text(kind) + ", rows, every other", kind, columns_loop, {by_row, every_other});
    l.reduce(text(kind) + ", columns", kind, rows_loop, {by_column, full});
    l.reduce(text(kind) + ", all", kind, rows_loop | columns_loop, {single, full});
  }
  l.reduce("sum of products, rows", op::sum, columns_loop, {by_row, full, full});
  l.reduce("sum of products, columns", op::sum, rows_loop, {by_column, full, full});
  l.reduce("sum of products, all", op::sum, rows_loop | columns_loop, {single, full, full});
}

void rowwise(case_list& l) {
  l.rowwise("softmax", op::softmax, {full, full});
  l.rowwise("softmax, masked", op::softmax, {full, full, truth});
  l.rowwise("softmax, columns", op::softmax, {full, full}, rows_loop);
  l.rowwise("log_softmax", op::log_softmax, {full, full});
  l.rowwise("softmax_adjoint", op::softmax_adjoint, {full, full, full});
  l.rowwise("softmax_adjoint, columns", op::softmax_adjoint, {full, full, full}, rows_loop);
  l.rowwise("log_softmax_adjoint", op::log_softmax_adjoint, {full, full, full});
  const auto columns = static_cast<std::int32_t>(l.of().columns);
  l.rowwise("log_softmax_adjoint, picked", op::log_softmax_adjoint,
            {full, full, by_row, {by_row, dtype::int32, columns}});
  for (const op kind : {op::normalize, op::rms_normalize}) {
    l.rowwise(text(kind), kind, {full, full});
    l.rowwise(text(kind) + ", gain", kind, {full, full, by_column});
    l.rowwise(text(kind) + ", gain, addend", kind, {full, full, by_column, absent, full});
  }
  l.rowwise("normalize, gain, bias", op::normalize, {full, full, by_column, by_column});
  for (const op kind : {op::normalize_adjoint, op::rms_normalize_adjoint}) {
    l.rowwise(text(kind), kind, {full, full, full});
    l.rowwise(text(kind) + ", gain, addend", kind, {full, full, full, by_column, full});
    l.add(&table::rowwise, text(kind) + ", sums", [s = l.of(), kind] {
      kernel_call c(kind, s, {absent, full, full, by_column});
      const auto in_block = static_cast<std::ptrdiff_t>(weft::rows_per_partial);
      c.axis_extent = (s.rows + in_block - 1) / in_block;
      c.axis_stride = s.rows * s.columns;
      c.lay(c.operands[0], s.columns, 1, s, full, 2 * c.axis_extent * s.columns);
      c.scalar = epsilon;
      return c.along(columns_loop);
    });
  }
}

void by_index(case_list& l) {
  const sheet s = l.of();
  const operand_of picked(by_row, dtype::int32, words), each(full, dtype::int32, words);
  for (const bool adds : {false, true}) {
    const op kind = adds ? op::scatter_add : op::gather;
    const auto kernel = adds ? &table::scatter_add : &table::gather;
    // The table is the result of scatter_add and the source of gather.
    const auto made = [=](const operand_of& indices) {
      return adds ? kernel_call(kind, s, {absent, full, indices})
                  : kernel_call(kind, s, {full, absent, indices});
    };
    const int from = adds ? 0 : 1;
    l.add(kernel, text(kind) + ", rows", [=] {
      kernel_call c = made(picked);
      c.lay(c.operands[from], 0, 1, {1, words * s.columns}, full);
      c.axis_extent = words;
      c.axis_stride = s.columns;
      return c.with_scratch();
    });
    l.add(kernel, text(kind) + ", elements", [=] {
      kernel_call c = made(each);
      c.lay(c.operands[from], 0, 0, {1, 1}, full, words);
      c.axis_extent = words;
      c.axis_stride = 1;
      return c.with_scratch();
    });
  }
  l.add(&table::update_rows, "write", [=] {
    kernel_call c(op::update_rows, s, {absent, full, {single, dtype::int32, 5}});
    c.lay(c.operands[0], s.columns, 1, {2 * s.rows, s.columns}, full);
    c.over = rows_loop;
    c.axis_extent = 2 * s.rows;
    c.axis_stride = s.columns;
    return c;
  });
}

// A row holds the pairs interleaved, or all first elements and then all second ones (half-split).
void rotations(case_list& l) {
  const sheet s = l.of(), pairs{s.rows, s.columns / 2};
  for (const bool interleaved : {false, true}) {
    const std::string how = interleaved ? ", interleaved" : ", apart";
    const auto make = [=](op kind, std::initializer_list<int> rotated,
                          std::initializer_list<operand_of> operands) {
      kernel_call c(kind, pairs, operands);
      for (const int which : rotated) {
        c.lay(c.operands[which], 0, 1, {1, s.rows * s.columns}, full);
        c.operands[which].stride[0] = s.columns;
        c.operands[which].stride[1] = interleaved ? 2 : 1;
      }
      c.axis_stride = interleaved ? 1 : pairs.columns;
      c.axis_extent = s.columns;
      return c.along(columns_loop);
    };
    l.add(&table::rotate, "rotate" + how, [=] {
      return make(op::rotate, {0, 1}, {absent, absent, full, full});
    });
    for (const int sine : {0, 1})
      l.add(&table::rotate_adjoint,
            (sine ? "rotate_adjoint, sine" : "rotate_adjoint, cosine") + how, [=] {
              kernel_call c = make(op::rotate_adjoint, {1, 2}, {full, absent, absent});
              c.axis_extent = 0;
              c.scalar = sine;
              return c;
            });
  }
}

void updates(case_list& l) {
  const auto n = static_cast<std::size_t>(l.of().rows * l.of().columns);
  // The same four buffers for each: parameters, gradients and two optimizer states.
  const auto made = [n] { return std::vector(4, floats(n)); };
  l.add("sgd", [=] {
    const auto at = made();
    weft::kernels::sgd_step step{at[0].data(), at[2].data(), at[1].data(), n};
    step.learning_rate = 1e-3f;
    step.momentum = 0.9f;
    return [at, step, run = weft::kernels::dispatch().sgd] { run(step); };
  });
  l.add("adamw", [=] {
    const auto at = made();
    weft::kernels::adamw_step step{at[0].data(), at[2].data(), at[3].data(), at[1].data(), n};
    step.beta1 = 0.9;
    step.beta2 = 0.999;
    step.step_size = 1e-3f;
    step.epsilon = 1e-8f;
    return [at, step, run = weft::kernels::dispatch().adamw] { run(step); };
  });
  l.add("sum_of_squares", [=] {
    return [x = floats(n, 1), run = weft::kernels::dispatch().sum_of_squares] {
      const volatile double sum = run(x.data(), x.size());
      static_cast<void>(sum);
    };
  });
}

std::vector<named_contest> all() {
  std::vector<named_contest> cases;
  // Three operands of the first size fit in L2, those of the others in L1 with space to spare:
  // where they just fill a cache, the rest of the program's accesses decide. In L2, cheap
  // operations are bound by memory: the same copy takes up to a quarter longer from one start of
  // the program to the next.
  for (const sheet s : {sheet{64, 512}, sheet{4, 512}, sheet{29, 100}, sheet{64, 32}}) {
    case_list l(s);
    copies_and_casts(l);
    functions(l);
    arithmetic(l);
    chains(l);
    reductions(l);
    rowwise(l);
    by_index(l);
    rotations(l);
    updates(l);
    for (named_contest& one : std::move(l).cases()) cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::measure(argc, argv, bench::all());
}
