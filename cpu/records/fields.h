// Words of alignment files, and what they say of a record.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "../pairs/name_index.h"
#include "record.h"

namespace pairalign::records {

using Text = std::string_view;

inline constexpr int64_t MOST_DIGITS = 18;

// Words for what is not known. Nothing at all is none: no program leaves a number out.
inline bool is_unsaid(Text word) {
    return word == "*" || word == "nan" || word == "-nan" || word == "NaN" || word == "NA";
}

// A decimal number as digits and how many of them are behind the point; false where it is none.
inline bool read_number(Text word, int64_t& digits, int8_t& decimals) {
    const bool negative = !word.empty() && word[0] == '-';
    if (!word.empty() && (word[0] == '-' || word[0] == '+')) word.remove_prefix(1);
    if (!word.empty() && word.back() == '%') word.remove_suffix(1);
    int64_t value = 0, count = 0;
    bool point = false;
    decimals = 0;
    for (const char character : word) {
        if (character == '.' && !point) {
            point = true;
            continue;
        }
        if (character < '0' || character > '9' || ++count > MOST_DIGITS) return false;
        value = 10 * value + (character - '0');
        decimals = static_cast<int8_t>(decimals + point);
    }
    digits = negative ? -value : value;
    return count > 0;
}

inline bool read_whole(Text word, int64_t& value) {
    int8_t decimals;
    return read_number(word, value, decimals) && decimals == 0;
}

// Whether a word is a number, with an exponent or not, and no less than another.
inline bool is_real(Text word, double least) {
    char copy[64];
    if (word.empty() || word.size() >= sizeof copy) return false;
    std::memcpy(copy, word.data(), word.size());
    copy[word.size()] = 0;
    char* end = nullptr;
    const double value = std::strtod(copy, &end);
    return end == copy + word.size() && value >= least;
}

// A record of which nothing is known.
inline void clear(pairalign_record& record) {
    std::memset(&record, 0, sizeof record);
    for (int64_t& one : record.spans) one = -1;
    for (int64_t& one : record.says) one = PAIRALIGN_UNSAID;
    record.runs = record.row_bytes[0] = record.row_bytes[1] = record.residue_bytes = record.btop_bytes = -1;
    record.cs_bytes = record.md_bytes = record.bar_bytes = -1;
    record.query = record.target = -1;
}

// A fault that ends what is looked at.
inline void stop_at(int32_t fault, pairalign_record& record, double says = 0, double is = 0) {
    if (record.first == 0) {
        record.first = fault;
        record.first_says = says;
        record.first_is = is;
    }
    if (record.fault == 0) record.fault = fault;
}

// One that does not.
inline void notice(int32_t fault, pairalign_record& record, double says = 0, double is = 0) {
    if (record.first == 0) {
        record.first = fault;
        record.first_says = says;
        record.first_is = is;
    }
    record.noticed |= uint64_t{1} << fault;
}

inline double value_of(int64_t digits, int8_t decimals) {
    return static_cast<double>(digits) / std::pow(10.0, decimals);
}

// A number that the file states. One that it states twice must be the same, to a unit of the coarser where
// it has decimals. One that is `required` is known.
inline void claim(int32_t number, Text word, pairalign_record& record, bool required = false) {
    if (!required && is_unsaid(word)) return;
    int64_t digits;
    int8_t decimals;
    if (!read_number(word, digits, decimals)) return stop_at(PAIRALIGN_FAULT_NUMBER, record);
    if (record.says[number] == PAIRALIGN_UNSAID) {
        record.says[number] = digits;
        record.decimals[number] = decimals;
        return;
    }
    const double before = value_of(record.says[number], record.decimals[number]);
    const double now = value_of(digits, decimals);
    const int coarser = std::min(decimals, record.decimals[number]);
    const double unit = decimals == 0 && record.decimals[number] == 0 ? 0 : std::pow(10.0, -coarser);
    if (std::abs(now - before) > unit * (1 + 1e-9))
        notice(PAIRALIGN_FAULT_CLAIM + number, record, now, before);
}

inline int32_t find(const NameIndex& index, Text name) {
    const auto found = index.find(name);
    return found == index.end() ? -1 : found->second;
}

// Faults of names, where nothing else is wrong; the query's comes first.
inline void blame_names(pairalign_record& record) {
    if (record.fault == 0 && record.query < 0) stop_at(PAIRALIGN_FAULT_QUERY, record);
    if (record.fault == 0 && record.target < 0) stop_at(PAIRALIGN_FAULT_TARGET, record);
}

// Lines of a text, without their ends.
class Lines {
public:
    explicit Lines(Text text) : at_(text.data()), stop_(text.data() + text.size()) {}

    // False: there are no more.
    bool next(Text& line) {
        if (at_ >= stop_) return false;
        const void* const feed = std::memchr(at_, '\n', static_cast<size_t>(stop_ - at_));
        const char* const end = feed ? static_cast<const char*>(feed) : stop_;
        line = Text(at_, static_cast<size_t>(end - at_));
        at_ = end + 1;
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        return true;
    }

private:
    const char* at_;
    const char* const stop_;
};

}  // namespace pairalign::records
