// A program that has weft in a plugin: host PLUGIN.
#include <dlfcn.h>

#include <cstdio>

int main(int, char** arguments) {
  void* const plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) return std::printf("%s\n", dlerror());
  reinterpret_cast<void (*)()>(dlsym(plugin, "print_results"))();
}
