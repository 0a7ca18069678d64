// Comparison of results with the expected ones: counts, groups of mismatches, and the first rows of each group.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "plan.hpp"
#include "rows.hpp"

namespace volume {

/// The time of a result: rising clock edges before it, and simulated time (ns).
struct Arrival {
    int64_t cycle, time;
};

/// A compared element, with its whole vector and result.
struct Compared {
    int64_t number;
    Arrival arrival;
    int element, product, label;
    bool agrees, sampled;
    std::vector<uint8_t> transfers, got;  // got: the whole of d
    std::vector<uint64_t> expected;       // code of each element
};

/// Mismatches with the same class of stimulus, classes of expected and received result, and range of distances.
struct Group {
    int64_t count = 0;
    std::vector<size_t> rows;  // indices into `Judge::compared`
};

/// What came at an output beside d: cosim/bench/returned.py.
struct Returned {
    bool has_before = false;
    uint64_t expected = 0, got = 0;  // of the result before
    std::vector<std::array<int64_t, 9>> counts;  // of each flag, or of the whole: wrong results that each origin explains, wrong
                                                 // ones that it does not, right ones that contradict it
    std::map<std::pair<int, uint64_t>, int64_t> raised;  // label, expected code → results
};

/// Numbers of elements that are recorded in full.
struct Keep {
    int64_t mismatches = 2000;  // mismatches; beyond them only the first `of_a_group` of each group
    int64_t of_a_group = 8;
    int64_t agreeing = 64;  // elements that agree, of each class
    int64_t sample = 0;     // every so many results one that agrees, from the first on; 0 for none
};

class Judge {
  public:
    Judge(const Plan& plan, const Record& record, const Keep& keep);

    /// Compare a result.
    /// @param d the port's bytes.
    /// @return whether every element agrees.
    bool compare(const Batch& batch, int64_t vector, const uint8_t* d, const Arrival& arrival);

    int64_t mismatches = 0;                    // results with an element that differs
    int64_t elements = 0;                      // elements that differ
    std::map<int, int64_t> classes;            // label → elements compared
    std::vector<int64_t> result_classes;       // elements compared, by mmau::Cls of the expected result
    std::vector<int64_t> result_pairs;         // [first][second], by place in cosim.coverage.covergroup.CLASSES, of the same element
    std::map<std::string, int64_t> waived;     // rule → results that needed it
    std::vector<Compared> compared;
    std::vector<Returned> returned;            // of each output beside d
    std::vector<Group> groups() const;

    /// Note a reset: the next result has none before it.
    void reset();

    /// Move the counts of classes to `classes`; they are in an array until the end.
    void finish();

  private:
    using Key = std::tuple<int, int, int, int>;

    struct Kind {
        const Product* product;
        int width;            // width of an element of d (bits)
        uint64_t magnitude;   // mask of all bits but the sign
        uint64_t infinity;
    };
    bool differs(const Kind& kind, uint64_t got, uint64_t expected) const;
    bool agrees(const Kind& kind, uint64_t got, uint64_t expected, const uint8_t* transfer, int element);
    bool nan_agrees(const Kind& kind, uint64_t got, const uint8_t* transfer, int element) const;
    bool is_a_quiet_operand(const Kind& kind, uint64_t got, const uint8_t* transfer, int element) const;
    bool is_nan(const Kind& kind, uint64_t code) const { return (code & kind.magnitude) > kind.infinity; }
    bool is_sampled(int element) const { return keep_.sample && element == 0 && results_ % keep_.sample == 0; }
    void waive(const std::string& rule, bool needed) { waived[rule] += needed; }
    void keep(const Batch& batch, int64_t vector, int element, const uint8_t* d, const Arrival& arrival, bool agrees);
    static void count(Returned& of, bool has_flags, uint64_t got, uint64_t expected);
    bool echoes_agree(const Batch& batch, int64_t vector, const uint8_t* d, const Arrival& arrival);
    void record(Group& group, const Batch& batch, int64_t vector, int element, const uint8_t* d, const Arrival& arrival);
    void record_mismatch(const Batch& batch, int64_t vector, int element, uint64_t got, const uint8_t* d, const Arrival& arrival);

    const Record& record_;
    const Keep keep_;
    const std::string nan_, zero_sign_;
    const std::vector<int64_t>& distances_;
    uint64_t nan_code_ = 0;
    enum class Nan { unit, any, propagate, code } nan_rule_;
    int elements_, d_bytes_ = 0, transfers_;
    const std::vector<Echo>& echoes_;
    const std::string& mask_;
    const std::string& metadata_;
    std::vector<Kind> kinds_;
    std::vector<size_t> before_;  // class, with its sign, of each element of the result before; empty before the first
    std::vector<int64_t> compared_of_label_, agreed_of_label_;
    std::map<Key, Group> groups_;
    int64_t kept_mismatches_ = 0, results_ = 0;
};

}  // namespace volume
