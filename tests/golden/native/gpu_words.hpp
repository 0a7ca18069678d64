// The words of CUDA and of HIP in which a kernel's text is written, for a compiler of the host: put before that text, it stands for
// NVRTC (sm_90) or for clang's HIP. It includes nothing, as they do; the threads themselves are in gpu_threads.cpp.
#pragma once

#define IN_SHARED_MEMORY __attribute__((section("shared_memory"))) static  // what gpu_host.py writes for __shared__
extern "C" void every_thread_is_here();
struct Number {
    unsigned x;
};
extern Number threadIdx, blockIdx;

#ifdef __HIP__
#define device unused  // attributes of HIP
#define global unused
#define shared unused
#define amdgpu_flat_work_group_size(least, most) unused
#define __builtin_amdgcn_workitem_id_x() threadIdx.x
#define __builtin_amdgcn_workgroup_id_x() blockIdx.x
#define __builtin_amdgcn_fence(order, scope) (void)scope
#define __builtin_amdgcn_s_barrier() every_thread_is_here()
#else
#define __device__
#define __global__
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(threads)
#define memcpy __builtin_memcpy
inline void __syncthreads() { every_thread_is_here(); }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
inline double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fadd_rn(float x, float y) { return x + y; }

/// Toward zero: what fp32 rounds away from it is a step too far.
inline float __ll2float_rz(long long x) {
    const auto rounded = static_cast<float>(x);
    const auto exact = static_cast<long double>(x), found = static_cast<long double>(rounded);
    return x > 0 ? (found > exact ? __builtin_nextafterf(rounded, 0) : rounded) : (found < exact ? __builtin_nextafterf(rounded, 0) : rounded);
}
inline float __int2float_rz(int x) { return __ll2float_rz(x); }

inline int __dp4a(int x, int y, int z) {
    for (int n = 0; n < 32; n += 8) z += static_cast<signed char>(x >> n) * static_cast<signed char>(y >> n);
    return z;
}

inline unsigned __viaddmax_s16x2(unsigned x, unsigned y, unsigned z) {
    unsigned made = 0;
    for (int n = 0; n < 32; n += 16) {
        const auto sum = static_cast<short>((x >> n) + (y >> n)), other = static_cast<short>(z >> n);
        made |= static_cast<unsigned>(static_cast<unsigned short>(sum > other ? sum : other)) << n;
    }
    return made;
}
#endif
