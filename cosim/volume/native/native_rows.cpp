#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>

#include "bits.hpp"
#include "rows.hpp"

namespace volume {
namespace {

constexpr int64_t batch_rows = 1024;  // dot products: their operands stay in the second-level cache

/// struct mmau_stimulus.
struct Stimulus {
    int32_t a, b, c, d, d_man_bits, K, scale, K_block;
};

/// What is used of libmmau.
struct Library {
    decltype(&mmau_dot_batch) dot_batch;
    decltype(&mmau_message) message;
    int (*fill_rows)(const Stimulus*, const void*, uint64_t, int64_t, int64_t, void*, void*, void*, void*, void*, uint8_t*);
    int (*fill_tiles)(const Stimulus*, const void*, uint64_t, int64_t, int64_t, int32_t, int32_t, void*, void*, void*, void*,
                      void*, uint8_t*);

    explicit Library(const std::string& path) {
        void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!handle) throw Refused("libmmau cannot be loaded: " + std::string(dlerror()));
        find(handle, dot_batch, "mmau_dot_batch");
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

/// Put elements side by side into a port.
/// @param codes an array of elements; those of `places` are taken.
void put_elements(uint8_t* port, int64_t& bit, const Operand& operand, const uint8_t* codes, const int* places, int count) {
    for (int k = 0; k < count; ++k) {
        uint64_t code = 0;
        std::memcpy(&code, codes + static_cast<int64_t>(places[k]) * operand.storage, static_cast<size_t>(operand.storage));
        put_bits(port, bit, operand.width, code);
        bit += operand.width;
    }
}

/// The operands of one kind of dot product, and their results.
class Kind {
  public:
    Kind(const Library& library, const Plan& plan, const Product& product, const Record& record)
        : library_(library), product_(product), together_(plan.results), record_bytes_(record.bytes()) {
        if (product.stimulus.size() * sizeof(int32_t) != sizeof stimulus_) throw Refused("stimulus of another version");
        std::memcpy(&stimulus_, product.stimulus.data(), sizeof stimulus_);
        std::ifstream stream(product.corners, std::ios::binary);
        if (!stream) throw Refused("the corners cannot be read: " + product.corners);
        const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
        corners_.resize((bytes.size() + 7) / 8);
        std::memcpy(corners_.data(), bytes.data(), bytes.size());
        identity_.resize(static_cast<size_t>(std::max(product.m * product.n, product.scales)));
        std::iota(identity_.begin(), identity_.end(), 0);
        a_offset_ = record.offset(product.a.port);
        b_offset_ = record.offset(product.b.port);
        c_offset_ = record.offset(product.c.port);
        if (product.scales) {
            scale_a_offset_ = record.offset(product.scale_a.port);
            scale_b_offset_ = record.offset(product.scale_b.port);
        }
        side_by_side_ = is_array(product.a) && is_array(product.b) && is_array(product.c) &&
                        (!product.scales || is_array(product.scale_a)) && product.steps * product.m * product.n == 1;
    }

    /// Vectors first … of this kind, in arrays.
    void make(uint64_t seed, int64_t first, int64_t vectors) {
        const Product& p = product_;
        const int64_t tiles = vectors * together_, K = stimulus_.K, cells = tiles * p.m * p.n;
        a_.resize(static_cast<size_t>(tiles * p.m * K * p.a.storage));
        b_.resize(static_cast<size_t>(tiles * p.n * K * p.b.storage));
        c_.resize(static_cast<size_t>(cells * p.c.storage));
        scale_a_.resize(static_cast<size_t>(tiles * p.m * p.scales * p.scale_a.storage));
        scale_b_.resize(static_cast<size_t>(tiles * p.n * p.scales * p.scale_b.storage));
        d_.resize(static_cast<size_t>(cells * p.d.storage_bits / 8));
        label_.resize(static_cast<size_t>(tiles));
        void* scale_a = p.scales ? scale_a_.data() : nullptr;
        void* scale_b = p.scales ? scale_b_.data() : nullptr;
        const int64_t from = first * together_;
        if (p.m * p.n == 1) {
            library_.check(library_.fill_rows(&stimulus_, corners_.data(), seed, from, tiles, a_.data(), b_.data(), c_.data(),
                                              scale_a, scale_b, label_.data()));
            compute(0, tiles, 0);
        } else {
            library_.check(library_.fill_tiles(&stimulus_, corners_.data(), seed, from, tiles, p.m, p.n, a_.data(), b_.data(),
                                               c_.data(), scale_a, scale_b, label_.data()));
            for (int64_t tile = 0; tile < tiles; ++tile) compute(tile, p.m * p.n, p.n);
        }
    }

    /// Write vector `index` of those made into its transfers, which are zero, and its results.
    void put(int64_t index, uint8_t* transfers, uint64_t* expected, uint16_t* label, uint16_t first_label, Random& noise) const {
        const Product& p = product_;
        const int cells = p.m * p.n;
        if (side_by_side_) {
            copy(transfers + a_offset_, a_, index, p.L() * p.a.storage);
            copy(transfers + b_offset_, b_, index, p.L() * p.b.storage);
            copy(transfers + c_offset_, c_, index, p.c.storage);
            if (p.scales) {
                copy(transfers + scale_a_offset_, scale_a_, index, p.scales * p.scale_a.storage);
                copy(transfers + scale_b_offset_, scale_b_, index, p.scales * p.scale_b.storage);
            }
        } else {
            for (int step = 0; step < p.steps; ++step) put_step(index, step, transfers + step * record_bytes_, noise);
        }
        for (int64_t e = 0; e < int64_t{together_} * cells; ++e) {
            expected[e] = mmau::load(p.d, d_.data(), index * together_ * cells + e);
            label[e] = static_cast<uint16_t>(first_label + label_[static_cast<size_t>(index * together_ + e / cells)]);
        }
    }

  private:
    /// Whether an array of the operand is the port's contents, byte for byte.
    static bool is_array(const Operand& operand) { return operand.width == 8 * operand.storage; }
    void copy(uint8_t* port, const std::vector<uint8_t>& array, int64_t index, int bytes) const {
        std::memcpy(port, array.data() + index * together_ * bytes, static_cast<size_t>(together_) * bytes);
    }
    void compute(int64_t tile, int64_t rows, int columns) {
        const Product& p = product_;
        const int64_t K = stimulus_.K;
        mmau_batch batch{};
        batch.a = a_.data() + tile * p.m * K * p.a.storage;
        batch.b = b_.data() + tile * p.n * K * p.b.storage;
        batch.c = c_.data() + tile * p.m * p.n * p.c.storage;
        batch.scale_a = p.scales ? scale_a_.data() + tile * p.m * p.scales * p.scale_a.storage : nullptr;
        batch.scale_b = p.scales ? scale_b_.data() + tile * p.n * p.scales * p.scale_b.storage : nullptr;
        batch.d = d_.data() + tile * p.m * p.n * (p.d.storage_bits / 8);
        batch.rows = rows;
        batch.columns = columns;
        batch.a_stride = batch.b_stride = K;
        batch.scale_a_stride = batch.scale_b_stride = p.scales;
        library_.check(library_.dot_batch(&p.parameters, &batch, 1));
    }
    /// What the ports show at one step; where c is not read, it is noise.
    void put_step(int64_t index, int step, uint8_t* record, Random& noise) const {
        const Product& p = product_;
        const int* products = p.order.data() + step * p.L();
        const int64_t K = stimulus_.K;
        int64_t a = 0, b = 0, c = 0, scale_a = 0, scale_b = 0;
        for (int64_t tile = index * together_; tile < (index + 1) * together_; ++tile) {
            for (int64_t i = tile * p.m; i < (tile + 1) * p.m; ++i) {
                put_elements(record + a_offset_, a, p.a, a_.data() + i * K * p.a.storage, products, p.L());
                put_scales(record + scale_a_offset_, scale_a, p.scale_a, scale_a_, i, step);
            }
            for (int64_t j = tile * p.n; j < (tile + 1) * p.n; ++j) {
                put_elements(record + b_offset_, b, p.b, b_.data() + j * K * p.b.storage, products, p.L());
                put_scales(record + scale_b_offset_, scale_b, p.scale_b, scale_b_, j, step);
            }
            const int cells = p.m * p.n;
            if (step == p.c_step) {
                put_elements(record + c_offset_, c, p.c, c_.data() + tile * cells * p.c.storage, identity_.data(), cells);
            } else {
                for (int e = 0; e < cells; ++e, c += p.c.width) {
                    put_bits(record + c_offset_, c, p.c.width, noise.next() & low_mask(p.c.width));
                }
            }
        }
    }
    void put_scales(uint8_t* port, int64_t& bit, const Operand& operand, const std::vector<uint8_t>& codes, int64_t line,
                    int step) const {
        if (!product_.scales) return;
        const int64_t blocks = product_.scales;
        const int64_t start = int64_t{step} * product_.L() / stimulus_.K_block;
        put_elements(port, bit, operand, codes.data() + (line * blocks + start) * operand.storage, identity_.data(),
                     product_.scales_per_step);
    }

    const Library& library_;
    const Product& product_;
    int together_, record_bytes_;
    int a_offset_ = 0, b_offset_ = 0, c_offset_ = 0, scale_a_offset_ = 0, scale_b_offset_ = 0;
    bool side_by_side_ = false;
    Stimulus stimulus_{};
    std::vector<uint64_t> corners_;
    std::vector<int> identity_;
    std::vector<uint8_t> a_, b_, c_, scale_a_, scale_b_, d_, label_;
};

/// Vectors of all kinds: each group of as many as there are kinds has one of each, in an order of its own.
class NativeRows final : public Source {
  public:
    NativeRows(const Plan& plan, const Record& record, uint64_t seed, int64_t first, int64_t vectors, int64_t base,
               const Selection& selection)
        : library_(plan.library), plan_(plan), selection_(selection), record_bytes_(record.bytes()), seed_(seed), base_(base),
          next_(first), end_(first + vectors) {
        for (const Product& product : plan.products) {
            kinds_.emplace_back(library_, plan, product, record);
            labels_.push_back(static_cast<uint16_t>(labels_.size() * labels_of_a_kind));
        }
        for (const Record::Field& field : record.fields()) {
            if (field.port == "format") format_offset_ = field.offset;
        }
        const int64_t kinds = static_cast<int64_t>(kinds_.size());
        batch_ = std::max<int64_t>(1, batch_rows / (plan.elements() * kinds)) * kinds;
    }

    bool next(Batch& batch) override {
        do {
            if (!make(batch)) return false;
        } while (batch.vectors == 0);
        return true;
    }

  private:
    static constexpr size_t labels_of_a_kind = 256;  // a label is a byte

    /// The next batch, which may be empty.
    bool make(Batch& batch) {
        const int64_t kinds = static_cast<int64_t>(kinds_.size());
        const int64_t count = std::min(batch_ - next_ % kinds, end_ - next_);  // then the next batch begins with a group
        if (count <= 0) return false;
        const int64_t group = next_ / kinds, groups = (next_ + count + kinds - 1) / kinds - group;
        for (Kind& kind : kinds_) kind.make(seed_, group, groups);
        const size_t size = static_cast<size_t>(count), elements = static_cast<size_t>(plan_.elements());
        const int64_t bytes = int64_t{plan_.transfers()} * record_bytes_;
        Batch::Storage& storage = batch.storage;
        storage.transfers.assign(size * static_cast<size_t>(bytes), 0);
        storage.expected.resize(size * elements);
        storage.label.resize(size * elements);
        storage.product.resize(size);
        storage.number.resize(size);
        size_t place = 0;
        for (int64_t vector = next_; vector < next_ + count; ++vector) {
            const size_t kind = kind_of(vector);
            uint16_t* label = storage.label.data() + place * elements;
            Random noise(seed_, static_cast<uint64_t>(vector));
            kinds_[kind].put(vector / kinds - group, storage.transfers.data() + static_cast<int64_t>(place) * bytes,
                             storage.expected.data() + place * elements, label, labels_[kind], noise);
            if (format_offset_ >= 0) {  // at most 256 formats: the port's low byte
                storage.transfers[place * static_cast<size_t>(bytes) + static_cast<size_t>(format_offset_)] = static_cast<uint8_t>(kind);
            }
            if (!selection_.takes(label, plan_.elements())) {
                std::memset(storage.transfers.data() + static_cast<int64_t>(place) * bytes, 0, static_cast<size_t>(bytes));
                ++left_out;
                continue;
            }
            storage.product[place] = static_cast<uint16_t>(kind);
            storage.number[place++] = static_cast<uint64_t>(base_ + vector);
        }
        batch.vectors = static_cast<int64_t>(place);
        batch.number = storage.number.data();
        batch.transfers = storage.transfers.data();
        batch.expected = storage.expected.data();
        batch.label = storage.label.data();
        batch.product = storage.product.data();
        next_ += count;
        return true;
    }

    /// The kind of a vector: its place in the group's order, the first kinds shuffled.
    size_t kind_of(int64_t vector) {
        const size_t kinds = kinds_.size();
        if (kinds == 1) return 0;
        if (vector / static_cast<int64_t>(kinds) != shuffled_) {
            shuffled_ = vector / static_cast<int64_t>(kinds);
            Random random(seed_, ~static_cast<uint64_t>(shuffled_));
            order_.resize(kinds);
            std::iota(order_.begin(), order_.end(), size_t{0});
            for (size_t k = kinds - 1; k > 0; --k) std::swap(order_[k], order_[random.below(k + 1)]);
        }
        return order_[static_cast<size_t>(vector) % kinds];
    }

    const Library library_;
    const Plan& plan_;
    const Selection selection_;
    const int record_bytes_;
    const uint64_t seed_;
    const int64_t base_;
    int64_t next_, end_, batch_ = 0, shuffled_ = -1;
    int format_offset_ = -1;  // of the port that selects the kind; -1 where there is none
    std::vector<size_t> order_;
    std::vector<Kind> kinds_;
    std::vector<uint16_t> labels_;
};

}  // namespace

bool Selection::takes(const uint16_t* label, int elements) const {
    if (is_everything()) return true;
    const auto has = [&](const std::vector<int>& wanted) {
        return std::any_of(label, label + elements, [&](int each) { return std::count(wanted.begin(), wanted.end(), each) > 0; });
    };
    return (only.empty() || has(only)) && !has(exclude);
}

std::unique_ptr<Source> native_rows(const Plan& plan, const Record& record, uint64_t seed, int64_t first, int64_t vectors,
                                    int64_t base, const Selection& selection) {
    return std::make_unique<NativeRows>(plan, record, seed, first, vectors, base, selection);
}

}  // namespace volume
