/* What holds of two libraries in C, whose models have one name in C++, and what they say of wrong uses. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "first.h"
#include "second.h"

static int wrong = 0;

static void expect(int holds, const char *what, int line) {
  if (holds) return;
  printf("line %d: not %s; last: '%s', '%s'\n", line, what, first_error(), second_error());
  wrong = 1;
}
#define EXPECT(holds) expect(holds, #holds, __LINE__)
/* That a call gives a code, and a sentence which has these words. */
#define REFUSED(library, call, code, words) \
  do {                                      \
    EXPECT((call) == (code));               \
    EXPECT(strstr(library##_error(), words) != NULL); \
  } while (0)

/* A safetensors file of the first model's weights: all 1, biases 0. */
static size_t write_weights(unsigned char *file, const char *bias_shape) {
  char header[256];
  size_t i, n;
  float one = 1;
  memset(file, 0, 512);
  sprintf(header,
          "{\"head.weight\":{\"dtype\":\"F32\",\"shape\":[3,8],\"data_offsets\":[0,96]},"
          "\"head.bias\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[96,108]}}",
          bias_shape);
  n = strlen(header);
  while (n % 8 != 0) header[n++] = ' ';
  file[0] = (unsigned char)n;
  memcpy(file + 8, header, n);
  for (i = 0; i < 24; ++i) memcpy(file + 8 + n + 4 * i, &one, 4);
  return 8 + n + 108;
}

static void computes_and_resets(first *m) {
  static float x[FIRST_IN_X_ELEMENTS];
  static const unsigned char keep[] = {1, 0, 1, 1};
  float y[FIRST_OUT_Y_ELEMENTS], sum[FIRST_OUT_DEFAULT_ELEMENTS];
  size_t i;
  for (i = 0; i < FIRST_IN_X_ELEMENTS; ++i) x[i] = 1;
  EXPECT(first_run(m, 2, 3, x, keep, y, sum) == FIRST_OK);
  EXPECT(y[0] == 8 && y[2 * 3 * FIRST_N_CLASS - 1] == 8); /* 8 ones */
  EXPECT(sum[0] == 24 && sum[2] == 24 && sum[3] == 0);    /* of 3 positions */
  EXPECT(first_run(m, 2, 3, x, keep, NULL, sum) == FIRST_OK && sum[0] == 48);
  EXPECT(first_run(m, 0, 0, NULL, NULL, NULL, NULL) == FIRST_OK);
  EXPECT(first_reset_batch(m, 1) == FIRST_OK && first_reset_class(m, 2) == FIRST_OK);
  EXPECT(first_run(m, 2, 0, NULL, keep, NULL, sum) == FIRST_OK && sum[0] == 48 && sum[2] == 0);
  EXPECT(first_reset(m) == FIRST_OK);
  EXPECT(first_run(m, 2, 0, NULL, keep, NULL, sum) == FIRST_OK && sum[0] == 0);
}

static void refuses_arguments(first *m) {
  static float x[FIRST_IN_X_ELEMENTS];
  static const unsigned char keep[] = {1, 2, 1, 1};
  REFUSED(first, first_run(NULL, 1, 1, x, keep, NULL, NULL), FIRST_NULL, "the model is null: it was not created");
  REFUSED(first, first_run(m, 1, 1, NULL, keep, NULL, NULL), FIRST_NULL, "argument 'x' is null");
  REFUSED(first, first_run(m, 5, 1, x, keep, NULL, NULL), FIRST_ARGUMENT,
          "argument 'x': axis Batch has length 5, and may have at most 4");
  REFUSED(first, first_run(m, 1, (size_t)-1, x, keep, NULL, NULL), FIRST_ARGUMENT, "may have at most 32");
  REFUSED(first, first_run(m, 2, 1, x, keep, NULL, NULL), FIRST_ARGUMENT,
          "argument 'keep' has an element that is neither 0 nor 1");
  REFUSED(first, first_reset_class(m, 3), FIRST_ARGUMENT, "reset: index 3 of axis Class, which has 3");
  REFUSED(first, first_reset(NULL), FIRST_NULL, "the model is null");
  REFUSED(first, first_reset((first *)(void *)x), FIRST_NULL, "this is no model of this library");
}

static void creates_and_refuses_weights(void) {
  static unsigned char file[512], other[512];
  const size_t size = write_weights(file, "3"), others = write_weights(other, "3,1");
  char *const room = malloc(FIRST_MEMORY_BYTES + 2 * FIRST_MEMORY_ALIGNMENT);
  char *const memory = room + FIRST_MEMORY_ALIGNMENT - (size_t)room % FIRST_MEMORY_ALIGNMENT;
  first *m, *shared, *in_memory;

  REFUSED(first, first_create(&m, NULL, 0), FIRST_NULL, "the library has none inside");
  EXPECT(m == NULL && first_destroy(m) == FIRST_OK); /* after a failure */
  REFUSED(first, first_create(NULL, file, size), FIRST_NULL, "the place for the model is null");
  REFUSED(first, first_create(&m, other, others), FIRST_WEIGHTS, "head.bias");
  REFUSED(first, first_create(&m, file, size - 1), FIRST_WEIGHTS, "weights in memory");
  REFUSED(first, first_create_from_file(&m, "none.safetensors"), FIRST_WEIGHTS, "none.safetensors");
  REFUSED(first, first_create_from_file(&m, NULL), FIRST_NULL, "the path is null");
  REFUSED(first, first_create_in(&m, memory, FIRST_MEMORY_BYTES - 1, file, size), FIRST_MEMORY, "aligned to 64");
  REFUSED(first, first_create_in(&m, memory + 4, FIRST_MEMORY_BYTES, file, size), FIRST_MEMORY, "aligned to 64");
  REFUSED(first, first_create_in(&m, NULL, FIRST_MEMORY_BYTES, file, size), FIRST_NULL, "the memory for the model");
  REFUSED(first, first_create_sharing(&m, NULL), FIRST_NULL, "the model is null");
  EXPECT(m == NULL);

  EXPECT(first_create(&m, file, size) == FIRST_OK);
  computes_and_resets(m);
  refuses_arguments(m);
  computes_and_resets(m); /* nothing is lost */
  EXPECT(first_create_sharing(&shared, m) == FIRST_OK);
  computes_and_resets(shared);
  REFUSED(first, first_destroy(m), FIRST_BUSY, "other models use the weights of this one");
  EXPECT(first_destroy(shared) == FIRST_OK && first_destroy(m) == FIRST_OK);

  memset(memory, 255, FIRST_MEMORY_BYTES);
  EXPECT(first_create_in(&in_memory, memory, FIRST_MEMORY_BYTES, file, size) == FIRST_OK);
  EXPECT((void *)in_memory == (void *)memory);
  computes_and_resets(in_memory);
  EXPECT(first_destroy(in_memory) == FIRST_OK);
  REFUSED(first, first_destroy(in_memory), FIRST_NULL, "it was destroyed");
  free(room);
}

static void *run_often(void *m) {
  static const unsigned char keep[] = {1};
  static const float x[FIRST_N_POS_MOST * FIRST_N_EMBED];
  int runs = 0;
  while (runs < 500) {
    const int code = first_run(m, 1, FIRST_N_POS_MOST, x, keep, NULL, NULL);
    runs += code == FIRST_OK;
    if (code != FIRST_OK && (code != FIRST_BUSY || strstr(first_error(), "another thread") == NULL)) return NULL;
  }
  return m;
}

static void refuses_a_second_thread(void) {
  static unsigned char file[512];
  pthread_t other;
  void *here, *there = NULL;
  first *m;
  EXPECT(first_create(&m, file, write_weights(file, "3")) == FIRST_OK);
  EXPECT(pthread_create(&other, NULL, run_often, m) == 0);
  here = run_often(m);
  EXPECT(pthread_join(other, &there) == 0);
  EXPECT(here != NULL && there != NULL); /* refused for no other reason */
  EXPECT(first_destroy(m) == FIRST_OK);
}

static void gives_lengths_that_it_finds(void) {
  static const float x[] = {1, 2, 3, 4};
  float y[SECOND_OUT_RESULT_ELEMENTS];
  size_t n = 0;
  second *m;
  EXPECT(second_create(&m, NULL, 0) == SECOND_OK);
  EXPECT(second_run(m, 2, x, y, &n) == SECOND_OK && n == 4 && y[3] == 0 && y[4] == 1 && y[7] == 4);
  REFUSED(second, second_run((second *)(void *)&m, 2, x, y, NULL), SECOND_NULL, "this is no model of this library");
  EXPECT(second_destroy(m) == SECOND_OK);
  EXPECT(strcmp(second_version(), SECOND_VERSION) == 0);
  EXPECT(strcmp(first_version(), SECOND_VERSION) != 0);
}

int main(void) {
  EXPECT(strcmp(first_error(), "") == 0);
  creates_and_refuses_weights();
  refuses_a_second_thread();
  gives_lengths_that_it_finds();
  return wrong;
}
