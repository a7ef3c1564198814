#include "support/run_time.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <cstddef>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace weft::testing {

namespace {

constexpr std::size_t stack_bytes = std::size_t{256} << 20;

void require(int error) {
  if (error != 0) throw std::system_error(error, std::generic_category());
}

// One large stack for all threads, since a new one's pages cost more than what runs on it.
void* large_stack() {
  static void* const stack =
      mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) throw std::bad_alloc();
  return stack;
}

// Likewise, what is freed is kept for the next graph.
void keep_freed_memory() {
#ifdef __GLIBC__
  static const bool kept = mallopt(M_MMAP_THRESHOLD, 1 << 30) && mallopt(M_TRIM_THRESHOLD, 1 << 30);
  static_cast<void>(kept);
#endif
}

// Calls f on a thread with a large stack, one call at a time; exceptions of f reach the caller.
// Where there are no threads, as in WebAssembly, the program's own stack is large.
void on_a_large_stack(const std::function<void()>& f) {
#ifndef __STDCPP_THREADS__
  return f();
#endif
  struct call {
    const std::function<void()>& f;
    std::exception_ptr thrown;
  } c{f, {}};
  const auto run = [](void* p) -> void* {
    auto& of = *static_cast<call*>(p);
    try {
      of.f();
    } catch (...) {
      of.thrown = std::current_exception();
    }
    return nullptr;
  };
  static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
  require(pthread_mutex_lock(&one));
  const std::unique_ptr<pthread_mutex_t, int (*)(pthread_mutex_t*)> lock(&one,
                                                                         pthread_mutex_unlock);
  pthread_attr_t attributes;
  require(pthread_attr_init(&attributes));
  require(pthread_attr_setstack(&attributes, large_stack(), stack_bytes));
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, run, &c);
  pthread_attr_destroy(&attributes);
  require(error);
  require(pthread_join(thread, nullptr));
  if (c.thrown) std::rethrow_exception(c.thrown);
}

array_view<std::string_view> names_of(const run_time_source& s) {
  return {s.results.data(), s.results.size()};
}

std::unique_ptr<const program_builder> draft_of(const graph& g) {
  std::unique_ptr<const program_builder> draft;
  on_a_large_stack([&] { draft.reset(new program_builder(weft::detail::build_program(g))); });
  return draft;
}

}  // namespace

std::unique_ptr<const graph> kept(const std::function<graph()>& make) {
  keep_freed_memory();
  std::unique_ptr<const graph> g;
  on_a_large_stack([&] { g.reset(new graph(make())); });
  return g;
}

std::unique_ptr<const graph> plain_graph(const run_time_source& s) {
  const auto whole = kept([&] { return s.model.unpack(); });
  auto selected = kept([&] { return keep_outputs(*whole, names_of(s)); });
  if (s.kind == run_time_source::inference)
    return kept([&] { return eliminate_dead_code(remove_dropout(*selected)); });
  if (s.kind == run_time_source::training) return kept([&] { return differentiate(*selected, 0); });
  return selected;
}

// After each pass the graph has to be well-formed.
std::unique_ptr<const graph> compiled_graph(const run_time_source& s) {
  const auto whole = kept([&] { return s.model.unpack(); });
  auto g = kept([&] { return keep_outputs(*whole, names_of(s)); });
  const auto run = [&](const auto& pipeline) {
    for (const pass& p : pipeline) {
      g = kept([&] { return p.run(*g); });
      if (const auto [id, what] = verify(*g); id >= 0)
        throw std::logic_error(std::string(p.name) + " leaves node " + std::to_string(id) +
                               " with " + std::string(what));
    }
  };
  if (s.kind == run_time_source::training)
    run(training_passes);
  else if (s.kind == run_time_source::inference)
    run(inference_passes);
  else
    run(sampling_passes);
  return g;
}

namespace {

// With all kernels: which ones it runs is not known while compiling.
program with_kernels(program p) {
#define WEFT_KERNEL(name) &kernels::name##_kernel,
  static constexpr kernels::kernel_entry all[]{WEFT_KERNELS(WEFT_KERNEL)};
#undef WEFT_KERNEL
  p.kernels = all;
  return p;
}

}  // namespace

run_time_program::run_time_program(const graph& g)
    : draft_(draft_of(g)),
      program(with_kernels(weft::detail::program_of(*draft_, draft_->count))) {}

}  // namespace weft::testing
