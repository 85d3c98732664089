// Records compared with the sequences that they align, and scored. The ctypes declarations are in
// pairalign/alignments/records.py.
//
// Nothing here is shared with the engines. An ambiguous letter opposite another may count as a match or not,
// and columns with one may be left out of counts: programs differ.

#include <algorithm>
#include <cstring>
#include <new>
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
    int64_t scale;
    int32_t definite;      // codes from here on are ambiguous
    int32_t free_ends;     // gaps at the ends cost nothing (semiglobal)
    int32_t mode;          // spans that are allowed: 0 any, 1 global, 2 semiglobal
    int32_t skips_scores;  // the file's scores, and positives, are of another scoring
};

using pairalign::Claims;
using pairalign::Counts;
using pairalign::Faults;

namespace {

constexpr uint32_t ALIGNED = 0, INSERTION = 1, DELETION = 2, SKIPPED = 3, PADDING = 6, EQUAL = 7, UNEQUAL = 8;

// Letters of one sequence along the alignment.
struct Side {
    const uint8_t* codes;  // of the whole sequence
    int64_t length;
    int64_t at;    // the next letter
    int64_t step;  // 1, or -1 on the other strand
    const uint8_t* map;

    uint8_t next() {
        const uint8_t code = map[codes[at]];
        at += step;
        return code;
    }
};

class Checker {
public:
    Checker(const char* text, const uint32_t* runs, const pairalign_check& of)
        : text_(text), runs_(runs), of_(of) {
        for (int code = 0; code < 256; ++code) same_[code] = static_cast<uint8_t>(code);
    }

    void check(const pairalign_record& record, pairalign_finding& finding) {
        std::memset(&finding, 0, sizeof finding);
        faults_.finding = &finding;
        if (record.fault != 0) return faults_.blame(record.fault);
        if (record.turned != 0 && of_.complement == nullptr) return faults_.blame(PAIRALIGN_FAULT_STRAND);
        const pairalign_checked_set* const sets[2] = {&of_.queries, &of_.targets};
        const int32_t indices[2] = {record.query, record.target};
        for (int side = 0; side < 2; ++side) {
            const int64_t start = sets[side]->offsets[indices[side]];
            const int64_t length = sets[side]->offsets[indices[side] + 1] - start;
            sides_[side] = {sets[side]->codes + start, length, 0, 1, same_};
            const int64_t said = record.says[side];
            if (said != PAIRALIGN_UNSAID && (said != length || record.decimals[side] != 0))
                faults_.blame(PAIRALIGN_FAULT_QUERY_LENGTH + side, static_cast<double>(said), length);
        }
        if (record.row_bytes[0] >= 0 && record.row_bytes[1] >= 0) {
            check_rows(record);
        } else if (record.btop_bytes >= 0) {
            check_btop(record);
        } else {
            check_runs(record, runs_ + record.first_run, record.runs);
        }
    }

private:
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

    // Letters of a sequence that are left out on the way to the alignment, and after it.
    int64_t left_before(int side) const {
        return sides_[side].step > 0 ? spans_[side][0] : sides_[side].length - spans_[side][1];
    }
    int64_t left_behind(int side) const {
        return sides_[side].step > 0 ? sides_[side].length - spans_[side][1] : spans_[side][0];
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
            const int64_t letters = spans_[side][1] - spans_[side][0];
            if (used[side] != letters)
                faults_.blame(PAIRALIGN_FAULT_QUERY_CIGAR + side, static_cast<double>(used[side]),
                              static_cast<double>(letters));
        }
        if (faults_.finding->faults & (uint64_t{3} << PAIRALIGN_FAULT_QUERY_CIGAR)) return;
        if (record.letter_bytes >= 0) check_letters(record);
        rewind(record);
        Counts counts;
        walk(runs, count, counts);
        faults_.finding->score = counts.score;
        faults_.finding->scored = counts.scored;
        check_mode(counts);
        const int64_t lengths[2] = {sides_[0].length, sides_[1].length};
        const int64_t aligned[2] = {spans_[0][1] - spans_[0][0], spans_[1][1] - spans_[1][0]};
        Claims(record, faults_).check(counts, lengths, aligned, of_.skips_scores ? 0 : of_.scale);
    }

    // A record without columns can still be wrong about its spans.
    void check_without_columns(const pairalign_record& record) {
        const int64_t most = std::min(spans_[0][1] - spans_[0][0], spans_[1][1] - spans_[1][0]);
        const int64_t said = record.says[PAIRALIGN_SAYS_MATCHES];
        if (said != PAIRALIGN_UNSAID && (said > most || said < 0))
            faults_.blame(PAIRALIGN_FAULT_CLAIM + PAIRALIGN_SAYS_MATCHES, static_cast<double>(said),
                          static_cast<double>(most));
    }

    // SAM's letters, in the order of the CIGAR, with what was clipped softly.
    void check_letters(const pairalign_record& record) {
        const int64_t used = spans_[0][1] - spans_[0][0];
        const int64_t letters = record.clipped[0] + used + record.clipped[1];
        if (letters != record.letter_bytes)
            return faults_.blame(PAIRALIGN_FAULT_ROWS, static_cast<double>(record.letter_bytes),
                                 static_cast<double>(letters));
        rewind(record);
        Side& side = sides_[0];
        side.at -= side.step * record.clipped[0];
        const int64_t first = side.at;
        for (int64_t k = 0; k < letters; ++k)
            if (of_.encoding[static_cast<uint8_t>(text_[record.letters + k])] != side.next())
                return faults_.blame(PAIRALIGN_FAULT_QUERY_LETTERS, static_cast<double>(k + 1),
                                     static_cast<double>(first + side.step * k + 1));
    }

    void walk(const uint32_t* runs, int64_t count, Counts& counts) {
        Side query = sides_[0], target = sides_[1];
        int64_t first = 0, last = count;
        if (of_.free_ends) {
            first += is_free(runs, 0, count, left_before(0), left_before(1));
            if (last > first) last -= is_free(runs, count - 1, count, left_behind(0), left_behind(1));
        }
        uint32_t before = PADDING;
        for (int64_t k = 0; k < count; ++k) {
            const uint32_t operation = runs[k] & 15;
            const int64_t length = runs[k] >> 4;
            if (operation == INSERTION || operation == DELETION) {
                counts.columns += length;
                counts.gaps += length;
                counts.openings += operation != before;
                if (k >= first && k < last)
                    counts.score -=
                        length * of_.gap_extend + (operation != before) * (of_.gap_open - of_.gap_extend);
                Side& alone = operation == INSERTION ? query : target;
                for (int64_t left = length; left > 0; --left)
                    counts.ambiguous += alone.next() >= of_.definite;
            } else if (operation == SKIPPED) {
                target.at += length * target.step;
                counts.scored = false;  // an intron has no cost here
            } else if (operation != PADDING) {
                compare(operation, length, query, target, counts);
            }
            if (operation != PADDING) before = operation;
        }
    }

    // Whether an outermost run is a gap at an end of both sequences, of which nothing else is left out.
    static bool is_free(const uint32_t* runs, int64_t k, int64_t count, int64_t query_left,
                        int64_t target_left) {
        if (count == 0) return false;
        const uint32_t operation = runs[k] & 15;
        return (operation == INSERTION && target_left == 0) || (operation == DELETION && query_left == 0);
    }

    void compare(uint32_t operation, int64_t length, Side& query, Side& target, Counts& counts) {
        counts.columns += length;
        counts.aligned += length;
        Counts found;  // a copy that no store can touch
        const int32_t definite = of_.definite;
        const int32_t* const matrix = of_.matrix;
        for (int64_t k = 0; k < length; ++k) {
            const int64_t places[2] = {query.at, target.at};
            const uint8_t a = query.next(), b = target.next();
            const bool ambiguous_a = a >= definite, ambiguous_b = b >= definite;
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
        const bool reaches = (starts[0] || starts[1]) && (ends[0] || ends[1]);
        if (!(of_.mode == 1 ? whole : reaches || counts.columns == 0)) faults_.blame(PAIRALIGN_FAULT_MODE);
    }

    static bool is_gap(char letter) { return letter == '-' || letter == '.'; }

    // Rows as runs. Their letters must be those of the sequences.
    void check_rows(const pairalign_record& record) {
        if (record.row_bytes[0] != record.row_bytes[1])
            return faults_.blame(PAIRALIGN_FAULT_ROWS, static_cast<double>(record.row_bytes[0]),
                                 static_cast<double>(record.row_bytes[1]));
        const char* const rows[2] = {text_ + record.rows[0], text_ + record.rows[1]};
        made_.clear();
        int64_t letters[2] = {record.row_bytes[0], record.row_bytes[0]};
        for (int64_t k = 0, start = 0; k < record.row_bytes[0]; start = k) {
            const bool gaps[2] = {is_gap(rows[0][k]), is_gap(rows[1][k])};
            if (gaps[0] && gaps[1])
                return faults_.blame(PAIRALIGN_FAULT_ROWS, static_cast<double>(k + 1), -1);
            do ++k;
            while (k < record.row_bytes[0] && is_gap(rows[0][k]) == gaps[0] && is_gap(rows[1][k]) == gaps[1]);
            if (gaps[0] || gaps[1]) letters[gaps[1]] -= k - start;
            extend(gaps[0] ? DELETION : gaps[1] ? INSERTION : ALIGNED, static_cast<uint32_t>(k - start));
        }
        pairalign_record moved = record;
        for (int side = 0; side < 2; ++side) place_row(side, letters[side], moved);
        if (!place(moved)) return;
        rewind(moved);
        for (int side = 0; side < 2; ++side) {
            if (letters[side] != spans_[side][1] - spans_[side][0]) {
                faults_.blame(PAIRALIGN_FAULT_QUERY_CIGAR + side, static_cast<double>(letters[side]),
                              static_cast<double>(spans_[side][1] - spans_[side][0]));
                return;
            }
            if (!same_letters(rows[side], record.row_bytes[side], side)) return;
        }
        check_runs(moved, made_.data(), static_cast<int64_t>(made_.size()));
    }

    // Rows show a whole sequence, or the part that the file says.
    void place_row(int side, int64_t letters, pairalign_record& record) const {
        int64_t* const span = record.spans + 2 * side;
        if (span[0] >= 0 && span[1] - span[0] == letters) return;
        if (letters == sides_[side].length && (span[0] < 0 || is_trimmed(side, span))) {
            span[0] = 0;
            span[1] = letters;
        }
    }

    // Whether a span is what is left of a whole sequence without its end gaps.
    bool is_trimmed(int side, const int64_t* span) const {
        const uint32_t alone = side == 0 ? INSERTION : DELETION;
        const auto length_of = [&](uint32_t run) { return (run & 15) == alone ? int64_t{run >> 4} : 0; };
        if (made_.empty()) return false;
        return span[0] == length_of(made_.front()) &&
               span[1] == sides_[side].length - (made_.size() > 1 ? length_of(made_.back()) : 0);
    }

    bool same_letters(const char* row, int64_t bytes, int side) {
        Side along = sides_[side];
        const uint8_t* const encoding = of_.encoding;
        for (int64_t k = 0; k < bytes; ++k) {
            if (is_gap(row[k])) continue;
            const int64_t at = along.at;
            if (encoding[static_cast<uint8_t>(row[k])] == along.next()) continue;
            faults_.blame(PAIRALIGN_FAULT_QUERY_LETTERS + side, static_cast<double>(k + 1),
                          static_cast<double>(at + 1));
            return false;
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

    // A BLAST traceback: how many match, or the letters of both in a column that does not.
    void check_btop(const pairalign_record& record) {
        if (!place(record)) return;
        rewind(record);
        made_.clear();
        Side along[2] = {sides_[0], sides_[1]};
        int64_t left[2];
        for (int side = 0; side < 2; ++side) left[side] = spans_[side][1] - spans_[side][0];
        const char* at = text_ + record.btop;
        const char* const stop = at + record.btop_bytes;
        while (at < stop) {
            if (*at >= '0' && *at <= '9') {
                int64_t length = 0;
                for (; at < stop && *at >= '0' && *at <= '9' && length < 1 << 24; ++at)
                    length = 10 * length + (*at - '0');
                if (length == 0 || length > std::min(left[0], left[1]))
                    return faults_.blame(PAIRALIGN_FAULT_CIGAR);
                extend(EQUAL, static_cast<uint32_t>(length));
                for (int side = 0; side < 2; ++side) {
                    along[side].at += along[side].step * length;
                    left[side] -= length;
                }
                continue;
            }
            if (stop - at < 2 || (is_gap(at[0]) && is_gap(at[1])))
                return faults_.blame(PAIRALIGN_FAULT_CIGAR);
            for (int side = 0; side < 2; ++side) {
                if (is_gap(at[side])) continue;
                if (left[side]-- == 0) return faults_.blame(PAIRALIGN_FAULT_CIGAR);
                const int64_t place = along[side].at;
                if (of_.encoding[static_cast<uint8_t>(at[side])] != along[side].next())
                    return faults_.blame(PAIRALIGN_FAULT_QUERY_LETTERS + side,
                                         static_cast<double>(at - text_ - record.btop + side + 1),
                                         static_cast<double>(place + 1));
            }
            extend(is_gap(at[0]) ? DELETION : is_gap(at[1]) ? INSERTION : UNEQUAL, 1);
            at += 2;
        }
        check_runs(record, made_.data(), static_cast<int64_t>(made_.size()));
    }

    const char* const text_;
    const uint32_t* const runs_;
    const pairalign_check& of_;
    Faults faults_;
    Side sides_[2];
    int64_t spans_[2][2];
    uint8_t same_[256];
    std::vector<uint32_t> made_;
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
