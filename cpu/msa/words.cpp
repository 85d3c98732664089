// Words that sequences of DNA have in common: for distances of similar long ones. A word counts once.

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "../export.h"
#include "../threads.h"
#include "../words.h"

extern "C" {

// NativeWords in Python: the distinct words of sequences, one after the other.
struct pairalign_msa_words {
    const uint32_t* words;
    const int64_t* starts;  // where those of each sequence begin
    const int32_t* counts;  // how many each has
    int32_t bases;          // of a word
};
}

namespace pairalign {
namespace {

constexpr int BASES = 4;  // other codes have no word

std::vector<uint32_t> distinct_words(const uint8_t* codes, int32_t length, int32_t bases) {
    std::vector<uint32_t> found;
    for_each_word(codes, length, bases, 2, BASES,
                  [&](uint64_t word, int32_t) { found.push_back(static_cast<uint32_t>(word)); });
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

// The words of a sequence, a bit for each word that there can be.
class WordBits {
public:
    explicit WordBits(int32_t bases) : bits_((uint64_t{1} << 2 * bases) / 64) {}

    // Calls act() while the words of a sequence are set.
    template <class Act>
    void with(const pairalign_msa_words& all, int32_t sequence, const Act& act) {
        const auto each = [&](const auto& change) {
            const uint32_t* const own = all.words + all.starts[sequence];
            for (int32_t k = 0; k < all.counts[sequence]; k++) change(bits_[own[k] / 64], own[k] % 64);
        };
        each([](uint64_t& bits, uint32_t at) { bits |= uint64_t{1} << at; });
        act();
        each([](uint64_t& bits, uint32_t) { bits = 0; });
    }
    int32_t common(const pairalign_msa_words& all, int32_t sequence) const {
        const uint32_t* const own = all.words + all.starts[sequence];
        uint64_t sum = 0;
        for (int32_t k = 0; k < all.counts[sequence]; k++) sum += bits_[own[k] / 64] >> own[k] % 64 & 1;
        return static_cast<int32_t>(sum);
    }

private:
    std::vector<uint64_t> bits_;
};

}  // namespace
}  // namespace pairalign

// Writes the distinct words of some sequences, each from where it starts, and how many each has; -1: no
// memory.
PAIRALIGN_API int32_t pairalign_msa_find_words(const uint8_t* codes, const int64_t* starts,
                                               const int32_t* lengths, int32_t count, int32_t bases,
                                               int32_t threads, uint32_t* words, int32_t* counts) try {
    pairalign::on_threads(count, threads, [&](int32_t k) {
        const auto found = pairalign::distinct_words(codes + starts[k], lengths[k], bases);
        std::copy(found.begin(), found.end(), words + starts[k]);
        counts[k] = static_cast<int32_t>(found.size());
    });
    return 0;
} catch (const std::bad_alloc&) {
    return -1;
}

// Writes how many words each of some sequences (rows) has in common with each of others (columns), row by
// row. Without columns with the later ones of the rows, in the order of their pairs. -1: no memory.
PAIRALIGN_API int32_t pairalign_msa_common_words(const pairalign_msa_words* all, const int64_t* rows,
                                                 int64_t row_count, const int64_t* columns,
                                                 int64_t column_count, int32_t threads, int32_t* common) try {
    constexpr int32_t TOGETHER = 16;  // rows that a thread takes at a time
    const auto first_of = [&](int64_t row) { return columns ? 0 : row + 1; };
    const int64_t* const others = columns ? columns : rows;
    const int64_t other_count = columns ? column_count : row_count;
    const int32_t takes = static_cast<int32_t>((row_count + TOGETHER - 1) / TOGETHER);
    pairalign::on_threads(takes, threads, [&](int32_t take) {
        pairalign::WordBits bits(all->bases);
        const int64_t end = std::min(row_count, int64_t{take + 1} * TOGETHER);
        for (int64_t row = int64_t{take} * TOGETHER; row < end; row++) {
            int32_t* const own =
                common + (columns ? row * column_count : row * row_count - row * (row + 1) / 2 - row - 1);
            bits.with(*all, static_cast<int32_t>(rows[row]), [&] {
                for (int64_t k = first_of(row); k < other_count; k++)
                    own[k] = bits.common(*all, static_cast<int32_t>(others[k]));
            });
        }
    });
    return 0;
} catch (const std::bad_alloc&) {
    return -1;
}
