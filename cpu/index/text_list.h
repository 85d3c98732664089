// Sequences as texts that common subsequences are looked for in: those of about the same length that begin
// alike come one after the other (filters/subsequences.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "../filters/pair_filter.h"

namespace pairalign {

// A part of a list, of sequences of about the same length.
struct TextBin {
    SortedTexts texts;
    const int32_t* numbers;                            // of the sequences
    std::vector<std::pair<int32_t, int32_t>> lengths;  // each once, and how many texts have it
};

class TextList {
public:
    TextList(const FilteredSet& set, std::vector<int32_t> numbers, int32_t unambiguous)
        : numbers_(std::move(numbers)) {
        std::sort(numbers_.begin(), numbers_.end(), [&](int32_t a, int32_t b) {
            const int32_t one = bin_of(set.length(a)), other = bin_of(set.length(b));
            if (one != other) return one > other;
            return std::lexicographical_compare(set.codes(a), set.codes(a) + set.length(a), set.codes(b),
                                                set.codes(b) + set.length(b));
        });
        const auto count = numbers_.size();
        for (size_t k = 0; k < count; k++) {
            const int32_t number = numbers_[k], length = set.length(number);
            codes_.push_back(set.codes(number));
            lengths_.push_back(length);
            const uint8_t* before = k > 0 ? codes_[k - 1] : nullptr;
            const int32_t most = k > 0 ? std::min(length, lengths_[k - 1]) : 0;
            shared_.push_back(
                static_cast<int32_t>(std::mismatch(codes_[k], codes_[k] + most, before).first - codes_[k]));
        }
        for (size_t first = 0, stop; first < count; first = stop) {
            for (stop = first + 1; stop < count && bin_of(lengths_[stop]) == bin_of(lengths_[first]);) stop++;
            bins_.push_back({{codes_.data() + first, lengths_.data() + first, shared_.data() + first,
                              static_cast<int32_t>(stop - first), unambiguous},
                             numbers_.data() + first,
                             {}});
            auto& lengths = bins_.back().lengths;
            for (size_t k = first; k < stop; k++) {
                const auto at = std::find_if(lengths.begin(), lengths.end(),
                                             [&](const auto& one) { return one.first == lengths_[k]; });
                if (at == lengths.end()) lengths.emplace_back(lengths_[k], 1);
                else at->second++;
            }
        }
    }
    TextList(const TextList&) = delete;
    TextList& operator=(const TextList&) = delete;

    const std::vector<TextBin>& bins() const { return bins_; }

private:
    // Lengths that differ by up to a sixteenth.
    static int32_t bin_of(int32_t length) {
        int32_t shift = 2;
        while (length >> shift >= 32) shift++;
        return (shift << 5) + (length >> shift);
    }

    std::vector<int32_t> numbers_, lengths_, shared_;
    std::vector<const uint8_t*> codes_;
    std::vector<TextBin> bins_;
};

}  // namespace pairalign
