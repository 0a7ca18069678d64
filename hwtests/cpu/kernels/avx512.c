/* Dot products of AVX-512, one a lane: rows of a and b as they lie in memory, K elements each; d in place of c.
 *
 * MMAU_KERNEL chooses the instruction. A last block that is not full is padded with zeros. */
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#if defined(MMAU_VDPBF16PS)
#define LANES 16
#define COMPUTE(a, b, c) _mm512_castps_si512(_mm512_dpbf16_ps(_mm512_castsi512_ps(c), (__m512bh)(a), (__m512bh)(b)))
#elif defined(MMAU_VPDPBUSD)
#define LANES 16
#define COMPUTE(a, b, c) _mm512_dpbusd_epi32(c, a, b)
#elif defined(MMAU_VPDPBUSDS)
#define LANES 16
#define COMPUTE(a, b, c) _mm512_dpbusds_epi32(c, a, b)
#elif defined(MMAU_VFMADDPH)
#define LANES 32
#define COMPUTE(a, b, c) \
    _mm512_castph_si512(_mm512_fmadd_ph(_mm512_castsi512_ph(a), _mm512_castsi512_ph(b), _mm512_castsi512_ph(c)))
#else
#error "one of the instructions must be chosen"
#endif

#define LANE_BYTES (64 / LANES) /* of a row of a, of a row of b, of c and of d alike */

int mmau_rows(const void *a, const void *b, void *d, int64_t rows, int32_t K) {
    (void)K;
    for (int64_t first = 0; first < rows; first += LANES) {
        const int64_t left = rows - first < LANES ? rows - first : LANES;
        const size_t bytes = (size_t)(left * LANE_BYTES), offset = (size_t)(first * LANE_BYTES);
        char x[64] = {0}, y[64] = {0}, z[64] = {0};
        memcpy(x, (const char *)a + offset, bytes);
        memcpy(y, (const char *)b + offset, bytes);
        memcpy(z, (char *)d + offset, bytes);
        _mm512_storeu_si512(z, COMPUTE(_mm512_loadu_si512(x), _mm512_loadu_si512(y), _mm512_loadu_si512(z)));
        memcpy((char *)d + offset, z, bytes);
    }
    return 0;
}
