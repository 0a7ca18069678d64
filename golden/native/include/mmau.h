/* MMAU's C interface: the arithmetic of matrix multiply-accumulate units, from C, C++, SystemVerilog or any FFI.
 *
 * Look an instruction up (mmau_find) or fill an mmau_parameters by hand, then compute one dot product (mmau_dot) or many
 * (mmau_dot_batch). Operands are bit patterns in unsigned integers of the format's storage width: 8, 16, 32 or 64 bits;
 * FP6 and FP4 one code a byte, in the low bits. There is no global state: every function may run in any thread.
 */
#ifndef MMAU_H
#define MMAU_H

#ifdef __CUDACC_RTC__ /* NVRTC has no standard headers */
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

/* Every enumeration counts from 0; its names are those of golden's catalogue and unit files. */
enum mmau_operation {
    MMAU_FMA,
    MMAU_FTZ_ADDMUL,
    MMAU_E_FDPA,
    MMAU_T_FDPA,
    MMAU_ST_FDPA,
    MMAU_GST_FDPA,
    MMAU_TR_FDPA,
    MMAU_GTR_FDPA,
    MMAU_OPERATIONS /* how many */
};

enum mmau_format {
    MMAU_FP64,
    MMAU_FP32,
    MMAU_TF32,
    MMAU_FP16,
    MMAU_BF16,
    MMAU_E5M2,
    MMAU_E4M3,
    MMAU_E4M3FNUZ,
    MMAU_E5M2FNUZ,
    MMAU_E3M2,
    MMAU_E2M3,
    MMAU_E2M1,
    MMAU_UE8M0,
    MMAU_UE4M3,
    MMAU_E4M3IEEE,
    MMAU_FORMATS /* how many */
};

enum mmau_rho {
    MMAU_RZ_E8M13,
    MMAU_RZ_FP32,
    MMAU_RZ_FP16,
    MMAU_RZ_BF16,
    MMAU_RNE_FP32,
    MMAU_RNE_FP16,
    MMAU_RNE_BF16,
    MMAU_RD_FP32,
    MMAU_RD_FP16,
    MMAU_RD_BF16,
    MMAU_RU_FP32,
    MMAU_RU_FP16,
    MMAU_RU_BF16,
    MMAU_RO_FP32, /* round to odd */
    MMAU_RO_FP16,
    MMAU_RO_BF16,
    MMAU_RNA_FP32, /* to nearest, ties away from zero */
    MMAU_RNA_FP16,
    MMAU_RNA_BF16,
    MMAU_RZ_FP64, /* to fp64: FMA alone */
    MMAU_RNE_FP64,
    MMAU_RD_FP64,
    MMAU_RU_FP64,
    MMAU_RO_FP64,
    MMAU_RNA_FP64,
    MMAU_RHOS /* how many */
};

enum mmau_truncation { MMAU_RZ, MMAU_RD, MMAU_RO, MMAU_TRUNCATIONS /* how many */ };

/* What a finite sum beyond the largest finite number becomes: the infinity of its sign, that number, or what IEEE 754 has for
 * the rounding mode. */
enum mmau_overflow { MMAU_INFINITY, MMAU_SATURATE, MMAU_BY_MODE, MMAU_OVERFLOWS /* how many */ };

/* Whether FP8 operands are converted to fp16 first, and in which order the steps then take the products
 * (numerics.md, section 9). */
enum mmau_fp16_order { MMAU_NOT_CONVERTED, MMAU_IN_ORDER, MMAU_PAIRS_OF_FOUR, MMAU_EVEN_ODD, MMAU_FP16_ORDERS };

/* A dot product over K products. Keys that an operation does not have are ignored. The last four are for units of one's own
 * (numerics.md, section 13); 0 is what every published unit has.
 * L: products a step, K ≤ L or a multiple of L; FMA has L = 1, FTZ-AddMul calls it P. */
typedef struct mmau_parameters {
    int32_t operation;  /* enum mmau_operation */
    int32_t a;          /* enum mmau_format: what the array a holds */
    int32_t b;          /* enum mmau_format: what the array b holds */
    int32_t c;          /* enum mmau_format */
    int32_t rho;        /* enum mmau_rho; it settles d's format, which for FMA is c's. FTZ-AddMul has none: d is as c */
    int32_t truncation; /* enum mmau_truncation: how aligned terms are truncated; MMAU_RO in T-, ST- and GST-FDPA alone */
    int32_t fp16_order; /* enum mmau_fp16_order; T-FDPA alone may be other than MMAU_NOT_CONVERTED */
    int32_t K;          /* products */
    int32_t L;          /* products of a step */
    int32_t F;          /* fraction bits of an aligned term */
    int32_t F2;         /* fraction bits of the normalised sum (TR-, GTR-FDPA) */
    int32_t e_zero;     /* exponent of a term without a significand (T-, ST-, GST-FDPA) */
    int32_t K_block;    /* elements that share a scale (ST-, GST-FDPA) */
    int32_t G;          /* products of a group (GST-FDPA) */
    int32_t scale;      /* enum mmau_format (GST-FDPA: MMAU_UE8M0 or MMAU_UE4M3; ST-FDPA: MMAU_UE8M0) */
    int32_t sticky;        /* 1: rho sees that alignment dropped bits (T-, ST-, GST-FDPA; not with MMAU_RO) */
    int32_t flush_inputs;  /* 1: a subnormal a, b or c is a zero of its sign (not FTZ-AddMul, which has its own rule) */
    int32_t flush_results; /* 1: so is a subnormal d (not FTZ-AddMul) */
    int32_t overflow;      /* enum mmau_overflow (not FTZ-AddMul) */
} mmau_parameters;

/* A catalogue entry. */
typedef struct mmau_instruction {
    mmau_parameters parameters;
    int32_t m, n;
    int32_t d; /* enum mmau_format */
} mmau_instruction;

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
    MMAU_STATUSES /* how many */
} mmau_status;

#ifndef __CUDACC_RTC__ /* device code uses the headers in mmau/ */

/* The rule behind a status, as a sentence; never NULL. */
MMAU_API const char *mmau_message(int status);

/* Find a catalogue entry: arch as "sm_90", name as "mma.m16n8k16.f32.f16.f16.f32". */
MMAU_API int mmau_find(const char *arch, const char *name, mmau_instruction *found);

/* MMAU_OK where the parameters describe an operation, else the first rule they break. */
MMAU_API int mmau_check(const mmau_parameters *parameters);

/* d = c + Σ a_k·b_k. MMAU_BAD_CODE where an FP6 or FP4 byte holds more than a code; d is then untouched. */
MMAU_API int mmau_dot(const mmau_parameters *parameters, const void *a, const void *b, const void *c, const void *scale_a,
                      const void *scale_b, void *d);

/* Every row of a batch, on `threads` threads (0: one for each core). Codes as in mmau_dot, but other rows than
 * the bad one may have been written. */
MMAU_API int mmau_dot_batch(const mmau_parameters *parameters, const mmau_batch *batch, int threads);

/* The instruction set that batches run on: "portable", "x86-64-v3" or "x86-64-v4"; the machine's widest, or the one that the
 * environment variable MMAU_ISA names. NULL where the machine does not have that one; computing is then MMAU_BAD_ISA. Results
 * do not depend on it. */
MMAU_API const char *mmau_isa(void);

#endif

#ifdef __cplusplus
}
#endif

#endif
