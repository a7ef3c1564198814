#define WEFT_RARE true
#include "kernels/reduce.cpp"
