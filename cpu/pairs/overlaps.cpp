// Single passes over the scores and alignments of reads that may overlap, outside the interpreter's lock. The
// ctypes declarations are in pairalign/reads/overlap_kinds.py.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "../export.h"
#include "../text/text.h"  // the kinds
#include "reaching.h"

namespace {

// Writes the numbers of pairs from `k` on that are below a limit and may pass; `numbers` moves behind them.
// Returns the first pair that is not below the limit. Without a branch: every number is written, and
// overwritten by the next where it is not chosen.
int64_t choose_below(const pairalign_reaching& of, int64_t k, int64_t limit, int64_t*& numbers) {
    int64_t* out = numbers;
    for (; k < of.count && of.numbers[k] < limit; k++) {
        *out = of.numbers[k];
        out += of.may_pass[k] != 0;
    }
    numbers = out;
    return k;
}

}  // namespace

// Which pairs are aligned on which strand: those that may pass, of pairs on both strands where they score
// more (of equals the plus strand) or, with `both`, on both. Writes their numbers, as many as there are pairs
// at most and one more, and how many there are: counts[2].
PAIRALIGN_API void pairalign_choose_strands(const pairalign_reaching* strands, int32_t both,
                                            int64_t* plus_numbers, int64_t* minus_numbers, int64_t* counts) {
    const pairalign_reaching &plus = strands[0], &minus = strands[1];
    const int64_t *const plus_start = plus_numbers, *const minus_start = minus_numbers;
    int64_t k = 0;
    for (int64_t l = 0; l < minus.count; l++) {  // few are on the minus strand
        const int64_t number = minus.numbers[l];
        k = choose_below(plus, k, number, plus_numbers);
        const bool is_on_both = k < plus.count && plus.numbers[k] == number;
        const bool plus_wins = is_on_both && plus.scores[k] >= minus.scores[l];
        const bool takes_plus = is_on_both && (both != 0 || plus_wins);
        if (takes_plus && plus.may_pass[k] != 0) *plus_numbers++ = number;
        *minus_numbers = number;
        minus_numbers += (both != 0 || !plus_wins) && minus.may_pass[l] != 0;
        k += is_on_both;
    }
    choose_below(plus, k, std::numeric_limits<int64_t>::max(), plus_numbers);
    counts[0] = plus_numbers - plus_start;
    counts[1] = minus_numbers - minus_start;
}

// Fields of the alignments that are looked at, [n] each.
struct pairalign_overlap_fields {
    int64_t pairs;
    const int32_t *query, *target;
    const int32_t *query_start, *query_end, *target_start, *target_end;
    const int32_t *matches, *mismatches, *gap_residues;
    const int32_t *query_lengths, *target_lengths;  // of the sets' sequences
    const int8_t* strand;                           // null: all plus
};

// Writes the numbers of those long and alike enough, and returns how many these are: numbers[n]. The
// identity, matches by columns, is at least identity / whole, whole > 0, both 10^18 at most.
PAIRALIGN_API int64_t pairalign_find_overlaps(const pairalign_overlap_fields* fields, int64_t min_overlap,
                                              int64_t identity, int64_t whole, int64_t* numbers) {
    using Wide = __int128;
    const pairalign_overlap_fields& of = *fields;
    int64_t found = 0;
    for (int64_t k = 0; k < of.pairs; k++) {
        const int32_t span =
            std::min(of.query_end[k] - of.query_start[k], of.target_end[k] - of.target_start[k]);
        const int32_t columns = of.matches[k] + of.mismatches[k] + of.gap_residues[k];
        const bool alike = Wide{whole} * of.matches[k] >= Wide{identity} * columns;
        numbers[found] = k;
        found += static_cast<int64_t>((span >= min_overlap) & alike);
    }
    return found;
}

// The order of the overlaps of both strands by pair, plus before minus: order[plus + minus], where those of
// the minus strand count on from those of the plus strand. Of both the numbers of their pairs, ascending.
PAIRALIGN_API void pairalign_merge_strands(int64_t plus_count, const int64_t* plus_pairs, int64_t minus_count,
                                           const int64_t* minus_pairs, int64_t* order) {
    int64_t plus = 0, minus = 0;
    while (plus < plus_count || minus < minus_count) {
        const bool is_plus =
            minus == minus_count || (plus < plus_count && plus_pairs[plus] <= minus_pairs[minus]);
        *order++ = is_plus ? plus++ : plus_count + minus++;
    }
}

namespace {

uint8_t kind_of(const pairalign_overlap_fields& of, int64_t k, double max_overhang, double share) {
    const int64_t query_start = of.query_start[k], query_end = of.query_end[k];
    const int64_t target_left = of.target_start[k], target_end = of.target_end[k];
    const int64_t query_rest = of.query_lengths[of.query[k]] - query_end;
    const int64_t target_right = of.target_lengths[of.target[k]] - target_end;
    const bool turned = of.strand != nullptr && of.strand[k] < 0;
    const int64_t query_left = turned ? query_rest : query_start;
    const int64_t query_right = turned ? query_start : query_rest;
    const int64_t length = std::max(query_end - query_start, target_end - target_left);
    const int64_t beyond = std::min(query_left, target_left) + std::min(query_right, target_right);
    if (length == 0) return 0;
    if (static_cast<double>(beyond) > std::min(max_overhang, share * static_cast<double>(length)))
        return PAIRALIGN_INTERNAL;
    if (query_left >= target_left && query_right >= target_right) return PAIRALIGN_CONTAINS;
    if (query_left <= target_left && query_right <= target_right) return PAIRALIGN_CONTAINED;
    return PAIRALIGN_DOVETAIL;
}

}  // namespace

// How each two reads overlap, see pairalign/reads/overlap_kinds.py; 0 where nothing is aligned. kinds[n], and
// counts[5]: how many there are of each. `share`: overhangs longer than so much of the overlap make it
// internal.
PAIRALIGN_API void pairalign_classify_overlaps(const pairalign_overlap_fields* fields, double max_overhang,
                                               double share, uint8_t* kinds, int64_t* counts) {
    std::fill(counts, counts + 5, 0);
    for (int64_t k = 0; k < fields->pairs; k++) {
        kinds[k] = kind_of(*fields, k, max_overhang, share);
        counts[kinds[k]]++;
    }
}

// Sets marks[indices[k]] to 1 for all k.
PAIRALIGN_API void pairalign_mark_indices(int64_t count, const int32_t* indices, uint8_t* marks) {
    for (int64_t k = 0; k < count; k++) marks[indices[k]] = 1;
}
