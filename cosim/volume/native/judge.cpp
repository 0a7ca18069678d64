#include "judge.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "bits.hpp"

namespace volume {
namespace {

using mmau::Cls;

constexpr size_t signed_classes = 9;
constexpr size_t labels = size_t{1} << 16;
constexpr int no_distance = 99;

Cls class_of(const mmau::Format& format, uint64_t code) { return mmau::decode(format, code).cls; }

Cls class_of(const Product& product, uint64_t code) {
    if (product.is_integer) return code ? Cls::normal : Cls::zero;
    return class_of(product.d, code);
}

/// The place of a code's class in cosim.coverage.covergroup.CLASSES: +0, -0, ... NaN. Of integers: +0, or +normal.
size_t signed_class_of(const Product& product, uint64_t code, Cls cls) {
    if (cls == Cls::nan) return signed_classes - 1;
    const bool is_negative = !product.is_integer && (code & product.d.sign_bit());
    return 2 * static_cast<size_t>(cls) + is_negative;
}

/// The position of a finite code in the order of the values.
int64_t place_of(const mmau::Format& d, uint64_t code) {
    const int64_t magnitude = static_cast<int64_t>(code & (d.sign_bit() - 1));
    return code & d.sign_bit() ? -magnitude : magnitude;
}

/// The number of the distance's range, negative where got is lower; `no_distance` where there is no distance.
int distance(const Product& product, uint64_t got, uint64_t expected, const std::vector<int64_t>& ends) {
    const mmau::Format& d = product.d;
    if (class_of(product, got) >= Cls::infinity || class_of(product, expected) >= Cls::infinity) return no_distance;
    const int64_t from = place_of(d, expected), to = place_of(d, got);
    const uint64_t apart = to > from ? static_cast<uint64_t>(to) - static_cast<uint64_t>(from)
                                     : static_cast<uint64_t>(from) - static_cast<uint64_t>(to);
    const uint64_t whole = (apart >> d.pad_bits) + ((apart & low_mask(d.pad_bits)) != 0);
    if (whole == 0) return 0;
    int bucket = 1;
    for (const int64_t end : ends) bucket += whole > static_cast<uint64_t>(end);
    return to > from ? bucket : -bucket;
}

}  // namespace

Judge::Judge(const Plan& plan, const Record& record, const Keep& keep)
    : result_classes(5), result_pairs(signed_classes * signed_classes), record_(record), keep_(keep), nan_(plan.nan), zero_sign_(plan.zero_sign), distances_(plan.distances), elements_(plan.elements()),
      transfers_(plan.transfers()), echoes_(plan.echoes), mask_(plan.mask), metadata_(plan.metadata), compared_of_label_(labels), agreed_of_label_(labels) {
    for (const Echo& echo : echoes_) {
        returned.emplace_back().counts.resize(echo.has_flags ? static_cast<size_t>(echo.width) : 1);
    }
    nan_rule_ = nan_ == "unit" ? Nan::unit : nan_ == "any" ? Nan::any : nan_ == "propagate" ? Nan::propagate : Nan::code;
    if (nan_rule_ == Nan::code) nan_code_ = std::strtoull(nan_.c_str(), nullptr, 16);
    for (const Product& product : plan.products) {
        kinds_.push_back({&product, product.d.width(), product.d.sign_bit() - 1,
                          product.is_integer ? ~uint64_t{0} : product.d.infinity()});
        const int bits = product.d.width() * elements_;
        d_bytes_ = std::max(d_bytes_, (bits + 7) / 8);
        for (const Echo& echo : plan.echoes) d_bytes_ = std::max(d_bytes_, (echo.low + echo.width + 7) / 8);
        if (nan_rule_ == Nan::propagate && product.m * product.n * product.transfers() != 1) {
            throw Refused("[compare] nan = \"propagate\" is for units, not for tiles");
        }
    }
}

bool Judge::compare(const Batch& batch, int64_t vector, const uint8_t* d, const Arrival& arrival) {
    const Kind& kind = kinds_[batch.product[vector]];
    const uint64_t* expected = batch.expected + vector * elements_;
    const uint16_t* label = batch.label + vector * elements_;
    const bool is_first_result = before_.empty();
    before_.resize(static_cast<size_t>(elements_));
    bool all_agree = true;
    for (int element = 0; element < elements_; ++element) {
        const uint64_t got = get_bits(d, int64_t{element} * kind.width, kind.width), wanted = expected[element];
        ++compared_of_label_[label[element]];
        const Cls cls = class_of(*kind.product, wanted);
        ++result_classes[static_cast<size_t>(cls)];
        const size_t now = signed_class_of(*kind.product, wanted, cls), before = std::exchange(before_[static_cast<size_t>(element)], now);
        if (!is_first_result) ++result_pairs[before * signed_classes + now];
        const uint8_t* transfer = batch.transfers + vector * transfers_ * record_.bytes();
        if ((got == wanted && nan_rule_ == Nan::unit) || agrees(kind, got, wanted, transfer, element)) {
            const bool is_first = agreed_of_label_[label[element]] < keep_.agreeing;
            agreed_of_label_[label[element]] += is_first;
            if (is_first || is_sampled(element)) this->keep(batch, vector, element, d, arrival, true);
        } else {
            all_agree = false;
            ++elements;
            record_mismatch(batch, vector, element, got, d, arrival);
        }
    }
    all_agree &= echoes_agree(batch, vector, d, arrival);
    mismatches += !all_agree;
    ++results_;
    return all_agree;
}

/// Compare what other outputs return with what was sent. Their elements are numbered behind those of d.
bool Judge::echoes_agree(const Batch& batch, int64_t vector, const uint8_t* d, const Arrival& arrival) {
    bool all_agree = true;
    const uint8_t* transfer = batch.transfers + ((vector + 1) * transfers_ - 1) * record_.bytes();
    for (size_t number = 0; number < echoes_.size(); ++number) {
        const Echo& echo = echoes_[number];
        const uint64_t got = get_bits(d, echo.low, echo.width);
        const uint64_t expected = get_bits(transfer + record_.offset(echo.port), 0, echo.width);
        count(returned[number], echo.has_flags, got, expected);
        ++returned[number].raised[{batch.label[vector * elements_], expected}];
        if (got == expected) continue;
        all_agree = false;
        ++elements;
        Group& group = groups_[Key{-1 - static_cast<int>(number), 0, 0, 0}];
        record(group, batch, vector, elements_ + static_cast<int>(number), d, arrival);
    }
    return all_agree;
}

void Judge::count(Returned& of, bool has_flags, uint64_t got, uint64_t expected) {
    for (size_t bit = 0; bit < of.counts.size() && of.has_before; ++bit) {
        const uint64_t mask = has_flags ? uint64_t{1} << bit : ~uint64_t{0};
        const uint64_t origins[] = {of.expected, expected | of.expected, expected | of.got};
        for (size_t i = 0; i < std::size(origins); ++i) {
            const bool is_it = !((origins[i] ^ got) & mask), is_right = !((got ^ expected) & mask);
            if (!is_it || !is_right) ++of.counts[bit][3 * i + (is_right ? 2 : !is_it)];
        }
    }
    of.has_before = true;
    of.expected = expected;
    of.got = got;
}

void Judge::reset() {
    for (Returned& each : returned) each.has_before = false;
}

void Judge::finish() {
    for (size_t label = 0; label < labels; ++label) {
        if (compared_of_label_[label]) classes[static_cast<int>(label)] = compared_of_label_[label];
    }
}

/// As golden/comparison.py: all NaNs are equal where the unit does not fix their encoding.
bool Judge::differs(const Kind& kind, uint64_t got, uint64_t expected) const {
    return got != expected && (kind.product->nan_is_fixed || !is_nan(kind, got) || !is_nan(kind, expected));
}

/// As cosim/bench/comparison_rules.py.
bool Judge::agrees(const Kind& kind, uint64_t got, uint64_t expected, const uint8_t* transfer, int element) {
    const bool different = differs(kind, got, expected);
    if (nan_rule_ != Nan::unit && is_nan(kind, expected)) {
        if (!nan_agrees(kind, got, transfer, element)) return false;
        waive("nan = " + nan_, different);
        return true;
    }
    if (!different) return true;
    if (zero_sign_ == "ignore" && class_of(*kind.product, got) == Cls::zero &&
        class_of(*kind.product, expected) == Cls::zero) {
        waive("zero_sign = ignore", true);
        return true;
    }
    return false;
}

bool Judge::nan_agrees(const Kind& kind, uint64_t got, const uint8_t* transfer, int element) const {
    if (nan_rule_ == Nan::code) return got == nan_code_;
    if (!is_nan(kind, got)) return false;
    return nan_rule_ == Nan::any || is_a_quiet_operand(kind, got, transfer, element);
}

/// Whether a NaN is an operand's NaN made quiet; where no operand is a NaN, whether it is quiet.
bool Judge::is_a_quiet_operand(const Kind& kind, uint64_t got, const uint8_t* transfer, int element) const {
    const Product& product = *kind.product;
    const mmau::Format& d = product.d;
    const uint64_t quiet_bit = uint64_t{1} << (d.man_bits - 1);
    bool any = false, found = false;
    const auto look = [&](const Operand& operand, int format_code, int count) {
        if (!record_.has(operand.port)) return;
        const mmau::Format format = mmau::format_of(format_code);
        const bool is_masked = !mask_.empty() && &operand != &product.c;
        const bool is_selected = !metadata_.empty() && &operand == &product.b;  // the places are in pairs of bits
        for (int k = 0; k < count; ++k) {
            if (is_masked && !get_bits(transfer + record_.offset(mask_), int64_t{element * count + k}, 1)) continue;
            int64_t at = int64_t{element * count + k};
            if (is_selected) at = at / 2 * 4 + static_cast<int64_t>(get_bits(transfer + record_.offset(metadata_), 2 * at, 2));
            const int64_t bit = at * operand.width;
            const uint64_t code = get_bits(transfer + record_.offset(operand.port), bit, operand.width);
            if (class_of(format, code) != Cls::nan) continue;
            any = true;
            const uint64_t sign = code >> (operand.width - 1) ^ operand.is_negated;
            const uint64_t payload = code >> format.pad_bits & low_mask(format.man_bits);
            const int shift = d.man_bits - format.man_bits;
            const uint64_t mantissa = shift >= 0 ? payload << shift : payload >> -shift;
            found = found || got == ((sign ? d.sign_bit() : 0) | d.infinity() | mantissa | quiet_bit);
        }
    };
    look(product.a, product.parameters.a, product.L());
    look(product.b, product.parameters.b, product.L());
    look(product.c, product.parameters.c, 1);
    return any ? found : (got & quiet_bit) != 0;
}

void Judge::record_mismatch(const Batch& batch, int64_t vector, int element, uint64_t got, const uint8_t* d, const Arrival& arrival) {
    const Product& product = *kinds_[batch.product[vector]].product;
    const uint64_t expected = batch.expected[vector * elements_ + element];
    const Key key{batch.label[vector * elements_ + element], static_cast<int>(class_of(product, expected)),
                  static_cast<int>(class_of(product, got)), distance(product, got, expected, distances_)};
    record(groups_[key], batch, vector, element, d, arrival);
}

void Judge::record(Group& group, const Batch& batch, int64_t vector, int element, const uint8_t* d, const Arrival& arrival) {
    ++group.count;
    const bool is_recorded = static_cast<int64_t>(group.rows.size()) < keep_.of_a_group;
    if (!is_recorded && kept_mismatches_ >= keep_.mismatches) return;
    ++kept_mismatches_;
    if (is_recorded) group.rows.push_back(compared.size());
    keep(batch, vector, element, d, arrival, false);
}

void Judge::keep(const Batch& batch, int64_t vector, int element, const uint8_t* d, const Arrival& arrival, bool agrees) {
    const int64_t bytes = int64_t{transfers_} * record_.bytes();
    const uint8_t* transfers = batch.transfers + vector * bytes;
    const uint64_t* expected = batch.expected + vector * elements_;
    compared.push_back({batch.number_of(vector), arrival, element, batch.product[vector],
                        batch.label[vector * elements_ + (element < elements_ ? element : 0)], agrees, agrees && is_sampled(element),
                        {transfers, transfers + bytes},
                        {d, d + d_bytes_}, {expected, expected + elements_}});
}

std::vector<Group> Judge::groups() const {
    std::vector<Group> found;
    for (const auto& [key, group] : groups_) found.push_back(group);
    return found;
}

}  // namespace volume
