/* Arm's BFDOT, the instruction itself, under an emulator.
 *
 *     aarch64-linux-gnu-gcc -O1 -static -march=armv8.6-a+bf16 examples/program/bfdot.c -o build/bfdot
 *     mmau probe --program "qemu-aarch64 -cpu max build/bfdot" --arch aarch64 --instr bfdot
 */
#include "rows.h"

#include <arm_neon.h>

int main(void) {
    struct rows rows = read_header();
    uint64_t a[2], b[2], c;
    for (;;) {
        for (int k = 0; k < 2; k++)
            if (!read_code(&rows, 2, &a[k])) return 0;
        for (int k = 0; k < 2; k++)
            if (!read_code(&rows, 2, &b[k])) return 0;
        if (!read_code(&rows, 4, &c)) return 0;
        bfloat16x4_t x = vreinterpret_bf16_u64(vcreate_u64(a[0] | a[1] << 16));
        bfloat16x4_t y = vreinterpret_bf16_u64(vcreate_u64(b[0] | b[1] << 16));
        float32x2_t d = vbfdot_f32(vreinterpret_f32_u64(vcreate_u64(c)), x, y);
        write_code(&rows, 4, vget_lane_u32(vreinterpret_u32_f32(d), 0));
    }
}
