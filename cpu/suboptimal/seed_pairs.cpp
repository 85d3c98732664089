// See seed_pairs.h.
//
// All words of the reads are in an index, by word, then read and place. A read's words, and those of its
// other strand, find the places where reads after it have them. A hit is worth 3 points, or 1 where it goes
// on with the word before it on its diagonal. Points are summed up in cells of 256 rows and 32 diagonals.
// Where a square of 2 x 2 cells has enough of them, an alignment is looked for near the middle of the best
// square.
//
// Words that are in very many places, as repeats have them, stand in the index once for each read. Where no
// alignment is looked for, each is worth a point wherever it is, so that no run of equal residues is missed.

#include "seed_pairs.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#include "../words.h"
#include "job.h"
#include "seed_squares.h"

namespace pairalign {
namespace {

constexpr int64_t PLACES_A_READ = 4, TIMES_USUAL = 64;  // of a word, beyond which it is frequent
constexpr size_t MOST_TRIES = 4;

struct Place {
    int32_t read, start;
};

}  // namespace
}  // namespace pairalign

struct pairalign_read_seeds {
    explicit pairalign_read_seeds(const pairalign_seed_reads& given)
        : reads(given), starts_((size_t{1} << 2 * given.word) + 2, 0) {
        each_place_of_all([&](uint64_t word, pairalign::Place) { ++starts_[word + 2]; });
        find_frequent();
        for (size_t k = 2; k < starts_.size(); ++k) starts_[k] += starts_[k - 1];
        places_.resize(static_cast<size_t>(starts_.back()));
        std::vector<int32_t> last = no_reads();
        each_place_of_all([&](uint64_t word, pairalign::Place place) {
            if (is_new(word, place.read, last)) places_[static_cast<size_t>(starts_[word + 1]++)] = place;
        });
    }

    int32_t length(int32_t read) const {
        return static_cast<int32_t>(reads.offsets[read + 1] - reads.offsets[read]);
    }
    const uint8_t* codes(int32_t read) const { return reads.codes + reads.offsets[read]; }
    bool is_frequent(uint64_t word) const { return !frequent_.empty() && frequent_[word]; }

    // Calls take(word, row, place) for each place that words have in reads after a read.
    template <typename Take>
    void each_hit(const std::vector<uint8_t>& rows, int32_t read, Take take) const {
        const int32_t count = static_cast<int32_t>(rows.size());
        pairalign::for_each_word(rows.data(), count, reads.word, 2, reads.unambiguous,
                                 [&](uint64_t word, int32_t row) {
                                     for (int64_t k = starts_[word + 1]; k-- > starts_[word];) {
                                         const pairalign::Place& place = places_[static_cast<size_t>(k)];
                                         if (place.read <= read) break;
                                         take(word, row, place);
                                     }
                                 });
    }

    const pairalign_seed_reads reads;

private:
    template <typename Take>
    void each_place_of_all(Take take) const {
        for (int32_t read = 0; read < reads.reads; ++read)
            pairalign::for_each_word(
                codes(read), length(read), reads.word, 2, reads.unambiguous,
                [&](uint64_t word, int32_t start) { take(word, pairalign::Place{read, start}); });
    }
    void find_frequent() {
        int64_t all = 0;
        for (const int64_t one : starts_) all += one;
        const int64_t most =
            pairalign::PLACES_A_READ * reads.reads + pairalign::TIMES_USUAL * (all >> 2 * reads.word);
        if (*std::max_element(starts_.begin(), starts_.end()) <= most) return;
        frequent_.resize(starts_.size() - 2);
        for (size_t word = 0; word < frequent_.size(); ++word) {
            frequent_[word] = starts_[word + 2] > most;
            if (frequent_[word]) starts_[word + 2] = 0;
        }
        std::vector<int32_t> last = no_reads();
        each_place_of_all([&](uint64_t word, pairalign::Place place) {
            if (frequent_[word] && is_new(word, place.read, last)) ++starts_[word + 2];
        });
    }
    std::vector<int32_t> no_reads() const { return std::vector<int32_t>(frequent_.size(), -1); }
    // False of a frequent word that the read had before.
    bool is_new(uint64_t word, int32_t read, std::vector<int32_t>& last) const {
        if (!is_frequent(word)) return true;
        const bool is_first = last[word] != read;
        last[word] = read;
        return is_first;
    }

    std::vector<int64_t> starts_;  // of the places of each word
    std::vector<pairalign::Place> places_;
    std::vector<bool> frequent_;  // empty where no word is
};

namespace pairalign {
namespace {

// Whether reads have an alignment near a cell that scores enough, as far as 8 bits can tell.
bool scores_enough(const pairalign_read_seeds& seeds, const SuboptimalKernel& kernel,
                   const std::vector<uint8_t>& rows, int32_t other, SuboptimalCell near) {
    const pairalign_seed_reads& reads = seeds.reads;
    pairalign_suboptimal_pair pair{};
    pair.rows = rows.data(), pair.row_count = static_cast<int32_t>(rows.size());
    pair.columns = seeds.codes(other), pair.column_count = seeds.length(other);
    pair.matrix = reads.matrix, pair.cancelled = reads.cancelled;
    pair.gap_open = reads.gap_open, pair.gap_extend = reads.gap_extend;
    pair.is_local = 1, pair.unambiguous = reads.unambiguous;
    return scores_near(pair, kernel, near, reads.least_score);
}

// Looks near the squares with most points that are not near each other.
bool any_scores_enough(const pairalign_read_seeds& seeds, const SuboptimalKernel& kernel,
                       const std::vector<uint8_t>& rows, int32_t other, const std::vector<Square>& squares) {
    std::vector<Square> seen;
    for (const Square& one : squares) {
        if (seen.size() == MOST_TRIES) return false;
        if (std::any_of(seen.begin(), seen.end(), [&](const Square& two) { return one.is_near(two); }))
            continue;
        if (scores_enough(seeds, kernel, rows, other, one.middle)) return true;
        seen.push_back(one);
    }
    return false;
}

std::vector<uint8_t> other_strand(const uint8_t* codes, int32_t count) {
    std::vector<uint8_t> turned(codes, codes + count);
    std::reverse(turned.begin(), turned.end());
    for (uint8_t& code : turned) code = code < 4 ? static_cast<uint8_t>(3 - code) : code;
    return turned;
}

// Calls take(other) for each candidate on a strand. False when cancelled.
template <typename Take>
bool find_partners(const pairalign_read_seeds& seeds, const SuboptimalKernel& kernel, int32_t read,
                   const std::vector<uint8_t>& rows, Take take) {
    const int32_t reads = seeds.reads.reads;
    std::vector<int64_t> ends(static_cast<size_t>(reads) + 1, 0);
    std::vector<int32_t> more(static_cast<size_t>(reads), 0);
    seeds.each_hit(rows, read, [&](uint64_t word, int32_t, const Place& place) {
        ++ends[static_cast<size_t>(place.read) + 1];
        more[static_cast<size_t>(place.read)] += seeds.is_frequent(word);
    });
    for (size_t k = 1; k < ends.size(); ++k) ends[k] += ends[k - 1];
    std::vector<Anchor> hits(static_cast<size_t>(ends.back()));
    seeds.each_hit(rows, read, [&](uint64_t, int32_t row, const Place& place) {
        hits[static_cast<size_t>(ends[static_cast<size_t>(place.read)]++)] = {row, place.start};
    });
    Squares squares;
    for (int32_t other = read + 1; other < reads; ++other) {
        if (*static_cast<const volatile int32_t*>(seeds.reads.cancelled)) return false;
        const Anchor* const begin = hits.data() + ends[static_cast<size_t>(other) - 1];
        const Anchor* const end = hits.data() + ends[static_cast<size_t>(other)];
        const int32_t least = seeds.reads.least_seeds, extra = more[static_cast<size_t>(other)];
        const bool is_sure = seeds.reads.least_score <= 0;
        if ((end - begin) * NEW_SEED + (is_sure ? extra : 0) < least) continue;
        const std::vector<Square>& found = squares.of(begin, end, static_cast<int32_t>(rows.size()),
                                                      seeds.length(other), is_sure ? least - extra : least);
        if (is_sure ? extra >= least || !found.empty() : any_scores_enough(seeds, kernel, rows, other, found))
            take(other);
    }
    return true;
}

}  // namespace
}  // namespace pairalign

PAIRALIGN_API pairalign_read_seeds* pairalign_open_read_seeds(const pairalign_seed_reads* reads) {
    try {
        return new pairalign_read_seeds(*reads);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

PAIRALIGN_API void pairalign_close_read_seeds(pairalign_read_seeds* seeds) { delete seeds; }

PAIRALIGN_API int32_t pairalign_seed_pairs(const pairalign_read_seeds* seeds, int32_t read,
                                           const char* instruction_set, int32_t* found) {
    using namespace pairalign;
    const SuboptimalKernel* kernel = suboptimal_kernel_of(instruction_set);
    if (kernel == nullptr) return 0;
    try {
        int32_t count = 0;
        std::vector<uint8_t> rows(seeds->codes(read), seeds->codes(read) + seeds->length(read));
        for (int32_t strand = 0; strand < 2; ++strand) {
            if (strand == 1) rows = other_strand(rows.data(), static_cast<int32_t>(rows.size()));
            if (!find_partners(*seeds, *kernel, read, rows,
                               [&](int32_t other) { found[count++] = 2 * other + strand; }))
                return SUBOPTIMAL_CANCELLED;
        }
        return count;
    } catch (const std::bad_alloc&) {
        return -1;
    }
}
