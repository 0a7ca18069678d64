// One matrix instruction in the registers of a wave (mmau_tile.h). The layouts are those of hwtests/nvidia/source.py,
// hwtests/amd/mfma.py and hwtests/amd/kernels.py, which kernels on silicon use; a test compares them place by place.
#include "mmau_tile.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "mmau/plan.hpp"

namespace {

/// The layouts of mmau_tile.layout.
enum Layout { OF_QUADS, OF_VOLTA, OF_CDNA, OF_RDNA3, OF_RDNA4 };

constexpr int LANE_GROUP = 16, PACKED_FP4_K = 64, FP4_SHIFT = 2;

/// Elements of a format in a register: so many bits apart, of so many bits, so far above the lowest.
struct Packing {
    int bits, width, shift;
};

int width_of(int format) { return mmau::format_of(format).width(); }

bool is_integer(int format) { return mmau::is_factor_integer(format); }

/// The packing of A or B: integers lie close; e2m1 does in the kinds that take nothing else, and in a byte elsewhere.
Packing packing_of_factors(const mmau_tile& tile, int format) {
    const int width = width_of(format);
    if (is_integer(format) || (format == MMAU_E2M1 && tile.k == PACKED_FP4_K)) return {width, width, 0};
    return {mmau::format_of(format).storage_bits, width, format == MMAU_E2M1 ? FP4_SHIFT : 0};
}

/// The packing of C or D: a 16-bit result of RDNA3 has a register to itself, of which it is the low half.
Packing packing_of_results(const mmau_tile& tile, int format) {
    const int width = width_of(format);
    return {tile.layout == OF_RDNA3 ? 32 : width, width, 0};
}

/// The place of an element of A [blocks][m][k], or with n for m of B [blocks][n][k], that a lane holds in a slot.
int operand_place(const mmau_tile& tile, int rows, int lane, int slot) {
    const int k = tile.k, side = tile.operand;
    if (tile.layout == OF_CDNA) {  // lanes run over rows, then blocks, then groups of k
        const int row = lane % rows, block = lane / rows % tile.blocks, group = lane / rows / tile.blocks;
        return (block * rows + row) * k + group * side + slot;
    }
    if (tile.layout == OF_VOLTA) return lane % 16 / 4 * 32 + (lane % 4 + 4 * (lane / 16)) * 4 + slot;
    if (tile.layout == OF_RDNA3) return lane % LANE_GROUP * k + slot;  // a copy in every group of lanes
    if (tile.layout == OF_RDNA4) {
        const int row = lane % LANE_GROUP, group = lane / LANE_GROUP;
        const bool of_integers = is_integer(tile.instruction.parameters.a);
        if (of_integers && tile.lanes == 64) return row * k + side * (2 * (group % 2) + group / 2) + slot;
        if (of_integers) return row * k + 16 * (slot / 8) + 8 * group + slot % 8;
        return row * k + side * group + slot;
    }
    const int quad = lane / 4, place = lane % 4, halves = rows / 8;  // a register has neighbours along k; then the lower half
    const int group = slot / side, within = slot % side;
    return (quad + 8 * (group % halves)) * k + place * side + within + group / halves * 4 * side;
}

/// The place of an element of C or D [blocks][m][n] of a format that a lane holds in a slot.
int result_place(const mmau_tile& tile, int format, int lane, int slot) {
    const int m = tile.m, n = tile.n;
    if (tile.layout == OF_VOLTA) {
        const int block = lane % 16 / 4, upper = 4 * (lane / 16);
        if (format == MMAU_FP16) return block * 64 + (lane % 4 + upper) * 8 + slot;
        return block * 64 + (lane % 2 + (slot & 2) + upper) * 8 + (slot & 4) + (lane & 2) + slot % 2;
    }
    if (tile.layout == OF_QUADS) {
        const int quad = lane / 4, place = lane % 4, halves = m / 8, pair = slot / 2;
        return (quad + 8 * (pair % halves)) * n + 2 * place + slot % 2 + 8 * (pair / halves);
    }
    if (tile.layout == OF_RDNA3 || tile.layout == OF_RDNA4) {
        const int group = lane / LANE_GROUP, groups = tile.lanes / LANE_GROUP;
        const int first = tile.lanes == 32 ? 8 * group : 8 * (group % 2) + 4 * (group / 2);
        return (tile.layout == OF_RDNA3 ? slot * groups + group : first + slot) * n + lane % LANE_GROUP;
    }
    int row = 0, block = 0;
    if (format == MMAU_FP64) {
        row = tile.blocks == 1 ? 4 * slot + lane / 16 : lane / 16;
        block = tile.blocks == 1 ? 0 : lane / n % tile.blocks;
    } else if (m == 4) {
        row = slot;
        block = lane / n;
    } else {
        const int of_a_block = m * n / tile.lanes, within = slot % of_a_block;
        block = slot / of_a_block;
        row = within / 4 * (4 * tile.lanes / n) + lane / n * 4 + within % 4;
    }
    return (block * m + row) * n + lane % n;
}

/// Bits of a lane's registers from a place on, at most 64 of them and within a register or two whole ones.
uint64_t bits_at(const uint32_t* lane, int bit, int width) {
    const uint64_t low = lane[bit / 32] >> (bit % 32);
    if (width == 64) return low | static_cast<uint64_t>(lane[bit / 32 + 1]) << 32;
    return low & ((uint64_t{1} << width) - 1);
}

/// The elements of an operand in memory, each as wide as its format is stored, `place` saying where each lies.
template <class Place>
std::vector<unsigned char> gathered(const mmau_tile& tile, const uint32_t* x, int registers, int format, Packing packing,
                                    int elements, Place place) {
    const int bytes = mmau::format_of(format).storage_bits / 8, slots = registers * 32 / packing.bits;
    std::vector<unsigned char> memory(static_cast<std::size_t>(elements) * bytes);
    for (int lane = 0; lane < tile.lanes; ++lane)
        for (int slot = 0; slot < slots; ++slot) {
            const uint64_t code = bits_at(x + lane * registers, slot * packing.bits + packing.shift, packing.width);
            unsigned char* to = memory.data() + static_cast<std::ptrdiff_t>(place(lane, slot)) * bytes;
            for (int byte = 0; byte < bytes; ++byte) to[byte] = static_cast<unsigned char>(code >> (8 * byte));
        }
    return memory;
}

/// Results into registers; bits that belong to no element stay as they are.
void scatter(const mmau_tile& tile, const std::vector<unsigned char>& memory, uint32_t* d) {
    const int format = tile.instruction.d, bytes = mmau::format_of(format).storage_bits / 8;
    const Packing packing = packing_of_results(tile, format);
    for (int lane = 0; lane < tile.lanes; ++lane)
        for (int slot = 0; slot < tile.d_registers * 32 / packing.bits; ++slot) {
            const unsigned char* from = memory.data() + static_cast<std::ptrdiff_t>(result_place(tile, format, lane, slot)) * bytes;
            for (int byte = 0; byte < bytes; ++byte) {
                const int bit = slot * packing.bits + 8 * byte;
                uint32_t& word = d[lane * tile.d_registers + bit / 32];
                word = (word & ~(0xFFu << (bit % 32))) | static_cast<uint32_t>(from[byte]) << (bit % 32);
            }
        }
}

bool is_scaled(const mmau_parameters& p) {
    return p.K_block && (p.operation == MMAU_ST_FDPA || p.operation == MMAU_GST_FDPA);
}

/// The scales of rows of A or of columns of B: byte s of a lane's register is the scale of block s. The two first lanes of a
/// quad supply rows quad and quad + 8 of A, the first one supplies a column of B (selectors {0, 0}).
std::vector<unsigned char> gathered_scales(const uint32_t* x, int rows, int blocks) {
    std::vector<unsigned char> scales(static_cast<std::size_t>(rows) * blocks);
    for (int row = 0; row < rows; ++row)
        for (int block = 0; block < blocks; ++block)
            scales[row * blocks + block] = static_cast<unsigned char>(x[4 * (row % 8) + row / 8] >> (8 * block));
    return scales;
}

bool begins(std::string_view name, std::string_view with) { return name.substr(0, with.size()) == with; }

/// Whether the interface knows the registers of an instruction, which fills lanes, layout, blocks and operand.
bool has_layout(std::string_view arch, std::string_view name, mmau_tile& tile) {
    const mmau_parameters& p = tile.instruction.parameters;
    const bool is_double = p.a == MMAU_FP64;
    tile.blocks = 1;
    if (begins(name, "v_mfma_")) {
        const bool is_old = arch == "gfx908" || arch == "gfx90a";  // their bf16 without _1k in its name fills half a register pair
        const bool is_old_bf16 = is_old && p.a == MMAU_BF16 && name.substr(name.size() - 4) == "bf16";
        const int bytes = mmau::format_of(p.a).storage_bits / 8;
        const int least = is_old_bf16 ? 2 : p.a == MMAU_INT8 ? 4 : is_double || p.a == MMAU_FP32 ? 1 : 8 / bytes;
        tile.layout = OF_CDNA;
        tile.lanes = 64;
        tile.operand = std::max(least, tile.m * tile.k / tile.lanes);
        tile.blocks = tile.lanes * tile.operand / (tile.m * tile.k);
        return true;
    }
    if (begins(name, "v_wmma_")) {
        const bool is_rdna4 = arch == "gfx1201";
        tile.layout = is_rdna4 ? OF_RDNA4 : OF_RDNA3;
        tile.lanes = name.find("_w64") != std::string_view::npos ? 64 : 32;
        tile.operand = is_rdna4 ? tile.k * LANE_GROUP / tile.lanes : tile.k;
        return !is_rdna4 || tile.operand * width_of(p.a) >= 32;  // fewer fill half of the lanes: of the others nothing is known
    }
    tile.lanes = 32;
    if (begins(name, "mma.m8n8k4.f") && !is_double) {
        tile.layout = OF_VOLTA;
        tile.operand = tile.blocks = 4;
        return true;
    }
    tile.layout = OF_QUADS;
    tile.operand = std::max(1, 32 / packing_of_factors(tile, p.a).bits);
    return begins(name, "mma.m16n8") || begins(name, "mma.m8n8");
}

/// Registers of a lane for elements of all blocks, of which `copies` lie in the wave.
int registers_for(const mmau_tile& tile, int elements, int copies, int bits) {
    return tile.blocks * elements * copies / tile.lanes * bits / 32;
}

}  // namespace

int mmau_tile_version(void) { return MMAU_TILE_VERSION; }

int mmau_find_tile(const char* arch, const char* name, mmau_tile* found) {
    if (!arch || !name || !found) return MMAU_NULL_POINTER;
    mmau_tile tile = {};
    if (const int status = mmau_find(arch, name, &tile.instruction)) return status;
    const mmau_parameters& p = tile.instruction.parameters;
    tile.version = MMAU_TILE_VERSION;
    tile.m = tile.instruction.m;
    tile.n = tile.instruction.n;
    tile.k = p.K;
    if (!has_layout(arch, name, tile)) return MMAU_BAD_LAYOUT;
    const int copies = tile.layout == OF_RDNA3 ? tile.lanes / LANE_GROUP : 1;
    tile.a_registers = registers_for(tile, tile.m * tile.k, copies, packing_of_factors(tile, p.a).bits);
    tile.b_registers = registers_for(tile, tile.n * tile.k, copies, packing_of_factors(tile, p.b).bits);
    tile.c_registers = registers_for(tile, tile.m * tile.n, 1, packing_of_results(tile, p.c).bits);
    tile.d_registers = registers_for(tile, tile.m * tile.n, 1, packing_of_results(tile, tile.instruction.d).bits);
    *found = tile;
    return MMAU_OK;
}

int mmau_run_scaled_tile(const mmau_tile* tile, const uint32_t* a, const uint32_t* b, const uint32_t* c, const uint32_t* scale_a,
                         const uint32_t* scale_b, uint32_t* d) {
    if (!tile || !a || !b || !c || !d) return MMAU_NULL_POINTER;
    if (tile->version != MMAU_TILE_VERSION) return MMAU_BAD_LAYOUT;
    const mmau_parameters& p = tile->instruction.parameters;
    const bool scaled = is_scaled(p);
    if (scaled && (!scale_a || !scale_b)) return MMAU_NULL_POINTER;
    const int m = tile->m, n = tile->n, k = tile->k, count = tile->blocks, scales = scaled ? k / p.K_block : 0;
    const auto of = [&](int rows) { return [tile, rows](int lane, int slot) { return operand_place(*tile, rows, lane, slot); }; };
    const auto x = gathered(*tile, a, tile->a_registers, p.a, packing_of_factors(*tile, p.a), count * m * k, of(m));
    const auto y = gathered(*tile, b, tile->b_registers, p.b, packing_of_factors(*tile, p.b), count * n * k, of(n));
    const auto z = gathered(*tile, c, tile->c_registers, p.c, packing_of_results(*tile, p.c), count * m * n,
                            [&](int lane, int slot) { return result_place(*tile, p.c, lane, slot); });
    std::vector<unsigned char> alpha, beta;
    if (scaled) alpha = gathered_scales(scale_a, m, scales), beta = gathered_scales(scale_b, n, scales);
    const auto bytes = [](int format, int elements) {
        return static_cast<std::size_t>(mmau::format_of(format).storage_bits / 8) * elements;
    };
    std::vector<unsigned char> sums(bytes(tile->instruction.d, count * m * n));
    for (int block = 0; block < count; ++block) {
        mmau_batch batch = {};
        batch.a = x.data() + bytes(p.a, block * m * k);
        batch.b = y.data() + bytes(p.b, block * n * k);
        batch.c = z.data() + bytes(p.c, block * m * n);
        batch.d = sums.data() + bytes(tile->instruction.d, block * m * n);
        batch.scale_a = scaled ? alpha.data() : nullptr;
        batch.scale_b = scaled ? beta.data() : nullptr;
        batch.rows = static_cast<int64_t>(m) * n;
        batch.columns = n;
        batch.a_stride = batch.b_stride = k;
        batch.scale_a_stride = batch.scale_b_stride = scales;
        if (const int status = mmau_dot_batch(&p, &batch, 1)) return status;
    }
    scatter(*tile, sums, d);
    return MMAU_OK;
}

int mmau_run_tile(const mmau_tile* tile, const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d) {
    return mmau_run_scaled_tile(tile, a, b, c, nullptr, nullptr, d);
}
