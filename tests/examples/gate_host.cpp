// A host for the gate, as a thread of sound is one: gate_host BUNDLE. Exits with 1 if a run
// allocates or frees memory; the C library's functions are replaced for the whole process.
#include <dlfcn.h>
#include <lv2/core/lv2.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace {
int calls = 0;
}

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void __libc_free(void*);
void* malloc(std::size_t size) {
  ++calls;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++calls;
  return __libc_calloc(count, size);
}
void* realloc(void* from, std::size_t size) {
  ++calls;
  return __libc_realloc(from, size);
}
void free(void* p) {
  ++calls;
  __libc_free(p);
}
}

int main(int, char** arguments) {
  const std::string bundle = arguments[1];
  void* const library = dlopen((bundle + "/gate.so").c_str(), RTLD_NOW);
  if (library == nullptr) return std::puts(dlerror()), 2;
  const auto descriptor =
      reinterpret_cast<LV2_Descriptor_Function>(dlsym(library, "lv2_descriptor"))(0);
  const int before = calls;
  const LV2_Handle gate =
      descriptor->instantiate(descriptor, 16000, (bundle + "/").c_str(), nullptr);
  if (gate == nullptr || calls == before) return std::puts("no gate, or calls are not counted"), 2;
  std::vector<float> in(1500), out(1500);
  float threshold = 0.5f, latency = 0;
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = std::sin(static_cast<float>(i * i));
  for (std::uint32_t port = 0; float* const data : {in.data(), out.data(), &threshold, &latency})
    descriptor->connect_port(gate, port++, data);
  int during = 0;
  for (int i = 0; i < 200; ++i)
    for (const std::uint32_t count : {0u, 1u, 64u, 511u, 1024u, 1500u}) {
      const int start = calls;
      descriptor->run(gate, count);
      during += calls - start;
    }
  descriptor->cleanup(gate);
  std::printf("%d calls of malloc, calloc, realloc and free in run\n", during);
  return during == 0 ? 0 : 1;
}
