// Sources of vectors with their expected results, batch by batch: from a file, or generated.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plan.hpp"

namespace volume {

/// The places of the operand ports' bytes in a transfer.
class Record {
  public:
    struct Field {
        std::string port;
        int offset, bytes;
    };
    /// @param bytes size of each port of the plan's record.
    Record(const std::vector<std::string>& ports, const std::vector<int>& bytes);
    int bytes() const { return bytes_; }
    const std::vector<Field>& fields() const { return fields_; }
    /// @throws Refused if there is no such port.
    int offset(const std::string& port) const;
    bool has(const std::string& port) const;

  private:
    std::vector<Field> fields_;
    int bytes_ = 0;
};

/// Vectors of a run; the pointers are to memory of the source, or to `storage`.
struct Batch {
    int64_t vectors = 0;
    const uint64_t* number = nullptr;    // [vectors] number of each vector in the run
    const uint8_t* transfers = nullptr;  // [vectors][transfers][bytes of a record]
    const uint64_t* expected = nullptr;  // [vectors][elements]
    const uint16_t* label = nullptr;     // [vectors][elements] class of the stimulus
    const uint16_t* product = nullptr;   // [vectors] index into Plan::products

    int64_t number_of(int64_t vector) const { return static_cast<int64_t>(number[vector]); }

    struct Storage {
        std::vector<uint8_t> transfers;
        std::vector<uint64_t> expected;
        std::vector<uint16_t> label, product;
        std::vector<uint64_t> number;
    } storage;
};

class Source {
  public:
    int64_t left_out = 0;  // vectors that the selection does not send

    virtual ~Source() = default;
    /// Fill the batch with the next vectors.
    /// @return false where there are no more.
    virtual bool next(Batch& batch) = 0;
};

/// The vectors of a file that cosim/volume/vector_files.py wrote.
/// @throws Refused if it is not such a file, or belongs to another design.
std::unique_ptr<Source> rows_of_file(const std::string& path, const Plan& plan, const Record& record);

/// The selection of vectors by the classes of their elements.
struct Selection {
    std::vector<int> only, exclude;  // labels; only: empty for every class
    bool is_everything() const { return only.empty() && exclude.empty(); }
    bool takes(const uint16_t* label, int elements) const;
};

/// Vectors first … first + vectors − 1 of a seed; libmmau generates them and computes their results.
/// @param base number of vector 0 in the run.
/// @throws Refused if the library cannot be loaded or returns an error.
std::unique_ptr<Source> native_rows(const Plan& plan, const Record& record, uint64_t seed, int64_t first, int64_t vectors,
                                    int64_t base, const Selection& selection);

}  // namespace volume
