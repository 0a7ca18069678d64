/* One matrix instruction in the registers of a wave, as an architecture simulator has them: libmmau's interface for simulators.
 *
 * Version 1. What this header declares does not change within a version: a later library keeps these functions, their order of
 * arguments, the layout of the struct and the meaning of every field. mmau_tile_version tells which version a library has.
 *
 * Registers are 32 bits wide, lane by lane: register r of lane l is x[l * registers + r], registers in the order of the
 * instruction's operand. Elements lie in them as the ISA says: the PTX ISA's matrix fragments for mma, AMD's ISAs for v_mfma and
 * v_wmma. Formats narrower than a register are packed, the lowest bits first; fp64 takes two registers, the low one first. FP6
 * and FP4 take a byte where they stand beside wider formats, FP4 its bits 2 to 5. On gfx11 the copies of A and B in groups of
 * 16 lanes must be equal, and a 16-bit element of C or D is the low half of its register: the high half of d stays. */
#ifndef MMAU_TILE_H
#define MMAU_TILE_H

#include "mmau.h"

#define MMAU_TILE_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mmau_tile {
    int32_t version;     /* MMAU_TILE_VERSION of the library that filled it */
    int32_t lanes;       /* of the wave: 32 or 64 */
    int32_t a_registers; /* 32-bit registers of a lane */
    int32_t b_registers;
    int32_t c_registers;
    int32_t d_registers;
    int32_t m, n, k;
    int32_t blocks;      /* independent m x n x k products that the instruction computes at once */
    int32_t operand;     /* elements of A that a lane holds side by side along k */
    int32_t layout;      /* how elements lie in registers: for the library alone */
    mmau_instruction instruction;
} mmau_tile;

/* MMAU_TILE_VERSION of this library. */
MMAU_API int mmau_tile_version(void);

/* Describe an instruction of the catalogue, whose registers this interface knows: mma, v_mfma, and v_wmma but for 16 factors
 * of 4 bits in wave64. MMAU_BAD_LAYOUT for others: wgmma and tcgen05 take operands from memory, v_dot2 has a product a lane. */
MMAU_API int mmau_find_tile(const char *arch, const char *name, mmau_tile *found);

/* D = A*B + C of one wave. a [lanes][a_registers], b, c, d likewise; d may be c. On the caller's thread; no state is kept. */
MMAU_API int mmau_run_tile(const mmau_tile *tile, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t *d);

/* The same of a block-scaled mma: scale_a and scale_b [lanes], a register of each lane, byte s the scale of block s, with the
 * selectors {0, 0}: of A by the two first lanes of a quad, of B by its first. NULL where the instruction has no scales. */
MMAU_API int mmau_run_scaled_tile(const mmau_tile *tile, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                                  const uint32_t *scale_a, const uint32_t *scale_b, uint32_t *d);

#ifdef __cplusplus
}
#endif

#endif
