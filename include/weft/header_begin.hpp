// Included first by every header that users include, as header_end.hpp is last: between the two,
// the macros of the list are not defined that other headers of a program define (Qt's emit,
// Windows' near and min, X11's None, Apple's check, complex.h's I, …), so that none is in the way
// of weft or of what it includes, and the program has them again behind. Without include guard; a
// header that another one includes counts by WEFT_HEADER alone. What is included here for the first
// time must not define any of them, since that would be lost: weft includes the C++ standard
// library, Boost.Hana and MPI, which define none (the test `static/macros`).
#pragma push_macro("WEFT_HEADER")
#ifndef WEFT_HEADER
#pragma GCC diagnostic push
// Passes compare attributes, and layers options, with numbers that they were set to.
#pragma GCC diagnostic ignored "-Wfloat-equal"
// g++ warns of an array's extent that is an int of a template's arguments.
#pragma GCC diagnostic ignored "-Wsign-conversion"
#ifdef __clang__
// An owning_call has its operands where a call points to them.
#pragma clang diagnostic ignored "-Wshadow-field"
#endif
#include "weft/macros_off.hpp"
#endif
#define WEFT_HEADER
