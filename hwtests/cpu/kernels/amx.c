/* Tiles of AMX: a [tiles, 16, K], b [tiles, 16, K] (the columns of B), d [tiles, 16, 16] in place of c.
 *
 * MMAU_ELEMENT_BYTES is the size of an element of a and b, and one of MMAU_TDP… chooses the instruction. Returns 0, or the errno
 * with which the kernel refuses the tiles. */
#define _GNU_SOURCE
#include <errno.h>
#include <immintrin.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(MMAU_TDPBF16PS)
#define COMPUTE _tile_dpbf16ps
#elif defined(MMAU_TDPFP16PS)
#define COMPUTE _tile_dpfp16ps
#elif defined(MMAU_TDPBSSD)
#define COMPUTE _tile_dpbssd
#elif defined(MMAU_TDPBSUD)
#define COMPUTE _tile_dpbsud
#elif defined(MMAU_TDPBUSD)
#define COMPUTE _tile_dpbusd
#elif defined(MMAU_TDPBUUD)
#define COMPUTE _tile_dpbuud
#else
#error "one of the instructions must be chosen"
#endif

#define SIZE 16                    /* rows and columns of d */
#define ARCH_REQ_XCOMP_PERM 0x1023 /* asm/prctl.h */
#define XFEATURE_XTILEDATA 18

struct configuration { /* what ldtilecfg reads */
    uint8_t palette, start_row, reserved[14];
    uint16_t column_bytes[16];
    uint8_t rows[16];
};

int mmau_rows(const void *a, const void *b, void *d, int64_t tiles, int32_t K) {
    if (syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)) return errno;
    const int row_bytes = K * MMAU_ELEMENT_BYTES, words = row_bytes / 4;
    struct configuration configuration = {.palette = 1};
    configuration.rows[0] = SIZE, configuration.column_bytes[0] = 4 * SIZE;             /* d */
    configuration.rows[1] = SIZE, configuration.column_bytes[1] = (uint16_t)row_bytes;  /* a */
    configuration.rows[2] = (uint8_t)words, configuration.column_bytes[2] = 4 * SIZE;   /* b */
    _tile_loadconfig(&configuration);
    for (int64_t tile = 0; tile < tiles; ++tile) {
        const char *x = (const char *)a + tile * SIZE * row_bytes, *y = (const char *)b + tile * SIZE * row_bytes;
        uint32_t *z = (uint32_t *)d + tile * SIZE * SIZE;
        uint32_t regrouped[SIZE][SIZE]; /* row w holds word w of each column: 4 bytes along K */
        for (int word = 0; word < words; ++word) {
            for (int n = 0; n < SIZE; ++n) memcpy(&regrouped[word][n], y + n * row_bytes + 4 * word, 4);
        }
        _tile_loadd(0, z, 4 * SIZE);
        _tile_loadd(1, x, row_bytes);
        _tile_loadd(2, regrouped, 4 * SIZE);
        COMPUTE(0, 1, 2);
        _tile_stored(0, z, 4 * SIZE);
    }
    _tile_release();
    return 0;
}
