// Gaps and stalls of each length that meet each class of results: cosim/bench/waits.py.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "plan.hpp"
#include "rows.hpp"

namespace volume {

/// The index of a result's class in cosim/bench/waits.py: zero, subnormal, normal, largest, infinity, NaN; of an integer: zero or
/// not.
inline size_t waiting_class(const Product& product, uint64_t code) {
    const mmau::Format& d = product.d;
    if (product.is_integer) return code != 0;
    const size_t cls = static_cast<size_t>(mmau::decode(d, code).cls);
    const bool is_largest = ((code & (d.sign_bit() - 1)) >> d.pad_bits) + 1 == d.infinity() >> d.pad_bits;
    return cls + (cls > static_cast<size_t>(mmau::Cls::normal)) + is_largest;
}

class Waits {
  public:
    static constexpr size_t classes = 6;

    /// @param lengths every length, in the order in which a class meets them.
    Waits(const Plan& plan, const std::vector<int64_t>& lengths) : plan_(plan), lengths_(lengths) {}

    /// The length of the wait that a vector is to meet; 0 for none.
    int64_t wanted(const Batch& batch, int64_t vector) const {
        const std::set<int64_t>& met = met_[class_of(batch, vector, batch.number_of(vector) % plan_.elements())];
        if (met.size() == lengths_.size()) return 0;
        for (const int64_t length : lengths_) {
            if (!met.count(length)) return length;
        }
        return 0;
    }

    /// Count a wait of this length that a vector has met.
    void meet(int64_t length, const Batch& batch, int64_t vector) {
        if (length < 1 || length > static_cast<int64_t>(lengths_.size())) return;
        for (int64_t element = 0; element < plan_.elements(); ++element) met_[class_of(batch, vector, element)].insert(length);
    }

    /// The lengths that each class has met.
    const std::array<std::set<int64_t>, classes>& met() const { return met_; }

  private:
    size_t class_of(const Batch& batch, int64_t vector, int64_t element) const {
        return waiting_class(plan_.products[batch.product[vector]], batch.expected[vector * plan_.elements() + element]);
    }

    const Plan& plan_;
    const std::vector<int64_t>& lengths_;
    std::array<std::set<int64_t>, classes> met_;
};

}  // namespace volume
