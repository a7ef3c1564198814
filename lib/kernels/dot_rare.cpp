#define WEFT_RARE true
#include "kernels/dot.cpp"
