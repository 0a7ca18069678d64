/* Arm's sums of outer products (SME, SME2), the instructions themselves, under an emulator: the element of row 0 and column 0.
 *
 *     aarch64-linux-gnu-gcc -O1 -static -march=armv9-a examples/program/sme.c -o build/sme
 *     mmau probe --program "qemu-aarch64 -cpu max build/sme fmopa.za.s.h" --arch armv9-sme --instr fmopa.za.s.h
 *
 * The argument is the instruction's name in the catalogue. Instructions are written as their encodings, since assemblers of 2022
 * do not know all of them: tile 0, predicate 0 twice, Z0 and Z1. QEMU 7.2 has those of SME; EBF and SME2 need a later one.
 */
#include "rows.h"

__asm__(".arch_extension sme");

/* The bytes of one element of the tile; the operands are as many bytes of Z0 and Z1. */
struct operands {
    uint64_t a, b, c;
};

/* FPMR: the formats of FP8, of Z0 in bits 0 to 2 and of Z1 in bits 3 to 5; 0 is e5m2, 1 is e4m3. */
static uint64_t fpmr;

#define SET_FPMR "msr s3_3_c4_c4_2, %3\n" /* in streaming mode, whose beginning clears it */

/* One step of an instruction on the first element of the tile, whose size is the letter T, of BYTES bytes. */
#define INSTRUCTION(NAME, ENCODING, T, BYTES, PREPARE)                                                                              \
    static void NAME(struct operands *row) {                                                                               \
        __asm__ volatile(                                                                                                  \
            "smstart sm\n mov w12, #0\n ptrue p0.b, vl" #BYTES "\n" PREPARE                                                \
            "ld1b {z0.b}, p0/z, [%0]\n ld1b {z1.b}, p0/z, [%1]\n ld1b {z2.b}, p0/z, [%2]\n"                                \
            "mova za0h." T "[w12, 0], p0/m, z2." T "\n .inst " #ENCODING "\n mova z2." T ", p0/m, za0h." T "[w12, 0]\n"    \
            "st1b {z2.b}, p0, [%2]\n smstop sm\n"                                                                          \
            :                                                                                                              \
            : "r"(&row->a), "r"(&row->b), "r"(&row->c), "r"(fpmr)                                                          \
            : "memory", "x12", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",     \
              "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",     \
              "v29", "v30", "v31", "p0");                                                                                  \
    }

INSTRUCTION(fmopa_s_s, 0x80810000, "s", 4, "")
INSTRUCTION(fmops_s_s, 0x80810010, "s", 4, "")
INSTRUCTION(fmopa_d_d, 0x80c10000, "d", 8, "")
INSTRUCTION(fmops_d_d, 0x80c10010, "d", 8, "")
INSTRUCTION(fmopa_h_h, 0x81810008, "h", 2, "")
INSTRUCTION(fmops_h_h, 0x81810018, "h", 2, "")
INSTRUCTION(bfmopa_h_h, 0x81a10008, "h", 2, "")
INSTRUCTION(bfmops_h_h, 0x81a10018, "h", 2, "")
INSTRUCTION(fmopa_s_h, 0x81a10000, "s", 4, "")
INSTRUCTION(fmops_s_h, 0x81a10010, "s", 4, "")
INSTRUCTION(bfmopa_s_h, 0x81810000, "s", 4, "")
INSTRUCTION(bfmops_s_h, 0x81810010, "s", 4, "")
INSTRUCTION(fmopa_s_b, 0x80a10000, "s", 4, SET_FPMR)
INSTRUCTION(fmopa_h_b, 0x80a10008, "h", 2, SET_FPMR)
INSTRUCTION(smopa_s_b, 0xa0810000, "s", 4, "")
INSTRUCTION(sumopa_s_b, 0xa0a10000, "s", 4, "")
INSTRUCTION(usmopa_s_b, 0xa1810000, "s", 4, "")
INSTRUCTION(umopa_s_b, 0xa1a10000, "s", 4, "")

/* What computes an instruction; bytes of an element of A and B, and of the result. */
static const struct instruction {
    const char *name;
    void (*step)(struct operands *);
    int element, result;
} instructions[] = {
    {"fmopa.za.s.s", fmopa_s_s, 4, 4},   {"fmops.za.s.s", fmops_s_s, 4, 4},   {"fmopa.za.d.d", fmopa_d_d, 8, 8},
    {"fmops.za.d.d", fmops_d_d, 8, 8},   {"fmopa.za.h.h", fmopa_h_h, 2, 2},   {"fmops.za.h.h", fmops_h_h, 2, 2},
    {"bfmopa.za.h.h", bfmopa_h_h, 2, 2}, {"bfmops.za.h.h", bfmops_h_h, 2, 2}, {"fmopa.za.s.h", fmopa_s_h, 2, 4},
    {"fmops.za.s.h", fmops_s_h, 2, 4},   {"bfmopa.za.s.h", bfmopa_s_h, 2, 4}, {"bfmops.za.s.h", bfmops_s_h, 2, 4},
    {"fmopa.za.s.e", fmopa_s_b, 1, 4},   {"fmopa.za.h.e", fmopa_h_b, 1, 2},   {"smopa.za.s.b", smopa_s_b, 1, 4},
    {"sumopa.za.s.b", sumopa_s_b, 1, 4}, {"usmopa.za.s.b", usmopa_s_b, 1, 4}, {"umopa.za.s.b", umopa_s_b, 1, 4},
};

/* The instruction that a name begins with; beside it the name may have `.ebf`, or the formats of FP8. */
static const struct instruction *find(const char *name) {
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++)
        if (!strncmp(name, instructions[i].name, strlen(instructions[i].name))) return &instructions[i];
    fprintf(stderr, "sme: no instruction %s\n", name);
    exit(2);
}

/* FPCR.EBF and the formats of FP8, by the name. */
static void set_modes(const char *name) {
    if (strstr(name, ".ebf")) __asm__ volatile("msr fpcr, %0" ::"r"((uint64_t)1 << 13));
    if (strstr(name, ".e4m3.")) fpmr |= 1;
    if (strlen(name) > 5 && !strcmp(name + strlen(name) - 5, ".e4m3")) fpmr |= 1 << 3;
}

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "usage: sme INSTRUCTION\n"), 2;
    const struct instruction *instruction = find(argv[1]);
    struct rows rows = read_header();
    set_modes(argv[1]);
    __asm__ volatile("smstart za" ::: "memory");
    for (;;) {
        struct operands row = {0, 0, 0};
        uint64_t code;
        for (int k = 0; k < 2 * rows.K; k++) {
            if (!read_code(&rows, instruction->element, &code)) return 0;
            *(k < rows.K ? &row.a : &row.b) |= code << 8 * instruction->element * (k % rows.K);
        }
        if (!read_code(&rows, instruction->result, &row.c)) return 0;
        instruction->step(&row);
        write_code(&rows, instruction->result, row.c);
    }
}
