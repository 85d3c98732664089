// What the alignment of a pair must reach, and what follows for the pair before it is aligned. All of it is
// derived in docs/filters.md. The ctypes declarations are in pairalign/alignments/thresholds.py.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

// Shares are fractions, part by whole: whole > 0, 0 <= part <= whole <= 10^18. A part of 0: no threshold.
struct pairalign_thresholds {
    int64_t identity, identity_whole;
    int64_t coverage, coverage_whole;
    // The longer sequence by the shorter one is at most ratio + ratio_part / ratio_whole, a part of 1; a
    // ratio of 0: no threshold.
    int64_t ratio, ratio_part, ratio_whole;
    int32_t identity_of;  // pairalign::IdentityOf
    int32_t coverage_of;  // pairalign::CoverageOf
    int32_t mode;         // 0 global, 1 semiglobal, 2 local
    int32_t ends_cost;    // whether gaps at the ends of semiglobal alignments cost
};

// What scores the columns of alignments have, over the residues that the sets use.
struct pairalign_column_scores {
    int32_t least_match, most_match;        // of a residue that counts as a match with itself
    int32_t worst_mismatch, best_mismatch;  // of all other pairs of residues
    int32_t gap_open, gap_extend;
    int32_t has_minimum, minimum;                 // raw score that is asked for besides
    int32_t best_of_row[32], best_of_column[32];  // the best score of a residue with any other; at least 0
};

namespace pairalign {

// OF_INTERNAL: global alignments only; elsewhere there are no gaps at the ends.
enum IdentityOf {
    OF_COLUMNS = 0,
    OF_ALIGNED = 1,
    OF_SHORTER = 2,
    OF_INTERNAL = 3,
    OF_MBL = 4,
    OF_FULL = 5,
    OF_LONGER = 6,
    OF_MEAN = 7
};
enum CoverageOf {
    OF_QUERY = 0,
    OF_TARGET = 1,
    OF_BOTH = 2,
    OF_SHORTER_SEQUENCE = 3,
    OF_ALIGNED_RESIDUES = 4
};

using Wide = __int128;

constexpr int64_t NO_BOUND = std::numeric_limits<int64_t>::min();

// A quotient as 64 bits; one that is beyond any count or score stays so: sums with those fit.
inline int64_t as_count(Wide quotient) {
    constexpr Wide MOST = Wide{1} << 61;
    return static_cast<int64_t>(std::min(std::max(quotient, -MOST), MOST));
}

// The least integer that is not less than a / b, b > 0.
inline int64_t divide_up(Wide a, Wide b) { return as_count(a >= 0 ? (a + b - 1) / b : a / b); }

// Whether sequences of so many residues are alike enough in length.
inline bool fit_in_length(const pairalign_thresholds& t, int64_t a, int64_t b) {
    const int64_t shorter = std::min(a, b), longer = std::max(a, b);
    return t.ratio == 0 || Wide{longer - t.ratio * shorter} * t.ratio_whole <= Wide{shorter} * t.ratio_part;
}

// Whether the coverage of the query, or of the target, must reach the threshold.
inline bool covers_query(const pairalign_thresholds& t, int32_t query, int32_t target) {
    return t.coverage_of == OF_QUERY || t.coverage_of == OF_BOTH ||
           (t.coverage_of == OF_SHORTER_SEQUENCE && query <= target);
}
inline bool covers_target(const pairalign_thresholds& t, int32_t query, int32_t target) {
    return t.coverage_of == OF_TARGET || t.coverage_of == OF_BOTH ||
           (t.coverage_of == OF_SHORTER_SEQUENCE && query > target);
}

// The least number of columns without gaps that the coverage asks for.
inline int64_t least_aligned(const pairalign_thresholds& t, int32_t longer) {
    if (t.coverage == 0 || t.coverage_of != OF_ALIGNED_RESIDUES) return 0;
    return divide_up(Wide{t.coverage} * longer, t.coverage_whole);
}

// The least number of columns of an alignment that passes.
inline int64_t least_columns(const pairalign_thresholds& t, int32_t query, int32_t target) {
    int64_t columns = std::max<int64_t>(1, least_aligned(t, std::max(query, target)));
    if (t.mode == 0) return std::max<int64_t>(columns, std::max(query, target));
    if (t.coverage > 0 && covers_query(t, query, target))
        columns = std::max(columns, divide_up(Wide{t.coverage} * query, t.coverage_whole));
    if (t.coverage > 0 && covers_target(t, query, target))
        columns = std::max(columns, divide_up(Wide{t.coverage} * target, t.coverage_whole));
    return columns;
}

// What matches are a share of, at least, of an alignment of sequences of so many residues that passes; 0: no
// matter what they are, nothing follows.
inline int64_t least_whole(const pairalign_thresholds& t, int32_t query, int32_t target) {
    switch (t.identity_of) {
        case OF_COLUMNS:
            return least_columns(t, query, target);
        case OF_SHORTER:
            return std::min(query, target);
        case OF_FULL:
        case OF_LONGER:
            return std::max(query, target);
        case OF_MEAN:
            return (int64_t{query} + target) / 2;
        default:
            return 0;
    }
}

// The most mismatches and gaps that identity OF_MBL lets an alignment have.
inline int64_t most_differences(const pairalign_thresholds& t, int32_t longer) {
    return as_count(Wide{t.identity_whole - t.identity} * longer / t.identity_whole);
}

// The least number of matches of an alignment that passes, of sequences of so many residues.
inline int64_t least_matches(const pairalign_thresholds& t, int32_t query, int32_t target) {
    if (t.identity == 0) return 0;
    const int32_t longer = std::max(query, target);
    const int64_t aligned = least_aligned(t, longer);
    int64_t whole = 0;  // what matches are a share of, at least
    switch (t.identity_of) {
        case OF_COLUMNS:
            whole = least_columns(t, query, target);
            break;
        case OF_SHORTER:
            whole = std::min(query, target);
            break;
        case OF_FULL:  // each residue of the longer sequence is in a column of its own
        case OF_LONGER:
            whole = longer;
            break;
        case OF_MEAN:
            return divide_up(Wide{t.identity} * (int64_t{query} + target), Wide{t.identity_whole} * 2);
        case OF_MBL:
            return std::max<int64_t>(0, aligned - most_differences(t, longer));
        default:
            whole = std::max<int64_t>(1, aligned);
    }
    return divide_up(Wide{t.identity} * whole, t.identity_whole);
}

// Whether all columns but the matches are at most a share of these.
inline bool bounds_errors(const pairalign_thresholds& t) {
    return t.identity > 0 &&
           (t.identity_of == OF_COLUMNS || t.identity_of == OF_INTERNAL || t.identity_of == OF_FULL);
}

// Whether matches are asked for by the residues of the two sequences alone.
inline bool bounds_matches(const pairalign_thresholds& t) {
    return t.identity > 0 &&
           (t.identity_of == OF_SHORTER || t.identity_of == OF_LONGER || t.identity_of == OF_MEAN);
}

// The least raw score of an alignment that passes and has at least so many matches; or NO_BOUND.
inline int64_t least_score(const pairalign_thresholds& t, const pairalign_column_scores& s, int64_t matches,
                           int32_t shorter, int32_t longer) {
    const int64_t worst = std::max({-s.worst_mismatch, s.gap_open, 0});  // cost of a column without match
    int64_t bound = NO_BOUND;
    // Residues of both that no match has, all in gaps, as few gaps as `most`.
    auto cost_in_gaps = [&](int64_t residues, int64_t most) {
        const int64_t gaps = std::min(residues, most);
        return gaps * s.gap_open + (residues - gaps) * s.gap_extend;
    };
    if (bounds_errors(t)) {
        const Wide a_match = Wide{s.least_match} * t.identity - Wide{worst} * (t.identity_whole - t.identity);
        bound = divide_up(a_match * (a_match >= 0 ? matches : shorter), t.identity);
        if (t.identity_of == OF_INTERNAL) bound -= cost_in_gaps(int64_t{shorter} + longer - 2 * matches, 2);
    } else if (bounds_matches(t) && s.least_match + worst >= 0) {
        bound = matches * s.least_match - (shorter - matches) * worst -
                cost_in_gaps(longer - matches, shorter + 1);
    }
    return t.mode == 2 && matches > 0 ? std::max<int64_t>(bound, 1) : bound;
}

// The most that two sequences of so many residues can score whose residues score at most so much.
inline int64_t most_score(const pairalign_thresholds& t, const pairalign_column_scores& s, int64_t row_best,
                          int64_t column_best, int32_t shorter, int32_t longer) {
    const int64_t gap = longer - shorter;
    const int64_t forced = t.mode == 0 && gap > 0 ? s.gap_open + (gap - 1) * int64_t{s.gap_extend} : 0;
    return std::min(row_best, column_best) - forced;
}

// How many q-grams, of q residues, two sequences share at least whose alignment passes; or 0.
inline int64_t least_grams(const pairalign_thresholds& t, const pairalign_column_scores& s, int q,
                           int64_t matches, int32_t shorter, int32_t longer) {
    if (shorter < q) return 0;
    const int64_t before = q - 1;
    int64_t bound = matches - before * (int64_t{shorter} + longer - 2 * matches + 1);
    if (before > 0 && t.identity > 0 && t.identity_of == OF_MBL)
        bound = std::max(bound, matches - before * (most_differences(t, longer) + 1));
    if (before > 0 && bounds_errors(t)) {
        const Wide a_match = Wide{t.identity} - Wide{before} * (t.identity_whole - t.identity);
        bound = std::max(bound, divide_up(a_match * (a_match >= 0 ? matches : shorter), t.identity) - before);
    }
    if (s.has_minimum && s.minimum > 0 && s.most_match > 0) {
        const int64_t most = s.most_match, cost = std::min(-s.best_mismatch, s.gap_open);
        const int64_t least = std::max(matches, divide_up(s.minimum, most));
        if (before == 0 && cost >= 0) bound = std::max(bound, least);
        if (before > 0 && cost > 0) {
            const int64_t a_match = cost - before * most;
            const int64_t at = a_match >= 0 ? least : shorter;
            bound = std::max(bound, divide_up(Wide{a_match} * at + Wide{before} * s.minimum, cost) - before);
        }
    }
    return std::max<int64_t>(bound, 0);
}

}  // namespace pairalign
