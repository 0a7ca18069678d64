// Functions that Verilator's runtime library calls when a design ends the simulation (VL_USER_FINISH, VL_USER_STOP,
// VL_USER_FATAL): the library's own functions would end the process and lose its counts.
#include <string>

#include "model.hpp"
#include "verilated.h"

namespace {

[[noreturn]] void end(const char* prefix, const char* file, int line, const char* message) {
    const std::string place = file && *file ? std::string(file) + ":" + std::to_string(line) + ": " : "";
    throw volume::Ended(prefix + place + message);
}

}  // namespace

void vl_finish(const char* file, int line, const char*) { end("- ", file, line, "Verilog $finish"); }
void vl_stop(const char* file, int line, const char*) { end("%Error: ", file, line, "Verilog $stop"); }
void vl_fatal(const char* file, int line, const char*, const char* message) { end("%Error: ", file, line, message); }
