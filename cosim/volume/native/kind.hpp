// One kind of dot product: its operands and results from libmmau, and their places in vectors.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "bits.hpp"
#include "random_bits.hpp"
#include "repeats.hpp"
#include "rows.hpp"

namespace volume {

/// struct mmau_stimulus.
struct Stimulus {
    int32_t a, b, c, d, d_man_bits, K, scale, K_block;
};

/// The functions of libmmau that are used here.
struct Library {
    decltype(&mmau_dot_batch) dot_batch;
    decltype(&mmau_dot_flags) dot_flags;
    decltype(&mmau_message) message;
    int (*fill_rows)(const Stimulus*, const void*, uint64_t, int64_t, int64_t, void*, void*, void*, void*, void*, uint8_t*);
    int (*fill_tiles)(const Stimulus*, const void*, uint64_t, int64_t, int64_t, int32_t, int32_t, void*, void*, void*, void*,
                      void*, uint8_t*);

    explicit Library(const std::string& path) {
        void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!handle) throw Refused("libmmau cannot be loaded: " + std::string(dlerror()));
        find(handle, dot_batch, "mmau_dot_batch");
        find(handle, dot_flags, "mmau_dot_flags");
        find(handle, message, "mmau_message");
        find(handle, fill_rows, "mmau_fill_rows");
        find(handle, fill_tiles, "mmau_fill_tiles");
    }
    void check(int status) const {
        if (status != MMAU_OK) throw Refused(std::string("libmmau refuses: ") + message(status));
    }

  private:
    template <typename Function>
    static void find(void* handle, Function& function, const char* name) {
        function = reinterpret_cast<Function>(dlsym(handle, name));
        if (!function) throw Refused(std::string("libmmau has no function ") + name + ": install this version of the project");
    }
};

/// Write elements side by side into a port.
/// @param codes an array of elements; `places` are the indices of those written.
inline void put_elements(uint8_t* port, int64_t& bit, const Operand& operand, const uint8_t* codes, const int* places, int count) {
    for (int k = 0; k < count; ++k) {
        uint64_t code = 0;
        std::memcpy(&code, codes + static_cast<int64_t>(places[k]) * operand.storage, static_cast<size_t>(operand.storage));
        if (!operand.codes.empty()) code = operand.codes[code];
        if (operand.is_negated) code ^= uint64_t{1} << (operand.width - 1);
        put_bits(port, bit, operand.width, code);
        bit += operand.width;
    }
}

/// The operands of one kind of dot product, and their results.
class Kind {
  public:
    Kind(const Library& library, const Plan& plan, const Product& product, const Record& record)
        : library_(library), product_(product), repeats_(plan.repeats), selections_(plan.selections), together_(plan.results), c_bits_(plan.c_bits), no_c_(plan.no_c),
          record_bytes_(record.bytes()) {
        if (product.stimulus.size() * sizeof(int32_t) != sizeof stimulus_) throw Refused("stimulus of another version");
        std::memcpy(&stimulus_, product.stimulus.data(), sizeof stimulus_);
        std::ifstream stream(product.corners, std::ios::binary);
        if (!stream) throw Refused("the corners cannot be read: " + product.corners);
        const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
        corners_.resize((bytes.size() + 7) / 8);
        std::memcpy(corners_.data(), bytes.data(), bytes.size());
        identity_.resize(static_cast<size_t>(std::max({product.m * product.n, product.scales, 2 * product.L()})));
        std::iota(identity_.begin(), identity_.end(), 0);
        a_offset_ = record.offset(product.a.port);
        has_b_ = record.has(product.b.port);
        has_c_ = record.has(product.c.port);
        if (has_b_) b_offset_ = record.offset(product.b.port);
        has_mask_ = !plan.mask.empty();
        if (has_mask_) mask_offset_ = record.offset(plan.mask);
        has_metadata_ = !plan.metadata.empty();
        if (has_metadata_) metadata_offset_ = record.offset(plan.metadata);
        has_random_ = !product.random.port.empty();
        if (has_random_) random_offset_ = record.offset(product.random.port);
        for (const Input& input : product.selects) inputs_.push_back({record.offset(input.port), input, false});
        for (const Input& input : product.randoms) inputs_.push_back({record.offset(input.port), input, true});
        for (const Flags& flags : product.flags) flag_offsets_.push_back(record.offset(flags.port));
        if (has_c_) c_offset_ = record.offset(product.c.port);
        has_scale_a_ = product.scales && record.has(product.scale_a.port);
        has_scale_b_ = product.scales && record.has(product.scale_b.port);
        if (has_scale_a_) scale_a_offset_ = record.offset(product.scale_a.port);
        if (has_scale_b_) scale_b_offset_ = record.offset(product.scale_b.port);
        side_by_side_ = is_array(product.a) && is_array(product.b) && is_array(product.c) &&
                        (!product.scales || is_array(product.scale_a)) && product.transfers() * product.m * product.n == 1 && !has_metadata_;
        is_negated_ = product.a.is_negated || product.b.is_negated || product.c.is_negated;
    }

    /// Generate vectors of this kind from `first` on, into arrays.
    /// @param with_runs whether some of them repeat operands of the vector before them.
    void make(uint64_t seed, int64_t first, int64_t vectors, bool with_runs) {
        const Product& p = product_;
        const int64_t tiles = vectors * together_;
        fill(made_, seed, first, vectors);
        if (with_runs) repeat(seed, first, vectors);
        if (c_bits_ >= 0) restrict_c();
        if (has_mask_) draw_mask(seed, first);
        if (has_metadata_) draw_metadata(seed, first);
        d_.resize(static_cast<size_t>(tiles * p.m * p.n * computed().storage_bits / 8));
        flags_.resize(p.flags.empty() ? 0 : static_cast<size_t>(tiles * p.m * p.n));
        if (p.m * p.n == 1) {
            compute(0, tiles, 0);
        } else {
            for (int64_t tile = 0; tile < tiles; ++tile) compute(tile, p.m * p.n, p.n);
        }
        if (has_random_) add_random(seed, first);
    }

    /// Write generated vector `index` to its transfers, which must be zero, and its results.
    void put(int64_t index, uint8_t* transfers, uint64_t* expected, uint16_t* label, uint16_t first_label, Random& noise) const {
        const Product& p = product_;
        const int cells = p.m * p.n;
        if (side_by_side_ && !is_negated_) {
            copy(transfers + a_offset_, made_.a, index, p.L() * p.a.storage);
            if (has_b_) copy(transfers + b_offset_, made_.b, index, p.L() * p.b.storage);
            if (has_c_) copy(transfers + c_offset_, made_.c, index, p.c.storage);
            if (has_scale_a_) copy(transfers + scale_a_offset_, made_.scale_a, index, p.scales * p.scale_a.storage);
            if (has_scale_b_) copy(transfers + scale_b_offset_, made_.scale_b, index, p.scales * p.scale_b.storage);
        } else {
            for (int number = 0; number < p.transfers(); ++number) put_transfer(index, number, transfers + number * record_bytes_, noise);
        }
        if (has_mask_) put_elements_of_mask(index, transfers);
        if (has_metadata_) put_metadata(index, transfers);
        for (int64_t k = 0; has_random_ && k < together_; ++k) {
            put_bits(transfers + random_offset_, k * p.random.width, p.random.width, random_[static_cast<size_t>(index * together_ + k)]);
        }
        for (const auto& [offset, input, is_random] : inputs_) {
            int64_t bit = 0;
            for (int left = input.width; left > 0; left -= 64, bit += 64) {
                const int width = std::min(left, 64);
                put_bits(transfers + offset, bit, width, (is_random ? noise.next() : input.code) & low_mask(width));
            }
        }
        for (size_t number = 0; number < p.flags.size(); ++number) {
            const std::vector<int>& bits = p.flags[number].bits;
            int raised = 0;
            for (int64_t e = index * cells; e < (index + 1) * cells; ++e) raised |= flags_[static_cast<size_t>(e)];
            for (size_t k = 0; k < bits.size(); ++k) {
                put_bits(transfers + flag_offsets_[number], static_cast<int64_t>(k), 1, raised >> bits[k] & 1);
            }
        }
        for (int64_t e = 0; e < int64_t{together_} * cells; ++e) {
            expected[e] = mmau::load(p.d, d_.data(), index * together_ * cells + e);
            label[e] = static_cast<uint16_t>(first_label + made_.label[static_cast<size_t>(index * together_ + e / cells)]);
        }
    }

  private:
    /// The operands of some vectors, and the class of each of their tiles.
    struct Arrays {
        std::vector<uint8_t> a, b, c, scale_a, scale_b, label;
    };
    void fill(Arrays& arrays, uint64_t seed, int64_t first, int64_t vectors) const {
        const Product& p = product_;
        const int64_t tiles = vectors * together_, K = stimulus_.K, from = first * together_;
        arrays.a.resize(static_cast<size_t>(tiles * p.m * K * p.a.storage));
        arrays.b.resize(static_cast<size_t>(tiles * p.n * K * p.b.storage));
        arrays.c.resize(static_cast<size_t>(tiles * p.m * p.n * p.c.storage));
        arrays.scale_a.resize(static_cast<size_t>(tiles * p.m * p.scales * p.scale_a.storage));
        arrays.scale_b.resize(static_cast<size_t>(tiles * p.n * p.scales * p.scale_b.storage));
        arrays.label.resize(static_cast<size_t>(tiles));
        void* scale_a = p.scales ? arrays.scale_a.data() : nullptr;
        void* scale_b = p.scales ? arrays.scale_b.data() : nullptr;
        library_.check(p.m * p.n == 1
                           ? library_.fill_rows(&stimulus_, corners_.data(), seed, from, tiles, arrays.a.data(), arrays.b.data(),
                                                arrays.c.data(), scale_a, scale_b, arrays.label.data())
                           : library_.fill_tiles(&stimulus_, corners_.data(), seed, from, tiles, p.m, p.n, arrays.a.data(),
                                                 arrays.b.data(), arrays.c.data(), scale_a, scale_b, arrays.label.data()));
        carry(arrays.a, p.a);
        carry(arrays.b, p.b);
        if (p.scales && !has_scale_a_) scale_one_side(arrays.scale_b, p.n, arrays.scale_a, p.m, tiles);
        if (p.scales && !has_scale_b_) scale_one_side(arrays.scale_a, p.m, arrays.scale_b, p.n, tiles);
    }
    /// Make codes of a carrier those that the operand's format has.
    static void carry(std::vector<uint8_t>& array, const Operand& operand) {
        const size_t bytes = static_cast<size_t>(operand.storage);
        for (size_t at = 0; !operand.codes.empty() && at < array.size(); at += bytes) {
            uint64_t code = 0;
            std::memcpy(&code, array.data() + at, bytes);
            std::memcpy(array.data() + at, &operand.carried[operand.codes[code]], bytes);
        }
    }
    /// Multiply scales, exactly if one is a power of two, by those of the other side, which become 1 (golden:
    /// `with_missing_ones`).
    void scale_one_side(std::vector<uint8_t>& kept, int lines, std::vector<uint8_t>& other, int other_lines, int64_t tiles) const {
        const OneSide& side = product_.one_side;
        const size_t bytes = static_cast<size_t>(product_.scale_a.storage);
        const auto at = [&](std::vector<uint8_t>& codes, int64_t place) { return codes.data() + static_cast<size_t>(place) * bytes; };
        const auto field = [&](const uint8_t* from, int64_t& code) {
            code = 0;
            std::memcpy(&code, from, bytes);
            return code & side.mask;
        };
        const int64_t blocks = product_.scales;
        for (int64_t place = 0; place < tiles * lines * blocks; ++place) {
            int64_t code, ignored;
            uint8_t* scale = at(kept, place);
            const int64_t own = field(scale, code), first = place / (lines * blocks) * other_lines * blocks + place % blocks;
            const int64_t factor = field(at(other, first), ignored);
            if (own > side.largest || (side.has_zero && own == 0)) continue;
            const int64_t moved = own + (factor > side.largest ? side.one : factor) - side.one;
            code = (code & ~side.mask) | std::clamp(moved, int64_t{side.has_zero}, side.largest);
            std::memcpy(scale, &code, bytes);
        }
        for (int64_t place = 0; place < tiles * other_lines * blocks; ++place) std::memcpy(at(other, place), &side.one, bytes);
    }
    /// Give the vectors of runs among the generated ones the operands of the run's first vector.
    void repeat(uint64_t seed, int64_t first, int64_t vectors) {
        for (int64_t period = first / repeats_period; period * repeats_period < first + vectors; ++period) {
            const Run run = run_of(seed, period, product_.scales > 0, repeats_);
            const int64_t begin = std::max(run.first + (product_.steps == 1), first), end = std::min(run.first + run.length, first + vectors);
            if (begin >= end) continue;
            fill(head_, seed, run.first, 1);
            for (int64_t tile = (begin - first) * together_; tile < (end - first) * together_; ++tile) {
                hold(run.held, tile, tile % together_);
                made_.label[static_cast<size_t>(tile)] = repeated_label;
            }
        }
    }
    /// Give a tile operands of a tile of the run's first vector, in every step those of its first step.
    void hold(unsigned held, int64_t tile, int64_t from) {
        const Product& p = product_;
        const int64_t K = stimulus_.K;
        const auto element = [](std::vector<uint8_t>& to, int64_t at, const std::vector<uint8_t>& source, int64_t place, int bytes) {
            std::memcpy(to.data() + at * bytes, source.data() + place * bytes, static_cast<size_t>(bytes));
        };
        const auto lines = [&](std::vector<uint8_t>& to, const std::vector<uint8_t>& source, int count, int bytes) {
            for (int64_t line = 0; line < count; ++line) {
                for (int64_t k = 0; k < K; ++k) {
                    const int64_t at = (tile * count + line) * K + p.order[static_cast<size_t>(k)];
                    element(to, at, source, (from * count + line) * K + p.order[static_cast<size_t>(k % p.L())], bytes);
                }
            }
        };
        const auto scales = [&](std::vector<uint8_t>& to, const std::vector<uint8_t>& source, int count, int bytes) {
            for (int64_t line = 0; line < count; ++line) {
                for (size_t place = 0; place < p.blocks.size(); ++place) {
                    const int first = p.blocks[place % static_cast<size_t>(p.scales_per_step())];
                    element(to, (tile * count + line) * p.scales + p.blocks[place], source, (from * count + line) * p.scales + first, bytes);
                }
            }
        };
        const int cells = p.m * p.n;
        if (held & hold_a) lines(made_.a, head_.a, p.m, p.a.storage);
        if (held & hold_b) lines(made_.b, head_.b, p.n, p.b.storage);
        if (held & hold_c) element(made_.c, tile, head_.c, from, cells * p.c.storage);
        if (held & hold_scale_a) scales(made_.scale_a, head_.scale_a, p.m, p.scale_a.storage);
        if (held & hold_scale_b) scales(made_.scale_b, head_.scale_b, p.n, p.scale_b.storage);
    }
    /// Make each c a number that the design can take: that of no c, or extended by the sign from its low bits.
    void restrict_c() {
        const int bytes = product_.c.storage;
        for (size_t at = 0; at < made_.c.size(); at += static_cast<size_t>(bytes)) {
            int64_t code = 0;
            std::memcpy(&code, made_.c.data() + at, static_cast<size_t>(bytes));
            const int unused = 64 - c_bits_;
            code = c_bits_ ? static_cast<int64_t>(static_cast<uint64_t>(code) << unused) >> unused : static_cast<int64_t>(no_c_);
            std::memcpy(made_.c.data() + at, &code, static_cast<size_t>(bytes));
        }
    }
    /// Draw which products count, all of those of every other row, and set the others to +0 · +0 for the computation.
    void draw_mask(uint64_t seed, int64_t first) {
        const Product& p = product_;
        const size_t L = static_cast<size_t>(p.L()), rows = made_.label.size();
        mask_.resize(rows * L);
        counted_a_ = made_.a;
        counted_b_ = made_.b;
        for (size_t row = 0; row < rows; ++row) {
            Random random(~seed, static_cast<uint64_t>(first) * static_cast<uint64_t>(together_) + row);
            const bool is_whole = random.next() & 1;
            for (size_t k = row * L; k < (row + 1) * L; ++k) {
                mask_[k] = is_whole || (random.next() & 1);
                if (mask_[k]) continue;
                std::memset(counted_a_.data() + k * static_cast<size_t>(p.a.storage), 0, static_cast<size_t>(p.a.storage));
                std::memset(counted_b_.data() + k * static_cast<size_t>(p.b.storage), 0, static_cast<size_t>(p.b.storage));
            }
        }
    }
    void put_elements_of_mask(int64_t index, uint8_t* transfers) const {
        const int64_t count = int64_t{together_} * product_.L();
        for (int64_t k = 0; k < count; ++k) put_bits(transfers + mask_offset_, k, 1, mask_[static_cast<size_t>(index * count + k)]);
    }
    /// Draw the metadata of each row, and a longer b that has the row's elements where they select, and others of all rows.
    void draw_metadata(uint64_t seed, int64_t first) {
        const Product& p = product_;
        const size_t L = static_cast<size_t>(p.L()), rows = made_.label.size(), bytes = static_cast<size_t>(p.b.storage);
        metadata_.resize(rows * L / 2);
        sent_b_.resize(rows * 2 * L * bytes);
        const auto copy_element = [&](size_t to, size_t from) { std::memcpy(sent_b_.data() + to * bytes, made_.b.data() + from * bytes, bytes); };
        for (size_t row = 0; row < rows; ++row) {
            Random random(seed, ~(static_cast<uint64_t>(first) * static_cast<uint64_t>(together_) + row));
            for (size_t k = 0; k < 2 * L; ++k) copy_element(row * 2 * L + k, random.next() % (rows * L));
            for (size_t group = 0; group < L / 2; ++group) {
                const uint64_t code = selections_[random.next() % selections_.size()];
                metadata_[row * L / 2 + group] = code;
                for (size_t k = 0; k < 2; ++k) copy_element(row * 2 * L + 4 * group + (code >> 2 * k & 3), row * L + 2 * group + k);
            }
        }
    }
    void put_metadata(int64_t index, uint8_t* transfers) const {
        const int64_t groups = int64_t{together_} * product_.L() / 2;
        for (int64_t k = 0; k < groups; ++k) put_bits(transfers + metadata_offset_, 4 * k, 4, metadata_[static_cast<size_t>(index * groups + k)]);
    }
    /// The format of libmmau's results.
    const mmau::Format& computed() const { return has_random_ ? product_.random.wide : product_.d; }
    /// Draw the random bits of each row, all zeros or all ones for some, and add them to the wide results.
    void add_random(uint64_t seed, int64_t first) {
        const Product& p = product_;
        const std::vector<uint8_t> wide = d_;
        const size_t rows = made_.label.size();
        random_.resize(rows);
        d_.assign(rows * static_cast<size_t>(p.d.storage_bits / 8), 0);
        for (size_t row = 0; row < rows; ++row) {
            Random random(~seed, ~(static_cast<uint64_t>(first) * static_cast<uint64_t>(together_) + row));
            const uint64_t kind = random.next() % 8, bits = kind == 0 ? 0 : kind == 1 ? ~uint64_t{0} : random.next();
            random_[row] = bits & low_mask(p.random.width);
            const int64_t at = static_cast<int64_t>(row);
            mmau::store(p.d, d_.data(), at, with_random(p.random.wide, p.d, p.random, mmau::load(p.random.wide, wide.data(), at), random_[row]));
        }
    }
    /// Whether an array of the operand has the same bytes as the port.
    static bool is_array(const Operand& operand) { return operand.width == 8 * operand.storage && operand.codes.empty(); }
    void copy(uint8_t* port, const std::vector<uint8_t>& array, int64_t index, int bytes) const {
        std::memcpy(port, array.data() + index * together_ * bytes, static_cast<size_t>(together_) * bytes);
    }
    void compute(int64_t tile, int64_t rows, int columns) {
        const Product& p = product_;
        const int64_t K = stimulus_.K;
        mmau_batch batch{};
        const std::vector<uint8_t>& a = has_mask_ ? counted_a_ : made_.a;
        const std::vector<uint8_t>& b = has_mask_ ? counted_b_ : made_.b;
        batch.a = a.data() + tile * p.m * K * p.a.storage;
        batch.b = b.data() + tile * p.n * K * p.b.storage;
        batch.c = made_.c.data() + tile * p.m * p.n * p.c.storage;
        batch.scale_a = p.scales ? made_.scale_a.data() + tile * p.m * p.scales * p.scale_a.storage : nullptr;
        batch.scale_b = p.scales ? made_.scale_b.data() + tile * p.n * p.scales * p.scale_b.storage : nullptr;
        batch.d = d_.data() + tile * p.m * p.n * (computed().storage_bits / 8);
        batch.rows = rows;
        batch.columns = columns;
        batch.a_stride = batch.b_stride = K;
        batch.scale_a_stride = batch.scale_b_stride = p.scales;
        if (p.flags.empty()) {
            library_.check(library_.dot_batch(&p.parameters, &batch, 1));
        } else if (p.m * p.n == 1) {
            compute_flags(batch, flags_.data() + tile);
        } else {
            for (int cell = 0; cell < p.m * p.n; ++cell) {
                mmau_batch one = batch;
                one.rows = 1;
                one.columns = 0;
                one.a = advanced(batch.a, cell / p.n * K * p.a.storage);
                one.b = advanced(batch.b, cell % p.n * K * p.b.storage);
                one.c = advanced(batch.c, cell * p.c.storage);
                one.d = d_.data() + (tile * p.m * p.n + cell) * (p.d.storage_bits / 8);
                compute_flags(one, flags_.data() + tile * p.m * p.n + cell);
            }
        }
    }
    static const void* advanced(const void* array, int64_t bytes) { return static_cast<const uint8_t*>(array) + bytes; }
    /// Compute rows and their exception flags: of all products, or of the last ones alone, whose c is d of those before them.
    void compute_flags(mmau_batch batch, uint8_t* flags) {
        const Product& p = product_;
        const int rules = p.flags.front().rules;
        if (p.last_K) {
            const int64_t first = stimulus_.K - p.last_K;
            begun_.resize(static_cast<size_t>(batch.rows * p.c.storage));
            mmau_batch before = batch;
            before.d = begun_.data();
            library_.check(library_.dot_batch(&p.before, &before, 1));
            batch.a = advanced(batch.a, first * p.a.storage);
            batch.b = advanced(batch.b, first * p.b.storage);
            batch.c = begun_.data();
        }
        library_.check(library_.dot_flags(p.last_K ? &p.last : &p.parameters, &batch, rules, flags));
    }
    /// Write the ports of one transfer; b and c are random where it does not read them.
    void put_transfer(int64_t index, int number, uint8_t* record, Random& noise) const {
        const Product& p = product_;
        const int step = number / p.passes(), pass = number % p.passes();
        const int* products = p.order.data() + step * p.L();
        const int64_t K = stimulus_.K;
        int64_t a = 0, b = 0, c = 0, scale_a = 0, scale_b = 0;
        for (int64_t tile = index * together_; tile < (index + 1) * together_; ++tile) {
            for (int64_t i = tile * p.m + pass * p.rows; i < tile * p.m + (pass + 1) * p.rows; ++i) {
                put_elements(record + a_offset_, a, p.a, made_.a.data() + i * K * p.a.storage, products, p.L());
                if (has_scale_a_) put_scales(record + scale_a_offset_, scale_a, p.scale_a, made_.scale_a, i, step);
            }
            if (pass) {
                put_noise(record + b_offset_, b, int64_t{p.n} * p.L(), p.b.width, noise);
                if (has_scale_b_) put_noise(record + scale_b_offset_, scale_b, int64_t{p.n} * p.scales_per_step(), p.scale_b.width, noise);
            }
            for (int64_t j = tile * p.n; !pass && has_b_ && j < (tile + 1) * p.n; ++j) {
                if (has_metadata_) {
                    put_elements(record + b_offset_, b, p.b, sent_b_.data() + j * 2 * K * p.b.storage, identity_.data(), 2 * p.L());
                } else {
                    put_elements(record + b_offset_, b, p.b, made_.b.data() + j * K * p.b.storage, products, p.L());
                }
                if (has_scale_b_) put_scales(record + scale_b_offset_, scale_b, p.scale_b, made_.scale_b, j, step);
            }
            const int cells = p.m * p.n;
            if (!has_c_) continue;
            if (step == p.c_step && !pass) {
                put_elements(record + c_offset_, c, p.c, made_.c.data() + tile * cells * p.c.storage, identity_.data(), cells);
            } else {
                put_noise(record + c_offset_, c, cells, p.c.width, noise);
            }
        }
    }
    static void put_noise(uint8_t* port, int64_t& bit, int64_t count, int width, Random& noise) {
        for (int64_t e = 0; e < count; ++e, bit += width) put_bits(port, bit, width, noise.next() & low_mask(width));
    }
    void put_scales(uint8_t* port, int64_t& bit, const Operand& operand, const std::vector<uint8_t>& codes, int64_t line,
                    int step) const {
        const int64_t blocks = product_.scales;
        const int count = product_.scales_per_step();
        put_elements(port, bit, operand, codes.data() + line * blocks * operand.storage, product_.blocks.data() + step * count, count);
    }

    const Library& library_;
    const Product& product_;
    const std::vector<int64_t>& repeats_;
    const std::vector<uint64_t>& selections_;
    int together_, c_bits_;
    uint64_t no_c_;
    int record_bytes_;
    int a_offset_ = 0, b_offset_ = 0, c_offset_ = 0, scale_a_offset_ = 0, scale_b_offset_ = 0;
    bool side_by_side_ = false, is_negated_ = false, has_b_ = true, has_c_ = true;
    bool has_scale_a_ = false, has_scale_b_ = false, has_mask_ = false, has_metadata_ = false, has_random_ = false;
    int mask_offset_ = 0, metadata_offset_ = 0, random_offset_ = 0;
    std::vector<uint64_t> metadata_;  // codes of each row
    std::vector<uint8_t> sent_b_;     // elements of each row, from which they select
    std::vector<uint64_t> random_;  // bits of each row
    std::vector<std::tuple<int, Input, bool>> inputs_;  // the place of each further input, and whether it is random
    std::vector<int> flag_offsets_;
    std::vector<uint8_t> flags_;      // of each row, where a port holds some
    std::vector<uint8_t> mask_, counted_a_, counted_b_;  // which products count, and operands with +0 in place of the others
    Stimulus stimulus_{};
    std::vector<uint64_t> corners_;
    std::vector<int> identity_;
    Arrays made_, head_;
    std::vector<uint8_t> d_, begun_;
};

}  // namespace volume
