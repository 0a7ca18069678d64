#include "catalogue.hpp"

#include <cstring>

#include "mmau/plan.hpp"

namespace mmau {
namespace {

/// All instructions of an architecture that differ in N alone. `*` in the name stands for N.
struct Entry {
    const char *arch, *name;
    int m, n_first, n_last, n_step;
    mmau_parameters parameters;
};

constexpr Entry entries[] = {
#include "catalogue.inc"
};

/// The N for which `name` is the entry's, 0 where there is none.
int matched_n(const Entry& entry, const char* name) {
    const char* star = std::strchr(entry.name, '*');
    if (!star) return std::strcmp(entry.name, name) == 0 ? entry.n_first : 0;
    const auto head = static_cast<std::size_t>(star - entry.name);
    if (std::strncmp(entry.name, name, head) != 0) return 0;
    const char* digit = name + head;
    int n = 0;
    if (*digit == '0') return 0;
    for (; *digit >= '0' && *digit <= '9' && n <= entry.n_last; ++digit) n = 10 * n + (*digit - '0');
    const bool in_range = within(n, entry.n_first, entry.n_last) && (n - entry.n_first) % entry.n_step == 0;
    return in_range && std::strcmp(star + 1, digit) == 0 ? n : 0;
}

}  // namespace

int find_instruction(const char* arch, const char* name, mmau_instruction& found) {
    int status = MMAU_UNKNOWN_ARCHITECTURE;
    for (const Entry& entry : entries) {
        if (std::strcmp(entry.arch, arch) != 0) continue;
        status = MMAU_UNKNOWN_INSTRUCTION;
        if (const int n = matched_n(entry, name)) {
            const int d = has_rho(entry.parameters.operation) ? entry.parameters.d : entry.parameters.c;
            found = {entry.parameters, entry.m, n, d};
            return MMAU_OK;
        }
    }
    return status;
}

}  // namespace mmau
