#define WEFT_RARE true
#include "kernels/elementwise.cpp"
