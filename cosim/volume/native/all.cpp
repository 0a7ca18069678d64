// Everything but model.cpp and stops.cpp, which need Verilator's headers, as one file: together it compiles in half the time.
#include "bench.cpp"
#include "file_rows.cpp"
#include "json.cpp"
#include "judge.cpp"
#include "main.cpp"
#include "native_rows.cpp"
#include "options.cpp"
#include "plan.cpp"
