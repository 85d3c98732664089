// CIGARs and quotients as text. Internal to cpu/text.
//
// Most runs of a CIGAR are short, so the time goes into runs, not residues: a table holds the text
// of every run shorter than 256, and the loop over runs is a load, a store and an add. Stores write a
// few bytes more than they need (kSlack); bounds include that.
#pragma once

#include "text_pair.h"

namespace pairalign::text {

inline constexpr char kOpLetters[17] = "MIDNSHP=X???????";

struct RunText {
    char text[4];
    uint32_t size;
};
static_assert(sizeof(RunText) == 8, "one run's text is one aligned load");

constexpr std::array<RunText, kTableLength * 16> make_run_table() {
    std::array<RunText, kTableLength * 16> table{};
    for (uint32_t run = 0; run < kTableLength * 16; ++run) {
        const uint32_t length = run >> 4;
        uint32_t size = 0;
        if (length >= 100) table[run].text[size++] = static_cast<char>('0' + length / 100);
        if (length >= 10) table[run].text[size++] = static_cast<char>('0' + length / 10 % 10);
        table[run].text[size++] = static_cast<char>('0' + length % 10);
        table[run].text[size++] = kOpLetters[run & 15];
        table[run].size = size;
    }
    return table;
}
inline constexpr std::array<RunText, kTableLength * 16> kRunTable = make_run_table();

// part / total rounded half up to 6 decimals in integers: the same text everywhere.
inline char* put_fraction(char* out, int64_t part, int64_t total) {
    int64_t millionths = total == 0 ? 0 : (part * 2000000 + total) / (2 * total);
    *out++ = static_cast<char>('0' + millionths / 1000000);
    *out++ = '.';
    millionths %= 1000000;
    for (int i = 4; i >= 0; i -= 2) {
        std::memcpy(out + i, &kTwoDigits[2 * (millionths % 100)], 2);
        millionths /= 100;
    }
    return out + 6;
}

// Returns null when the runs have more residues than the pair has columns.
inline char* put_cigar(char* out, const Pair& pair) {
    int64_t long_runs_left = pair.columns / kTableLength;
    for (const uint32_t *run = pair.runs, *last = run + pair.run_count; run != last; ++run) {
        if (__builtin_expect(*run < kTableLength * 16, 1)) {
            const RunText& entry = kRunTable[*run];
            std::memcpy(out, entry.text, 4);
            out += entry.size;
        } else {
            if (long_runs_left-- == 0) return nullptr;
            out = put_unsigned(out, *run >> 4);
            *out++ = kOpLetters[*run & 15];
        }
    }
    return out;
}

// The same with the query's strand or the sides' places exchanged: runs backwards, I as D and D as I.
inline char* put_cigar_turned(char* out, const Pair& pair, bool backwards, bool exchanged) {
    int64_t long_runs_left = pair.columns / kTableLength;
    for (int64_t r = 0; r < pair.run_count; ++r) {
        uint32_t run = pair.runs[backwards ? pair.run_count - 1 - r : r];
        const uint32_t op = run & 15;
        if (exchanged && (op == kInsertion || op == kDeletion)) run ^= kInsertion ^ kDeletion;
        if (run >= kTableLength * 16 && long_runs_left-- == 0) return nullptr;
        out = put_unsigned(out, run >> 4);
        *out++ = kOpLetters[run & 15];
    }
    return out;
}

inline char* put_tab_number(char* out, int64_t value) {
    *out++ = '\t';
    return put_unsigned(out, static_cast<uint64_t>(value));
}

}  // namespace pairalign::text
