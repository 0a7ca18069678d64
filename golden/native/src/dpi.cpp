// The DPI-C functions that sv/mmau_pkg.sv imports: packed vectors in, element k in bits [k·w, (k+1)·w), as units have them.
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "mmau.h"
#include "mmau/plan.hpp"
#include "trace.hpp"

namespace {

constexpr int max_bits = 32768;  // operand_t of the package
constexpr int words = sizeof(mmau_parameters) / sizeof(int32_t);

/// `width` bits of a packed vector, from bit `first` on.
uint64_t field(const uint32_t* vector, int first, int width) {
    uint64_t code = 0;
    for (int bit = 0; bit < width; ++bit) {
        code |= uint64_t{vector[(first + bit) / 32] >> (first + bit) % 32 & 1} << bit;
    }
    return code;
}

/// A packed vector as an array of codes.
struct Unpacked {
    std::vector<uint64_t> storage;

    Unpacked(const mmau::Format& format, int count, const uint32_t* vector) : storage(static_cast<std::size_t>(count)) {
        for (int k = 0; k < count; ++k) mmau::store(format, storage.data(), k, field(vector, k * format.width(), format.width()));
    }
};

/// The array of codes as a packed vector.
void pack(const mmau::Format& format, const std::vector<uint64_t>& storage, int count, uint32_t* vector) {
    const int width = format.width();
    std::memset(vector, 0, max_bits / 8);
    for (int k = 0; k < count; ++k) {
        const uint64_t code = mmau::load(format, storage.data(), k);
        for (int bit = 0; bit < width; ++bit) vector[(k * width + bit) / 32] |= static_cast<uint32_t>(code >> bit & 1) << (k * width + bit) % 32;
    }
}

/// What the stimulus is made for: golden's operand shape.
mmau_stimulus stimulus_of(const mmau_parameters& p, const mmau::Plan& plan) {
    const int d = mmau::has_rho(p.operation) ? mmau::rounded_to(p) : p.c;
    const int man_bits = p.operation == MMAU_IDPA ? 0 : mmau::format_of(d).man_bits;
    return {p.a, p.b, p.c, d, man_bits, p.K, plan.blocks ? p.scale : MMAU_E4M3, plan.blocks ? p.K_block : 0};
}

bool fits_vector(const mmau::Format& format, int count) { return int64_t{count} * format.width() <= max_bits; }

/// Whether the packed vectors hold all elements and all scales.
bool operands_fit(const mmau::Plan& plan) {
    return fits_vector(plan.stored_a, plan.K) && fits_vector(plan.stored_b, plan.K) && fits_vector(plan.scale, plan.blocks);
}

/// The parameters that the package holds as an array, and their plan; `status` says whether there is one, which the vectors hold.
struct Given {
    mmau_parameters p;
    mmau::Plan plan{};
    int status;

    explicit Given(const int* parameters) {
        std::memcpy(&p, parameters, words * sizeof(int32_t));
        status = mmau_check(&p);
        if (status) return;
        plan = mmau::make_plan(p);
        if (!operands_fit(plan)) status = MMAU_BAD_VECTOR;
    }
};

/// Operands as arrays of codes, and as one row of a batch.
struct UnpackedRow {
    Unpacked a, b, c, scale_a, scale_b;

    UnpackedRow(const mmau::Plan& plan, const uint32_t* x, const uint32_t* y, const uint32_t* z, const uint32_t* alpha, const uint32_t* beta)
        : a(plan.stored_a, plan.K, x), b(plan.stored_b, plan.K, y), c(plan.c, 1, z), scale_a(plan.scale, plan.blocks, alpha),
          scale_b(plan.scale, plan.blocks, beta) {}

    mmau_batch batch(uint64_t* d) const {
        return {a.storage.data(), b.storage.data(), c.storage.data(), scale_a.storage.data(), scale_b.storage.data(), d, 1, 0, 0, 0, 0, 0};
    }
};

/// The remainder of zlib's CRC-32.
uint32_t crc32(const char* bytes, std::size_t count) {
    uint32_t remainder = ~uint32_t{0};
    for (std::size_t i = 0; i < count; ++i) {
        remainder ^= static_cast<unsigned char>(bytes[i]);
        for (int bit = 0; bit < 8; ++bit) remainder = remainder >> 1 ^ (remainder & 1 ? 0xEDB88320u : 0);
    }
    return ~remainder;
}

/// A corner table from a file of `mmau vectors --format corners`: the table, then its CRC-32 in 8 bytes.
using Table = std::vector<uint64_t>;

/// The table of a file, or null and the reason why it is none for these operands.
std::unique_ptr<Table> table_of(const char* path, const Given& given, std::string& why) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const std::size_t size = bytes.size() < 8 ? 0 : bytes.size() - 8;
    if (!file || file.bad()) {
        why = "cannot be read";
    } else if (!size || bytes.size() % 8) {
        why = "must be a corner table, as mmau vectors --format corners writes it, whole";
    } else {
        auto table = std::make_unique<Table>(bytes.size() / 8);
        std::memcpy(table->data(), bytes.data(), bytes.size());
        const mmau_stimulus stimulus = stimulus_of(given.p, given.plan);
        const int status = mmau_check_stimulus(&stimulus, table->data(), static_cast<int64_t>(size));
        if (!status && table->back() == crc32(bytes.data(), size)) return table;
        why = status ? mmau_message(status) : "must be a corner table as it was written; its checksum is another one";
    }
    return nullptr;
}

}  // namespace

extern "C" {

MMAU_API int mmau_dpi_find(const char* arch, const char* name, int* parameters) {
    mmau_instruction found;
    const int status = mmau_find(arch, name, &found);
    if (status == MMAU_OK) std::memcpy(parameters, &found.parameters, sizeof found.parameters);
    return status;
}

MMAU_API int mmau_dpi_load(const char* path, int K, int* parameters, const char** message) {
    static thread_local char text[4096];  // read before the next call
    mmau_unit unit;
    const int status = mmau_unit_load(path, K, &unit, text, sizeof text);
    if (status == MMAU_OK) std::memcpy(parameters, &unit.parameters, sizeof unit.parameters);
    *message = text;
    return status;
}

MMAU_API int mmau_dpi_dot(const int* parameters, const uint32_t* a, const uint32_t* b, const uint32_t* c,
                          const uint32_t* scale_a, const uint32_t* scale_b, uint32_t* d) {
    const Given given(parameters);
    if (given.status) return given.status;
    const UnpackedRow row(given.plan, a, b, c, scale_a, scale_b);
    uint64_t result = 0;
    const mmau_batch batch = row.batch(&result);
    const int status = mmau_dot_batch(&given.p, &batch, 1);
    const uint64_t code = mmau::load(given.plan.d, &result, 0);
    d[0] = static_cast<uint32_t>(code);
    d[1] = static_cast<uint32_t>(code >> 32);
    return status;
}

MMAU_API int mmau_dpi_trace(const int* parameters, const uint32_t* a, const uint32_t* b, const uint32_t* c, const uint32_t* scale_a,
                            const uint32_t* scale_b, const char** text) {
    static thread_local std::string lines;  // read before the next call
    const Given given(parameters);
    if (given.status) return given.status;
    const UnpackedRow row(given.plan, a, b, c, scale_a, scale_b);
    const mmau_batch batch = row.batch(nullptr);
    lines = trace::text_of(given.p, {batch.a, batch.b, batch.scale_a, batch.scale_b}, mmau::load(given.plan.c, batch.c, 0));
    *text = lines.c_str();
    return MMAU_OK;
}

/// The corner table of a file, null where `message` says why there is none. It stays until the simulation ends.
MMAU_API void* mmau_dpi_corners(const int* parameters, const char* path, const char** message) {
    static thread_local std::string text;  // read before the next call
    const Given given(parameters);
    std::string why = mmau_message(given.status);
    std::unique_ptr<Table> table = given.status ? nullptr : table_of(path, given, why);
    text = std::string(path) + ": " + why;
    *message = text.c_str();
    return table.release();
}

MMAU_API int mmau_dpi_stimulus(const int* parameters, void* corners, int64_t seed, int64_t row, uint32_t* a, uint32_t* b,
                               uint32_t* c, uint32_t* scale_a, uint32_t* scale_b) {
    const Given given(parameters);
    if (given.status) return given.status;
    const auto& [p, plan, _] = given;
    const mmau_stimulus stimulus = stimulus_of(p, plan);
    const auto elements = static_cast<std::size_t>(p.K), blocks = static_cast<std::size_t>(plan.blocks + 1);
    std::vector<uint64_t> x(elements), y(elements), alpha(blocks), beta(blocks);
    uint64_t z = 0;
    const void* table = corners ? static_cast<const Table*>(corners)->data() : nullptr;
    const int status = mmau_fill_rows(&stimulus, table, static_cast<uint64_t>(seed), row, 1, x.data(), y.data(), &z, alpha.data(),
                                      beta.data(), nullptr);
    if (status) return status;
    pack(plan.stored_a, x, p.K, a);
    pack(plan.stored_b, y, p.K, b);
    pack(plan.scale, alpha, plan.blocks, scale_a);
    pack(plan.scale, beta, plan.blocks, scale_b);
    const uint64_t code = mmau::load(plan.c, &z, 0);
    c[0] = static_cast<uint32_t>(code);
    c[1] = static_cast<uint32_t>(code >> 32);
    return status;
}

}  // extern "C"
