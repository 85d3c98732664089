// Spans of pairs one of whose sequences was reverse-complemented, seen on the strands that were read. The
// ctypes declarations are in pairalign/alignments/strands.py.

#include <cstdint>

#include "../export.h"
#include "../row_order.h"

// Fields of the alignments, [n] each.
struct pairalign_turned_fields {
    int64_t pairs;
    const int32_t *query, *target;
    const int32_t *matches, *mismatches, *gap_residues;
    const int32_t *query_lengths, *target_lengths;  // of the sets' sequences
    const int32_t* positions;  // of one set: the sorted position of each sequence; of two null
    const uint8_t *query_codes, *target_codes;  // of two sets, with where each sequence begins
    const int64_t *query_offsets, *target_offsets;
    const int32_t *query_start, *query_end, *target_start, *target_end;
    // What comes of it.
    int32_t *new_query_start, *new_query_end, *new_target_start, *new_target_end;
    uint8_t* turned;  // whether it was the target, so that the CIGAR's runs have to be reversed
};

namespace {

// Whether the query runs along the rows of a pair's matrix, as sequences were read.
bool row_is_query(const pairalign_turned_fields& of, int64_t k) {
    const int32_t query = of.query[k], target = of.target[k];
    if (of.positions) return of.positions[query] < of.positions[target];
    return pairalign::compare_rows(of.query_codes + of.query_offsets[query], of.query_lengths[query],
                                   of.target_codes + of.target_offsets[target],
                                   of.target_lengths[target]) <= 0;
}

}  // namespace

// Of the two sequences that along the columns was reverse-complemented. Where nothing is aligned spans stay
// 0.
PAIRALIGN_API void pairalign_turn_strands(const pairalign_turned_fields* fields) {
    const pairalign_turned_fields& of = *fields;
    for (int64_t k = 0; k < of.pairs; k++) {
        const int32_t query = of.query_lengths[of.query[k]], target = of.target_lengths[of.target[k]];
        const bool turned = row_is_query(of, k);
        const bool aligned = of.matches[k] + of.mismatches[k] + of.gap_residues[k] > 0;
        const bool flip_query = aligned && !turned, flip_target = aligned && turned;
        of.new_query_start[k] = flip_query ? query - of.query_end[k] : of.query_start[k];
        of.new_query_end[k] = flip_query ? query - of.query_start[k] : of.query_end[k];
        of.new_target_start[k] = flip_target ? target - of.target_end[k] : of.target_start[k];
        of.new_target_end[k] = flip_target ? target - of.target_start[k] : of.target_end[k];
        of.turned[k] = turned;
    }
}
