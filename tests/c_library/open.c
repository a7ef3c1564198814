/* Opens two libraries, which are its arguments, twice: that of examples/embed, and the second of this folder. They give
   the same each time, and are gone when they are closed. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int (*create_function)(void **, const void *, size_t);
typedef int (*destroy_function)(void *);

static int has(void *library, const char *name, void *function) {
  void *const found = dlsym(library, name);
  memcpy(function, &found, sizeof found); /* C has no cast from an object's to a function's address */
  return found != NULL;
}

static int embeds(void *library, float *vector) {
  static const int tokens[] = {72, 105};
  create_function create;
  destroy_function destroy;
  int (*run)(void *, size_t, const int *, float *);
  void *model;
  return has(library, "encoder_create", &create) && has(library, "encoder_run", &run) &&
         has(library, "encoder_destroy", &destroy) && create(&model, NULL, 0) == 0 && run(model, 2, tokens, vector) == 0 &&
         destroy(model) == 0;
}

static int pads(void *library) {
  static const float x[] = {1, 2};
  float y[20];
  size_t n;
  create_function create;
  destroy_function destroy;
  int (*run)(void *, size_t, const float *, float *, size_t *);
  void *model;
  return has(library, "second_create", &create) && has(library, "second_run", &run) &&
         has(library, "second_destroy", &destroy) && create(&model, NULL, 0) == 0 && run(model, 1, x, y, &n) == 0 &&
         n == 3 && y[4] == 1 && destroy(model) == 0;
}

int main(int count, char **files) {
  float vector[2][32];
  int time;
  for (time = 0; time < 2 && count == 3; ++time) {
    void *const encoder = dlopen(files[1], RTLD_NOW | RTLD_LOCAL);
    void *const second = dlopen(files[2], RTLD_NOW | RTLD_LOCAL);
    if (!encoder || !second || !embeds(encoder, vector[time]) || !pads(second)) return 1;
    dlclose(encoder);
    dlclose(second);
    if (dlopen(files[1], RTLD_NOW | RTLD_NOLOAD) || dlopen(files[2], RTLD_NOW | RTLD_NOLOAD)) return 2;
  }
  return memcmp(vector[0], vector[1], sizeof vector[0]) == 0 ? 0 : 3;
}
