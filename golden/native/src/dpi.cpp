// The DPI-C functions that sv/mmau_pkg.sv imports: packed vectors in, element k in bits [k·w, (k+1)·w), as units have them.
#include <cstdint>
#include <cstring>

#include "mmau.h"
#include "mmau/plan.hpp"

namespace {

constexpr int max_bits = 2048;  // operand_t of the package
constexpr int words = sizeof(mmau_parameters) / sizeof(int32_t);

/// `width` bits of a packed vector, from bit `first` on.
uint64_t field(const uint32_t* vector, int first, int width) {
    uint64_t code = 0;
    for (int bit = 0; bit < width; ++bit) {
        code |= uint64_t{vector[(first + bit) / 32] >> (first + bit) % 32 & 1} << bit;
    }
    return code;
}

/// A packed vector as an array of codes.
struct Unpacked {
    uint64_t storage[max_bits];

    Unpacked(const mmau::Format& format, int count, const uint32_t* vector) {
        for (int k = 0; k < count; ++k) mmau::store(format, storage, k, field(vector, k * format.width(), format.width()));
    }
};

bool fits_vector(const mmau::Format& format, int count) { return int64_t{count} * format.width() <= max_bits; }

/// Whether the packed vectors hold all elements and all scales.
bool operands_fit(const mmau::Plan& plan) {
    return fits_vector(plan.stored_a, plan.K) && fits_vector(plan.stored_b, plan.K) && fits_vector(plan.scale, plan.blocks);
}

}  // namespace

extern "C" {

MMAU_API int mmau_dpi_find(const char* arch, const char* name, int* parameters) {
    mmau_instruction found;
    const int status = mmau_find(arch, name, &found);
    if (status == MMAU_OK) std::memcpy(parameters, &found.parameters, sizeof found.parameters);
    return status;
}

MMAU_API int mmau_dpi_dot(const int* parameters, const uint32_t* a, const uint32_t* b, const uint32_t* c,
                          const uint32_t* scale_a, const uint32_t* scale_b, uint32_t* d) {
    mmau_parameters p;
    std::memcpy(&p, parameters, words * sizeof(int32_t));
    if (const int status = mmau_check(&p)) return status;
    const mmau::Plan plan = mmau::make_plan(p);
    if (!operands_fit(plan)) return MMAU_BAD_VECTOR;
    const bool scaled = plan.blocks != 0;
    const Unpacked x(plan.stored_a, p.K, a), y(plan.stored_b, p.K, b), z(plan.c, 1, c);
    const Unpacked alpha(plan.scale, plan.blocks, scale_a), beta(plan.scale, plan.blocks, scale_b);
    uint64_t result = 0;
    const int status = mmau_dot(&p, x.storage, y.storage, z.storage, scaled ? alpha.storage : nullptr,
                                scaled ? beta.storage : nullptr, &result);
    const uint64_t code = mmau::load(plan.d, &result, 0);
    d[0] = static_cast<uint32_t>(code);
    d[1] = static_cast<uint32_t>(code >> 32);
    return status;
}

}  // extern "C"
