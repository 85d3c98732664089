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

namespace pairalign {
namespace {

constexpr int32_t NEW_SEED = 3, SAME_SEED = 1;          // points
constexpr int ROW_BITS = 8, DIAGONAL_BITS = 5;          // of a cell
constexpr int64_t MOST_CELLS = 1 << 24;                 // of a pair: in longer ones they have more rows
constexpr int64_t PLACES_A_READ = 4, TIMES_USUAL = 64;  // of a word, beyond which it is frequent
constexpr int32_t AROUND = 1536, WIDTH = 96;            // rows and columns that are looked at
constexpr size_t MOST_TRIES = 4;
constexpr int32_t MOST_SCORE = 150;  // that is looked for

struct Place {
    int32_t read, start;
};

struct Hit {
    int32_t row, column;
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

// A square of cells that two reads have seeds in.
struct Square {
    int32_t points;
    SuboptimalCell middle;
    bool operator<(const Square& other) const {
        if (points != other.points) return points > other.points;
        return middle.row != other.middle.row ? middle.row < other.middle.row
                                              : middle.column < other.middle.column;
    }
    int32_t diagonal() const { return middle.row - middle.column; }
    // Whether what is looked at near another one is mostly the same.
    bool is_near(const Square& other) const {
        return std::abs(middle.row - other.middle.row) < AROUND * 3 / 4 &&
               std::abs(diagonal() - other.diagonal()) < WIDTH * 2 / 3;
    }
};

class Squares {
public:
    // Those with enough points, most first. `hits`: by row.
    const std::vector<Square>& of(const Hit* begin, const Hit* end, int32_t rows, int32_t columns,
                                  int32_t least) {
        lay(rows, columns);
        squares_.clear();
        for (const Hit* hit = begin; hit != end; ++hit) {
            const int32_t diagonal = hit->row - hit->column + columns;
            int32_t& row_before = rows_before_[static_cast<size_t>(diagonal)];
            cells_[cell_of(*hit, columns)] += row_before == hit->row - 1 ? SAME_SEED : NEW_SEED;
            row_before = hit->row;
        }
        for (const Hit* hit = begin; hit != end; ++hit) {
            const size_t at = cell_of(*hit, columns);
            for (const size_t corner : {at, at - 1, at - across_, at - across_ - 1}) {
                const int32_t points = cells_[corner] + cells_[corner + 1] + cells_[corner + across_] +
                                       cells_[corner + across_ + 1];
                if (points >= least) squares_.push_back({points, middle_of(corner, columns)});
            }
        }
        for (const Hit* hit = begin; hit != end; ++hit) {
            cells_[cell_of(*hit, columns)] = 0;
            rows_before_[static_cast<size_t>(hit->row - hit->column + columns)] = -2;
        }
        std::sort(squares_.begin(), squares_.end());
        return squares_;
    }

private:
    // With a border of cells that no hit is in.
    void lay(int32_t rows, int32_t columns) {
        const int64_t diagonals = int64_t{rows} + columns;
        across_ = static_cast<size_t>(diagonals >> DIAGONAL_BITS) + 3;
        for (row_bits_ = ROW_BITS; down(rows) * static_cast<int64_t>(across_) > MOST_CELLS && row_bits_ < 30;)
            ++row_bits_;
        const size_t cells = static_cast<size_t>(down(rows)) * across_;
        if (cells > cells_.size()) cells_.resize(cells, 0);
        if (static_cast<size_t>(diagonals) >= rows_before_.size())
            rows_before_.resize(static_cast<size_t>(diagonals) + 1, -2);
    }
    int64_t down(int32_t rows) const { return (rows >> row_bits_) + 3; }
    size_t cell_of(const Hit& hit, int32_t columns) const {
        const size_t diagonal = static_cast<size_t>(hit.row - hit.column + columns);
        return (static_cast<size_t>(hit.row >> row_bits_) + 1) * across_ + (diagonal >> DIAGONAL_BITS) + 1;
    }
    SuboptimalCell middle_of(size_t corner, int32_t columns) const {
        const int32_t row = static_cast<int32_t>(corner / across_) << row_bits_;
        const int32_t diagonal = static_cast<int32_t>(corner % across_) << DIAGONAL_BITS;
        return {row, row - diagonal + columns};
    }

    size_t across_ = 0;
    int row_bits_ = ROW_BITS;
    std::vector<int32_t> cells_, rows_before_;
    std::vector<Square> squares_;
};

// Whether reads have an alignment near a cell that scores enough, as far as 8 bits can tell.
bool scores_enough(const pairalign_read_seeds& seeds, const SuboptimalKernel& kernel,
                   const std::vector<uint8_t>& rows, int32_t other, SuboptimalCell near) {
    const pairalign_seed_reads& reads = seeds.reads;
    const int32_t first_row = std::max(0, near.row - AROUND),
                  first_column = std::max(0, near.column - AROUND - WIDTH);
    pairalign_suboptimal_pair pair{};
    pair.rows = rows.data() + first_row;
    pair.columns = seeds.codes(other) + first_column;
    pair.row_count = std::min(near.row + AROUND, static_cast<int32_t>(rows.size())) - first_row;
    pair.column_count = std::min(near.column + AROUND + 2 * WIDTH, seeds.length(other)) - first_column;
    if (pair.row_count <= 0 || pair.column_count <= 0) return false;
    pair.matrix = reads.matrix, pair.cancelled = reads.cancelled;
    pair.gap_open = reads.gap_open, pair.gap_extend = reads.gap_extend;
    pair.is_local = 1, pair.unambiguous = reads.unambiguous;
    const SuboptimalJob job = make_job(pair);
    if (!job.is_simple || job.match <= 0 || job.mismatch >= 0 || !fits_bytes(job)) return true;
    const int32_t enough = std::min(reads.least_score, MOST_SCORE);
    return kernel.most_near(job, {near.row - first_row, near.column - first_column}, AROUND, WIDTH, enough) >=
           enough;
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
    std::vector<Hit> hits(static_cast<size_t>(ends.back()));
    seeds.each_hit(rows, read, [&](uint64_t, int32_t row, const Place& place) {
        hits[static_cast<size_t>(ends[static_cast<size_t>(place.read)]++)] = {row, place.start};
    });
    Squares squares;
    for (int32_t other = read + 1; other < reads; ++other) {
        if (*static_cast<const volatile int32_t*>(seeds.reads.cancelled)) return false;
        const Hit* const begin = hits.data() + ends[static_cast<size_t>(other) - 1];
        const Hit* const end = hits.data() + ends[static_cast<size_t>(other)];
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
