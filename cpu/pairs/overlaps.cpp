// Single passes over the scores and alignments of reads that may overlap, outside the interpreter's lock. The
// ctypes declarations are in pairalign/overlap_passes.py.

#include <algorithm>
#include <cstdint>

#include "../export.h"
#include "../text/text.h"  // the kinds

// Which pairs are aligned on which strand, by their scores on both: those that reach `least`, on the strand
// that scores more (of equals the plus strand) or on both. counts[4]: how many reach it on the plus and on
// the minus strand, how many are aligned there.
PAIRALIGN_API void pairalign_choose_strands(int64_t pairs, const int32_t* plus, const int32_t* minus,
                                            int32_t least, int32_t both, uint8_t* plus_mask,
                                            uint8_t* minus_mask, int64_t* counts) {
    constexpr int64_t AT_A_TIME = 1 << 15;  // sums of so many fit 32 bits
    std::fill(counts, counts + 4, 0);
    for (int64_t start = 0; start < pairs; start += AT_A_TIME) {
        const int64_t stop = std::min(pairs, start + AT_A_TIME);
        int32_t of_plus = 0, of_minus = 0, chosen_plus = 0, chosen_minus = 0;
        for (int64_t k = start; k < stop; k++) {
            const int32_t on_plus = plus[k] >= least, on_minus = minus[k] >= least;
            const int32_t is_plus = on_plus & (both | (plus[k] >= minus[k]));
            const int32_t is_minus = on_minus & (both | (minus[k] > plus[k]));
            of_plus += on_plus;
            of_minus += on_minus;
            chosen_plus += is_plus;
            chosen_minus += is_minus;
            plus_mask[k] = static_cast<uint8_t>(is_plus);
            minus_mask[k] = static_cast<uint8_t>(is_minus);
        }
        counts[0] += of_plus;
        counts[1] += of_minus;
        counts[2] += chosen_plus;
        counts[3] += chosen_minus;
    }
}

// Fields of the alignments that are looked at, [n] each.
struct pairalign_overlap_fields {
    int64_t pairs;
    const int32_t *query, *target;
    const int32_t *query_start, *query_end, *target_start, *target_end;
    const int32_t *matches, *mismatches, *gap_letters;
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
        const int32_t columns = of.matches[k] + of.mismatches[k] + of.gap_letters[k];
        const bool alike = Wide{whole} * of.matches[k] >= Wide{identity} * columns;
        numbers[found] = k;
        found += static_cast<int64_t>((span >= min_overlap) & alike);
    }
    return found;
}

// The order of the overlaps of both strands by pair, plus before minus: order[plus + minus], where those of
// the minus strand count on from those of the plus strand. The masks, uint8[pairs], say which pairs were
// aligned on a strand, and plus_found and minus_found which of these, in their order, were found.
PAIRALIGN_API void pairalign_merge_strands(int64_t pairs, const uint8_t* plus_mask, const uint8_t* minus_mask,
                                           int64_t plus_count, const int64_t* plus_found, int64_t minus_count,
                                           const int64_t* minus_found, int64_t* order) {
    int64_t plus_seen = 0, minus_seen = 0, plus = 0, minus = 0;
    for (int64_t k = 0; k < pairs && plus + minus < plus_count + minus_count; k++) {
        if (plus_mask[k] && plus < plus_count && plus_found[plus] == plus_seen) *order++ = plus++;
        if (minus_mask[k] && minus < minus_count && minus_found[minus] == minus_seen)
            *order++ = plus_count + minus++;
        plus_seen += plus_mask[k];
        minus_seen += minus_mask[k];
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

// How each two reads overlap, see pairalign/overlap_kinds.py; 0 where nothing is aligned. kinds[n], and
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
