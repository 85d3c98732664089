// A field of a pair as tables show it; what formats of chosen columns share. Internal to cpu/text.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "text_cigar.h"
#include "text_rows.h"
#include "text_tags.h"

namespace pairalign::text {

// value / 10^decimals with exactly so many.
inline char* put_fixed(char* out, int64_t value, int decimals) {
    int64_t scale = 1;
    for (int i = 0; i < decimals; ++i) scale *= 10;
    out = put_unsigned(out, static_cast<uint64_t>(value / scale));
    if (decimals == 0) return out;
    *out++ = '.';
    for (int i = decimals; i-- > 0;) {
        out[i] = static_cast<char>('0' + value % 10);
        value /= 10;
    }
    return out + decimals;
}

// 100 * part / total, rounded half up in integers.
inline char* put_percent(char* out, int64_t part, int64_t total, int decimals) {
    int64_t scale = 100;
    for (int i = 0; i < decimals; ++i) scale *= 10;
    return put_fixed(out, total == 0 ? 0 : (2 * scale * part + total) / (2 * total), decimals);
}

// Bit score, with one decimal.
inline char* put_bits(char* out, const pairalign_text& text, const Pair& pair) {
    const int64_t tenths = std::llround(10 * text.bits[pair.place]);
    if (tenths < 0) *out++ = '-';
    return put_fixed(out, std::abs(tenths), 1);
}

// E-value as 1.23e-45; 0.0 below the least double with all its bits, as others read no smaller one.
inline char* put_evalue(char* out, const double* log_evalue, const Pair& pair) {
    const double log = log_evalue[pair.place];
    if (log < std::log(std::numeric_limits<double>::min())) return put(out, "0.0");
    const double log10 = log / std::log(10.0);
    int64_t exponent = static_cast<int64_t>(std::floor(log10));
    int64_t digits = std::llround(100 * std::pow(10.0, log10 - static_cast<double>(exponent)));
    if (digits >= 1000) {
        digits = 100;
        ++exponent;
    }
    out = put_fixed(out, digits, 2);
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    exponent = std::abs(exponent);
    if (exponent < 10) *out++ = '0';
    return put_unsigned(out, static_cast<uint64_t>(exponent));
}

// A sequence in the order of the columns: its codes, of the other strand where it is turned.
struct Codes {
    const uint8_t* at;
    const uint8_t* complement;  // null: it is not turned

    Codes(const Side& side, const uint8_t* complement_of)
        : at(side.codes + (complement_of == nullptr ? side.start : side.end - 1)),
          complement(complement_of) {}
    int next() { return (complement == nullptr ? *at++ : complement[*at-- & 31]) & 31; }
    void skip(int64_t count) { at += complement == nullptr ? count : -count; }
};

// Of a pair whose runs are those of its sides: on strand - they go along the target.
inline int64_t count_positives(const pairalign_text& text, const Pair& pair) {
    Codes query(pair.query, pair.minus ? text.complement : nullptr), target(pair.target, nullptr);
    int64_t positives = 0;
    for (int64_t r = 0; r < pair.run_count; ++r) {
        const uint32_t op = pair.runs[r] & 15, length = pair.runs[r] >> 4;
        if (op == kMatch || op == kMismatch) {
            for (uint32_t i = 0; i < length; ++i)
                positives += text.matrix[32 * query.next() + target.next()] > 0;
        } else {
            (op == kInsertion ? query : target).skip(length);
        }
    }
    return positives;
}

// Residues in gaps before the first or after the last residue of both sequences, of such a pair.
inline int64_t gaps_at_ends(const Pair& pair) {
    const auto residues = [&](int64_t run) {
        const uint32_t op = pair.runs[run] & 15;
        return op == kInsertion || op == kDeletion ? int64_t{pair.runs[run] >> 4} : 0;
    };
    const bool reaches[2] = {pair.query.start == 0, pair.query.end == pair.query.length};
    int64_t count = 0;
    if (pair.run_count > 0 && reaches[pair.minus] && pair.target.start == 0) count += residues(0);
    if (pair.run_count > 1 && reaches[!pair.minus] && pair.target.end == pair.target.length)
        count += residues(pair.run_count - 1);
    return count;
}

// Text of a set: a name or a header.
struct Words {
    const char* bytes;
    int64_t size;
};

// `exchanged`: query and target have changed places in `pair`, but neither in its runs nor in `text`. On
// strand
// - the columns of a row run along its target, whose query is turned, or along its query (`along_query`).
struct Row {
    const pairalign_text& text;
    const Pair& pair;
    bool exchanged;

    char* put_number(char* out, int64_t value) const {
        return put_unsigned(out, static_cast<uint64_t>(value));
    }

    // Which share of the residues or columns is identical or positive.
    char* put_identity(char* out, int32_t field) const {
        const Side &query = pair.query, &target = pair.target;
        const int64_t aligned = pair.matches + pair.mismatches;
        switch (field) {
            case PAIRALIGN_IDENTITY:
                return put_fraction(out, pair.matches, pair.columns);
            case PAIRALIGN_IDENTITY_ALIGNED:
                return put_fraction(out, pair.matches, aligned);
            case PAIRALIGN_IDENTITY_SHORTER:
                return put_fraction(out, pair.matches, std::min(query.length, target.length));
            case PAIRALIGN_IDENTITY_LONGER:
                return put_fraction(out, pair.matches, std::max(query.length, target.length));
            case PAIRALIGN_PERCENT_IDENTITY:
                return put_percent(out, pair.matches, pair.columns, 3);
            case PAIRALIGN_IDENTITY_INTERNAL:
                return put_fraction(out, pair.matches, pair.columns - gaps_at_ends(straight()));
            case PAIRALIGN_IDENTITY_MBL: {
                const int64_t longer = std::max(query.length, target.length);
                const int64_t same = longer - pair.mismatches - pair.gap_openings;
                return put_fraction(out, pair.columns > 0 ? std::max<int64_t>(same, 0) : 0, longer);
            }
            case PAIRALIGN_IDENTITY_FULL:
                return put_fraction(out, pair.matches, int64_t{query.length} + target.length - aligned);
            case PAIRALIGN_IDENTITY_MEAN:
                return put_fraction(out, 2 * int64_t{pair.matches}, int64_t{query.length} + target.length);
            case PAIRALIGN_PERCENT_POSITIVES:
                return put_percent(out, positives(), pair.columns, 2);
            default:
                return nullptr;
        }
    }

    // The name or header that the field is; without bytes: it is a value.
    Words words(int32_t field) const {
        switch (field) {
            case PAIRALIGN_QUERY:
                return {pair.query.name, pair.query.name_bytes};
            case PAIRALIGN_TARGET:
                return {pair.target.name, pair.target.name_bytes};
            case PAIRALIGN_QUERY_TITLE:
                return {pair.query.title, pair.query.title_bytes};
            case PAIRALIGN_TARGET_TITLE:
                return {pair.target.title, pair.target.title_bytes};
            default:
                return {nullptr, 0};
        }
    }

    // Whether the value is known; tables have `nan` where it is not.
    bool knows(int32_t field) const {
        switch (field) {
            case PAIRALIGN_BITS:
                return text.bits != nullptr;
            case PAIRALIGN_EVALUE:
                return log_evalue() != nullptr;
            case PAIRALIGN_CONFIDENCE:
                return text.confidence != nullptr;
            default:
                return true;
        }
    }

    // All but names, which formats write each in a way of its own; null when the pair contradicts itself.
    char* put_value(char* out, int32_t field) const {
        const Side &query = pair.query, &target = pair.target;
        switch (field) {
            case PAIRALIGN_SCORE:
                return put_score(out, pair.raw_score, text.decimals, 0);
            case PAIRALIGN_BITS:
                return knows(field) ? put_bits(out, text, pair) : put(out, "nan");
            case PAIRALIGN_EVALUE:
                return knows(field) ? put_evalue(out, log_evalue(), pair) : put(out, "nan");
            case PAIRALIGN_COLUMNS:
                return put_number(out, pair.columns);
            case PAIRALIGN_MATCHES:
                return put_number(out, pair.matches);
            case PAIRALIGN_MISMATCHES:
                return put_number(out, pair.mismatches);
            case PAIRALIGN_GAP_OPENINGS:
                return put_number(out, pair.gap_openings);
            case PAIRALIGN_GAP_RESIDUES:
                return put_number(out, pair.gap_residues);
            case PAIRALIGN_POSITIVES:
                return put_number(out, positives());
            case PAIRALIGN_QUERY_LENGTH:
                return put_number(out, query.length);
            case PAIRALIGN_QUERY_START:
                return put_number(out, query.start);
            case PAIRALIGN_QUERY_END:
                return put_number(out, query.end);
            case PAIRALIGN_QUERY_COVERAGE:
                return put_fraction(out, query.end - query.start, query.length);
            case PAIRALIGN_TARGET_LENGTH:
                return put_number(out, target.length);
            case PAIRALIGN_TARGET_START:
                return put_number(out, target.start);
            case PAIRALIGN_TARGET_END:
                return put_number(out, target.end);
            case PAIRALIGN_TARGET_COVERAGE:
                return put_fraction(out, target.end - target.start, target.length);
            case PAIRALIGN_CIGAR:
                if (pair.run_count == 0) *out++ = '*';
                return exchanged || pair.minus ? put_cigar_turned(out, pair, is_backwards(), exchanged)
                                               : put_cigar(out, pair);
            case PAIRALIGN_QUERY_ALIGNED:
                return put_side(out, query, turns_query(), kDeletion);
            case PAIRALIGN_TARGET_ALIGNED:
                return put_side(out, target, turns_target(), kInsertion);
            case PAIRALIGN_TIES:
                return text.ties == nullptr ? nullptr : put_number(out, text.ties[pair.place]);
            case PAIRALIGN_CONFIDENCE:
                if (!knows(field)) return put(out, "nan");
                return has_confidence(text, pair) ? put_confidence(out, text, pair) : nullptr;
            default:
                return put_of_blast(out, field);
        }
    }

    // What BLAST's and MMseqs2's tables have in ways of their own.
    char* put_of_blast(char* out, int32_t field) const {
        const Side &query = pair.query, &target = pair.target;
        switch (field) {
            case PAIRALIGN_QUERY_FIRST:
            case PAIRALIGN_QUERY_LAST:
                return put_place(out, query, (field == PAIRALIGN_QUERY_FIRST) != turns_query());
            case PAIRALIGN_TARGET_FIRST:
            case PAIRALIGN_TARGET_LAST:
                return put_place(out, target, (field == PAIRALIGN_TARGET_FIRST) != turns_target());
            case PAIRALIGN_STRAND:
                *out++ = pair.minus ? '-' : '+';
                return out;
            case PAIRALIGN_TARGET_STRAND:
                return pair.minus ? put(out, "minus") : put(out, "plus");
            case PAIRALIGN_BTOP:
                return put_btop(out);
            case PAIRALIGN_PERCENT_COVERAGE:
                return put_percent(out, query.end - query.start, query.length, 0);
            case PAIRALIGN_PERCENT_COVERAGE_PAIR: {
                const int32_t* const covered = exchanged ? text.target_covered : text.query_covered;
                const int64_t own = query.end - query.start;
                return put_percent(out, covered == nullptr ? own : covered[pair.place], query.length, 0);
            }
            default:
                return put_identity(out, field);
        }
    }

    // Writes where a span begins or ends, counted from 1, both ends included.
    char* put_place(char* out, const Side& side, bool is_start) const {
        return put_number(out, is_start ? side.start + 1 : side.end);
    }

    bool turns_query() const { return pair.minus && text.along_query == 0; }
    bool turns_target() const { return pair.minus && text.along_query != 0; }
    bool is_backwards() const { return pair.minus && (text.along_query != 0) != exchanged; }

    // Calls visit(op, length) for each run, in the order and with the operations of this row's columns.
    template <typename Visit>
    void for_each_own_run(Visit visit) const {
        for (int64_t r = 0; r < pair.run_count; ++r) {
            const uint32_t run = pair.runs[is_backwards() ? pair.run_count - 1 - r : r];
            const uint32_t op = run & 15;
            const bool is_other = exchanged && (op == kInsertion || op == kDeletion);
            visit(is_other ? op ^ kInsertion ^ kDeletion : op, run >> 4);
        }
    }

    char* put_side(char* out, const Side& side, bool turned, uint32_t gap_op) const {
        if (!pair.minus) {
            const uint32_t own_gap = exchanged ? gap_op ^ kInsertion ^ kDeletion : gap_op;
            return put_row(out, pair, side, own_gap, false);
        }
        Residues residues(side, turned);
        for_each_own_run([&](uint32_t op, int64_t length) {
            for (int64_t k = 0; k < length; ++k) *out++ = op == gap_op ? '-' : residues.next();
        });
        return out;
    }

    // Matches as their number, other columns as the residues of query and target.
    char* put_btop(char* out) const {
        Residues query(pair.query, turns_query()), target(pair.target, turns_target());
        uint64_t equal = 0;
        for_each_own_run([&](uint32_t op, int64_t length) {
            for (int64_t k = 0; k < length; ++k) {
                const char residues[2] = {op == kDeletion ? '-' : in_capital(query.next()),
                                          op == kInsertion ? '-' : in_capital(target.next())};
                if (op == kMatch) {
                    ++equal;
                    continue;
                }
                if (equal > 0) out = put_unsigned(out, equal);
                equal = 0;
                out = put(out, residues, 2);
            }
        });
        return equal > 0 ? put_unsigned(out, equal) : out;
    }

    // The pair with query and target as its runs have them.
    Pair straight() const {
        Pair found = pair;
        if (exchanged) std::swap(found.query, found.target);
        return found;
    }
    int64_t positives() const { return count_positives(text, straight()); }

    const double* log_evalue() const { return exchanged ? text.log_evalue_exchanged : text.log_evalue; }
};

// The most bytes that a value needs; names may have quotes, which are doubled.
inline int64_t field_bytes(const Pair& pair, int32_t field) {
    switch (field) {
        case PAIRALIGN_QUERY:
        case PAIRALIGN_TARGET:
            return 2 * std::max(pair.query.name_bytes, pair.target.name_bytes) + 2;
        case PAIRALIGN_QUERY_TITLE:
        case PAIRALIGN_TARGET_TITLE:
            return 2 * std::max(pair.query.title_bytes, pair.target.title_bytes) + 2;
        case PAIRALIGN_BTOP:
            return 2 * pair.columns + kSlack;
        case PAIRALIGN_CIGAR:
            return 4 * pair.run_count + 6 * (pair.columns / kTableLength) + kSlack;
        case PAIRALIGN_QUERY_ALIGNED:
        case PAIRALIGN_TARGET_ALIGNED:
        case PAIRALIGN_CONFIDENCE:
            return pair.columns + kSlack;
        default:
            return 32;  // a number
    }
}

}  // namespace pairalign::text
