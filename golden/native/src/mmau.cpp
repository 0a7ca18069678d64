// The C interface: checks, the choice of instruction set, threads.
#include "mmau.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <thread>

#include "batch_kernels.hpp"
#include "catalogue.hpp"
#include "float_environment.hpp"
#ifdef MMAU_X86_64_LEVELS
#include "isa_levels.hpp"
#endif
#include "mmau/plan.hpp"
#include "mmau/stimulus/corners.hpp"

namespace {

using mmau::Format;

constexpr int max_threads = 1024;
constexpr int64_t products_per_thread = 1 << 16;  // fewer are done before a thread has started
constexpr int64_t rows_together = 32;             // pieces of so many rows leave no lanes idle
constexpr int64_t tile_columns = 256;             // of a matrix product: what is decoded of A serves so many columns,
constexpr int64_t most_tile_rows = 256;           // of B so many rows,
constexpr int64_t fewest_tile_rows = 64;          // or fewer,
constexpr int64_t tiles_per_thread = 4;           // so that every thread has some tiles

struct Isa {
    mmau::RowsFunction* compute_rows;
    mmau::TileFunction* compute_tile;
    mmau::FillFunction* fill_tiles;
    const char* name;
};

/// The widest instruction set of this machine, or the one that the environment variable MMAU_ISA names; null pointers
/// where the machine does not have that one. An empty MMAU_ISA counts as none.
Isa chosen_isa() {
    const char* wanted = std::getenv("MMAU_ISA");
    const auto is_wanted = [wanted](const char* name) { return !wanted || !*wanted || std::strcmp(wanted, name) == 0; };
#ifdef MMAU_X86_64_LEVELS
    if (is_wanted("x86-64-v4") && mmau::has_x86_64_v4()) return {mmau::compute_rows_x86_64_v4, mmau::compute_tile_x86_64_v4, mmau::fill_tiles_x86_64_v4, "x86-64-v4"};
    if (is_wanted("x86-64-v3") && mmau::has_x86_64_v3()) return {mmau::compute_rows_x86_64_v3, mmau::compute_tile_x86_64_v3, mmau::fill_tiles_x86_64_v3, "x86-64-v3"};
#endif
    if (is_wanted("portable")) return {mmau::compute_rows_portable, mmau::compute_tile_portable, mmau::fill_tiles_portable, "portable"};
    return {nullptr, nullptr, nullptr, nullptr};
}

/// All bits that are set in some byte.
uint8_t bits_of(const uint8_t* bytes, int64_t count) {
    uint8_t seen = 0;
    for (int64_t i = 0; i < count; ++i) seen = static_cast<uint8_t>(seen | bytes[i]);
    return seen;
}

/// Whether every byte in rows begin … end−1 of an FP6 or FP4 array is a code; wider formats use all their bits.
bool codes_fit(const Format& format, const void* codes, int64_t begin, int64_t end, int64_t stride, int K) {
    if (format.width() >= format.storage_bits) return true;
    const auto* bytes = static_cast<const uint8_t*>(codes);
    uint8_t seen = 0;
    if (stride == K) {
        seen = bits_of(bytes + begin * K, (end - begin) * K);
    } else {
        for (int64_t row = begin; row < end; ++row) seen = static_cast<uint8_t>(seen | bits_of(bytes + row * stride, K));
    }
    return seen >> format.width() == 0;
}

/// Rows of A and of B, begin … end−1.
struct Range {
    int64_t begin, end;
};

/// Whether some rows of A and of B are codes.
bool operands_fit(const mmau_parameters& parameters, const mmau_batch& batch, const Range& a, const Range& b) {
    return codes_fit(mmau::format_of(parameters.a), batch.a, a.begin, a.end, batch.a_stride, parameters.K) &&
           codes_fit(mmau::format_of(parameters.b), batch.b, b.begin, b.end, batch.b_stride, parameters.K);
}

/// A batch in pieces, handed out to threads one by one: a thread that starts late, or is held up, takes fewer. A piece of rows
/// is checked just before it is computed, so that its codes come from memory once; a matrix product, whose pieces share them,
/// before the first.
class Work {
  public:
    /// `wanted` threads, 0 for one a core.
    Work(const mmau_parameters& parameters, const mmau_batch& batch, int wanted)
        : parameters_(parameters), batch_(batch), isa_(chosen_isa()) {
        const int64_t useful = batch.rows / std::max<int64_t>(1, products_per_thread / parameters.K);
        if (useful > 1) {  // counting the cores would take longer than a small batch
            const int64_t cores = wanted ? wanted : std::max(1U, std::thread::hardware_concurrency());
            threads_ = std::min({useful, cores, int64_t{max_threads}});
        }
        by_tiles_ = isa_.compute_tile(parameters, batch, {});
        if (by_tiles_) {
            const int64_t rows = batch.rows / batch.columns, across = ceil_div(batch.columns, tile_columns);
            const int64_t wanted_tiles = threads_ > 1 ? tiles_per_thread * threads_ : 1;
            while (tile_rows_ > fewest_tile_rows && ceil_div(rows, tile_rows_) * across < wanted_tiles) tile_rows_ /= 2;
            row_blocks_ = ceil_div(rows, tile_rows_);
            pieces_ = row_blocks_ * across;
        } else {
            rows_ = std::max<int64_t>(1, products_per_thread / parameters.K / rows_together) * rows_together;
            pieces_ = ceil_div(batch.rows, rows_);
        }
        if (const int64_t columns = batch.columns) {
            bad_code_ = !operands_fit(parameters, batch, {0, ceil_div(batch.rows, columns)}, {0, std::min(batch.rows, columns)});
        }
    }

    /// How many threads have something to do.
    int64_t threads() const { return std::max<int64_t>(1, std::min(pieces_, threads_)); }
    void compute() {
        const mmau::DefaultFloatEnvironment environment;
        for (int64_t piece = 0; !bad_code_ && (piece = next_.fetch_add(1)) < pieces_;) {
            if (!(by_tiles_ ? compute_tile(piece) : compute_rows(piece))) bad_code_ = true;
        }
    }
    int status() const { return bad_code_ ? MMAU_BAD_CODE : MMAU_OK; }

  private:
    static int64_t ceil_div(int64_t x, int64_t y) { return (x + y - 1) / y; }

    /// False, and nothing done, where a code is none. Operands of a matrix product are checked before all pieces.
    bool compute_rows(int64_t piece) const {
        const int64_t begin = piece * rows_, end = std::min(begin + rows_, batch_.rows);
        if (!batch_.columns && !operands_fit(parameters_, batch_, {begin, end}, {begin, end})) return false;
        isa_.compute_rows(parameters_, batch_, begin, end);
        return true;
    }
    bool compute_tile(int64_t piece) const {
        const int64_t row = piece % row_blocks_ * tile_rows_, column = piece / row_blocks_ * tile_columns;
        const int64_t rows = std::min(tile_rows_, batch_.rows / batch_.columns - row);
        const int64_t columns = std::min(tile_columns, batch_.columns - column);
        return isa_.compute_tile(parameters_, batch_, {row, rows, column, columns});
    }

    const mmau_parameters& parameters_;
    const mmau_batch& batch_;
    const Isa isa_;
    bool by_tiles_;
    int64_t threads_ = 1;
    int64_t rows_ = 0;  // of a piece
    int64_t tile_rows_ = most_tile_rows;
    int64_t row_blocks_ = 0;  // tiles one below the other
    int64_t pieces_;
    std::atomic<int64_t> next_{0};
    std::atomic<bool> bad_code_{false};
};

int compute_batch(const mmau_parameters& parameters, const mmau_batch& batch, int threads) {
    Work work(parameters, batch, threads);
    const int64_t count = work.threads();
    if (count == 1) {
        work.compute();
        return work.status();
    }
    std::thread workers[max_threads];
    try {
        for (int64_t i = 1; i < count; ++i) workers[i] = std::thread(&Work::compute, &work);
    } catch (const std::system_error&) {  // no more threads to be had: those there are do it all
    }
    work.compute();
    for (int64_t i = 1; i < count; ++i) {
        if (workers[i].joinable()) workers[i].join();
    }
    return work.status();
}

bool strides_fit(const mmau_batch& batch) {
    return batch.a_stride >= 0 && batch.b_stride >= 0 && batch.scale_a_stride >= 0 && batch.scale_b_stride >= 0;
}

int check_batch(const mmau_parameters* parameters, const mmau_batch* batch, int threads) {
    if (!parameters || !batch) return MMAU_NULL_POINTER;
    if (const int status = mmau_check(parameters)) return status;
    if (batch->rows < 0 || batch->columns < 0) return MMAU_BAD_ROWS;
    if (threads < 0 || threads > max_threads) return MMAU_BAD_THREADS;
    if (batch->rows == 0) return MMAU_OK;
    if (!batch->a || !batch->b || !batch->c || !batch->d) return MMAU_NULL_POINTER;
    if (mmau::has_scales(parameters->operation) && (!batch->scale_a || !batch->scale_b)) return MMAU_NULL_POINTER;
    if (!strides_fit(*batch)) return MMAU_BAD_STRIDE;
    return chosen_isa().compute_rows ? MMAU_OK : MMAU_BAD_ISA;
}

constexpr const char* messages[MMAU_STATUSES] = {
    "done",
    "a pointer that must not be NULL is NULL",
    "arch must be one of sm_70, sm_75, sm_80, sm_89, sm_90, sm_100, sm_120, gfx908, gfx90a, gfx942, gfx1100, "
    "gfx1151, gfx1201, x86-amx, x86-avx512, aarch64",
    "name must be an instruction of the architecture, as numerics.md sections 7 and 11 spell it",
    "operation must be an enum mmau_operation",
    "a, b and c must be formats that the operation takes",
    "rho must be an enum mmau_mode and d a format that holds what is rounded to, of FMA, MUL, ADD, OC- and PS-FDPA c's, of TR- and GTR-FDPA fp32, fp16 or "
    "bf16, and fp32 where they are chained",
    "truncation must be MMAU_RZ or MMAU_RD, or for T-, ST- and GST-FDPA MMAU_RO",
    "fp16_order is for T-FDPA on e4m3 and e5m2, K a multiple of 4, c and d both fp16 or both fp32",
    "K must be from 1 to 2^30, of MUL, ADD and CVT 1",
    "L must be from 1 to 1024, a power of two for FTZ-AddMul, even for FTZ-EO-FMA, and K at most L or a multiple of it",
    "F and F2 must be from 1 to 128",
    "e_zero must be from -1024 to 1024",
    "K_block must be from 1 to 1024, and divide L or be a multiple of it",
    "G must be from 1 to 1024 and divide L and K_block, in PS-FDPA from 1 to L and divide it",
    "scale must be a floating-point format of at most 32 bits without padding",
    "rows and columns must not be negative",
    "strides must not be negative",
    "threads must be from 0 to 1024",
    "a byte of FP6, FP4, int4, uint4 or b1 must hold one code, its high bits zero",
    "the environment variable MMAU_ISA must be portable, x86-64-v3 or x86-64-v4, and one that this processor has",
    "each operand and its scales must fit a vector of 32768 bits of mmau_pkg",
    "sticky must be 0 or 1, and 0 where truncation is MMAU_RO",
    "flush_inputs and flush_results must be 0 or 1",
    "overflow must be an enum mmau_overflow, MMAU_SATURATE or MMAU_WRAP for IDPA, else not MMAU_WRAP",
    "corners must be NULL or a corner table made for these formats, K and K_block, aligned to 8 bytes",
    "m and n must be from 1 to 1024, and m * K and n * K at most 2^26",
    "nan must be an enum mmau_nan",
    "h must be from 0 to 8",
    "order must be 0, or for OC-, PS-FDPA and IDPA 1, 2, 4 or 8, half of a divisor of K",
    "combination must be MMAU_MULTIPLY, or where a and b are b1 MMAU_XOR",
    "the instruction must be mma, v_mfma or v_wmma (in wave64 of gfx1201 not with 16 factors of 4 bits), and tile->version 1",
    "zero must be an enum mmau_zero",
    "rules must be or'ed of enum mmau_flag_rule",
    "the file must be a unit.toml of one operation",
    "an exact sum of a step must fit 630 bits",
};

}  // namespace

const char* mmau_message(int status) {
    return status >= 0 && status < MMAU_STATUSES ? messages[status] : "no such status";
}

int mmau_find(const char* arch, const char* name, mmau_instruction* found) {
    if (!arch || !name || !found) return MMAU_NULL_POINTER;
    return mmau::find_instruction(arch, name, *found);
}

int mmau_check(const mmau_parameters* parameters) {
    return parameters ? mmau::check(*parameters) : static_cast<int>(MMAU_NULL_POINTER);
}

int mmau_dot(const mmau_parameters* parameters, const void* a, const void* b, const void* c, const void* scale_a,
             const void* scale_b, void* d) {
    const mmau_batch batch{a, b, c, scale_a, scale_b, d, 1, 0, 0, 0, 0, 0};
    return mmau_dot_batch(parameters, &batch, 1);
}

int mmau_dot_batch(const mmau_parameters* parameters, const mmau_batch* batch, int threads) {
    if (const int status = check_batch(parameters, batch, threads)) return status;
    return compute_batch(*parameters, *batch, threads);
}

int mmau_check_stimulus(const mmau_stimulus* stimulus, const void* corners, int64_t corner_bytes) {
    if (!stimulus) return MMAU_NULL_POINTER;
    if (const int status = mmau::stimulus::check(*stimulus)) return status;
    if (!corners) return MMAU_OK;
    const bool is_aligned = reinterpret_cast<uintptr_t>(corners) % 8 == 0;
    const bool fits = is_aligned && mmau::stimulus::is_table(*stimulus, corners, corner_bytes);
    return fits ? MMAU_OK : MMAU_BAD_CORNERS;
}

int mmau_fill_tiles(const mmau_stimulus* stimulus, const void* corners, uint64_t seed, int64_t first_tile, int64_t tiles, int32_t m,
                    int32_t n, void* a, void* b, void* c, void* scale_a, void* scale_b, uint8_t* label) {
    const int64_t corner_bytes = corners ? static_cast<const int64_t*>(corners)[1] : 0;
    if (const int status = mmau_check_stimulus(stimulus, corners, corner_bytes)) return status;
    if (first_tile < 0 || tiles < 0) return MMAU_BAD_ROWS;
    if (!mmau::stimulus::tile_fits(*stimulus, m, n)) return MMAU_BAD_TILE;
    if (!a || !b || !c || (stimulus->K_block && (!scale_a || !scale_b))) return MMAU_NULL_POINTER;
    const Isa isa = chosen_isa();
    if (!isa.fill_tiles) return MMAU_BAD_ISA;
    isa.fill_tiles(*stimulus, corners, {seed, first_tile, tiles, m, n, a, b, c, scale_a, scale_b, label});
    return MMAU_OK;
}

int mmau_fill_rows(const mmau_stimulus* stimulus, const void* corners, uint64_t seed, int64_t first_row, int64_t rows, void* a,
                   void* b, void* c, void* scale_a, void* scale_b, uint8_t* label) {
    return mmau_fill_tiles(stimulus, corners, seed, first_row, rows, 1, 1, a, b, c, scale_a, scale_b, label);
}

const char* mmau_isa(void) { return chosen_isa().name; }

#ifndef MMAU_SOURCE_DIGEST  // CMakeLists.txt defines it
#define MMAU_SOURCE_DIGEST ""
#endif

const char* mmau_source_digest(void) { return MMAU_SOURCE_DIGEST; }
