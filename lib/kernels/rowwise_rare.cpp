#define WEFT_RARE true
#include "kernels/rowwise.cpp"
