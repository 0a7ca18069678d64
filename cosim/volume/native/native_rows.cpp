#include <algorithm>
#include <cstring>
#include <numeric>

#include "bits.hpp"
#include "kind.hpp"
#include "rows.hpp"

namespace volume {
namespace {

constexpr int64_t batch_rows = 1024;  // dot products: their operands stay in the second-level cache

/// Vectors of all kinds: each group of consecutive vectors has one of each kind, in a random order.
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

    /// Generate the next batch, which may be empty.
    bool make(Batch& batch) {
        const int64_t kinds = static_cast<int64_t>(kinds_.size());
        const int64_t count = std::min(batch_ - next_ % kinds, end_ - next_);  // then the next batch begins with a group
        if (count <= 0) return false;
        const int64_t group = next_ / kinds, groups = (next_ + count + kinds - 1) / kinds - group;
        for (Kind& kind : kinds_) kind.make(seed_, group, groups, kinds == 1);
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

    /// The kind of a vector, from the shuffled order of its group.
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
