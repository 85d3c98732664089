// Which alignments reach thresholds, exactly. The ctypes declarations are in
// pairalign/alignments/thresholds.py.

#include <algorithm>
#include <cstdint>

#include "../export.h"
#include "thresholds.h"

// The pairs whose alignments pass: writes their numbers and returns how many. Fields of n pairs each; spans,
// counts and CIGARs as in Alignments, lengths by input index. CIGARs are null unless identity_of is
// OF_INTERNAL, spans and counts where neither identity nor coverage is asked for.
struct pairalign_aligned {
    int64_t pairs;
    const int32_t *query, *target;
    const int32_t *query_start, *query_end, *target_start, *target_end;
    const int32_t *matches, *mismatches, *gap_openings, *gap_residues;
    const int32_t *query_lengths, *target_lengths;
    const uint32_t* cigar;
    const int64_t* cigar_offsets;
};

namespace {

using namespace pairalign;

// Residues in gaps at both ends of an alignment. Beside residues that spans leave out a gap is no end gap.
int64_t gaps_at_ends(const pairalign_aligned& a, int64_t pair, int32_t query, int32_t target) {
    constexpr uint32_t INSERTION = 1, DELETION = 2;
    const int64_t start = a.cigar_offsets[pair], stop = a.cigar_offsets[pair + 1];
    auto residues = [&a](int64_t run) {
        const uint32_t operation = a.cigar[run] & 15;
        return operation == INSERTION || operation == DELETION ? int64_t{a.cigar[run] >> 4} : 0;
    };
    if (stop <= start) return 0;
    const bool from_start = a.query_start[pair] == 0 && a.target_start[pair] == 0;
    const bool to_end = a.query_end[pair] == query && a.target_end[pair] == target;
    return (from_start ? residues(start) : 0) + (to_end && stop - 1 > start ? residues(stop - 1) : 0);
}

bool is_alike(const pairalign_aligned& a, const pairalign_thresholds& t, int64_t pair, int32_t query,
              int32_t target) {
    const int64_t matches = a.matches[pair], aligned = matches + a.mismatches[pair];
    const int64_t columns = aligned + a.gap_residues[pair];
    int64_t part = matches, whole = columns;
    switch (t.identity_of) {
        case OF_ALIGNED:
            whole = aligned;
            break;
        case OF_SHORTER:
            whole = std::min(query, target);
            break;
        case OF_INTERNAL:
            whole = columns - gaps_at_ends(a, pair, query, target);
            break;
        case OF_FULL:
            whole = int64_t{query} + target - aligned;
            break;
        case OF_LONGER:
            whole = std::max(query, target);
            break;
        case OF_MEAN:
            part = 2 * matches;
            whole = int64_t{query} + target;
            break;
        case OF_MBL:
            whole = std::max(query, target);
            part = whole - a.mismatches[pair] - a.gap_openings[pair];
            break;
        default:
            break;
    }
    return columns > 0 && whole > 0 && Wide{part} * t.identity_whole >= Wide{whole} * t.identity;
}

bool is_covered(const pairalign_aligned& a, const pairalign_thresholds& t, int64_t pair, int32_t query,
                int32_t target) {
    auto covered = [&t](int64_t residues, int32_t length) {
        return Wide{residues} * t.coverage_whole >= Wide{length} * t.coverage;
    };
    if (t.coverage_of == OF_ALIGNED_RESIDUES)
        return covered(int64_t{a.matches[pair]} + a.mismatches[pair], std::max(query, target));
    return (!covers_query(t, query, target) || covered(a.query_end[pair] - a.query_start[pair], query)) &&
           (!covers_target(t, query, target) || covered(a.target_end[pair] - a.target_start[pair], target));
}

}  // namespace

PAIRALIGN_API int64_t pairalign_find_passing(const pairalign_aligned* aligned,
                                             const pairalign_thresholds* thresholds, int64_t* numbers) {
    const pairalign_aligned& a = *aligned;
    const pairalign_thresholds& t = *thresholds;
    int64_t passing = 0;
    for (int64_t k = 0; k < a.pairs; k++) {
        const int32_t query = a.query_lengths[a.query[k]], target = a.target_lengths[a.target[k]];
        if (!fit_in_length(t, query, target)) continue;
        if (t.identity > 0 && !is_alike(a, t, k, query, target)) continue;
        if (t.coverage > 0 && !is_covered(a, t, k, query, target)) continue;
        numbers[passing++] = k;
    }
    return passing;
}
