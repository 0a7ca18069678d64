// SoftFloat's results and flags for rows of codes: a shared library for test_softfloat_peer.py.
#include <stdint.h>

#include "softfloat.h"

static float32_t widened(uint16_t code) { return bf16_to_f32((bfloat16_t){code}); }

// operation: 0 FMA, 1 MUL, 2 ADD. format: 16, 32, 64, or 17 for bf16 factors of an fp32 FMA.
void rows(int operation, int format, int mode, int tininess, int64_t count, const void* a, const void* b, const void* c,
          void* d, uint8_t* flags) {
    softfloat_roundingMode = (uint_fast8_t)mode;
    softfloat_detectTininess = (uint_fast8_t)tininess;
    for (int64_t i = 0; i < count; ++i) {
        softfloat_exceptionFlags = 0;
        if (format == 16) {
            float16_t x = {((const uint16_t*)a)[i]}, y = {((const uint16_t*)b)[i]}, z = {((const uint16_t*)c)[i]};
            float16_t r = operation == 0 ? f16_mulAdd(x, y, z) : operation == 1 ? f16_mul(x, y) : f16_add(x, y);
            ((uint16_t*)d)[i] = r.v;
        } else if (format == 32) {
            float32_t x = {((const uint32_t*)a)[i]}, y = {((const uint32_t*)b)[i]}, z = {((const uint32_t*)c)[i]};
            float32_t r = operation == 0 ? f32_mulAdd(x, y, z) : operation == 1 ? f32_mul(x, y) : f32_add(x, y);
            ((uint32_t*)d)[i] = r.v;
        } else if (format == 64) {
            float64_t x = {((const uint64_t*)a)[i]}, y = {((const uint64_t*)b)[i]}, z = {((const uint64_t*)c)[i]};
            float64_t r = operation == 0 ? f64_mulAdd(x, y, z) : operation == 1 ? f64_mul(x, y) : f64_add(x, y);
            ((uint64_t*)d)[i] = r.v;
        } else {
            float32_t z = {((const uint32_t*)c)[i]};
            ((uint32_t*)d)[i] = f32_mulAdd(widened(((const uint16_t*)a)[i]), widened(((const uint16_t*)b)[i]), z).v;
        }
        flags[i] = (uint8_t)softfloat_exceptionFlags;
    }
}
