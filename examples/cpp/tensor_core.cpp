// A tensor core inside an architecture simulator: one instruction's D = A·B + C, through the C interface. It prints what
// numerics.md, section 8, says of Hopper: a = (−2^13, −.5, −.25, −.125), b = (2^10, 1, 1, 1), c = 2^23 gives −0.75.
#include <mmau.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

int main() {
    mmau_instruction instruction;
    int status = mmau_find("sm_90", "mma.m16n8k16.f32.f16.f16.f32", &instruction);
    const int K = instruction.parameters.K, M = instruction.m, N = instruction.n;
    std::vector<uint16_t> A(M * K), B_columns(N * K);  // fp16 codes
    std::vector<float> C(M * N, 8388608.0f), D(M * N);
    const uint16_t a[4] = {0xF000, 0xB800, 0xB400, 0xB000}, b[4] = {0x6400, 0x3C00, 0x3C00, 0x3C00};
    for (int i = 0; i < M; ++i) std::memcpy(&A[i * K], a, sizeof a);
    for (int j = 0; j < N; ++j) std::memcpy(&B_columns[j * K], b, sizeof b);

    mmau_batch batch = {};
    batch.a = A.data();
    batch.b = B_columns.data();
    batch.c = C.data();
    batch.d = D.data();
    batch.rows = M * N;
    batch.columns = N;
    batch.a_stride = batch.b_stride = K;
    if (status == MMAU_OK) status = mmau_dot_batch(&instruction.parameters, &batch, 0);
    if (status != MMAU_OK) {
        std::fprintf(stderr, "%s\n", mmau_message(status));
        return 2;
    }
    std::printf("%g\n", D[0]);
    return 0;
}
