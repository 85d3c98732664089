// The table of what was found of records, a line each. The ctypes declaration is in
// pairalign/alignments/alignment_records.py.

#include <cstdio>
#include <cstring>

#include "record.h"

struct pairalign_finding_lines {
    const char* text;  // of the names
    const pairalign_record* records;
    const pairalign_finding* findings;
    const char* details;         // of each record with faults: their names, a tab, a sentence
    const int64_t* detail_ends;  // [records with faults]
    const int64_t* optima;       // [count] raw, INT64_MIN: none; null: no columns for them
    const int64_t* below;        // [count] the same
    int64_t count;
    int64_t first_record;  // numbers of the first record and of the text's first line
    int64_t first_line;
    int32_t decimals;  // of raw scores
    int32_t quoted;    // whether names that have quotes are between quotes in the text
};

namespace {

char* put(char* out, const char* text, int64_t bytes) {
    std::memcpy(out, text, static_cast<size_t>(bytes));
    return out + bytes;
}

// A name as tables have it, see `quoted` of pairalign/base/texts.py.
char* put_name(char* out, const char* name, int64_t bytes, bool quoted) {
    const auto begins = [&](char mark) { return *name == mark; };
    if (quoted || bytes == 0 ||
        (std::memchr(name, '"', static_cast<size_t>(bytes)) == nullptr && !begins('=') && !begins('+') &&
         !begins('-') && !begins('@')))
        return put(out, name, bytes);
    *out++ = '"';
    for (int64_t k = 0; k < bytes; ++k) {
        if (name[k] == '"') *out++ = '"';
        *out++ = name[k];
    }
    *out++ = '"';
    return out;
}

char* put_number(char* out, int64_t value) {
    char digits[20];
    int count = 0;
    uint64_t size = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    do {
        digits[count++] = static_cast<char>('0' + size % 10);
        size /= 10;
    } while (size != 0);
    if (value < 0) *out++ = '-';
    while (count > 0) *out++ = digits[--count];
    return out;
}

// A number of so many decimals, without zeros at its end.
char* put_decimal(char* out, int64_t value, int decimals) {
    int64_t unit = 1;
    while (decimals > 0 && value % 10 == 0) {
        value /= 10;
        decimals--;
    }
    for (int k = 0; k < decimals; ++k) unit *= 10;
    if (value < 0) *out++ = '-';
    const uint64_t size = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    out = put_number(out, static_cast<int64_t>(size / static_cast<uint64_t>(unit)));
    if (decimals == 0) return out;
    *out++ = '.';
    for (uint64_t rest = size % static_cast<uint64_t>(unit); unit > 1;) {
        unit /= 10;
        *out++ = static_cast<char>('0' + rest / static_cast<uint64_t>(unit));
        rest %= static_cast<uint64_t>(unit);
    }
    return out;
}

char* put_score(char* out, bool known, int64_t score, int decimals) {
    *out++ = '\t';
    if (known) return put_decimal(out, score, decimals);
    *out++ = '*';
    return out;
}

}  // namespace

// Bytes that a line needs at most beside twice its names, and details.
PAIRALIGN_API int64_t pairalign_finding_line_bytes() { return 256; }

// Writes the lines; returns how many bytes.
PAIRALIGN_API int64_t pairalign_put_findings(const pairalign_finding_lines* of, char* out) {
    char* const begin = out;
    int64_t detail = 0, wrong = 0;
    for (int64_t k = 0; k < of->count; ++k) {
        const pairalign_record& record = of->records[k];
        const pairalign_finding& finding = of->findings[k];
        out = put_number(out, of->first_record + record.number);
        *out++ = '\t';
        out = put_number(out, of->first_line + record.line);
        *out++ = '\t';
        out = put_name(out, of->text + record.query_name, record.query_name_bytes, of->quoted);
        *out++ = '\t';
        out = put_name(out, of->text + record.target_name, record.target_name_bytes, of->quoted);
        *out++ = '\t';
        if (finding.faults == 0) {
            out = put(out, "ok\t", 3);
        } else {
            out = put(out, of->details + detail, of->detail_ends[wrong] - detail);
            detail = of->detail_ends[wrong++];
        }
        out = put_score(out, finding.scored != 0, finding.score, of->decimals);
        const int64_t said = record.says[PAIRALIGN_SAYS_SCORE];
        out = put_score(out, said != PAIRALIGN_UNSAID, said, record.decimals[PAIRALIGN_SAYS_SCORE]);
        if (of->optima != nullptr) {
            out = put_score(out, of->optima[k] != INT64_MIN, of->optima[k], of->decimals);
            out = put_score(out, of->below[k] != INT64_MIN, of->below[k], of->decimals);
        }
        *out++ = '\n';
    }
    return out - begin;
}
