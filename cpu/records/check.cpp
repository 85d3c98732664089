// Records compared with the sequences that they align, and scored. The ctypes declarations are in
// pairalign/alignments/alignment_records.py.
//
// Nothing here is shared with the engines. An ambiguous residue opposite another may count as a match or not,
// and columns with one may be left out of counts: programs differ.

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "fields.h"
#include "tracebacks.h"

namespace {

using namespace pairalign::records;
using pairalign::Claims;
using pairalign::Counts;
using pairalign::LocalParts;

class Checker : public Tracebacks {
public:
    using Tracebacks::Tracebacks;

    void check(const pairalign_record& record, pairalign_finding& finding) {
        std::memset(&finding, 0, sizeof finding);
        faults_.finding = &finding;
        if (record.first != 0) faults_.blame(record.first, record.first_says, record.first_is);
        finding.faults |= record.noticed;
        if (record.fault != 0) return faults_.blame(record.fault);
        if (record.turned != 0 && of_.complement == nullptr) return faults_.blame(PAIRALIGN_FAULT_STRAND);
        const pairalign_checked_set* const sets[2] = {&of_.queries, &of_.targets};
        const int32_t indices[2] = {record.query, record.target};
        for (int side = 0; side < 2; ++side) {
            const int64_t start = sets[side]->offsets[indices[side]];
            const int64_t length = sets[side]->offsets[indices[side] + 1] - start;
            sides_[side] = {sets[side]->codes + start, length, 0, 1, same_};
            const double said = value_of(record.says[side], record.decimals[side]);
            if (record.says[side] != PAIRALIGN_UNSAID && said != static_cast<double>(length))
                faults_.blame(PAIRALIGN_FAULT_QUERY_LENGTH + side, said, length);
        }
        check_ways(record);
    }

private:
    // The alignment as CIGAR, rows, traceback of BLAST or minimap2: each that is there is read, and all must
    // be the same.
    void check_ways(const pairalign_record& record) {
        const bool has_rows = record.row_bytes[0] >= 0 && record.row_bytes[1] >= 0;
        pairalign_record moved = record;
        std::vector<uint32_t> path;
        bool has_path = false, is_shown_whole = false;
        const auto agree = [&] {
            if (has_path && path_ != path) faults_.blame(PAIRALIGN_FAULT_ALIGNMENT);
            path.swap(path_);
            has_path = true;
        };
        made_.clear();
        if (has_rows) {
            if (!read_rows(moved)) return;
            is_shown_whole = !same_spans(moved, record);
            find_path(made_.data(), static_cast<int64_t>(made_.size()), is_shown_whole);
            agree();
        }
        if (!place(moved)) return;
        for (int side = 0; side < 2 && !has_rows; ++side)
            if (record.row_bytes[side] >= 0 && !check_row(record, side)) return;
        const bool is_kept = has_rows;
        kept_ = made_;
        if (record.btop_bytes >= 0) {
            if (!read_btop(record)) return;
            find_path(made_.data(), static_cast<int64_t>(made_.size()), is_shown_whole);
            agree();
            if (!is_kept) kept_ = made_;
        }
        if (record.cs_bytes >= 0) {
            if (!read_cs(record)) return;
            find_path(made_.data(), static_cast<int64_t>(made_.size()), is_shown_whole);
            agree();
            if (!is_kept && record.btop_bytes < 0) kept_ = made_;
        }
        if (record.runs >= 0 && has_path) {
            find_path(runs_ + record.first_run, record.runs, is_shown_whole);
            agree();
        }
        if (record.runs >= 0 && !is_shown_whole) {
            check_runs(moved, runs_ + record.first_run, record.runs);
            if (record.md_bytes >= 0 && faults_.finding->faults == 0) check_md(record);
        } else {
            check_runs(moved, kept_.data(), has_path ? static_cast<int64_t>(kept_.size()) : -1);
        }
    }

    static bool same_spans(const pairalign_record& a, const pairalign_record& b) {
        return std::equal(a.spans, a.spans + 4, b.spans) || b.spans[0] < 0 || b.spans[2] < 0;
    }

    void check_runs(const pairalign_record& record, const uint32_t* runs, int64_t count) {
        if (!place(record)) return;
        if (count < 0) return check_without_columns(record);
        int64_t used[2] = {0, 0};
        bool is_known = true;
        for (int64_t k = 0; k < count; ++k) {
            const uint32_t operation = runs[k] & 15;
            const int64_t length = runs[k] >> 4;
            if (length == 0) is_known = false;
            switch (operation) {
                case ALIGNED:
                case EQUAL:
                case UNEQUAL:
                    used[0] += length;
                    used[1] += length;
                    break;
                case INSERTION:
                    used[0] += length;
                    break;
                case DELETION:
                case SKIPPED:
                    used[1] += length;
                    break;
                case PADDING:
                    break;
                default:
                    is_known = false;
            }
        }
        if (!is_known) return faults_.blame(PAIRALIGN_FAULT_CIGAR);
        for (int side = 0; side < 2; ++side) {
            const int64_t residues = spans_[side][1] - spans_[side][0];
            if (used[side] != residues)
                faults_.blame(PAIRALIGN_FAULT_QUERY_CIGAR + side, static_cast<double>(used[side]),
                              static_cast<double>(residues));
        }
        if (faults_.finding->faults & (uint64_t{3} << PAIRALIGN_FAULT_QUERY_CIGAR)) return;
        if (record.residue_bytes >= 0) check_residues(record);
        rewind(record);
        Counts counts;
        walk(runs, count, counts);
        faults_.finding->score = counts.score;
        faults_.finding->scored = counts.scored;
        check_mode(counts);
        const int64_t lengths[2] = {sides_[0].length, sides_[1].length};
        const int64_t aligned[2] = {spans_[0][1] - spans_[0][0], spans_[1][1] - spans_[1][0]};
        Claims claims(record, faults_);
        claims.check(counts, lengths, aligned, of_.skips_scores ? 0 : of_.scale);
        if (record.says[PAIRALIGN_SAYS_EDITS_OF_PART] == PAIRALIGN_UNSAID) return;
        const LocalParts parts = local_parts(runs, count);
        claims.check_edits_of_part(counts, of_.mode == 0, of_.skips_scores ? nullptr : &parts);
    }

    // A record without columns can still be wrong about its spans.
    void check_without_columns(const pairalign_record& record) {
        const int64_t lengths[2] = {sides_[0].length, sides_[1].length};
        int64_t residues[2] = {spans_[0][1] - spans_[0][0], spans_[1][1] - spans_[1][0]};
        Claims claims(record, faults_);
        claims.check_possible(lengths);
        if (record.spans[0] >= 0 && record.spans[2] >= 0) return claims.check_counts(residues, lengths, 0);
        for (int side = 0; side < 2; ++side)
            if (record.spans[2 * side] < 0) residues[side] = -1;
        claims.check_coverages(lengths, residues);
    }

    // SAM's residues, in the order of the CIGAR, with what was clipped softly.
    void check_residues(const pairalign_record& record) {
        const int64_t used = spans_[0][1] - spans_[0][0];
        const int64_t residues = record.clipped[0] + used + record.clipped[1];
        if (residues != record.residue_bytes)
            return faults_.blame(PAIRALIGN_FAULT_ROWS, static_cast<double>(record.residue_bytes),
                                 static_cast<double>(residues));
        rewind(record);
        Side& side = sides_[0];
        side.at -= side.step * record.clipped[0];
        const int64_t first = side.at;
        for (int64_t k = 0; k < residues; ++k)
            if (of_.encoding[static_cast<uint8_t>(text_[record.residues + k])] != side.next())
                return faults_.blame(PAIRALIGN_FAULT_QUERY_RESIDUES, static_cast<double>(k + 1),
                                     static_cast<double>(first + side.step * k + 1));
    }

    void walk(const uint32_t* runs, int64_t count, Counts& counts) {
        Side query = sides_[0], target = sides_[1];
        const int64_t head = end_runs(runs, count, false), tail = count - end_runs(runs, count, true);
        uint32_t before = PADDING;
        for (int64_t k = 0; k < count; ++k) {
            const uint32_t operation = runs[k] & 15;
            const int64_t length = runs[k] >> 4;
            if (operation == INSERTION || operation == DELETION) {
                counts.columns += length;
                counts.gaps += length;
                counts.openings += operation != before;
                const Cost cost = cost_of(operation, k < head, k >= tail, length);
                counts.score -= length * cost.extend + (operation != before) * (cost.open - cost.extend);
                if ((k < head && left_before(0) + left_before(1) == 0) ||
                    (k >= tail && left_behind(0) + left_behind(1) == 0))
                    counts.at_ends += length;
                Side& alone = operation == INSERTION ? query : target;
                for (int64_t left = length; left > 0; --left)
                    counts.ambiguous += alone.next() >= of_.unambiguous;
            } else if (operation == SKIPPED) {
                target.at += length * target.step;
                counts.scored = false;  // an intron has no cost here
            } else if (operation != PADDING) {
                compare(operation, length, query, target, counts);
            }
            if (operation != PADDING) before = operation;
        }
    }

    LocalParts local_parts(const uint32_t* runs, int64_t count) const {
        Side query = sides_[0], target = sides_[1];
        LocalParts parts;
        uint32_t before = PADDING;
        for (int64_t k = 0; k < count; ++k) {
            const uint32_t operation = runs[k] & 15;
            const int64_t length = runs[k] >> 4;
            if (operation == INSERTION || operation == DELETION || operation == SKIPPED) {
                Side& alone = operation == INSERTION ? query : target;
                alone.at += length * alone.step;
                const int64_t open = (operation != before) * (of_.gap_open - of_.gap_extend);
                parts.add(-open - length * of_.gap_extend, length, true);
            } else if (operation != PADDING) {
                for (int64_t left = length; left > 0; --left) {
                    const uint8_t a = query.next(), b = target.next();
                    parts.add(of_.matrix[32 * a + b], a != b || a >= of_.unambiguous, false);
                }
            }
            if (operation != PADDING) before = operation;
        }
        return parts;
    }

    // How many of the outermost runs are one gap, with padding in it.
    static int64_t end_runs(const uint32_t* runs, int64_t count, bool from_behind) {
        uint32_t gap = PADDING;
        int64_t found = 0;
        for (int64_t k = 0; k < count; ++k) {
            const uint32_t operation = runs[from_behind ? count - 1 - k : k] & 15;
            if (operation == PADDING) continue;
            if ((operation != INSERTION && operation != DELETION) || (gap != PADDING && operation != gap))
                break;
            gap = operation;
            found = k + 1;
        }
        return found;
    }

    struct Cost {
        int64_t open, extend;
    };

    // What a gap costs: an end gap, of whose sequence nothing is left out there, what its end says.
    Cost cost_of(uint32_t operation, bool is_first, bool is_last, int64_t length) const {
        const int side = operation == DELETION;  // whose residues are opposite the gap
        const int64_t* const ends = of_.end_costs + 4 * side;
        const bool at_start = is_first && left_before(1 - side) == 0;
        const bool at_end = is_last && left_behind(1 - side) == 0;
        const Cost start = {ends[0], ends[1]}, end = {ends[2], ends[3]};
        if (at_start && at_end)  // nothing but a gap: it may be taken for either
            return start.open + (length - 1) * start.extend <= end.open + (length - 1) * end.extend ? start
                                                                                                    : end;
        return at_start ? start : at_end ? end : Cost{of_.gap_open, of_.gap_extend};
    }

    void compare(uint32_t operation, int64_t length, Side& query, Side& target, Counts& counts) {
        counts.columns += length;
        counts.aligned += length;
        Counts found;  // a copy that no store can touch
        const int32_t unambiguous = of_.unambiguous;
        const int32_t* const matrix = of_.matrix;
        for (int64_t k = 0; k < length; ++k) {
            const int64_t places[2] = {query.at, target.at};
            const uint8_t a = query.next(), b = target.next();
            const bool ambiguous_a = a >= unambiguous, ambiguous_b = b >= unambiguous;
            const bool match = a == b && !ambiguous_a;
            const int32_t score = matrix[32 * a + b];
            found.matches += match;
            found.ambiguous += ambiguous_a | ambiguous_b;
            found.both_ambiguous += ambiguous_a & ambiguous_b;
            found.score += score;
            found.positives += score > 0;
            if (operation != ALIGNED && !(ambiguous_a && ambiguous_b) && match != (operation == EQUAL))
                faults_.blame(PAIRALIGN_FAULT_OPERATION, static_cast<double>(places[0] + 1),
                              static_cast<double>(places[1] + 1));
        }
        counts.matches += found.matches;
        counts.ambiguous += found.ambiguous;
        counts.both_ambiguous += found.both_ambiguous;
        counts.score += found.score;
        counts.positives += found.positives;
    }

    void check_mode(const Counts& counts) {
        if (of_.mode == 0) return;
        bool starts[2], ends[2];
        for (int side = 0; side < 2; ++side) {
            starts[side] = left_before(side) == 0;
            ends[side] = left_behind(side) == 0;
        }
        const bool whole = starts[0] && starts[1] && ends[0] && ends[1];
        bool reaches = (starts[0] || starts[1]) && (ends[0] || ends[1]);
        for (int side = 0; side < 2 && of_.mode == 3; ++side) {
            const int64_t* const costs = of_.end_costs + 4 * side;
            reaches &= starts[side] || costs[0] + costs[1] == 0;
            reaches &= ends[side] || costs[2] + costs[3] == 0;
        }
        if (!(of_.mode == 1 ? whole : reaches || counts.columns == 0)) faults_.blame(PAIRALIGN_FAULT_MODE);
    }

    std::vector<uint32_t> kept_;
};

}  // namespace

// Checks records of a text: findings[count]. Returns 0, or 1 where there is no memory.
PAIRALIGN_API int32_t pairalign_check_records(const char* text, const uint32_t* runs,
                                              const pairalign_check* check, int64_t count,
                                              const pairalign_record* records, pairalign_finding* findings) {
    try {
        Checker checker(text, runs, *check);
        for (int64_t k = 0; k < count; ++k) checker.check(records[k], findings[k]);
        return 0;
    } catch (const std::bad_alloc&) {
        return 1;
    }
}
