// Rows and tiles of random stimuli through the C interface, in buffers of exactly the size that they need: built with the address
// and undefined-behaviour sanitizers by test_sanitised.py, and for another processor by test_aarch64.py. What the
// library's loops make must equal what a device makes slice by slice; a digest tells whether two builds agree.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>

#include "mmau.h"
#include "mmau/stimulus.hpp"

namespace {

namespace ms = mmau::stimulus;

std::mt19937_64 rng(1);

uint64_t digest = 0xCBF29CE484222325u;  // FNV-1a, G. Fowler, L. C. Noll, K.-P. Vo

int pick(int count) { return static_cast<int>(rng() % static_cast<unsigned>(count)); }

constexpr int formats[] = {MMAU_FP64, MMAU_FP32, MMAU_TF32, MMAU_FP16, MMAU_BF16, MMAU_E5M2, MMAU_E4M3, MMAU_E4M3FNUZ,
                           MMAU_E5M2FNUZ, MMAU_E3M2, MMAU_E2M3, MMAU_E2M1, MMAU_E4M3IEEE, MMAU_INT8, MMAU_INT32,
                           MMAU_FORMAT(3, 4, 3, MMAU_SPECIALS_IEEE, MMAU_SIGNED, 1), MMAU_FORMAT(4, 3, 8, MMAU_SPECIALS_P3109, MMAU_SIGNED, 1),
                           MMAU_FORMAT(6, 9, 31, MMAU_SPECIALS_FN, MMAU_SIGNED, 0), MMAU_FORMAT(5, 3, -40, MMAU_SPECIALS_P3109, MMAU_UNSIGNED, 1)};

int format() { return formats[pick(sizeof formats / sizeof *formats)]; }

mmau_stimulus random_stimulus() {
    constexpr int lengths[] = {1, 2, 3, 7, 16, 32, 63, 64, 65, 100, 200};
    mmau_stimulus s{format(), format(), format(), pick(2) ? int{MMAU_FP32} : format(), 0,
                    lengths[pick(11)], format(), 0};
    if (pick(4) == 0) return {pick(2) ? MMAU_INT8 : MMAU_UINT8, pick(2) ? MMAU_INT8 : MMAU_B1, MMAU_INT32, MMAU_INT32, 0, s.K, s.scale, 0};
    s.d_man_bits = mmau::format_of(s.d).man_bits;
    if (pick(2)) {
        s.scale = pick(2) ? MMAU_UE8M0 : MMAU_UE4M3;
        s.K_block = 1 + pick(40);
    }
    return s;
}

/// Memory on the heap with nothing to spare.
struct Memory {
    std::unique_ptr<unsigned char[]> bytes;
    int64_t size;

    explicit Memory(int64_t count) : bytes(new unsigned char[count]()), size(count) {}
};

/// By how much the exponents of all these codes may move down or up, at most 2: a normal number stays one (see ms::About).
int room(const ms::Operand& x, const void* codes, int64_t first, int64_t count, bool up) {
    int64_t moves = pick(3);
    for (int64_t i = first; i < first + count; ++i) {
        const uint64_t field = ms::field_of(x, mmau::load(x.format, codes, i));
        if (field < x.hidden || field > x.max_field) continue;
        moves = std::min(moves, static_cast<int64_t>(up ? x.max_field - field : field - x.hidden) >> x.man_bits);
    }
    return static_cast<int>(moves);
}

/// A corner table of random codes, which move by little.
Memory random_table(const mmau_stimulus& s, const ms::Plan& plan) {
    const int64_t rows = 1 + pick(9);
    Memory table(ms::table_bytes(plan, rows));
    auto* const sizes = reinterpret_cast<int64_t*>(table.bytes.get());
    sizes[0] = rows;
    sizes[1] = table.size;
    *reinterpret_cast<mmau_stimulus*>(sizes + 2) = s;
    const ms::Corners corners = ms::corners_in(plan, table.bytes.get());
    auto* const about = const_cast<int32_t*>(corners.about);
    const auto fill = [](const ms::Operand& x, const void* codes, int64_t count) {
        const uint64_t mask = ~uint64_t{0} >> (64 - x.format.width());
        for (int64_t i = 0; i < count; ++i) mmau::store(x.format, const_cast<void*>(codes), i, rng() & mask);
    };
    fill(plan.a, corners.a, rows * plan.K);
    fill(plan.b, corners.b, rows * plan.K);
    fill(plan.c, corners.c, rows);
    fill(plan.scale, corners.scale_a, rows * plan.blocks);
    fill(plan.scale, corners.scale_b, rows * plan.blocks);
    for (int64_t row = 0; row < rows; ++row) {
        int32_t* const of_row = about + row * ms::ABOUT;
        of_row[ms::LABEL] = 8 + pick(14);
        const auto moves = [&](int down, const ms::Operand& x, const void* codes, int64_t count) {
            for (const bool up : {false, true}) of_row[down + up] = room(x, codes, row * count, count, up);
        };
        const bool scaled = plan.K_block > 0;
        moves(ms::A_DOWN, scaled ? plan.scale : plan.a, scaled ? corners.scale_a : corners.a, scaled ? plan.blocks : plan.K);
        moves(ms::B_DOWN, scaled ? plan.scale : plan.b, scaled ? corners.scale_b : corners.b, scaled ? plan.blocks : plan.K);
        moves(ms::C_DOWN, plan.c, corners.c, 1);
    }
    return table;
}

bool loops_equal_slices(const mmau_stimulus& s) {
    const ms::Plan plan = ms::make_plan(s);
    const Memory table = random_table(s, plan);
    const void* corners = pick(3) ? table.bytes.get() : nullptr;
    if (mmau_check_stimulus(&s, corners, table.size) != MMAU_OK) return false;
    const uint64_t seed = rng();
    const int64_t first = pick(2) ? 0 : static_cast<int64_t>(rng() >> 2), tiles = 1 + pick(40);
    const int m = 1 + pick(4), n = 1 + pick(4);
    const auto size = [](const ms::Operand& x, int64_t count) { return count * (x.format.storage_bits / 8); };
    const int64_t sizes[6] = {size(plan.a, tiles * m * plan.K), size(plan.b, tiles * n * plan.K), size(plan.c, tiles * m * n),
                              size(plan.scale, tiles * m * plan.blocks), size(plan.scale, tiles * n * plan.blocks), tiles};
    const Memory made[6] = {Memory(sizes[0]), Memory(sizes[1]), Memory(sizes[2]), Memory(sizes[3]), Memory(sizes[4]), Memory(sizes[5])};
    const Memory again[6] = {Memory(sizes[0]), Memory(sizes[1]), Memory(sizes[2]), Memory(sizes[3]), Memory(sizes[4]), Memory(sizes[5])};
    const auto at = [](const Memory& memory) { return static_cast<void*>(memory.bytes.get()); };
    if (mmau_fill_tiles(&s, corners, seed, first, tiles, m, n, at(made[0]), at(made[1]), at(made[2]), at(made[3]), at(made[4]),
                        made[5].bytes.get()) != MMAU_OK) {
        return false;
    }
    const ms::Arrays out{at(again[0]), at(again[1]), at(again[2]), at(again[3]), at(again[4]), again[5].bytes.get()};
    for (int64_t number = 0; number < tiles * ms::slices_of(plan, m, n); ++number) {
        for (int lane = 0; lane < 3; ++lane) {
            ms::fill_slice(plan, ms::corners_in(plan, corners), seed, first, number, m, n, lane, 3, out);
        }
    }
    for (int i = 0; i < 6; ++i) {
        for (int64_t byte = 0; byte < sizes[i]; ++byte) {
            if (made[i].bytes[byte] != again[i].bytes[byte]) return false;
            digest = (digest ^ made[i].bytes[byte]) * 0x100000001B3u;
        }
    }
    return true;
}

}  // namespace

int main() {
    int accepted = 0;
    for (int i = 0; i < 3000; ++i) {
        const mmau_stimulus s = random_stimulus();
        if (mmau_check_stimulus(&s, nullptr, 0) != MMAU_OK) continue;
        ++accepted;
        if (!loops_equal_slices(s)) {
            std::printf("loops and slices differ: a %d, b %d, c %d, K %d, K_block %d\n", s.a, s.b, s.c, s.K, s.K_block);
            return 1;
        }
    }
    std::printf("%s: %d stimuli, digest %016" PRIx64 "\n", mmau_isa(), accepted, digest);
    return 0;
}
