// A tensor core inside an architecture simulator: one instruction's D = A·B + C, through the C interface. `tensor_core [ARCH]`
// prints d of a = (−2^13, −.5, −.25, −.125), b = (2^10, 1, 1, 1), c = 2^23, which numerics.md, section 8, gives for every
// architecture: −0.75 on Hopper (sm_90), the default.
#include <mmau.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

/// Says why the library refused; the exit status.
int refused(int status) {
    std::fprintf(stderr, "tensor_core: %s\n", mmau_message(status));
    return 2;
}

int main(int argc, char** argv) {
    const char* arch = argc > 1 ? argv[1] : "sm_90";
    mmau_instruction instruction;
    if (const int status = mmau_find(arch, "mma.m16n8k16.f32.f16.f16.f32", &instruction)) return refused(status);
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
    if (const int status = mmau_dot_batch(&instruction.parameters, &batch, 0)) return refused(status);
    std::printf("%g\n", D[0]);
    return 0;
}
