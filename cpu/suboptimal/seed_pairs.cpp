// See seed_pairs.h.
//
// All words of the reads are in an index, by word, then read and place. A read's words, and those of its
// other strand, find the places where reads after it have them. A hit is worth 3 points, or 1 where it goes
// on with the word before it on its diagonal: places say which residue is before them. Points are summed up
// in cells of 256 rows and 32 diagonals. Where a square of 2 x 2 cells has enough of them, an alignment is
// looked for near the middle of the best square.
//
// Words that are in very many places, as repeats have them, stand in the index once for each read. Where no
// alignment is looked for, each is worth a point wherever it is, so that no run of equal residues is missed.

#include "seed_pairs.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <new>
#include <vector>

#include "../words.h"
#include "job.h"
#include "seed_squares.h"
#include "squares_of_reads.h"

namespace pairalign {
namespace {

constexpr int64_t PLACES_A_READ = 4, TIMES_USUAL = 64;  // of a word, beyond which it is frequent
constexpr size_t MOST_TRIES = 4;

constexpr uint32_t NONE_STORED = 4, NONE_BEFORE = 5;  // instead of the residue before a word

struct Place {
    int32_t read;
    uint32_t start : 29;  // sequences are shorter: their runs in CIGARs have 28 bits
    uint32_t before : 3;  // the residue before it, if the word that begins there is in the index
};

// A word of a read, and its places, from the first one to the last of those that were not looked at. The
// read that this one is in stands here: most words have no place in the few long reads of a round, and each
// look at a place is a miss of the cache.
struct WordPlaces {
    int64_t first, stop;
    int32_t row, read;
    uint32_t before;
    bool is_frequent;
};

}  // namespace
}  // namespace pairalign

struct pairalign_read_seeds {
    explicit pairalign_read_seeds(const pairalign_seed_reads& given)
        : reads(given), starts_((size_t{1} << 2 * given.word) + 2, 0) {
        each_place_of_all([&](uint64_t word, int32_t, int32_t) { ++starts_[word + 2]; });
        find_frequent();
        for (size_t k = 2; k < starts_.size(); ++k) starts_[k] += starts_[k - 1];
        places_.resize(static_cast<size_t>(starts_.back()));
        std::vector<int32_t> last = no_reads();
        int32_t last_read = -1, last_start = 0;
        each_place_of_all([&](uint64_t word, int32_t read, int32_t start) {
            if (!is_new(word, read, last)) return;
            const bool goes_on = read == last_read && start == last_start + 1;
            const uint32_t before = goes_on ? codes(read)[start - 1] : pairalign::NONE_STORED;
            places_[static_cast<size_t>(starts_[word + 1]++)] = {read, static_cast<uint32_t>(start), before};
            last_read = read, last_start = start;
        });
        describe_scores();
    }

    // Whether scores say no more than whether residues are equal, and fit 8 bits.
    bool are_scores_simple() const { return are_scores_simple_; }
    int32_t match() const { return match_; }
    int32_t mismatch() const { return mismatch_; }
    // Whether a code matches itself.
    bool matches(uint8_t code) const { return matches_[code]; }

    int32_t length(int32_t read) const {
        return static_cast<int32_t>(reads.offsets[read + 1] - reads.offsets[read]);
    }
    const uint8_t* codes(int32_t read) const { return reads.codes + reads.offsets[read]; }
    bool is_frequent(uint64_t word) const { return !frequent_.empty() && frequent_[word]; }

    // Those that have places in a read, or in one after it.
    std::vector<pairalign::WordPlaces> words_from(int32_t read, const std::vector<uint8_t>& rows) const {
        std::vector<pairalign::WordPlaces> found;
        const auto take = [&](uint64_t word, int32_t row) {
            const int64_t first = starts_[word], stop = starts_[word + 1];
            const int32_t last = last_read(first, stop);
            if (last < read) return;
            const uint32_t before = row > 0 ? rows[static_cast<size_t>(row) - 1] : pairalign::NONE_BEFORE;
            found.push_back(
                {first, stop, row, last, before < 4 ? before : pairalign::NONE_BEFORE, is_frequent(word)});
        };
        pairalign::for_each_word(rows.data(), static_cast<int32_t>(rows.size()), reads.word, 2,
                                 reads.unambiguous, take);
        return found;
    }
    // Calls take(place) for the places of a word that are left in a read, or those after it.
    template <typename Take>
    void each_place_from(int32_t read, pairalign::WordPlaces& word, Take take) const {
        while (word.read >= read) {
            take(places_[static_cast<size_t>(--word.stop)]);
            word.read = last_read(word.first, word.stop);
        }
    }

    const pairalign_seed_reads reads;

private:
    // -1: there are no places.
    int32_t last_read(int64_t first, int64_t stop) const {
        return stop > first ? places_[static_cast<size_t>(stop) - 1].read : -1;
    }
    template <typename Take>
    void each_place_of_all(Take take) const {
        for (int32_t read = 0; read < reads.reads; ++read)
            pairalign::for_each_word(codes(read), length(read), reads.word, 2, reads.unambiguous,
                                     [&](uint64_t word, int32_t start) { take(word, read, start); });
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
        each_place_of_all([&](uint64_t word, int32_t read, int32_t) {
            if (frequent_[word] && is_new(word, read, last)) ++starts_[word + 2];
        });
    }
    void describe_scores() {
        std::vector<uint8_t> codes = {0, 1, 2, 3};
        bool is_there[pairalign::SUBOPTIMAL_CODES] = {true, true, true, true};
        for (const uint8_t* code = reads.codes; code != reads.codes + reads.offsets[reads.reads]; ++code) {
            if (!is_there[*code]) codes.push_back(*code);
            is_there[*code] = true;
        }
        pairalign_suboptimal_pair pair{};
        pair.rows = pair.columns = codes.data(), pair.matrix = reads.matrix;
        pair.row_count = pair.column_count = static_cast<int32_t>(codes.size());
        pair.gap_open = reads.gap_open, pair.gap_extend = reads.gap_extend;
        const pairalign::SuboptimalJob job = pairalign::make_job(pair);
        match_ = job.match, mismatch_ = job.mismatch;
        are_scores_simple_ = job.is_simple && match_ > 0 && mismatch_ < 0 && pairalign::fits_bytes(job);
        for (size_t k = 0; k < codes.size(); ++k) matches_[codes[k]] = job.row_codes[k] == codes[k];
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
    bool are_scores_simple_ = false, matches_[pairalign::SUBOPTIMAL_CODES] = {};
    int32_t match_ = 0, mismatch_ = 0;
};

namespace pairalign {
namespace {

std::vector<uint8_t> other_strand(const uint8_t* codes, int32_t count) {
    std::vector<uint8_t> turned(codes, codes + count);
    std::reverse(turned.begin(), turned.end());
    for (uint8_t& code : turned) code = code < 4 ? static_cast<uint8_t>(3 - code) : code;
    return turned;
}

// Two reads that may be a candidate: where an alignment is looked for.
struct Pair {
    int32_t other, strand;
    std::vector<Square> tries;
    bool is_candidate;
};

// Looks for alignments near seeds.
class NearSeeds {
public:
    NearSeeds(const pairalign_read_seeds& seeds, const SuboptimalKernel& kernel,
              const std::vector<uint8_t>* strands)
        : seeds_(seeds), kernel_(kernel), strands_(strands) {}

    // Says of pairs whether one scores enough, as far as 8 bits can tell. False when cancelled.
    bool look(std::vector<Pair>& pairs) {
        for (size_t k = 0; k < MOST_TRIES; ++k) {
            std::vector<Pair*> some;
            for (Pair& pair : pairs) {
                if (!pair.is_candidate && k < pair.tries.size()) some.push_back(&pair);
                if (some.empty() || (some.size() < lanes() && &pair != &pairs.back())) continue;
                if (is_cancelled()) return false;
                look_at(some, k);
                some.clear();
            }
        }
        return true;
    }
    bool is_cancelled() const { return *static_cast<const volatile int32_t*>(seeds_.reads.cancelled) != 0; }

private:
    static constexpr int32_t BESIDE = 128;  // columns
    static constexpr int32_t ROWS = 2 * AROUND, DIAGONALS = 2 * BESIDE + 1, COLUMNS = ROWS + DIAGONALS;
    static constexpr size_t ALIGNED = 64;

    size_t lanes() const { return static_cast<size_t>(kernel_.lanes); }

    void look_at(const std::vector<Pair*>& pairs, size_t number) {
        if (!seeds_.are_scores_simple()) {
            for (Pair* pair : pairs) pair->is_candidate = scores_enough(*pair, pair->tries[number].middle);
            return;
        }
        if (memory_.empty())
            memory_.resize(lanes() * (ROWS + COLUMNS + 2 * DIAGONALS + 1) + ALIGNED, SUBOPTIMAL_NO_ROW);
        uint8_t* const rows =
            memory_.data() + (ALIGNED - reinterpret_cast<uintptr_t>(memory_.data()) % ALIGNED);
        uint8_t* const columns = rows + lanes() * ROWS;
        for (size_t lane = 0; lane < pairs.size(); ++lane) {
            const Pair& pair = *pairs[lane];
            const SuboptimalCell near = pair.tries[number].middle;
            const std::vector<uint8_t>& strand = strands_[pair.strand];
            lay(rows + lane, ROWS, strand.data(), static_cast<int32_t>(strand.size()), near.row - AROUND,
                SUBOPTIMAL_NO_ROW);
            lay(columns + lane, COLUMNS, seeds_.codes(pair.other), seeds_.length(pair.other),
                near.column - AROUND - BESIDE, SUBOPTIMAL_NO_COLUMN);
        }
        const pairalign_seed_reads& reads = seeds_.reads;
        const uint64_t bits =
            kernel_.near_lanes({rows, columns, columns + lanes() * COLUMNS, ROWS, DIAGONALS, seeds_.match(),
                                seeds_.mismatch(), reads.gap_open, reads.gap_extend, enough(reads)});
        for (size_t lane = 0; lane < pairs.size(); ++lane) pairs[lane]->is_candidate = bits >> lane & 1;
    }

    // Writes codes from a place on into a lane; others where there are none.
    void lay(uint8_t* lane, int32_t size, const uint8_t* codes, int32_t count, int32_t first, uint8_t none) {
        const int32_t begin = std::min(size, std::max(0, -first));
        const int32_t end = std::max(begin, std::min(size, count - first));
        for (int32_t k = 0; k < begin; ++k) lane[static_cast<size_t>(k) * lanes()] = none;
        for (int32_t k = begin; k < end; ++k)
            lane[static_cast<size_t>(k) * lanes()] =
                seeds_.matches(codes[first + k]) ? codes[first + k] : none;
        for (int32_t k = end; k < size; ++k) lane[static_cast<size_t>(k) * lanes()] = none;
    }

    static int32_t enough(const pairalign_seed_reads& reads) {
        return std::min(reads.least_score, MOST_SCORE);
    }

    bool scores_enough(const Pair& pair, SuboptimalCell near) const {
        const pairalign_seed_reads& reads = seeds_.reads;
        const std::vector<uint8_t>& strand = strands_[pair.strand];
        pairalign_suboptimal_pair whole{};
        whole.rows = strand.data(), whole.row_count = static_cast<int32_t>(strand.size());
        whole.columns = seeds_.codes(pair.other), whole.column_count = seeds_.length(pair.other);
        whole.matrix = reads.matrix, whole.cancelled = reads.cancelled;
        whole.gap_open = reads.gap_open, whole.gap_extend = reads.gap_extend;
        whole.is_local = 1, whole.unambiguous = reads.unambiguous;
        return scores_near(whole, kernel_, near, reads.least_score);
    }

    const pairalign_read_seeds& seeds_;
    const SuboptimalKernel& kernel_;
    const std::vector<uint8_t>* const strands_;
    std::vector<uint8_t> memory_;
};

// Adds the pairs of a read, on a strand, that share enough seeds. False when cancelled.
bool find_pairs(const pairalign_read_seeds& seeds, const NearSeeds& near, int32_t read, int32_t strand,
                const std::vector<uint8_t>& rows, std::vector<Pair>& pairs) {
    const bool is_sure = seeds.reads.least_score <= 0;
    const int32_t least = seeds.reads.least_seeds, after = read + 1;
    SquaresOfReads squares(static_cast<int32_t>(rows.size()), is_sure ? 1 : least, is_sure);
    std::vector<WordPlaces> words = seeds.words_from(after, rows);
    std::vector<int32_t> more(static_cast<size_t>(seeds.reads.reads), 0);
    std::vector<Pair> found;  // from the last to the first
    for (int32_t stop = seeds.reads.reads; stop > after;) {
        if (near.is_cancelled()) return false;
        const int32_t first = squares.begin(after, stop, [&](int32_t other) { return seeds.length(other); });
        for (WordPlaces& word : words) {
            squares.go_to(word.row);
            seeds.each_place_from(first, word, [&](const Place& place) {
                squares.add(place.read, static_cast<int32_t>(place.start),
                            place.before == word.before ? SAME_SEED : NEW_SEED);
                if (is_sure && word.is_frequent) ++more[static_cast<size_t>(place.read)];
            });
        }
        squares.finish();
        const auto is_done = [=](const WordPlaces& word) { return word.read < after; };
        words.erase(std::remove_if(words.begin(), words.end(), is_done), words.end());
        while (stop > first) {
            const std::vector<Square>& some = squares.of(--stop);
            const int32_t extra = more[static_cast<size_t>(stop)];
            if (is_sure && (extra >= least || (!some.empty() && some[0].points + extra >= least)))
                found.push_back({stop, strand, {}, true});
            if (is_sure || some.empty()) continue;
            found.push_back(
                {stop, strand, squares_apart(some, MOST_TRIES, [](const Square&) { return false; }), false});
        }
    }
    std::move(found.rbegin(), found.rend(), std::back_inserter(pairs));
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
        std::vector<uint8_t> strands[2] = {{seeds->codes(read), seeds->codes(read) + seeds->length(read)},
                                           other_strand(seeds->codes(read), seeds->length(read))};
        NearSeeds near(*seeds, *kernel, strands);
        std::vector<Pair> pairs;
        for (int32_t strand = 0; strand < 2; ++strand)
            if (!find_pairs(*seeds, near, read, strand, strands[strand], pairs)) return SUBOPTIMAL_CANCELLED;
        if (!near.look(pairs)) return SUBOPTIMAL_CANCELLED;
        int32_t count = 0;
        for (const Pair& pair : pairs)
            if (pair.is_candidate) found[count++] = 2 * pair.other + pair.strand;
        return count;
    } catch (const std::bad_alloc&) {
        return -1;
    }
}
