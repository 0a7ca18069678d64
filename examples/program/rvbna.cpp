/* RISC-V's batched dot products with bulk normalisation, as Spike computes them: its own header, which is not part of this project.
 *
 *     git clone https://github.com/riscv-software-src/riscv-isa-sim build/spike
 *     SF=build/spike/softfloat
 *     cc -O2 -c -DSOFTFLOAT_ROUND_ODD -I $SF $SF/f32_add.c $SF/s_*F32*.c $SF/s_shiftRightJam32.c $SF/s_countLeadingZeros*.c $SF/softfloat_*.c
 *     c++ -O2 -std=c++17 -I build/spike/riscv -I $SF examples/program/rvbna.cpp *.o -o build/rvbna
 *     mmau probe --program build/rvbna --arch riscv-zvbdota --instr vfwbdota.vv.bf16.k8
 *
 * The formats and the number of products are those of the header line: bf16, or e4m3 and e5m2 in any pair.
 */
#include "rows.h"

#include "softfloat.h"

static float32_t f32(uint32_t bits) { return {bits}; } /* zvbdot.h expects it */

#include "zvbdot.h"

template <class Code>
static std::vector<Code> narrowed(const std::vector<uint64_t>& codes) {
    return std::vector<Code>(codes.begin(), codes.end());
}

/* Formats of FP8: of a and of b. */
static float32_t fp8_dot(bool a_is_e5m2, bool b_is_e5m2, const std::vector<uint8_t>& a, const std::vector<uint8_t>& b, float32_t c) {
    if (a_is_e5m2 && b_is_e5m2) return zvfqbdot8f_dot_acc<ofp8_e5m2, ofp8_e5m2>(a, b, c);
    if (a_is_e5m2) return zvfqbdot8f_dot_acc<ofp8_e5m2, ofp8_e4m3>(a, b, c);
    if (b_is_e5m2) return zvfqbdot8f_dot_acc<ofp8_e4m3, ofp8_e5m2>(a, b, c);
    return zvfqbdot8f_dot_acc<ofp8_e4m3, ofp8_e4m3>(a, b, c);
}

int main() {
    const struct rows rows = read_header();
    const auto has = [&](const char* format) { return strstr(rows.header, format) != nullptr; };
    const bool is_bf16 = has("a=bf16"), a_is_e5m2 = has("a=e5m2"), b_is_e5m2 = has("b=e5m2");
    std::vector<uint64_t> a(rows.K), b(rows.K);
    for (uint64_t c;;) {
        for (std::vector<uint64_t>* vector : {&a, &b})
            for (uint64_t& code : *vector)
                if (!read_code(&rows, is_bf16 ? 2 : 1, &code)) return 0;
        if (!read_code(&rows, 4, &c)) return 0;
        const float32_t d = is_bf16 ? zvfwbdot16bf_dot_acc(narrowed<uint16_t>(a), narrowed<uint16_t>(b), f32(c))
                                    : fp8_dot(a_is_e5m2, b_is_e5m2, narrowed<uint8_t>(a), narrowed<uint8_t>(b), f32(c));
        write_code(&rows, 4, d.v);
    }
}
