// All sources but model.cpp and stops.cpp, which need Verilator's headers, in one file: it compiles in half the time.
// The makefile optimises for the design, whose code is too large for anything but -Os.
#pragma GCC optimize("O2")
#include "bench.cpp"
#include "file_rows.cpp"
#include "json.cpp"
#include "judge.cpp"
#include "main.cpp"
#include "native_rows.cpp"
#include "options.cpp"
#include "pauses.cpp"
#include "plan.cpp"
#include "resets.cpp"
#include "schedule.cpp"
#include "stream.cpp"
