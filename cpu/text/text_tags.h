// Tags that show residues: minimap2's cs and SAM's MD; and CIGARs with M in the place of = and X.
// Internal to cpu/text.
//
// All are written of pairs whose runs fit their spans (`runs_fit`), so that no residue outside is read.
#pragma once

#include "text_cigar.h"
#include "text_rows.h"

namespace pairalign::text {

// The residue opposite: of DNA and RNA with IUPAC's codes; others stay.
struct Complement {
    char letters[256];
    Complement() {
        constexpr char from[] = "ACGTURYSWKMBDHVN", to[] = "TGCAAYRSWMKVHDBN";
        for (int k = 0; k < 256; ++k) letters[k] = static_cast<char>(k);
        for (int k = 0; from[k] != 0; ++k) {
            letters[static_cast<int>(from[k])] = to[k];
            letters[from[k] - 'A' + 'a'] = static_cast<char>(to[k] - 'A' + 'a');
        }
    }
};

inline const Complement& complement() {
    static const Complement kept;
    return kept;
}

// Bytes that cs or MD need at most.
inline int64_t residues_bound(const Pair& pair) { return 3 * pair.columns + 12 * pair.run_count + kSlack; }

// The residues of a span in the order of the alignment.
struct Residues {
    const uint8_t* at;
    bool is_turned;

    Residues(const Side& side, bool turned)
        : at(side.residues + (turned ? side.end - 1 : side.start)), is_turned(turned) {}
    char next() { return is_turned ? complement().letters[*at--] : static_cast<char>(*at++); }
};

inline char in_small(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter | 32) : letter;
}
inline char in_capital(char letter) {
    return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter & ~32) : letter;
}

// `exchanged`: the sides of the pair have changed places, its runs have not. The text runs along the target.
inline char* put_cs(char* out, const Pair& pair, bool exchanged) {
    Residues query(pair.query, pair.minus), target(pair.target, false);
    const bool backwards = exchanged && pair.minus;
    for (int64_t r = 0; r < pair.run_count; ++r) {
        const uint32_t run = pair.runs[backwards ? pair.run_count - 1 - r : r];
        const uint32_t op = run & 15, length = run >> 4;
        if (op == kMatch) {
            *out++ = ':';
            out = put_unsigned(out, length);
            for (uint32_t k = 0; k < length; ++k) query.next(), target.next();
        } else if (op == kMismatch) {
            for (uint32_t k = 0; k < length; ++k) {
                *out++ = '*';
                *out++ = in_small(target.next());
                *out++ = in_small(query.next());
            }
        } else {
            const bool inserted = (op == kInsertion) != exchanged;
            *out++ = inserted ? '+' : '-';
            for (uint32_t k = 0; k < length; ++k) *out++ = in_small(inserted ? query.next() : target.next());
        }
    }
    return out;
}

inline char* put_md(char* out, const Pair& pair) {
    Residues target(pair.target, false);
    uint64_t equal = 0;
    for (int64_t r = 0; r < pair.run_count; ++r) {
        const uint32_t op = pair.runs[r] & 15, length = pair.runs[r] >> 4;
        if (op == kMatch) {
            equal += length;
            target.at += length;
        } else if (op != kInsertion) {
            for (uint32_t k = 0; k < length; ++k) {
                if (op == kMismatch || k == 0) out = put_unsigned(out, equal);
                if (op == kDeletion && k == 0) *out++ = '^';
                equal = 0;
                *out++ = in_capital(target.next());
            }
        }
    }
    return put_unsigned(out, equal);
}

// A CIGAR of M, I and D. Needs no more bytes than `put_cigar_turned`.
inline char* put_plain_cigar(char* out, const Pair& pair, bool backwards, bool exchanged) {
    uint64_t length = 0;
    char letter = 0;
    for (int64_t r = 0; r <= pair.run_count; ++r) {
        char next = 0;
        uint64_t more = 0;
        if (r < pair.run_count) {
            const uint32_t run = pair.runs[backwards ? pair.run_count - 1 - r : r];
            const uint32_t op = run & 15;
            const bool is_gap = op == kInsertion || op == kDeletion;
            next = !is_gap ? 'M' : (op == kInsertion) != exchanged ? 'I' : 'D';
            more = run >> 4;
        }
        if (next == letter) {
            length += more;
            continue;
        }
        if (letter != 0) {
            out = put_unsigned(out, length);
            *out++ = letter;
        }
        letter = next;
        length = more;
    }
    return out;
}

}  // namespace pairalign::text
