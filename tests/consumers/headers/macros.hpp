// Macros that headers of other projects define, and any letter. As most have text here that
// compiles nowhere, whatever the true ones are (a number, nothing, a function) is in no place
// either.
#pragma once
// As function-like macros have them in C's math.h, in windows.h and Arduino.h: a name in
// parentheses is none of theirs.
#define abs(x) ]a macro of another header[
#define ceil(x) ]a macro of another header[
#define exp(x) ]a macro of another header[
#define floor(x) ]a macro of another header[
#define isfinite(x) ]a macro of another header[
#define isinf(x) ]a macro of another header[
#define isnan(x) ]a macro of another header[
#define log(x) ]a macro of another header[
#define max(x, y) ]a macro of another header[
#define min(x, y) ]a macro of another header[
#define pow(x, y) ]a macro of another header[
#define round(x) ]a macro of another header[
#define signbit(x) ]a macro of another header[
#define sqrt(x) ]a macro of another header[
// As objects.
#define bit ]a macro of another header[
#define cdecl ]a macro of another header[
#define check ]a macro of another header[
#define clear ]a macro of another header[
#define emit ]a macro of another header[
#define erase ]a macro of another header[
#define far ]a macro of another header[
#define foreach ]a macro of another header[
#define hyper ]a macro of another header[
#define index ]a macro of another header[
#define interface ]a macro of another header[
#define likely ]a macro of another header[
#undef linux
#define linux ]a macro of another header[
#define major ]a macro of another header[
#define minor ]a macro of another header[
#define move ]a macro of another header[
#define near ]a macro of another header[
#define nil ]a macro of another header[
#define pascal ]a macro of another header[
#define require ]a macro of another header[
#define signals ]a macro of another header[
#define slots ]a macro of another header[
#define small ]a macro of another header[
#define stack ]a macro of another header[
#undef unix
#define unix ]a macro of another header[
#define unlikely ]a macro of another header[
#define uuid ]a macro of another header[
#define verify ]a macro of another header[
#define Above ]a macro of another header[
#define Abs ]a macro of another header[
#define Always ]a macro of another header[
#define Below ]a macro of another header[
#define Bool ]a macro of another header[
#define Complex ]a macro of another header[
#define Convex ]a macro of another header[
#define False ]a macro of another header[
#define GenericEvent ]a macro of another header[
#define Max ]a macro of another header[
#define Min ]a macro of another header[
#define None ]a macro of another header[
#define Status ]a macro of another header[
#define Success ]a macro of another header[
#define True ]a macro of another header[
#define Unsorted ]a macro of another header[
#define CHECK ]a macro of another header[
#define CONST ]a macro of another header[
#define DELETE ]a macro of another header[
#define DIFFERENCE ]a macro of another header[
#define ERROR ]a macro of another header[
#define FALSE ]a macro of another header[
#define IN ]a macro of another header[
#define INPUT ]a macro of another header[
#define LOG ]a macro of another header[
#define NO ]a macro of another header[
#define NO_ERROR ]a macro of another header[
#define OPTIONAL ]a macro of another header[
#define OUT ]a macro of another header[
#define OUTPUT ]a macro of another header[
#define PI ]a macro of another header[
#define STRICT ]a macro of another header[
#define TEST ]a macro of another header[
#define TRUE ]a macro of another header[
#define VOID ]a macro of another header[
#define YES ]a macro of another header[
#define A ]a macro of another header[
#define B ]a macro of another header[
#define C ]a macro of another header[
#define D ]a macro of another header[
#define E ]a macro of another header[
#define F ]a macro of another header[
#define G ]a macro of another header[
#define H ]a macro of another header[
#define I ]a macro of another header[
#define J ]a macro of another header[
#define K ]a macro of another header[
#define L ]a macro of another header[
#define M ]a macro of another header[
#define N ]a macro of another header[
#define O ]a macro of another header[
#define P ]a macro of another header[
#define Q ]a macro of another header[
#define R ]a macro of another header[
#define S ]a macro of another header[
#define T ]a macro of another header[
#define U ]a macro of another header[
#define V ]a macro of another header[
#define W ]a macro of another header[
#define X ]a macro of another header[
#define Y ]a macro of another header[
#define Z ]a macro of another header[
