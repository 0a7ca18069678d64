// The names of a unit.toml's keys, operations, formats and other choices, with their numbers: units.inc.
#pragma once

#include "mmau.h"

namespace {

constexpr int parameter_words = sizeof(mmau_parameters) / sizeof(int32_t);
constexpr int required = -(1 << 30), to_nearest = required + 1;  // in place of a default: there is none; ρ to nearest even

/// A value of a key that is a choice.
struct Named {
    const char* name;
    int value;
};

/// A key of an operation. `word` counts the members of mmau_parameters, then the bits of enum mmau_flag_rule; `names` are the
/// values of a choice by number, null for an integer.
struct Key {
    int operation;
    const char* name;
    int word;
    const Named* names;
    int fallback;
};

#include "units.inc"

}  // namespace
