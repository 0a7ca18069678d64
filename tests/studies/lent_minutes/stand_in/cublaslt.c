/* cuBLASLt's place: the functions that the list calls, on host memory. The "product" is that of codes as integers, so that a
 * test sees which element of which matrix met which; the "algorithm" says what it was asked for. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct { int compute, scale; int32_t transa, transb; int8_t fast; const float *scale_a, *scale_b; } Description;
typedef struct { int type; uint64_t rows, columns; int64_t ld; } Layout;
typedef struct { size_t workspace; } Preference;
typedef struct { uint64_t data[8]; size_t workspace; int state; float waves; int reserved[4]; } Heuristic;

enum { OK = 0, INVALID = 7, NOT_SUPPORTED = 15 };
static int handle;

size_t cublasLtGetVersion(void) { return 130000; }
int cublasLtCreate(void **made) { *made = &handle; return OK; }

int cublasLtMatmulDescCreate(Description **made, int compute, int scale) {
    *made = calloc(1, sizeof **made);
    (*made)->compute = compute;
    (*made)->scale = scale;
    return OK;
}
int cublasLtMatmulDescDestroy(Description *made) { free(made); return OK; }
int cublasLtMatmulDescSetAttribute(Description *made, int attribute, const void *value, size_t size) {
    void *places[] = {&made->transa, &made->transb, &made->scale_a, &made->scale_b, &made->fast};
    const int numbers[] = {3, 4, 17, 18, 25};
    const size_t sizes[] = {4, 4, 8, 8, 1};
    for (int i = 0; i < 5; ++i)
        if (numbers[i] == attribute && sizes[i] == size) { memcpy(places[i], value, size); return OK; }
    return INVALID;
}
int cublasLtMatrixLayoutCreate(Layout **made, int type, uint64_t rows, uint64_t columns, int64_t ld) {
    *made = calloc(1, sizeof **made);
    **made = (Layout){type, rows, columns, ld};
    return OK;
}
int cublasLtMatrixLayoutDestroy(Layout *made) { free(made); return OK; }
int cublasLtMatmulPreferenceCreate(Preference **made) { *made = calloc(1, sizeof **made); return OK; }
int cublasLtMatmulPreferenceDestroy(Preference *made) { free(made); return OK; }
int cublasLtMatmulPreferenceSetAttribute(Preference *made, int attribute, const void *value, size_t size) {
    if (attribute != 1 || size != sizeof made->workspace) return INVALID;
    memcpy(&made->workspace, value, size);
    return OK;
}

static uint64_t inner(const Description *d, const Layout *a) { return d->transa ? a->rows : a->columns; }

int cublasLtMatmulAlgoGetHeuristic(void *with, const Description *d, const Layout *a, const Layout *b, const Layout *c,
                                   const Layout *result, const Preference *preference, int asked, Heuristic *found, int *count) {
    if (with != &handle || asked != 1 || c != result || !preference->workspace || b->rows != inner(d, a)) return INVALID;
    *count = 0;
    if (a->type >= 28 && (!d->transa || inner(d, a) % 16)) return NOT_SUPPORTED;
    if (inner(d, a) == 8192) return OK; /* a size of which it knows no algorithm */
    memset(found, 0, sizeof *found);
    const uint64_t fields[] = {66, result->rows, inner(d, a) / 16, d->fast, d->compute, a->type, b->type, result->columns};
    memcpy(found->data, fields, sizeof fields);
    found->workspace = preference->workspace / 2;
    *count = 1;
    return OK;
}
int cublasLtMatmulAlgoConfigGetAttribute(const uint64_t *algorithm, int attribute, void *value, size_t size, size_t *written) {
    if (written || attribute < 0 || attribute > 8 || size != (attribute >= 7 ? 2u : 4u)) return INVALID;
    const uint64_t found = attribute < 8 ? algorithm[attribute] : 9;
    memcpy(value, &found, size);
    return OK;
}

static uint64_t code(const void *of, int type, uint64_t place) {
    if (type == 0) return ((const uint32_t *)of)[place];
    return type >= 28 ? ((const uint8_t *)of)[place] : ((const uint16_t *)of)[place];
}
int cublasLtMatmul(void *with, const Description *d, const float *alpha, const void *a, const Layout *la, const void *b,
                   const Layout *lb, const float *beta, const void *c, const Layout *lc, void *result, const Layout *ld,
                   const uint64_t *algorithm, void *workspace, size_t size, void *stream) {
    if (with != &handle || *alpha != 1.0f || *beta != 0.0f || c != result || lc != ld || algorithm[0] != 66 || !workspace)
        return INVALID;
    if (size != 32u << 20 || stream || (la->type >= 28) != (d->transa && la->type >= 28)) return INVALID;
    const uint64_t scale = d->scale_a ? (uint64_t)(*d->scale_a * 10 + .5) * 1000 + (uint64_t)(*d->scale_b * 10 + .5) : 1;
    for (uint64_t j = 0; j < ld->columns; ++j)
        for (uint64_t i = 0; i < ld->rows; ++i) {
            uint64_t sum = 0;
            for (uint64_t k = 0; k < lb->rows; ++k)
                sum += code(a, la->type, d->transa ? k + i * la->ld : i + k * la->ld) * code(b, lb->type, k + j * lb->ld);
            sum *= scale;
            if (ld->type == 0) ((uint32_t *)result)[i + j * ld->ld] = (uint32_t)sum;
            else ((uint16_t *)result)[i + j * ld->ld] = (uint16_t)sum;
        }
    return OK;
}
