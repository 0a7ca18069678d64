/* Multiply-adds and dot products of Arm, one a row: argv[1] is the instruction; rows of a, b and c from standard input, rows of d to standard output.
 * Elements have the sizes of their formats, without padding. */
#include <arm_neon.h>
#include <stdio.h>
#include <string.h>

/* BFDOT of 2 elements, or BFMMLA of 4, of which the element of the first row and the first column is taken. */
static int pairs(int K) {
    uint16_t x[2][8] = {{0}};
    float c;
    if (fread(x[0], 2, K, stdin) != (size_t)K || fread(x[1], 2, K, stdin) != (size_t)K) return 0;
    if (fread(&c, 4, 1, stdin) != 1) return 0;
    bfloat16x8_t a, b;
    memcpy(&a, x[0], sizeof a), memcpy(&b, x[1], sizeof b);
    float32x4_t z = vdupq_n_f32(c);
    float d = vgetq_lane_f32(K == 2 ? vbfdotq_f32(z, a, b) : vbfmmlaq_f32(z, a, b), 0);
    return fwrite(&d, sizeof d, 1, stdout) == 1;
}

static int row(const char *name) {
    if (!strcmp(name, "fmla.h")) {
        float16_t x[3];
        if (fread(x, sizeof x, 1, stdin) != 1) return 0;
        float16_t d = vgetq_lane_f16(vfmaq_laneq_f16(vdupq_n_f16(x[2]), vdupq_n_f16(x[0]), vdupq_n_f16(x[1]), 3), 0);
        return fwrite(&d, sizeof d, 1, stdout) == 1;
    }
    if (!strcmp(name, "fmla.s")) {
        float x[3];
        if (fread(x, sizeof x, 1, stdin) != 1) return 0;
        float d = vgetq_lane_f32(vfmaq_laneq_f32(vdupq_n_f32(x[2]), vdupq_n_f32(x[0]), vdupq_n_f32(x[1]), 3), 0);
        return fwrite(&d, sizeof d, 1, stdout) == 1;
    }
    if (!strcmp(name, "fmla.d")) {
        double x[3];
        if (fread(x, sizeof x, 1, stdin) != 1) return 0;
        double d = vgetq_lane_f64(vfmaq_laneq_f64(vdupq_n_f64(x[2]), vdupq_n_f64(x[0]), vdupq_n_f64(x[1]), 1), 0);
        return fwrite(&d, sizeof d, 1, stdout) == 1;
    }
    if (!strcmp(name, "bfdot") || !strcmp(name, "bfmmla")) return pairs(strcmp(name, "bfdot") ? 4 : 2);
    uint16_t x[2][8] = {{0}};
    float c;
    const int place = !strcmp(name, "bfmlalt"); /* the odd elements */
    if (fread(&x[0][place], 2, 1, stdin) != 1 || fread(&x[1][place], 2, 1, stdin) != 1) return 0;
    if (fread(&c, 4, 1, stdin) != 1) return 0;
    bfloat16x8_t a, b;
    memcpy(&a, x[0], sizeof a), memcpy(&b, x[1], sizeof b);
    float32x4_t z = vdupq_n_f32(c);
    float d = vgetq_lane_f32(place ? vbfmlaltq_f32(z, a, b) : vbfmlalbq_f32(z, a, b), 0);
    return fwrite(&d, sizeof d, 1, stdout) == 1;
}

int main(int argc, char **argv) {
    while (argc == 2 && row(argv[1])) {
    }
    return ferror(stdin) || ferror(stdout);
}
