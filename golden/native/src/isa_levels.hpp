// Whether this machine has the levels x86-64-v3 and x86-64-v4 of the x86-64 psABI, asked of the processor itself: compilers'
// own __builtin_cpu_supports needs a run-time library that not every one of them brings. It is asked once: in a virtual
// machine every question goes to the host, and takes a microsecond.
#pragma once

#include <cpuid.h>
#include <cstdint>

namespace mmau {

namespace detail {

struct Registers {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

inline Registers cpuid(unsigned leaf) {
    Registers r;
    __get_cpuid_count(leaf, 0, &r.eax, &r.ebx, &r.ecx, &r.edx);
    return r;
}

/// The registers that the operating system saves (XCR0); 0 where it saves none.
inline unsigned saved_registers() {
    constexpr unsigned osxsave = 1u << 27;
    if (!(cpuid(1).ecx & osxsave)) return 0;
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

constexpr bool has_all(unsigned bits, unsigned wanted) { return (bits & wanted) == wanted; }

/// SSE3 to SSE4.2, AVX, AVX2, BMI1, BMI2, F16C, FMA, LZCNT, MOVBE, POPCNT; the system saves XMM and YMM.
inline bool ask_for_x86_64_v3() {
    constexpr unsigned leaf_1 = 1u | 1u << 9 | 1u << 12 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 22 | 1u << 23 | 1u << 28 | 1u << 29;
    constexpr unsigned leaf_7 = 1u << 3 | 1u << 5 | 1u << 8;
    constexpr unsigned extended = 1u | 1u << 5;
    constexpr unsigned xmm_ymm = 0x6;
    return has_all(saved_registers(), xmm_ymm) && has_all(cpuid(1).ecx, leaf_1) && has_all(cpuid(7).ebx, leaf_7) &&
           has_all(cpuid(0x80000001u).ecx, extended);
}

/// Those of v3, and AVX-512 F, DQ, CD, BW, VL; the system saves ZMM and masks too.
inline bool ask_for_x86_64_v4() {
    constexpr unsigned leaf_7 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
    constexpr unsigned zmm = 0xe6;
    return ask_for_x86_64_v3() && has_all(saved_registers(), zmm) && has_all(cpuid(7).ebx, leaf_7);
}

}  // namespace detail

inline bool has_x86_64_v3() {
    static const bool has = detail::ask_for_x86_64_v3();
    return has;
}

inline bool has_x86_64_v4() {
    static const bool has = detail::ask_for_x86_64_v4();
    return has;
}

}  // namespace mmau
