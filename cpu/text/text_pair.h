// What the formats share: numbers, and a pair gathered from its columns. Internal to cpu/text.
#pragma once

#include <array>
#include <cstring>

#include "text.h"

namespace pairalign::text {

constexpr int64_t kSlack = 16;                  // bytes that a store may write past the end of its text
constexpr int kWidth = 50;                      // residues a line of srspair
constexpr int kNameWidth = 13;                  // characters of a name in front of such a line
constexpr int64_t kNumber = 11;                 // bytes of any int32 as text
constexpr int64_t kFixed = 16 * (kNumber + 8);  // all numbers and tags of one PAF or TSV line
constexpr uint32_t kTableLength = 256;          // runs shorter than this are in the table

// A CIGAR run: length << 4 | op, SAM's op codes.
enum Op : uint32_t { kInsertion = 1, kDeletion = 2, kMatch = 7, kMismatch = 8 };

constexpr std::array<char, 200> make_two_digits() {
    std::array<char, 200> digits{};
    for (int i = 0; i < 100; ++i) {
        digits[2 * i] = static_cast<char>('0' + i / 10);
        digits[2 * i + 1] = static_cast<char>('0' + i % 10);
    }
    return digits;
}
constexpr std::array<char, 200> kTwoDigits = make_two_digits();

// ---- numbers and words ---------------------------------------------------------------------

inline char* put(char* out, const char* bytes, int64_t size) {
    std::memcpy(out, bytes, static_cast<size_t>(size));
    return out + size;
}

template <size_t N>
inline char* put(char* out, const char (&literal)[N]) {
    return put(out, literal, static_cast<int64_t>(N - 1));
}

inline char* put_unsigned(char* out, uint64_t value) {
    if (value < 10) {
        *out = static_cast<char>('0' + value);
        return out + 1;
    }
    char digits[20];
    char* at = digits + sizeof digits;
    while (value >= 100) {
        at -= 2;
        std::memcpy(at, &kTwoDigits[2 * (value % 100)], 2);
        value /= 100;
    }
    if (value >= 10) {
        at -= 2;
        std::memcpy(at, &kTwoDigits[2 * value], 2);
    } else {
        *--at = static_cast<char>('0' + value);
    }
    return put(out, at, digits + sizeof digits - at);
}

// Whether a table has a name as it is: `quoted` of pairalign/base/texts.py says which stand between quotes.
inline bool is_plain_name(const char* name, int64_t size) {
    return size == 0 || (std::memchr(name, '"', static_cast<size_t>(size)) == nullptr && *name != '=' &&
                         *name != '+' && *name != '-' && *name != '@');
}

// A name in a table: where it is not plain, between quotes, its own doubled, as readers expect.
inline char* put_quoted(char* out, const char* name, int64_t size) {
    if (is_plain_name(name, size)) return put(out, name, size);
    *out++ = '"';
    for (int64_t k = 0; k < size; ++k) {
        if (name[k] == '"') *out++ = '"';
        *out++ = name[k];
    }
    *out++ = '"';
    return out;
}

// Right-aligned in a field of `width` characters, wider when the number is.
inline char* put_padded(char* out, int64_t value, int width) {
    char digits[20];
    const int64_t size = put_unsigned(digits, static_cast<uint64_t>(value)) - digits;
    for (int64_t i = size; i < width; ++i) *out++ = ' ';
    return put(out, digits, size);
}

// raw / 10^decimals, exact; zeros at the end are left out down to `least` decimals.
inline char* put_score(char* out, int32_t raw, int32_t decimals, int32_t least) {
    int64_t size = raw;
    if (size < 0) {
        *out++ = '-';
        size = -size;
    }
    if (decimals == 0 && least == 0) return put_unsigned(out, static_cast<uint64_t>(size));  // nearly always
    int64_t scale = 1;
    for (int32_t i = 0; i < decimals; ++i) scale *= 10;
    out = put_unsigned(out, static_cast<uint64_t>(size / scale));
    int64_t fraction = size % scale;
    int32_t shown = decimals;
    while (shown > least && fraction % 10 == 0) {
        fraction /= 10;
        --shown;
    }
    const int32_t places = shown > least ? shown : least;
    if (places == 0) return out;
    *out++ = '.';
    for (int32_t i = places; i-- > 0;) {  // a scale of 1 has no fraction: fills up with zeros
        out[i] = static_cast<char>('0' + fraction % 10);
        fraction /= 10;
    }
    return out + places;
}

// ---- a pair ----------------------------------------------------------------------------------

struct Side {
    const char* name;
    int64_t name_bytes;
    const char* title;
    int64_t title_bytes;
    const char* qualities;    // of the whole sequence; null: not known
    const uint8_t* residues;  // of the whole sequence
    const uint8_t* codes;
    const uint8_t* blob_end;   // end of all residues of the set: short copies may read up to here
    const uint8_t* codes_end;  // the same of codes
    int64_t length;
    int64_t start, end;  // the aligned span
};

struct Pair {
    int64_t place;  // among the pairs of the slab
    Side query, target;
    int32_t raw_score;
    int64_t matches, mismatches, gap_openings, gap_residues, columns;
    const uint32_t* runs;
    int64_t run_count;
    bool minus;    // the query is reverse-complemented
    uint8_t kind;  // pairalign_overlap_kind or 0
};

inline bool resolve_side(const pairalign_text_set& set, int32_t index, Side& side) {
    if (index < 0 || index >= set.count) return false;
    side.name = set.names + set.name_offsets[index];
    side.name_bytes = set.name_offsets[index + 1] - set.name_offsets[index];
    side.title = set.titles == nullptr ? nullptr : set.titles + set.title_offsets[index];
    side.title_bytes = set.titles == nullptr ? 0 : set.title_offsets[index + 1] - set.title_offsets[index];
    side.qualities = set.qualities == nullptr ? nullptr : set.qualities + set.offsets[index];
    side.residues = set.residues + set.offsets[index];
    side.codes = set.codes + set.offsets[index];
    side.blob_end = set.residues + set.offsets[set.count];
    side.codes_end = set.codes + set.offsets[set.count];
    side.length = set.offsets[index + 1] - set.offsets[index];
    side.start = side.end = 0;
    return true;
}

inline bool sound_span(const Side& side) {
    return side.start >= 0 && side.start <= side.end && side.end <= side.length;
}

// Gather the columns of pair `k`. False when they make no sense.
inline bool resolve(const pairalign_text& text, int64_t k, Pair& pair) {
    if (!resolve_side(text.queries, text.query[k], pair.query) ||
        !resolve_side(text.targets, text.target[k], pair.target))
        return false;
    pair.place = k;
    pair.raw_score = text.raw_score[k];
    pair.columns = 0;
    pair.run_count = 0;
    pair.minus = text.strand != nullptr && text.strand[k] < 0;
    pair.kind = text.kind == nullptr ? 0 : text.kind[k];
    if (text.matches == nullptr) return true;
    pair.query.start = text.query_start[k];
    pair.query.end = text.query_end[k];
    pair.target.start = text.target_start[k];
    pair.target.end = text.target_end[k];
    pair.matches = text.matches[k];
    pair.mismatches = text.mismatches[k];
    pair.gap_openings = text.gap_openings[k];
    pair.gap_residues = text.gap_residues[k];
    pair.columns = pair.matches + pair.mismatches + pair.gap_residues;
    if (!sound_span(pair.query) || !sound_span(pair.target)) return false;
    if (pair.matches < 0 || pair.mismatches < 0 || pair.gap_residues < 0 || pair.gap_openings < 0)
        return false;
    if (text.cigar == nullptr) return true;
    pair.runs = text.cigar + text.cigar_offsets[k];
    pair.run_count = text.cigar_offsets[k + 1] - text.cigar_offsets[k];
    return pair.run_count >= 0 && pair.run_count <= pair.columns;
}

// How sure each column of a pair is; its marks lie together, one a column.
inline bool has_confidence(const pairalign_text& text, const Pair& pair) {
    return text.confidence != nullptr &&
           text.confidence_offsets[pair.place + 1] - text.confidence_offsets[pair.place] == pair.columns;
}
inline char* put_confidence(char* out, const pairalign_text& text, const Pair& pair) {
    return put(out, text.confidence + text.confidence_offsets[pair.place], pair.columns);
}

// Columns of the rows as FASTA and srspair show them: with the free end gaps when `whole`.
inline int64_t row_columns(const pairalign_text& text, const Pair& pair) {
    if (!text.whole) return pair.columns;
    return pair.columns + pair.query.start + pair.target.start + (pair.query.length - pair.query.end) +
           (pair.target.length - pair.target.end);
}

// The rows of a pair in full, before they are cut into blocks. They live behind the text that is
// being written: the bound of a pair includes them.
struct Rows {
    int64_t columns;
    char* query;  // residues and '-'
    char* target;
    char* markup;  // '|' equal, ':' similar, '.' other, ' ' gap

    static constexpr int64_t bytes(int64_t columns) { return 5 * (columns + kSlack); }
};

// Bytes that a line of PAF, TSV or GFA needs at most; names may have quotes to double.
inline int64_t line_bytes(const pairalign_text& text, int64_t names, int64_t runs, int64_t columns) {
    names = 2 * names + 4;
    if (text.matches == nullptr) return names + 2 * (kNumber + 8) + kSlack;  // names and a score
    // Runs in the table are at most 4 bytes, others at most 10, and those have 256 residues.
    return (text.dual ? 2 : 1) * (names + kFixed + 4 * runs + 6 * (columns / kTableLength)) + kSlack;
}

}  // namespace pairalign::text
