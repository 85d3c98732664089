// The ways in which files write an alignment beside a CIGAR: rows of residues and gaps with marks between
// them, BLAST's traceback, minimap2's cs, SAM's MD. Each is read beside the sequences.
#pragma once

#include <algorithm>

#include "checked_pair.h"

namespace pairalign::records {

class Tracebacks : public CheckedPair {
public:
    using CheckedPair::CheckedPair;

protected:
    // Rows as runs, in `made_`. Their residues must be those of the sequences; spans of rows that show whole
    // sequences are put right. False: something is wrong.
    bool read_rows(pairalign_record& record) {
        if (record.row_bytes[0] != record.row_bytes[1])
            return wrong(PAIRALIGN_FAULT_ROWS, record.row_bytes[0], record.row_bytes[1]);
        const char* const rows[2] = {text_ + record.rows[0], text_ + record.rows[1]};
        int64_t residues[2] = {record.row_bytes[0], record.row_bytes[0]};
        for (int64_t k = 0, start = 0; k < record.row_bytes[0]; start = k) {
            const bool gaps[2] = {is_gap(rows[0][k]), is_gap(rows[1][k])};
            if (gaps[0] && gaps[1]) return wrong(PAIRALIGN_FAULT_ROWS, k + 1, -1);
            do ++k;
            while (k < record.row_bytes[0] && is_gap(rows[0][k]) == gaps[0] && is_gap(rows[1][k]) == gaps[1]);
            if (gaps[0] || gaps[1]) residues[gaps[1]] -= k - start;
            extend(gaps[0] ? DELETION : gaps[1] ? INSERTION : ALIGNED, static_cast<uint32_t>(k - start));
        }
        for (int side = 0; side < 2; ++side) place_row(side, residues[side], record);
        if (!place(record)) return false;
        rewind(record);
        for (int side = 0; side < 2; ++side) {
            if (residues[side] != spans_[side][1] - spans_[side][0])
                return wrong(PAIRALIGN_FAULT_QUERY_CIGAR + side, residues[side],
                             spans_[side][1] - spans_[side][0]);
            if (!same_residues(rows[side], record.row_bytes[side], side)) return false;
        }
        if (record.bar_bytes >= 0) check_bars(record);
        return true;
    }

    // The one row that a record has: the residues of its span.
    bool check_row(const pairalign_record& record, int side) {
        rewind(record);
        const char* const row = text_ + record.rows[side];
        int64_t residues = 0;
        for (int64_t k = 0; k < record.row_bytes[side]; ++k) residues += !is_gap(row[k]);
        if (residues != spans_[side][1] - spans_[side][0])
            return wrong(PAIRALIGN_FAULT_QUERY_CIGAR + side, residues, spans_[side][1] - spans_[side][0]);
        return same_residues(row, record.row_bytes[side], side);
    }

    // What EMBOSS puts between rows: | where residues match, : and . where they do not, a blank beside a gap.
    void check_bars(const pairalign_record& record) {
        const char *const first = text_ + record.rows[0], *const second = text_ + record.rows[1];
        for (int64_t k = 0; k < record.row_bytes[0]; ++k) {
            const char bar = k < record.bar_bytes ? text_[record.bars + k] : ' ';
            const uint8_t a = of_.encoding[static_cast<uint8_t>(first[k])];
            const uint8_t b = of_.encoding[static_cast<uint8_t>(second[k])];
            bool sound = bar == ' ';
            if (!is_gap(first[k]) && !is_gap(second[k])) {
                // Programs differ in what they put beside ambiguous residues.
                if (a >= of_.unambiguous || b >= of_.unambiguous) continue;
                const bool positive = of_.matrix[32 * a + b] > 0;
                sound = a == b ? bar == '|' : bar == ':' || bar == '.';
                if (a != b && !of_.skips_scores) sound &= positive == (bar == ':');
            }
            if (!sound) return faults_.blame(PAIRALIGN_FAULT_BARS, static_cast<double>(k + 1));
        }
    }

    // Rows show a whole sequence, or the part that the file says.
    void place_row(int side, int64_t residues, pairalign_record& record) const {
        int64_t* const span = record.spans + 2 * side;
        if (span[0] >= 0 && span[1] - span[0] == residues) return;
        const bool is_unsaid = span[0] < 0 && span[1] < 0;
        if (residues == sides_[side].length && (is_unsaid || is_trimmed(side, record))) {
            span[0] = 0;
            span[1] = residues;
        }
    }

    // Whether a span is what is left of a whole sequence without its free end gaps, as our FASTA says it.
    // Without a mode, where scores are not compared, an end gap may be free or not.
    bool is_trimmed(int side, const pairalign_record& record) const {
        const bool may_be = of_.mode == 0 && of_.skips_scores;
        if (record.trimmed != PAIRALIGN_TRIMMED_SPANS || made_.empty() || (of_.mode < 2 && !may_be))
            return false;
        const int64_t* const span = record.spans + 2 * side;
        const int64_t* const ends = of_.end_costs + 4 * side;
        const uint32_t alone = side == 0 ? INSERTION : DELETION;
        const auto length_of = [&](uint32_t run) { return (run & 15) == alone ? int64_t{run >> 4} : 0; };
        const int64_t left[2] = {span[0], sides_[side].length - span[1]};
        const int64_t gaps[2] = {length_of(made_.front()), made_.size() > 1 ? length_of(made_.back()) : 0};
        for (int end = 0; end < 2; ++end) {
            const bool is_free = may_be || ends[2 * end] + ends[2 * end + 1] == 0;
            if (left[end] != (is_free ? gaps[end] : 0) && !(may_be && left[end] == 0)) return false;
        }
        return true;
    }

    void extend(uint32_t operation, uint32_t length) {
        if (!made_.empty() && (made_.back() & 15) == operation) {
            made_.back() += length << 4;
        } else {
            made_.push_back(length << 4 | operation);
        }
    }

    // Residues that are left of the spans while a traceback is read.
    struct Along {
        Side sides[2];
        int64_t left[2];
    };

    Along begin(const pairalign_record& record) {
        rewind(record);
        made_.clear();
        return {{sides_[0], sides_[1]}, {spans_[0][1] - spans_[0][0], spans_[1][1] - spans_[1][0]}};
    }

    // A number of a text.
    static int64_t take_number(const char*& at, const char* stop) {
        int64_t number = 0;
        for (; at < stop && *at >= '0' && *at <= '9' && number < 1 << 24; ++at)
            number = 10 * number + (*at - '0');
        return number;
    }

    // Columns whose residues are said to be equal.
    bool take_equal(Along& along, int64_t length) {
        if (length == 0 || length > std::min(along.left[0], along.left[1]))
            return wrong(PAIRALIGN_FAULT_CIGAR);
        extend(EQUAL, static_cast<uint32_t>(length));
        for (int64_t k = 0; k < length; ++k) {
            const int64_t places[2] = {along.sides[0].at, along.sides[1].at};
            const uint8_t a = along.sides[0].next(), b = along.sides[1].next();
            if (a != b && !(a >= of_.unambiguous && b >= of_.unambiguous))
                return wrong(PAIRALIGN_FAULT_OPERATION, places[0] + 1, places[1] + 1);
        }
        for (int64_t& left : along.left) left -= length;
        return true;
    }

    // A residue that a traceback names; `at`: where.
    bool take_residue(Along& along, int side, char residue, int64_t at) {
        if (along.left[side]-- <= 0) return wrong(PAIRALIGN_FAULT_CIGAR);
        const int64_t place = along.sides[side].at;
        if (of_.encoding[static_cast<uint8_t>(residue)] == along.sides[side].next()) return true;
        return wrong(PAIRALIGN_FAULT_QUERY_RESIDUES + side, at + 1, place + 1);
    }

    // A BLAST traceback, as runs in `made_`: how many match, or the residues of both in a column that does
    // not.
    bool read_btop(const pairalign_record& record) {
        Along along = begin(record);
        const char *const text = text_ + record.btop, *at = text, *const stop = at + record.btop_bytes;
        while (at < stop) {
            if (*at >= '0' && *at <= '9') {
                if (!take_equal(along, take_number(at, stop))) return false;
                continue;
            }
            if (stop - at < 2 || (is_gap(at[0]) && is_gap(at[1]))) return wrong(PAIRALIGN_FAULT_CIGAR);
            for (int side = 0; side < 2; ++side)
                if (!is_gap(at[side]) && !take_residue(along, side, at[side], at - text + side)) return false;
            extend(is_gap(at[0]) ? DELETION : is_gap(at[1]) ? INSERTION : UNEQUAL, 1);
            at += 2;
        }
        return true;
    }

    // minimap2's cs, as runs in `made_`: :6 or =ACGTAC residues that match, *ag a target's and a query's that
    // do not, +ac the query's alone, -gt the target's.
    bool read_cs(const pairalign_record& record) {
        Along along = begin(record);
        const char *const text = text_ + record.cs, *at = text, *const stop = at + record.cs_bytes;
        while (at < stop) {
            const char kind = *at++;
            if (kind == ':') {
                if (!take_equal(along, take_number(at, stop))) return false;
                continue;
            }
            const char* const first = at;
            while (at < stop && ((*at | 32) >= 'a' && (*at | 32) <= 'z')) ++at;
            const int64_t residues = at - first;
            if (residues == 0 || (kind == '*' && residues != 2)) return wrong(PAIRALIGN_FAULT_CIGAR);
            if (kind == '=') {
                const Along before = along;
                if (!take_equal(along, residues)) return false;
                Along shown = before;
                for (int64_t k = 0; k < residues; ++k)
                    if (!take_residue(shown, 1, first[k], first - text + k)) return false;
            } else if (kind == '*') {
                if (!take_residue(along, 1, first[0], first - text)) return false;
                if (!take_residue(along, 0, first[1], first - text + 1)) return false;
                extend(UNEQUAL, 1);
            } else if (kind == '+' || kind == '-') {
                for (int64_t k = 0; k < residues; ++k)
                    if (!take_residue(along, kind == '-', first[k], first - text + k)) return false;
                extend(kind == '+' ? INSERTION : DELETION, static_cast<uint32_t>(residues));
            } else {
                return wrong(
                    PAIRALIGN_FAULT_CIGAR);  // also ~, an intron: the residues at its ends are not looked at
            }
        }
        return true;
    }

    // SAM's MD beside a CIGAR that is legal: how many columns match, the target's residue where one does not,
    // and after ^ its residues opposite a gap. Some programs write no 0 between two residues.
    void check_md(const pairalign_record& record) {
        rewind(record);
        Side query = sides_[0], target = sides_[1];
        const char *const text = text_ + record.md, *at = text, *const stop = at + record.md_bytes;
        int64_t equal = take_number(at, stop);
        const auto is_target = [&](uint8_t code) {
            return at < stop && is_letter(*at) && of_.encoding[static_cast<uint8_t>(*at++)] == code;
        };
        const auto blame = [&] { faults_.blame(PAIRALIGN_FAULT_MD, static_cast<double>(at - text + 1)); };
        for (int64_t k = 0; k < record.runs; ++k) {
            const uint32_t operation = runs_[record.first_run + k] & 15;
            const int64_t length = runs_[record.first_run + k] >> 4;
            if (operation == INSERTION || operation == PADDING) {
                query.at += operation == INSERTION ? length * query.step : 0;
            } else if (operation == SKIPPED) {
                target.at += length * target.step;
            } else if (operation == DELETION) {
                if (equal != 0 || at >= stop || *at++ != '^') return blame();
                for (int64_t n = 0; n < length; ++n)
                    if (!is_target(target.next())) return blame();
                equal = take_number(at, stop);
            } else {
                for (int64_t n = 0; n < length; ++n) {
                    const uint8_t a = query.next(), b = target.next();
                    const bool may_differ = a != b || a >= of_.unambiguous;
                    if (equal > 0 ? a != b && !(a >= of_.unambiguous && b >= of_.unambiguous)
                                  : !may_differ || !is_target(b))
                        return blame();
                    equal = equal > 0 ? equal - 1 : take_number(at, stop);
                }
            }
        }
        if (equal != 0 || at != stop) blame();
    }

    static bool is_letter(char one) { return (one | 32) >= 'a' && (one | 32) <= 'z'; }

    // Runs as columns of two residues and gaps alone, which is what all ways of writing an alignment share;
    // without gaps at its ends where these may be shown in one way and left out in another.
    void find_path(const uint32_t* runs, int64_t count, bool without_ends) {
        path_.clear();
        for (int64_t k = 0; k < count; ++k) {
            uint32_t operation = runs[k] & 15;
            if (operation == PADDING) continue;
            if (operation == SKIPPED) operation = DELETION;
            if (operation != INSERTION && operation != DELETION) operation = ALIGNED;
            if (!path_.empty() && (path_.back() & 15) == operation) {
                path_.back() += runs[k] >> 4 << 4;
            } else {
                path_.push_back(runs[k] >> 4 << 4 | operation);
            }
        }
        if (!without_ends) return;
        while (!path_.empty() && (path_.back() & 15) != ALIGNED) path_.pop_back();
        const auto first =
            std::find_if(path_.begin(), path_.end(), [](uint32_t run) { return (run & 15) == ALIGNED; });
        path_.erase(path_.begin(), first);
    }

    std::vector<uint32_t> made_, path_;
};

}  // namespace pairalign::records
