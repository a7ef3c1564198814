#include "benchmarks/peers/ggml_graph.hpp"

#include <algorithm>
#include <stdexcept>

#include "benchmarks/peers/fastest.hpp"

namespace bench {
namespace {

constexpr std::size_t most_tensors = 256;

ggml_context_ptr new_context() {
  return ggml_context_ptr(
      ggml_init({ggml_tensor_overhead() * most_tensors + ggml_graph_overhead(), nullptr, true}));
}

// `enum` because a function has the same name as the type.
ggml_backend_dev_t device(enum ggml_backend_dev_type type) {
  [[maybe_unused]] static const bool loaded = (ggml_backend_load_all(), true);
  return ggml_backend_dev_by_type(type);
}

ggml_backend_ptr backend_of(enum ggml_backend_dev_type type, int threads) {
  const ggml_backend_dev_t found = device(type);
  ggml_backend_ptr made(found ? ggml_backend_dev_init(found, nullptr) : nullptr);
  if (!made) throw std::runtime_error("no backend for this machine");
  const auto set_threads =
      reinterpret_cast<ggml_backend_set_n_threads_t>(ggml_backend_reg_get_proc_address(
          ggml_backend_dev_backend_reg(found), "ggml_backend_set_n_threads"));
  if (set_threads) set_threads(made.get(), threads);
  return made;
}

}  // namespace

bool ggml_has_blas() {
  return device(GGML_BACKEND_DEVICE_TYPE_ACCEL) != nullptr;
}

ggml_graph::ggml_graph(int threads, bool blas) : constants_(new_context()), nodes_(new_context()) {
  if (blas) backends_.push_back(backend_of(GGML_BACKEND_DEVICE_TYPE_ACCEL, threads));
  backends_.push_back(backend_of(GGML_BACKEND_DEVICE_TYPE_CPU, threads));
}

ggml_tensor* ggml_graph::filled(std::initializer_list<std::int64_t> extents, const floats& values,
                                ggml_type type) {
  ggml_tensor* const made =
      ggml_new_tensor(constants_.get(), type, static_cast<int>(extents.size()), std::data(extents));
  fill_.emplace_back([made, values, type] {
    const auto n = static_cast<std::int64_t>(values.size());
    std::vector<char> bytes(ggml_nbytes(made));
    if (type == GGML_TYPE_BF16)
      ggml_fp32_to_bf16_row(values.data(), reinterpret_cast<ggml_bf16_t*>(bytes.data()), n);
    else if (type == GGML_TYPE_F16)
      ggml_fp32_to_fp16_row(values.data(), reinterpret_cast<ggml_fp16_t*>(bytes.data()), n);
    else
      std::ranges::copy(values, reinterpret_cast<float*>(bytes.data()));
    ggml_backend_tensor_set(made, bytes.data(), 0, bytes.size());
  });
  return made;
}

void ggml_graph::compute(ggml_tensor* result) {
  memory_.reset(ggml_backend_alloc_ctx_tensors(constants_.get(), backends_.back().get()));
  for (const auto& fill : fill_) fill();
  ggml_set_output(result_ = result);
  graph_ = ggml_new_graph(nodes_.get());
  ggml_build_forward_expand(graph_, result);
  std::vector<ggml_backend_t> all;
  for (const ggml_backend_ptr& one : backends_) all.push_back(one.get());
  scheduler_.reset(ggml_backend_sched_new(all.data(), nullptr, static_cast<int>(all.size()),
                                          most_tensors, false, false));
  if (!ggml_backend_sched_alloc_graph(scheduler_.get(), graph_))
    throw std::runtime_error("no memory for the graph");
}

void ggml_graph::run() {
  if (ggml_backend_sched_graph_compute(scheduler_.get(), graph_) != GGML_STATUS_SUCCESS)
    throw std::runtime_error("the graph did not run");
}

std::vector<float> ggml_graph::result() const {
  std::vector<float> values(static_cast<std::size_t>(ggml_nelements(result_)));
  ggml_backend_tensor_get(result_, values.data(), 0, ggml_nbytes(result_));
  return values;
}

contender ggml_contender(int threads, const std::function<ggml_tensor*(ggml_graph&)>& build) {
  const auto way = [&](bool blas) -> contender {
    const auto graph = std::make_shared<ggml_graph>(threads, blas);
    graph->compute(build(*graph));
    return {timed(threads, [graph] { graph->run(); }), [graph] { return graph->result(); }};
  };
  if (!ggml_has_blas()) return way(false);
  return fastest({way(false), way(true)});
}

}  // namespace bench
