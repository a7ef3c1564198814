/* Prints the first elements of a text's vector. */
#include <stdio.h>
#include <string.h>

#include "encoder.h"

static int failed(void) {
  fprintf(stderr, "%s\n", encoder_error());
  return 1;
}

int main(void) {
  static const char text[] = "A model in C.";
  int tokens[ENCODER_N_POS_MOST];
  float vector[ENCODER_OUT_VECTOR_ELEMENTS];
  encoder *model;
  size_t i, n = strlen(text);
  for (i = 0; i < n; ++i) tokens[i] = (unsigned char)text[i];
  if (encoder_create(&model, NULL, 0) != ENCODER_OK) return failed();
  if (encoder_run(model, n, tokens, vector) != ENCODER_OK) return failed();
  for (i = 0; i < 4; ++i) printf("%.9g\n", vector[i]);
  return encoder_destroy(model);
}
