// Seeds: what two sequences have in common, residue by residue, whose alignment passes thresholds.
//
// An alignment has M matches and E columns that are none; n <= m are the lengths, p is the least identity.
// Take more disjoint q-grams of one sequence, its *seeds*, than an alignment that passes can have errors. A
// seed is broken by an error in it: a mismatch, one of its residues in a gap, or residues of the other
// sequence between two of its own. Each error breaks one seed at most, so one seed at least is whole: the
// other sequence has it. That holds for any choice of seeds, so the rarest are taken. A seed with an
// ambiguous residue, which matches nothing, is always broken and by an error of its own: it is counted and
// not looked up.
//
// How many errors there can be:
//
// - ALL_COLUMNS. All residues of both are in columns of the identity: M >= p (M + E), and n + m = 2M + E + X
//   with X <= E mismatches, so M <= (n + m - E) / 2. Hence E <= (1 - p)(n + m) / (1 + p); and, with M <= n,
//   E <= n (1 - p) / p.
// - MATCHES. M >= K, by lengths alone: residues that no match has are n + m - 2M <= n + m - 2K, and each seed
//   that is broken has one of its own, or one between its residues.
// - INSIDE. Residues outside of the aligned part are no errors, and at least A residues of either are aligned
//   (the coverage): at most t = length - A are before the aligned part, or after it. So seeds are taken
//   between the first and the last t residues, and E <= n (1 - p) / p as above.
//
// Where a whole seed lies: it starts at i in the sequence of the row, at j in that of the column, on diagonal
// i - j. Gaps lead from where the alignment begins to there and on to its end. Without free ends those are
// diagonals 0 and D = length of the row - length of the column, so |i - j| + |D - (i - j)| <= E. With them
// the alignment begins between -t of the column and t of the row.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../filters/thresholds.h"

namespace pairalign {

enum class SeedRule { NONE, ALL_COLUMNS, MATCHES, INSIDE };

inline SeedRule seed_rule(const pairalign_thresholds& t) {
    if (Wide{t.identity} * 2 < t.identity_whole) return SeedRule::NONE;
    const bool is_covered = t.coverage > 0 && t.coverage_of == OF_ALIGNED_RESIDUES;
    switch (t.identity_of) {
        case OF_FULL:
            return SeedRule::ALL_COLUMNS;
        case OF_COLUMNS:
            if (t.mode == 0) return SeedRule::ALL_COLUMNS;
            return is_covered ? SeedRule::INSIDE : SeedRule::NONE;
        case OF_INTERNAL:
            return is_covered ? SeedRule::INSIDE : SeedRule::NONE;
        case OF_LONGER:
        case OF_MEAN:
            return SeedRule::MATCHES;
        default:  // gaps, or those of the shorter sequence, cost nothing
            return SeedRule::NONE;
    }
}

// The most errors of an alignment that passes, of sequences of so many residues.
inline int64_t most_errors(const pairalign_thresholds& t, int32_t shorter, int32_t longer) {
    const Wide lost = t.identity_whole - t.identity;
    const int64_t of_matches = as_count(lost * shorter / t.identity);
    switch (seed_rule(t)) {
        case SeedRule::ALL_COLUMNS:
            return std::min(of_matches,
                            as_count(lost * (int64_t{shorter} + longer) / (t.identity_whole + t.identity)));
        case SeedRule::MATCHES:
            return int64_t{shorter} + longer - 2 * least_matches(t, longer, shorter);
        default:
            return of_matches;
    }
}

// The most errors of an alignment that passes of a sequence of so many residues with any other.
inline int64_t most_errors_of(const pairalign_thresholds& t, int32_t length) {
    const Wide lost = t.identity_whole - t.identity;
    // MATCHES: n + m <= 2n / p of `mean`; of `longer` n + m - 2 p m <= 2n (1 - p), which is less.
    const int factor = seed_rule(t) == SeedRule::MATCHES ? 2 : 1;
    return as_count(factor * lost * length / t.identity);
}

// The most residues of a sequence before the aligned part, or after it, of a pair whose longer one is known.
inline int64_t most_outside(const pairalign_thresholds& t, int32_t length, int32_t longer) {
    return seed_rule(t) == SeedRule::INSIDE ? std::max<int64_t>(0, length - least_aligned(t, longer)) : 0;
}

struct Diagonals {
    int64_t first, last;  // none where first > last
    bool has(int64_t diagonal) const { return first <= diagonal && diagonal <= last; }
};

// On which diagonals whole seeds lie.
inline Diagonals seed_diagonals(const pairalign_thresholds& t, int32_t row, int32_t column) {
    const int32_t longer = std::max(row, column);
    const int64_t errors = most_errors(t, std::min(row, column), longer), more = int64_t{row} - column;
    if (seed_rule(t) == SeedRule::INSIDE)
        return {-most_outside(t, column, longer) - errors, most_outside(t, row, longer) + errors};
    if (errors < (more < 0 ? -more : more)) return {0, -1};
    return {-((errors - more) / 2), (errors + more) / 2};
}

}  // namespace pairalign
