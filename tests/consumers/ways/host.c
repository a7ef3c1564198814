/* A program in C that opens the plugin, which is its argument. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** arguments) {
  void* plugin = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  int (*answers)(void) = plugin ? (int (*)(void))dlsym(plugin, "plugin_answers") : NULL;
  if (answers) return answers() ? 0 : 1;
  puts(dlerror());
  return 1;
}
