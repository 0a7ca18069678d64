#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "rows.hpp"

namespace volume {

Record::Record(const std::vector<std::string>& ports, const std::vector<int>& bytes) {
    for (size_t i = 0; i < ports.size(); ++i) {
        fields_.push_back({ports[i], bytes_, bytes[i]});
        bytes_ += bytes[i];
    }
}

bool Record::has(const std::string& port) const {
    return std::any_of(fields_.begin(), fields_.end(), [&](const Field& field) { return field.port == port; });
}

int Record::offset(const std::string& port) const {
    for (const Field& field : fields_) {
        if (field.port == port) return field.offset;
    }
    throw Refused("the plan's record has no port " + port);
}

namespace {

constexpr char magic[] = "MMAUROW1";
constexpr int64_t batch_vectors = 4096;

struct Header {
    char magic[8];
    int64_t vectors, transfers, record, elements;
};

int64_t padded(int64_t bytes) { return (bytes + 7) / 8 * 8; }

class FileRows final : public Source {
  public:
    FileRows(const std::string& path, const Plan& plan, const Record& record) {
        const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat status;
        if (file < 0 || fstat(file, &status) != 0) throw Refused("the rows cannot be read: " + path);
        size_ = status.st_size;
        void* start = size_ ? mmap(nullptr, static_cast<size_t>(size_), PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
        close(file);
        if (start == MAP_FAILED) throw Refused("the rows cannot be read: " + path);
        bytes_ = static_cast<const uint8_t*>(start);
        if (size_ < static_cast<int64_t>(sizeof header_)) throw Refused(path + " holds no rows");
        std::memcpy(&header_, bytes_, sizeof header_);
        if (std::memcmp(header_.magic, magic, sizeof header_.magic) != 0) throw Refused(path + " holds no rows");
        if (header_.transfers != plan.transfers() || header_.record != record.bytes() || header_.elements != plan.elements()) {
            throw Refused(path + " holds rows of another design");
        }
        const int64_t n = header_.vectors, cells = n * header_.elements;
        number_ = static_cast<int64_t>(sizeof header_);
        expected_ = number_ + 8 * n;
        label_ = expected_ + 8 * cells;
        product_ = label_ + padded(2 * cells);
        transfers_ = product_ + padded(2 * n);
        if (n < 0 || size_ != transfers_ + n * header_.transfers * header_.record) throw Refused(path + " is cut short");
        for (int64_t i = 0; i < n; ++i) {
            if (at<uint16_t>(product_)[i] >= plan.products.size()) throw Refused(path + " holds rows of another design");
        }
    }
    ~FileRows() override { munmap(const_cast<uint8_t*>(bytes_), static_cast<size_t>(size_)); }
    FileRows(const FileRows&) = delete;
    FileRows& operator=(const FileRows&) = delete;

    bool next(Batch& batch) override {
        batch.vectors = std::min(batch_vectors, header_.vectors - done_);
        batch.number = at<uint64_t>(number_) + done_;
        batch.expected = at<uint64_t>(expected_) + done_ * header_.elements;
        batch.label = at<uint16_t>(label_) + done_ * header_.elements;
        batch.product = at<uint16_t>(product_) + done_;
        batch.transfers = bytes_ + transfers_ + done_ * header_.transfers * header_.record;
        done_ += batch.vectors;
        return batch.vectors > 0;
    }

  private:
    template <typename T>
    const T* at(int64_t place) const {
        return reinterpret_cast<const T*>(bytes_ + place);
    }

    const uint8_t* bytes_ = nullptr;
    int64_t size_ = 0, done_ = 0;
    int64_t number_ = 0, expected_ = 0, label_ = 0, product_ = 0, transfers_ = 0;
    Header header_{};
};

}  // namespace

std::unique_ptr<Source> rows_of_file(const std::string& path, const Plan& plan, const Record& record) {
    return std::make_unique<FileRows>(path, plan, record);
}

}  // namespace volume
