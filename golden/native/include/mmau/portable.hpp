// What every other header needs: fixed-width types, host/device marks, and a namespace of its own for each instruction set.
//
// The library compiles its kernels once for each instruction set; a namespace for each keeps the linker from merging, say, an
// AVX-512 copy of an inline function with the portable one.
#pragma once

#include "../mmau.h"

#ifdef MMAU_ON_GPU
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#ifdef __HIP__
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#endif
#define MMAU_FN __device__ inline
#define MMAU_LANE_FN __device__ inline
#define MMAU_APART_FN __device__ inline
#else
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#define MMAU_FN inline
#define MMAU_LANE_FN inline __attribute__((always_inline))  // a call would keep a loop over lanes from becoming vectors
#define MMAU_APART_FN inline __attribute__((noinline))      // long, and seldom taken: it would slow down the short way beside it
#endif

#ifndef MMAU_ISA
#define MMAU_ISA portable
#endif

#define MMAU_NAMESPACE_BEGIN \
    namespace mmau {         \
    inline namespace MMAU_ISA {
#define MMAU_NAMESPACE_END \
    }                      \
    }

MMAU_NAMESPACE_BEGIN

template <class T>
MMAU_LANE_FN constexpr T larger(T x, T y) {
    return x > y ? x : y;
}

template <class T>
MMAU_LANE_FN constexpr T smaller(T x, T y) {
    return x < y ? x : y;
}

/// Bits of x; 0 for 0.
MMAU_FN int bit_length(uint64_t x) {
#ifdef __CUDA_ARCH__
    return 64 - __clzll(static_cast<long long>(x));
#else
    return x ? 64 - __builtin_clzll(x) : 0;
#endif
}

/// The smallest n with count ≤ 2^n.
MMAU_FN constexpr int ceil_log2(int count) {
    int n = 0;
    while (1 << n < count) ++n;
    return n;
}

MMAU_FN constexpr int ceil_div(int x, int y) { return (x + y - 1) / y; }

template <class To, class From>
MMAU_LANE_FN To bits_as(From from) {
    static_assert(sizeof(To) == sizeof(From), "both sides have the same bits");
    To to;
#ifdef __CUDACC_RTC__
    memcpy(&to, &from, sizeof to);
#else
    __builtin_memcpy(&to, &from, sizeof to);
#endif
    return to;
}

MMAU_NAMESPACE_END
