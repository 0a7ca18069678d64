// The catalogue, for lookups by architecture and name.
#pragma once

#include "mmau.h"

namespace mmau {

/// Fill `found`, or return MMAU_UNKNOWN_ARCHITECTURE or MMAU_UNKNOWN_INSTRUCTION.
int find_instruction(const char* arch, const char* name, mmau_instruction& found);

}  // namespace mmau
