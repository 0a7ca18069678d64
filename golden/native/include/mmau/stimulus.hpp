// The stimulus at volume: row r of seed s has the same operands on every machine, in whatever batch. A row is a tile of one row
// of A and one column of B. This header is for one element at a time, on a device too; stimulus/rows.hpp has the host's loops.
#pragma once

#include "stimulus/slices.hpp"
