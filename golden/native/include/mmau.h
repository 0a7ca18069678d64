/* MMAU's C interface: the arithmetic of matrix multiply-accumulate units, from C, C++, SystemVerilog or any FFI.
 *
 * Look an instruction up (mmau_find) or fill an mmau_parameters by hand, then compute one dot product (mmau_dot) or many
 * (mmau_dot_batch). Operands are bit patterns in unsigned integers of the format's storage width: 8, 16, 32 or 64 bits;
 * FP6, FP4, int4, uint4 and b1 one code a byte, in the low bits. There is no global state: every function may run in any thread.
 */
#ifndef MMAU_H
#define MMAU_H

#if defined(__CUDACC_RTC__) || defined(__HIP__) /* compilers for GPUs, without standard headers */
#define MMAU_ON_GPU
typedef short int16_t;
typedef unsigned short uint16_t;
typedef unsigned long long uint64_t;
typedef int int32_t;
typedef long long int64_t;
#else
#include <stdint.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#define MMAU_API __attribute__((visibility("default")))
#else
#define MMAU_API
#endif

/* Every enumeration but mmau_format counts from 0; names are those of golden's catalogue and unit files. */
enum mmau_operation {
    MMAU_FMA,
    MMAU_FTZ_ADDMUL,
    MMAU_E_FDPA,
    MMAU_T_FDPA,
    MMAU_ST_FDPA,
    MMAU_GST_FDPA,
    MMAU_TR_FDPA,
    MMAU_GTR_FDPA,
    MMAU_OC_FDPA,
    MMAU_PS_FDPA,
    MMAU_FTZ_FMA,
    MMAU_FTZ_EO_FMA,
    MMAU_IDPA,
    MMAU_MUL,
    MMAU_ADD,
    MMAU_CVT,
    MMAU_OPERATIONS /* how many */
};

/* A format is a number that holds its fields, so that any format has one: numerics.md, section 2, says what they mean.
 * An integer of n bits has exp_bits 0, and its bits without the sign as man_bits. */
#define MMAU_FORMAT(exp_bits, man_bits, bias, specials, layout, subnormals) \
    ((bias) * 65536 + (((subnormals) * 4 + (layout)) * 8 + (specials)) * 1024 + (man_bits) * 16 + (exp_bits))

/* Which codes of a format are special. */
enum mmau_specials { MMAU_SPECIALS_IEEE, MMAU_SPECIALS_FN, MMAU_SPECIALS_FNUZ, MMAU_SPECIALS_FINITE, MMAU_SPECIALS_P3109, MMAU_SPECIALS /* how many */ };

/* What a code has beside exponent and mantissa: nothing; a sign; a bit in its place that is ignored; a sign, and below the
 * mantissa zeros up to a word of 32 bits. */
enum mmau_layout { MMAU_UNSIGNED, MMAU_SIGNED, MMAU_SIGN_IGNORED, MMAU_PADDED };

enum mmau_format {
    MMAU_FP64 = MMAU_FORMAT(11, 52, 1023, MMAU_SPECIALS_IEEE, MMAU_SIGNED, 1),
    MMAU_FP32 = MMAU_FORMAT(8, 23, 127, MMAU_SPECIALS_IEEE, MMAU_SIGNED, 1),
    MMAU_TF32 = MMAU_FORMAT(8, 10, 127, MMAU_SPECIALS_IEEE, MMAU_PADDED, 1),
    MMAU_FP16 = MMAU_FORMAT(5, 10, 15, MMAU_SPECIALS_IEEE, MMAU_SIGNED, 1),
    MMAU_BF16 = MMAU_FORMAT(8, 7, 127, MMAU_SPECIALS_IEEE, MMAU_SIGNED, 1),
    MMAU_E5M2 = MMAU_FORMAT(5, 2, 15, MMAU_SPECIALS_IEEE, MMAU_SIGNED, 1),
    MMAU_E4M3 = MMAU_FORMAT(4, 3, 7, MMAU_SPECIALS_FN, MMAU_SIGNED, 1),
    MMAU_E4M3FNUZ = MMAU_FORMAT(4, 3, 8, MMAU_SPECIALS_FNUZ, MMAU_SIGNED, 1),
    MMAU_E5M2FNUZ = MMAU_FORMAT(5, 2, 16, MMAU_SPECIALS_FNUZ, MMAU_SIGNED, 1),
    MMAU_E3M2 = MMAU_FORMAT(3, 2, 3, MMAU_SPECIALS_FINITE, MMAU_SIGNED, 1),
    MMAU_E2M3 = MMAU_FORMAT(2, 3, 1, MMAU_SPECIALS_FINITE, MMAU_SIGNED, 1),
    MMAU_E2M1 = MMAU_FORMAT(2, 1, 1, MMAU_SPECIALS_FINITE, MMAU_SIGNED, 1),
    MMAU_UE8M0 = MMAU_FORMAT(8, 0, 127, MMAU_SPECIALS_FN, MMAU_UNSIGNED, 0),
    MMAU_UE4M3 = MMAU_FORMAT(4, 3, 7, MMAU_SPECIALS_FN, MMAU_SIGN_IGNORED, 1),
    MMAU_E4M3IEEE = MMAU_FORMAT(4, 3, 7, MMAU_SPECIALS_IEEE, MMAU_SIGNED, 1),
    MMAU_INT8 = MMAU_FORMAT(0, 7, 0, MMAU_SPECIALS_FINITE, MMAU_SIGNED, 1),
    MMAU_UINT8 = MMAU_FORMAT(0, 8, 0, MMAU_SPECIALS_FINITE, MMAU_UNSIGNED, 1),
    MMAU_INT4 = MMAU_FORMAT(0, 3, 0, MMAU_SPECIALS_FINITE, MMAU_SIGNED, 1),
    MMAU_UINT4 = MMAU_FORMAT(0, 4, 0, MMAU_SPECIALS_FINITE, MMAU_UNSIGNED, 1),
    MMAU_B1 = MMAU_FORMAT(0, 1, 0, MMAU_SPECIALS_FINITE, MMAU_UNSIGNED, 1),
    MMAU_INT32 = MMAU_FORMAT(0, 31, 0, MMAU_SPECIALS_FINITE, MMAU_SIGNED, 1),
    MMAU_E8M13 = MMAU_FORMAT(8, 13, 127, MMAU_SPECIALS_IEEE, MMAU_PADDED, 1)
};

/* Rounding modes: toward zero; to nearest, ties to even; toward minus infinity; toward plus infinity; to odd; to nearest, ties
 * away from zero. */
enum mmau_mode { MMAU_RZ, MMAU_RNE, MMAU_RD, MMAU_RU, MMAU_RO, MMAU_RNA, MMAU_MODES /* how many */ };

/* What a finite sum beyond the largest finite number becomes: the infinity of its sign, that number, or what IEEE 754 has for
 * the rounding mode. An integer sum beyond the range (IDPA) saturates, or wraps around, which is for it alone. */
enum mmau_overflow { MMAU_INFINITY, MMAU_SATURATE, MMAU_BY_MODE, MMAU_WRAP, MMAU_OVERFLOWS /* how many */ };

/* Which NaN FMA writes: the one quiet, positive NaN without payload; or the first among a, b and c, made quiet, and where there
 * is none the negative NaN without payload (x86); or so, but in the order b, c, a (fp64 of an H100). */
enum mmau_nan { MMAU_QUIET_NAN, MMAU_FIRST_NAN, MMAU_BCA_NAN, MMAU_NANS /* how many */ };

/* The sign of an exact sum of zero of E-FDPA: positive, or that of IEEE 754, section 6.3: negative where every product and c is,
 * and where rho rounds toward minus infinity, where any of them is. */
enum mmau_zero { MMAU_POSITIVE_ZERO, MMAU_IEEE_ZERO, MMAU_ZEROS /* how many */ };

/* Exception flags of IEEE 754, in RISC-V's order: inexact, underflow, overflow, division by zero, invalid operation. */
enum mmau_flag { MMAU_NX = 1, MMAU_UF = 2, MMAU_OF = 4, MMAU_DZ = 8, MMAU_NV = 16 };

/* What else than usual raises them, or'ed: a result is tiny before it is rounded, not after; 0 * infinity beside a quiet NaN
 * raises nothing, not MMAU_NV (numerics.md, section 14). */
enum mmau_flag_rule { MMAU_TINY_BEFORE = 1, MMAU_QUIET_BESIDE_NAN = 2 };

/* What IDPA adds of a pair of elements: its product, or of two b1 whether they differ. */
enum mmau_combination { MMAU_MULTIPLY, MMAU_XOR, MMAU_COMBINATIONS /* how many */ };

/* Whether FP8 operands are converted to fp16 first, and in which order the steps then take the products
 * (numerics.md, section 9). */
enum mmau_fp16_order { MMAU_NOT_CONVERTED, MMAU_IN_ORDER, MMAU_PAIRS_OF_FOUR, MMAU_EVEN_ODD, MMAU_FP16_ORDERS };

/* A dot product over K products. Keys that an operation does not have are ignored. sticky, flush_inputs,
 * flush_results and overflow are for user designs (numerics.md, section 13), except IDPA's overflow and the flushes of RDNA3
 * (OC-FDPA); every other published unit has 0.
 * L: products a step, K ≤ L or a multiple of L, even for FTZ-EO-FMA; FMA, MUL, ADD and CVT have L = 1, FTZ-AddMul calls
 * it P. MUL, ADD and CVT have no c, whose array holds any codes, and K is 1; CVT has no b either, whose format is a's. Its c has d's.
 * order: 0, the steps take the products by k; or a run r of 1, 2, 4 or 8 products, for OC-, PS-FDPA and IDPA: first the k with
 * k mod 2r < r, then the others. */
typedef struct mmau_parameters {
    int32_t operation;  /* enum mmau_operation */
    int32_t a;          /* enum mmau_format: what the array a holds */
    int32_t b;          /* enum mmau_format: what the array b holds */
    int32_t c;          /* enum mmau_format */
    int32_t rho;        /* enum mmau_mode: how the sum is rounded to d */
    int32_t rounded;    /* enum mmau_format: what the sum is rounded to where its code is not stored as it is, else 0 */
    int32_t d;          /* enum mmau_format; ignored without a rho, where d has c's format */
    int32_t truncation; /* enum mmau_mode: how aligned terms are truncated, MMAU_RZ or MMAU_RD; in T-, ST- and GST-FDPA MMAU_RO */
    int32_t fp16_order; /* enum mmau_fp16_order; T-FDPA alone may be other than MMAU_NOT_CONVERTED */
    int32_t K;          /* products */
    int32_t L;          /* products of a step */
    int32_t F;          /* fraction bits of an aligned term */
    int32_t F2;         /* fraction bits of the normalised sum (TR-, GTR-FDPA) */
    int32_t e_zero;     /* exponent of a term without a significand (T-, ST-, GST-, OC-, PS-FDPA) */
    int32_t K_block;    /* elements that share a scale (ST-, GST-FDPA) */
    int32_t G;          /* products of a group (GST-FDPA; PS-FDPA calls it P) */
    int32_t scale;      /* enum mmau_format, of at most 32 bits (ST-, GST-FDPA) */
    int32_t sticky;        /* 1: rho sees that alignment dropped bits (T-, ST-, GST-FDPA; not with MMAU_RO) */
    int32_t flush_inputs;  /* 1: a subnormal a, b or c is a zero of its sign (operations with a rho; OC- and PS-FDPA: as fp32) */
    int32_t flush_results; /* 1: so is a subnormal d (operations with a rho) */
    int32_t overflow;      /* enum mmau_overflow (operations with a rho; IDPA: MMAU_SATURATE or MMAU_WRAP) */
    int32_t nan;           /* enum mmau_nan (FMA, MUL, ADD; CVT: not MMAU_BCA_NAN) */
    int32_t h;             /* how far a product counts above its own exponent (OC-, PS-FDPA) */
    int32_t order;         /* products of a run, above */
    int32_t combination;   /* enum mmau_combination (IDPA) */
    int32_t zero;          /* enum mmau_zero (E-FDPA) */
} mmau_parameters;

/* A catalogue entry. */
typedef struct mmau_instruction {
    mmau_parameters parameters;
    int32_t m, n;
    int32_t d; /* enum mmau_format */
} mmau_instruction;

/* A unit, as a unit.toml describes it. */
typedef struct mmau_unit {
    mmau_parameters parameters;
    int32_t rules; /* of enum mmau_flag_rule: the keys tininess and beside_nan */
    int32_t d;     /* enum mmau_format */
} mmau_unit;

/* Operands of `rows` dot products. Row r of a starts at element r·a_stride, so with b and the scales; c and d are contiguous.
 * scale_a and scale_b hold ceil(K/K_block) scales a row and are NULL where the operation has none. d may be c; else no array
 * may overlap d.
 * With columns = N > 0 the rows are the elements of a matrix product: row r takes row r / N of a and scale_a, and row r % N of
 * b and scale_b, which hold the columns of B. */
typedef struct mmau_batch {
    const void *a, *b, *c, *scale_a, *scale_b;
    void *d;
    int64_t rows, columns;
    int64_t a_stride, b_stride, scale_a_stride, scale_b_stride; /* elements */
} mmau_batch;

/* What happened to a term of a sum; 0 where there was no such sum, because the step's result is special. */
enum mmau_term_flag {
    MMAU_TERM_SUMMED = 1,
    MMAU_TERM_NONZERO = 2,  /* it has a significand */
    MMAU_TERM_NEGATIVE = 4,
    MMAU_TERM_CUT = 8,  /* alignment drops a one of it */
    MMAU_TERM_GONE = 16 /* alignment drops every one of it */
};

typedef struct mmau_seen_term {
    int16_t gap;     /* how far its exponent lies below e_max (exponent value); of a zero in an exact sum 0 */
    int16_t kept;    /* bits from its leading one down to the last that alignment keeps; 0 or less where all go (bits) */
    uint16_t flags;  /* enum mmau_term_flag */
} mmau_seen_term;

enum mmau_sum_flag {
    MMAU_SUM_MADE = 1,
    MMAU_SUM_NONZERO = 2,
    MMAU_SUM_NEGATIVE = 4,
    MMAU_SUM_OF_SOMETHING = 8 /* a term is not zero once it is aligned */
};

typedef struct mmau_seen_sum {
    int16_t e_max;   /* exponent that its terms are aligned to; of an exact sum the largest of a term that is not zero, or 0 */
    int16_t lead;    /* of the total's leading one (exponent value), 0 where it is zero */
    int16_t largest; /* of the largest leading one of an aligned term, 0 without one */
    uint16_t flags;  /* enum mmau_sum_flag */
} mmau_seen_sum;

enum mmau_rounding_flag {
    MMAU_ROUNDING_MADE = 1,
    MMAU_ROUNDING_NONZERO = 2,
    MMAU_ROUNDING_NEGATIVE = 4,
    MMAU_ROUNDING_LAST = 8,     /* the last bit that is kept, before rounding */
    MMAU_ROUNDING_GUARD = 16,   /* the bit below it */
    MMAU_ROUNDING_STICKY = 32,  /* a one below that */
    MMAU_ROUNDING_AWAY = 64,    /* rounded away from zero */
    MMAU_ROUNDING_CARRY = 128,  /* into a new leading bit */
    MMAU_ROUNDING_TINY = 256,   /* below the smallest normal number, before rounding */
    MMAU_ROUNDING_TO_ZERO = 512,
    MMAU_ROUNDING_SUBNORMAL = 1024, /* a subnormal result */
    MMAU_ROUNDING_OVERFLOW = 2048,
    MMAU_ROUNDING_FLUSHED = 4096, /* to zero, for it is no normal number */
    MMAU_ROUNDING_BEYOND = 8192   /* an overflow of what is kept, already before it is rounded */
};

typedef struct mmau_seen_rounding {
    int16_t lead;   /* of the leading one of what is rounded (exponent value), 0 where that is zero */
    uint16_t flags; /* enum mmau_rounding_flag */
} mmau_seen_rounding;

/* How many records a step writes. Its sums in order, their terms one sum after the other:
 *   FMA, E-, T-, ST-, OC-FDPA: the products and c; MUL: the product; ADD: a and b; CVT: a;
 *   GST-FDPA: the products of each group, times the significands of its scales; the groups and c;
 *   PS-FDPA: the products of each group; the groups and c;
 *   TR-FDPA: the products; their sum T and c. GTR-FDPA: the even products; the odd ones; both sums; T and c.
 *   FTZ-AddMul: two addends a sum, level by level, c and the products' sum last;
 *   FTZ-FMA: a product and what it is added to, in the order in which they are carried out. FTZ-EO-FMA: the same of each
 *   product in its order; the even sum and the odd one; c and both sums;
 *   IDPA: the products and c.
 * Roundings: rho's, in TR- and GTR-FDPA after the truncation of the normalised sum; FTZ-AddMul's of each product, then of each
 * sum; FTZ-FMA's and FTZ-EO-FMA's of each sum; IDPA has none. */
typedef struct mmau_record_counts {
    int32_t steps, terms, sums, roundings;
} mmau_record_counts;

/* Records of `rows` rows, row by row and step by step, and codes of c before and d after each step. */
typedef struct mmau_observation {
    mmau_seen_term *terms;
    mmau_seen_sum *sums;
    mmau_seen_rounding *roundings;
    uint64_t *c, *d;
} mmau_observation;

/* The shape of the stimulus at volume: formats and lengths, nothing of an operation. */
typedef struct mmau_stimulus {
    int32_t a, b, c;    /* enum mmau_format */
    int32_t d;          /* enum mmau_format: what a result is rounded to */
    int32_t d_man_bits; /* mantissa bits that a result keeps: d's, or 13 with RZ-E8M13; of integers 0 */
    int32_t K;          /* products of a row, 1 to 65,536 */
    int32_t scale;      /* enum mmau_format, of at most 32 bits; ignored where K_block is 0 */
    int32_t K_block;    /* elements that share a scale; 0: there are no scales */
} mmau_stimulus;

typedef enum mmau_status {
    MMAU_OK,
    MMAU_NULL_POINTER,
    MMAU_UNKNOWN_ARCHITECTURE,
    MMAU_UNKNOWN_INSTRUCTION,
    MMAU_BAD_OPERATION,
    MMAU_BAD_FORMAT,
    MMAU_BAD_RHO,
    MMAU_BAD_TRUNCATION,
    MMAU_BAD_FP16_ORDER,
    MMAU_BAD_K,
    MMAU_BAD_L,
    MMAU_BAD_F,
    MMAU_BAD_E_ZERO,
    MMAU_BAD_K_BLOCK,
    MMAU_BAD_G,
    MMAU_BAD_SCALE,
    MMAU_BAD_ROWS,
    MMAU_BAD_STRIDE,
    MMAU_BAD_THREADS,
    MMAU_BAD_CODE,
    MMAU_BAD_ISA,
    MMAU_BAD_VECTOR, /* of the DPI functions alone */
    MMAU_BAD_STICKY,
    MMAU_BAD_FLUSH,
    MMAU_BAD_OVERFLOW,
    MMAU_BAD_CORNERS,
    MMAU_BAD_TILE,
    MMAU_BAD_NAN,
    MMAU_BAD_H,
    MMAU_BAD_ORDER,
    MMAU_BAD_COMBINATION,
    MMAU_BAD_LAYOUT, /* of mmau_tile.h */
    MMAU_BAD_ZERO,
    MMAU_BAD_RULES,
    MMAU_BAD_UNIT, /* of mmau_unit_load, which says why */
    MMAU_BAD_WIDTH,
    MMAU_STATUSES /* how many */
} mmau_status;

#ifndef MMAU_ON_GPU /* device code uses the headers in mmau/ */

/* The rule behind a status, as a sentence; never NULL. */
MMAU_API const char *mmau_message(int status);

/* Find a catalogue entry: arch as "sm_90", name as "mma.m16n8k16.f32.f16.f16.f32". All are there but those
   that round sums outside of their steps: bfdot and bfmmla of aarch64, some of armv9-sme and of riscv-zvbdota. */
MMAU_API int mmau_find(const char *arch, const char *name, mmau_instruction *found);

/* Read a unit.toml: its operation over K products (0: those of one step). Strings, decimal integers, true and false are read,
 * one key a line; [implementation] is skipped, for it changes no result. MMAU_BAD_UNIT where the file is no unit, or one that
 * golden computes in several calls; `message` (NULL with 0 bytes: none) then names the file, the key and the rule. */
MMAU_API int mmau_unit_load(const char *path, int32_t K, mmau_unit *unit, char *message, int32_t message_bytes);

/* MMAU_OK where the parameters describe an operation, else the first rule they break. */
MMAU_API int mmau_check(const mmau_parameters *parameters);

/* d = c + Σ a_k·b_k. MMAU_BAD_CODE where a byte of FP6, FP4, int4, uint4 or b1 holds more than a code; d is then untouched. */
MMAU_API int mmau_dot(const mmau_parameters *parameters, const void *a, const void *b, const void *c, const void *scale_a,
                      const void *scale_b, void *d);

/* Every row of a batch, on `threads` threads (0: one for each core). Codes as in mmau_dot, but other rows than
 * the bad one may have been written. */
MMAU_API int mmau_dot_batch(const mmau_parameters *parameters, const mmau_batch *batch, int threads);

/* Every row of a batch (columns 0) of FMA, MUL, ADD, CVT or E-FDPA, by the general path, one after the other; and in `flags`, of
 * enum mmau_flag, what the steps of each row raise together. `rules`: of enum mmau_flag_rule. Bytes of FP6 and FP4 must be
 * codes. */
MMAU_API int mmau_dot_flags(const mmau_parameters *parameters, const mmau_batch *batch, int rules, uint8_t *flags);

/* The records that mmau_observe writes for each step. */
MMAU_API int mmau_count_records(const mmau_parameters *parameters, mmau_record_counts *counts);

/* Compute every row of a batch by the general path, one after the other, and record its steps; batch->d is not used. A
 * converted chain (fp16_order) is seen without the addition of c that ends it. Bytes of FP6 and FP4 must be codes. */
MMAU_API int mmau_observe(const mmau_parameters *parameters, const mmau_batch *batch, mmau_observation *observation);

/* The instruction set that batches run on: "portable", "x86-64-v3" or "x86-64-v4"; the machine's widest, or the one that the
 * environment variable MMAU_ISA names. NULL where the machine does not have that one; computing is then MMAU_BAD_ISA. Results
 * do not depend on it. */
MMAU_API const char *mmau_isa(void);

/* SHA-256 over the names and the contents of the sources that the library was compiled from, in hexadecimal digits; empty
 * where CMake did not build it. */
MMAU_API const char *mmau_source_digest(void);

/* MMAU_OK where the stimulus and its corner table (NULL: none) fit each other, else the first rule they break.
 * A corner table is a block of memory that golden.stimulus.volume makes, aligned to 8 bytes. */
MMAU_API int mmau_check_stimulus(const mmau_stimulus *stimulus, const void *corners, int64_t corner_bytes);

/* Rows first_row ... first_row + rows - 1 of a seed: a, b [rows][K], c [rows], scale_a, scale_b [rows][ceil(K/K_block)]
 * (NULL where there are none), and the number of each row's class or corner in label (NULL where nobody asks). A row depends
 * on stimulus, table, seed and its number alone. On the caller's thread. */
MMAU_API int mmau_fill_rows(const mmau_stimulus *stimulus, const void *corners, uint64_t seed, int64_t first_row, int64_t rows,
                            void *a, void *b, void *c, void *scale_a, void *scale_b, uint8_t *label);

/* The same for tiles of m rows of A and n columns of B: a [tiles][m][K], b [tiles][n][K], c [tiles][m][n], scales [tiles][m or
 * n][...], label [tiles]; m and n at most 1,024, and m * K, n * K at most 2^26. Rows are tiles with m = n = 1. */
MMAU_API int mmau_fill_tiles(const mmau_stimulus *stimulus, const void *corners, uint64_t seed, int64_t first_tile, int64_t tiles,
                             int32_t m, int32_t n, void *a, void *b, void *c, void *scale_a, void *scale_b, uint8_t *label);

#endif

#ifdef __cplusplus
}
#endif

#endif
