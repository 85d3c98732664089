// A record beside the sequences that it aligns: their residues along the alignment, and what is wrong.
#pragma once

#include <cstdint>
#include <vector>

#include "claims.h"

// Sequences, and what alignments of them are worth.
struct pairalign_checked_set {
    const uint8_t* codes;
    const int64_t* offsets;  // [count + 1]
};

struct pairalign_check {
    pairalign_checked_set queries;
    pairalign_checked_set targets;
    const uint8_t* encoding;    // [256] code of each byte
    const uint8_t* complement;  // [32], or null: there is no other strand
    const int32_t* matrix;      // [32][32]
    int64_t gap_open;
    int64_t gap_extend;
    int64_t end_costs[8];  // of gaps at query-start, query-end, target-start, target-end: open, extend
    int64_t scale;
    int32_t unambiguous;   // codes from here on are ambiguous
    int32_t mode;          // spans that are allowed: 0 any, 1 global, 2 semiglobal, 3 where end gaps are free
    int32_t skips_scores;  // the file's scores, and positives, are of another scoring
};

namespace pairalign::records {

constexpr uint32_t ALIGNED = 0, INSERTION = 1, DELETION = 2, SKIPPED = 3, PADDING = 6, EQUAL = 7, UNEQUAL = 8;

// Residues of one sequence along the alignment.
struct Side {
    const uint8_t* codes;  // of the whole sequence
    int64_t length;
    int64_t at;    // the next residue
    int64_t step;  // 1, or -1 on the other strand
    const uint8_t* map;

    uint8_t next() {
        const uint8_t code = map[codes[at]];
        at += step;
        return code;
    }
};

class CheckedPair {
public:
    CheckedPair(const char* text, const uint32_t* runs, const pairalign_check& of)
        : text_(text), runs_(runs), of_(of) {
        for (int code = 0; code < 256; ++code) same_[code] = static_cast<uint8_t>(code);
    }

protected:
    // Spans inside the sequences; where a file says none, all of a sequence.
    bool place(const pairalign_record& record) {
        for (int side = 0; side < 2; ++side) {
            int64_t* const span = spans_[side];
            span[0] = record.spans[2 * side];
            span[1] = record.spans[2 * side + 1];
            if (span[0] < 0 && span[1] < 0 && record.spans[2 * side] == -1) {
                span[0] = 0;
                span[1] = sides_[side].length;
            }
            const bool sound = span[0] >= 0 && span[0] <= span[1] && span[1] <= sides_[side].length;
            if (!sound) {
                faults_.blame(PAIRALIGN_FAULT_QUERY_SPAN + side, static_cast<double>(span[0]),
                              static_cast<double>(span[1]));
                return false;
            }
        }
        return true;
    }

    // Begin at the start of the alignment.
    void rewind(const pairalign_record& record) {
        for (int side = 0; side < 2; ++side) {
            const bool turned = record.turned == side + 1;
            sides_[side].at = turned ? spans_[side][1] - 1 : spans_[side][0];
            sides_[side].step = turned ? -1 : 1;
            sides_[side].map = turned ? of_.complement : same_;
        }
    }

    // Residues of a sequence that are left out on the way to the alignment, and after it.
    int64_t left_before(int side) const {
        return sides_[side].step > 0 ? spans_[side][0] : sides_[side].length - spans_[side][1];
    }
    int64_t left_behind(int side) const {
        return sides_[side].step > 0 ? sides_[side].length - spans_[side][1] : spans_[side][0];
    }

    static bool is_gap(char one) { return one == '-' || one == '.'; }

    bool wrong(int fault, int64_t says = 0, int64_t is = 0) {
        faults_.blame(fault, static_cast<double>(says), static_cast<double>(is));
        return false;
    }

    bool same_residues(const char* row, int64_t bytes, int side) {
        Side along = sides_[side];
        const uint8_t* const encoding = of_.encoding;
        for (int64_t k = 0; k < bytes; ++k) {
            if (is_gap(row[k])) continue;
            const int64_t at = along.at;
            if (encoding[static_cast<uint8_t>(row[k])] == along.next()) continue;
            faults_.blame(PAIRALIGN_FAULT_QUERY_RESIDUES + side, static_cast<double>(k + 1),
                          static_cast<double>(at + 1));
            return false;
        }
        return true;
    }

    const char* const text_;
    const uint32_t* const runs_;
    const pairalign_check& of_;
    Faults faults_;
    Side sides_[2];
    int64_t spans_[2][2];
    uint8_t same_[256];
};

}  // namespace pairalign::records
