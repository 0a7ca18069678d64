// The DPI-C functions that sv/mmau_pkg.sv imports: packed vectors in, element k in bits [k·w, (k+1)·w), as units have them.
#include <cstdint>
#include <cstring>
#include <vector>

#include "mmau.h"
#include "mmau/plan.hpp"

namespace {

constexpr int max_bits = 32768;  // operand_t of the package
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
    std::vector<uint64_t> storage;

    Unpacked(const mmau::Format& format, int count, const uint32_t* vector) : storage(static_cast<std::size_t>(count)) {
        for (int k = 0; k < count; ++k) mmau::store(format, storage.data(), k, field(vector, k * format.width(), format.width()));
    }
};

/// The array of codes as a packed vector.
void pack(const mmau::Format& format, const std::vector<uint64_t>& storage, int count, uint32_t* vector) {
    const int width = format.width();
    std::memset(vector, 0, max_bits / 8);
    for (int k = 0; k < count; ++k) {
        const uint64_t code = mmau::load(format, storage.data(), k);
        for (int bit = 0; bit < width; ++bit) vector[(k * width + bit) / 32] |= static_cast<uint32_t>(code >> bit & 1) << (k * width + bit) % 32;
    }
}

/// What the stimulus is made for.
mmau_stimulus stimulus_of(const mmau_parameters& p, const mmau::Plan& plan) {
    const bool rounds = mmau::has_rho(p.operation);
    const int kept = rounds ? mmau::smaller(plan.rho.rounding_format.man_bits, plan.d.man_bits) : plan.d.man_bits;
    const int man_bits = p.c == MMAU_INT32 ? 0 : kept;
    return {p.a, p.b, p.c, rounds ? p.d : p.c, man_bits, p.K, plan.blocks ? p.scale : MMAU_E4M3,
            plan.blocks ? p.K_block : 0};
}

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

MMAU_API int mmau_dpi_load(const char* path, int K, int* parameters, const char** message) {
    static thread_local char text[4096];  // read before the next call
    mmau_unit unit;
    const int status = mmau_unit_load(path, K, &unit, text, sizeof text);
    if (status == MMAU_OK) std::memcpy(parameters, &unit.parameters, sizeof unit.parameters);
    *message = text;
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
    const int status = mmau_dot(&p, x.storage.data(), y.storage.data(), z.storage.data(), scaled ? alpha.storage.data() : nullptr,
                                scaled ? beta.storage.data() : nullptr, &result);
    const uint64_t code = mmau::load(plan.d, &result, 0);
    d[0] = static_cast<uint32_t>(code);
    d[1] = static_cast<uint32_t>(code >> 32);
    return status;
}

MMAU_API int mmau_dpi_stimulus(const int* parameters, int64_t seed, int64_t row, uint32_t* a, uint32_t* b, uint32_t* c,
                               uint32_t* scale_a, uint32_t* scale_b) {
    mmau_parameters p;
    std::memcpy(&p, parameters, words * sizeof(int32_t));
    if (const int status = mmau_check(&p)) return status;
    const mmau::Plan plan = mmau::make_plan(p);
    if (!operands_fit(plan)) return MMAU_BAD_VECTOR;
    const mmau_stimulus stimulus = stimulus_of(p, plan);
    const auto elements = static_cast<std::size_t>(p.K), blocks = static_cast<std::size_t>(plan.blocks + 1);
    std::vector<uint64_t> x(elements), y(elements), alpha(blocks), beta(blocks);
    uint64_t z = 0;
    const int status = mmau_fill_rows(&stimulus, nullptr, static_cast<uint64_t>(seed), row, 1, x.data(), y.data(), &z, alpha.data(),
                                      beta.data(), nullptr);
    if (status) return status;
    pack(plan.stored_a, x, p.K, a);
    pack(plan.stored_b, y, p.K, b);
    pack(plan.scale, alpha, plan.blocks, scale_a);
    pack(plan.scale, beta, plan.blocks, scale_b);
    const uint64_t code = mmau::load(plan.c, &z, 0);
    c[0] = static_cast<uint32_t>(code);
    c[1] = static_cast<uint32_t>(code >> 32);
    return status;
}

}  // extern "C"
