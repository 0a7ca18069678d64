// Random parameters and codes through the C and DPI interfaces, in buffers of exactly the size that the operands need: built
// with the address and undefined-behaviour sanitizers by test_sanitised.py, and for another processor by
// test_aarch64.py. Rows of a batch must equal single dot products, the DPI function's, and the general path, which has no
// lanes; a digest of all results tells whether two builds agree.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "mmau.h"
#include "mmau/dot.hpp"

extern "C" int mmau_dpi_dot(const int* parameters, const uint32_t* a, const uint32_t* b, const uint32_t* c,
                            const uint32_t* scale_a, const uint32_t* scale_b, uint32_t* d);

namespace {

std::mt19937_64 rng(1);

uint64_t digest = 0xCBF29CE484222325u;  // FNV-1a, G. Fowler, L. C. Noll, K.-P. Vo

void add_to_digest(uint64_t code) { digest = (digest ^ code) * 0x100000001B3u; }

int pick(int count) { return static_cast<int>(rng() % static_cast<unsigned>(count)); }

template <std::size_t count>
int pick_from(const int (&choices)[count]) {
    return choices[pick(count)];
}

constexpr int formats[] = {MMAU_FP64, MMAU_FP32, MMAU_TF32, MMAU_FP16, MMAU_BF16, MMAU_E5M2, MMAU_E4M3, MMAU_E4M3FNUZ,
                           MMAU_E5M2FNUZ, MMAU_E3M2, MMAU_E2M3, MMAU_E2M1, MMAU_UE8M0, MMAU_UE4M3, MMAU_E4M3IEEE, MMAU_INT8,
                           MMAU_UINT8, MMAU_INT4, MMAU_UINT4, MMAU_B1, MMAU_INT32,
                           MMAU_FORMAT(3, 4, 3, MMAU_SPECIALS_IEEE, MMAU_SIGNED, 1), MMAU_FORMAT(4, 3, 8, MMAU_SPECIALS_P3109, MMAU_SIGNED, 1),
                           MMAU_FORMAT(6, 9, 31, MMAU_SPECIALS_FN, MMAU_SIGNED, 0), MMAU_FORMAT(5, 3, -40, MMAU_SPECIALS_P3109, MMAU_UNSIGNED, 1)};

mmau_parameters random_parameters() {
    constexpr int lengths[] = {1, 2, 3, 4, 5, 8, 16, 32, 64, 65};
    constexpr int fractions[] = {1, 13, 24, 25, 26, 27, 31, 35, 49, 57, 58, 100, 128};
    constexpr int floors[] = {-1024, -133, -21, 0, 1024};
    mmau_parameters p{};
    p.operation = pick(MMAU_OPERATIONS);
    p.a = pick_from(formats);
    p.b = pick(2) ? p.a : pick_from(formats);
    p.c = pick(3) ? static_cast<int>(MMAU_FP32) : pick_from(formats);
    constexpr int sums[] = {MMAU_FP32, MMAU_FP32, MMAU_FP16, MMAU_BF16, MMAU_FP64};
    p.rho = pick(MMAU_MODES);
    p.d = pick(8) ? pick_from(sums) : pick_from(formats);
    p.rounded = pick(8) ? 0 : pick(2) ? MMAU_E8M13 : MMAU_FP32;
    p.truncation = pick(MMAU_MODES);
    p.fp16_order = pick(8) ? 0 : pick(MMAU_FP16_ORDERS);
    p.L = pick_from(lengths);
    p.K = p.L * (1 + pick(3));
    p.F = pick_from(fractions);
    p.F2 = pick_from(fractions);
    p.e_zero = pick_from(floors);
    p.K_block = pick(2) ? p.L : pick(2) ? 32 : 1;
    p.G = pick(2) ? 1 : 16;
    p.scale = pick(2) ? MMAU_UE8M0 : MMAU_UE4M3;
    if (pick(2)) {
        p.sticky = pick(2);
        p.flush_inputs = pick(2);
        p.flush_results = pick(2);
        p.overflow = pick(MMAU_OVERFLOWS);
    }
    if (p.operation == MMAU_FMA && pick(2)) p.b = p.c = p.a = p.d;
    return p;
}

/// An array of random codes, on the heap and with nothing to spare.
struct Codes {
    std::unique_ptr<unsigned char[]> bytes;
    int size;

    Codes(const mmau::Format& format, int count) : bytes(new unsigned char[count * format.storage_bits / 8]), size(0) {
        const uint64_t mask = format.width() < 64 ? (uint64_t{1} << format.width()) - 1 : ~uint64_t{0};
        for (int i = 0; i < count; ++i) mmau::store(format, bytes.get(), i, rng() & mask);
        size = format.storage_bits / 8;
    }
    const void* at(int index) const { return bytes.get() + index * size; }
};

bool batch_equals_rows(const mmau_parameters& p) {
    const mmau::Plan plan = mmau::make_plan(p);
    const int rows = 1 + pick(70), blocks = plan.blocks;
    const Codes a(plan.stored_a, rows * p.K), b(plan.stored_b, rows * p.K), c(plan.c, rows), d(plan.d, rows), one(plan.d, 1);
    const Codes alpha(mmau::format_of(MMAU_UE4M3), rows * blocks), beta(mmau::format_of(MMAU_UE4M3), rows * blocks);
    const mmau_batch batch{a.at(0), b.at(0), c.at(0), alpha.at(0), beta.at(0), d.bytes.get(), rows, 0, p.K, p.K, blocks, blocks};
    if (mmau_dot_batch(&p, &batch, 1 + pick(3)) != MMAU_OK) return false;
    for (int r = 0; r < rows; ++r) {
        const int status = mmau_dot(&p, a.at(r * p.K), b.at(r * p.K), c.at(r), alpha.at(r * blocks), beta.at(r * blocks),
                                    one.bytes.get());
        const mmau::Row row{a.at(r * p.K), b.at(r * p.K), alpha.at(r * blocks), beta.at(r * blocks)};
        const uint64_t expected = mmau::dot(plan, row, mmau::load(plan.c, c.at(0), r));
        if (status != MMAU_OK || mmau::load(plan.d, one.at(0), 0) != expected) return false;
        if (mmau::load(plan.d, d.at(0), r) != expected) return false;
        add_to_digest(expected);
    }
    return true;
}

/// Large enough for tiles, and with columns and rows that fill no block.
bool matrix_equals_elements(const mmau_parameters& p) {
    const mmau::Plan plan = mmau::make_plan(p);
    const int rows = 8 + pick(4), columns = 24 + pick(16), blocks = plan.blocks;
    const Codes a(plan.stored_a, rows * p.K), b(plan.stored_b, columns * p.K), c(plan.c, rows * columns);
    const Codes d(plan.d, rows * columns);
    const Codes alpha(mmau::format_of(MMAU_UE4M3), rows * blocks), beta(mmau::format_of(MMAU_UE4M3), columns * blocks);
    const mmau_batch batch{a.at(0), b.at(0), c.at(0), alpha.at(0), beta.at(0), d.bytes.get(), rows * columns, columns,
                           p.K, p.K, blocks, blocks};
    if (mmau_dot_batch(&p, &batch, 1 + pick(3)) != MMAU_OK) return false;
    for (int r = 0; r < rows * columns; ++r) {
        const int i = r / columns, j = r % columns;
        const mmau::Row row{a.at(i * p.K), b.at(j * p.K), alpha.at(i * blocks), beta.at(j * blocks)};
        if (mmau::load(plan.d, d.at(0), r) != mmau::dot(plan, row, mmau::load(plan.c, c.at(0), r))) return false;
    }
    return true;
}

constexpr int vector_bits = 32768;  // operand_t of mmau_pkg

/// A packed vector as a simulator hands it over, on the heap and with nothing to spare.
using Vector = std::unique_ptr<uint32_t[]>;

Vector packed(const mmau::Format& format, const Codes& codes, int count) {
    Vector vector(new uint32_t[vector_bits / 32]());
    for (int bit = 0; bit < count * format.width() && bit < vector_bits; ++bit) {
        const uint64_t code = mmau::load(format, codes.bytes.get(), bit / format.width());
        vector[bit / 32] |= static_cast<uint32_t>(code >> bit % format.width() & 1) << bit % 32;
    }
    return vector;
}

/// The DPI function gives what the C function gives where the packed vectors hold the operands, and refuses them elsewhere.
bool dpi_equals_dot(const mmau_parameters& p) {
    const mmau::Plan plan = mmau::make_plan(p);
    const mmau::Format scale = mmau::format_of(mmau::has_scales(p.operation) ? p.scale : int{MMAU_UE4M3});
    const Codes a(plan.stored_a, p.K), b(plan.stored_b, p.K), c(plan.c, 1), one(plan.d, 1);
    const Codes alpha(scale, plan.blocks), beta(scale, plan.blocks);
    const Vector x = packed(plan.stored_a, a, p.K), y = packed(plan.stored_b, b, p.K), z = packed(plan.c, c, 1);
    const Vector s = packed(scale, alpha, plan.blocks), t = packed(scale, beta, plan.blocks), d(new uint32_t[2]());
    const int status = mmau_dpi_dot(reinterpret_cast<const int*>(&p), x.get(), y.get(), z.get(), s.get(), t.get(), d.get());
    const int widest = mmau::larger(plan.stored_a.width(), plan.stored_b.width());
    if (p.K * widest > vector_bits || plan.blocks * scale.width() > vector_bits) return status == MMAU_BAD_VECTOR;
    if (mmau_dot(&p, a.at(0), b.at(0), c.at(0), alpha.at(0), beta.at(0), one.bytes.get()) != MMAU_OK) return false;
    return status == MMAU_OK && (d[0] | uint64_t{d[1]} << 32) == mmau::load(plan.d, one.at(0), 0);
}

/// Dot products as long as the packed vectors hold, and longer, with scales for one to 512 products.
bool long_vectors_fit_or_are_refused() {
    constexpr int lengths[] = {16, 32, 64, 128, 256, 512, 1024};
    mmau_parameters p = random_parameters();
    p.operation = pick(2) ? MMAU_ST_FDPA : MMAU_GST_FDPA;
    p.scale = MMAU_UE8M0;
    p.fp16_order = MMAU_NOT_CONVERTED;
    p.L = pick_from(lengths);
    p.K = p.L * (1 + pick(8));
    p.K_block = 1 << pick(10);
    p.G = 1;
    return mmau_check(&p) != MMAU_OK || dpi_equals_dot(p);
}

}  // namespace

int main() {
    int accepted = 0;
    for (int i = 0; i < 20000; ++i) {
        const mmau_parameters p = random_parameters();
        if (mmau_check(&p) != MMAU_OK) continue;
        ++accepted;
        const bool is_tiled = mmau::within(p.operation, MMAU_T_FDPA, MMAU_GTR_FDPA) && !mmau::has_scales(p.operation);
        if (is_tiled && pick(2) && !matrix_equals_elements(p)) {
            std::printf("a matrix differs from its elements: operation %d, a %d, b %d\n", p.operation, p.a, p.b);
            return 1;
        }
        if (!batch_equals_rows(p)) {
            std::printf("a batch differs from its rows: operation %d, a %d, b %d\n", p.operation, p.a, p.b);
            return 1;
        }
        if (!dpi_equals_dot(p) || !long_vectors_fit_or_are_refused()) {
            std::printf("the DPI function differs: operation %d, a %d, b %d, K %d\n", p.operation, p.a, p.b, p.K);
            return 1;
        }
    }
    std::printf("%s: %d parameter sets, digest %016" PRIx64 "\n", mmau_isa(), accepted, digest);
    return accepted < 1000;
}
