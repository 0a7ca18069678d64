/* d = c + Σ a_k·b_k of bf16 with fp32, one fused multiply-add after the other.
 *
 *     cc -O2 examples/program/fma_bf16.c -lm -o build/fma_bf16
 *     mmau probe --program build/fma_bf16 --formats "a=bf16 b=bf16 c=fp32 d=fp32 K=4"
 */
#include "rows.h"

#include <math.h>

static float of_bits(uint32_t bits) {
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

int main(void) {
    struct rows rows = read_header();
    uint64_t code, *a = calloc(2 * rows.K, sizeof *a), *b = a + rows.K;
    for (;;) {
        for (int k = 0; k < 2 * rows.K; k++)
            if (!read_code(&rows, 2, &a[k])) return 0;
        if (!read_code(&rows, 4, &code)) return 0;
        float d = of_bits(code);
        for (int k = 0; k < rows.K; k++) d = fmaf(of_bits(a[k] << 16), of_bits(b[k] << 16), d);
        uint32_t bits;
        memcpy(&bits, &d, sizeof bits);
        write_code(&rows, 4, bits);
    }
}
