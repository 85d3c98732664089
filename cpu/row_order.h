// Which of two sequences runs along the rows of their matrix: the longer one, of equally long ones the one
// whose codes come first. So sets are sorted, and so an alignment does not depend on the order of the input.
#pragma once

#include <cstdint>
#include <cstring>

namespace pairalign {

// Less than 0 if the first sequence comes before the second, 0 if they are the same.
inline int compare_rows(const uint8_t* a, int64_t a_length, const uint8_t* b, int64_t b_length) {
    if (a_length != b_length) return a_length > b_length ? -1 : 1;
    return std::memcmp(a, b, static_cast<size_t>(a_length));
}

// Numbers the sequences of two sorted sets, through which one can be compared with the other: of a pair the
// one with the smaller number runs along the rows; equal sequences have the same. A set has `count`, and by
// sorted position `length` and `codes`.
template <class First, class Second>
void find_row_ranks(const First& first, const Second& second, int32_t* of_first, int32_t* of_second) {
    const uint8_t* last = nullptr;
    int64_t last_length = -1;
    int32_t rank = -1;
    const auto number = [&](const uint8_t* codes, int64_t length) {
        if (!last || compare_rows(last, last_length, codes, length) != 0) rank++;
        last = codes;
        last_length = length;
        return rank;
    };
    int32_t i = 0, j = 0;
    while (i < first.count() || j < second.count()) {
        const bool takes_first = j == second.count() ||
                                 (i < first.count() && compare_rows(first.codes(i), first.length(i),
                                                                    second.codes(j), second.length(j)) <= 0);
        if (takes_first) of_first[i] = number(first.codes(i), first.length(i)), i++;
        else of_second[j] = number(second.codes(j), second.length(j)), j++;
    }
}

}  // namespace pairalign
