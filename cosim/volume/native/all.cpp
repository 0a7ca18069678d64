// Everything but model.cpp and stops.cpp, which need Verilator's headers, as one file: together it compiles in half the time.
// The makefile's level of optimisation is the design's, whose code is too large for anything but -Os.
#pragma GCC optimize("O2")
#include "bench.cpp"
#include "file_rows.cpp"
#include "json.cpp"
#include "judge.cpp"
#include "main.cpp"
#include "native_rows.cpp"
#include "options.cpp"
#include "plan.cpp"
