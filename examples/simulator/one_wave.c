/* One matrix instruction of an architecture simulator: a wave's registers in, its registers out. `one_wave [ARCH NAME]`
 * sets every element of A and B to 1 (fp16) and of C to 0.5 (fp32), and prints the first element of D: 0.5 plus k. */
#include <mmau_tile.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fill a wave's registers with one element's bits. */
static uint32_t *filled(int lanes, int registers, uint32_t bits) {
    uint32_t *x = malloc(sizeof *x * lanes * registers);
    for (int i = 0; x && i < lanes * registers; ++i) x[i] = bits;
    return x;
}

int main(int argc, char **argv) {
    const char *arch = argc > 2 ? argv[1] : "gfx942";
    const char *name = argc > 2 ? argv[2] : "v_mfma_f32_16x16x16_f16";
    mmau_tile tile;
    int status = mmau_find_tile(arch, name, &tile);
    if (status == MMAU_OK) {
        uint32_t *a = filled(tile.lanes, tile.a_registers, 0x3C003C00);
        uint32_t *b = filled(tile.lanes, tile.b_registers, 0x3C003C00);
        uint32_t *c = filled(tile.lanes, tile.c_registers, 0x3F000000);
        uint32_t *d = filled(tile.lanes, tile.d_registers, 0);
        status = mmau_run_tile(&tile, a, b, c, d);
        float first;
        memcpy(&first, d, sizeof first);
        if (status == MMAU_OK) printf("%g\n", first);
        free(a), free(b), free(c), free(d);
    }
    if (status != MMAU_OK) fprintf(stderr, "one_wave: %s\n", mmau_message(status));
    return status == MMAU_OK ? 0 : 2;
}
