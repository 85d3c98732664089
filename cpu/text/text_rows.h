// Rows of an alignment: its runs as residues and gaps. Internal to cpu/text.
//
// Runs are short and come in random order, so what costs is a branch that depends on one. Rows are
// copied 16 bytes at a time, from the residues or from gaps, chosen without a branch.
#pragma once

#include "text_pair.h"

namespace pairalign::text {

inline constexpr uint8_t kGaps[kSlack + 1] = "----------------";

// Whether the runs add up to the spans and counts: what makes the row formats safe to write.
inline bool runs_fit(const Pair& pair) {
    int64_t columns = 0;
    for (int64_t r = 0; r < pair.run_count; ++r) columns += pair.runs[r] >> 4;
    // From here on no sum can leave 32 bits.
    if (columns != pair.columns || columns > INT32_MAX) return false;
    uint32_t matches = 0, mismatches = 0, insertions = 0, deletions = 0;
    for (int64_t r = 0; r < pair.run_count; ++r) {  // masks, no branches: vectorised
        const uint32_t op = pair.runs[r] & 15;
        const uint32_t length = pair.runs[r] >> 4;
        matches += length & -uint32_t{op == kMatch};
        mismatches += length & -uint32_t{op == kMismatch};
        insertions += length & -uint32_t{op == kInsertion};
        deletions += length & -uint32_t{op == kDeletion};
    }
    const int64_t aligned = int64_t{matches} + mismatches;
    return matches == pair.matches && mismatches == pair.mismatches &&
           int64_t{insertions} + deletions == pair.gap_residues &&
           aligned + insertions == pair.query.end - pair.query.start &&
           aligned + deletions == pair.target.end - pair.target.start;
}

// Call visit(op, length) for every run of the rows, free end gaps included when `whole`.
template <typename Visit>
inline void for_each_run(const Pair& pair, bool whole, Visit visit) {
    const int64_t edges[4] = {
        pair.query.start,
        pair.target.start,
        pair.query.length - pair.query.end,
        pair.target.length - pair.target.end,
    };
    const int64_t around = whole ? 2 : 0;
    // One loop and one call, so that `visit` is inlined and its state stays in registers.
    for (int64_t r = -around; r < pair.run_count + around; ++r) {
        uint32_t op;
        int64_t length;
        if (__builtin_expect(r >= 0 && r < pair.run_count, 1)) {
            op = pair.runs[r] & 15;
            length = pair.runs[r] >> 4;
        } else {
            const int64_t edge = r < 0 ? r + 2 : r - pair.run_count + 2;
            op = edge % 2 == 0 ? kInsertion : kDeletion;
            length = edges[edge];
        }
        visit(op, length);
    }
}

// One pointer or the other without a branch: which one is as good as random.
inline const uint8_t* choose(bool first, const uint8_t* one, const uint8_t* other) {
    const uintptr_t mask = -static_cast<uintptr_t>(first);
    return reinterpret_cast<const uint8_t*>((reinterpret_cast<uintptr_t>(one) & mask) |
                                            (reinterpret_cast<uintptr_t>(other) & ~mask));
}

// Copy `size` residues, or write gaps when `gap`. Short runs, nearly all, take one load and one store
// and no branch that depends on the data. `end` guards the load.
inline char* put_run(char* out, const uint8_t* residues, bool gap, int64_t size, const uint8_t* end) {
    if (__builtin_expect(size <= kSlack && end - residues >= kSlack, 1)) {
        std::memcpy(out, choose(gap, kGaps, residues), kSlack);
    } else if (gap) {
        std::memset(out, '-', static_cast<size_t>(size));
    } else {
        std::memcpy(out, residues, static_cast<size_t>(size));
    }
    return out + size;
}

// The row of one side. `gap_op` is the operation that leaves it out.
inline char* put_row(char* out, const Pair& pair, const Side& side, uint32_t gap_op, bool whole) {
    const uint8_t* residues = side.residues + (whole ? 0 : side.start);
    for_each_run(pair, whole, [&](uint32_t op, int64_t length) {
        const bool gap = op == gap_op;
        out = put_run(out, residues, gap, length, side.blob_end);
        residues += length & -int64_t{!gap};
    });
    return out;
}

}  // namespace pairalign::text
