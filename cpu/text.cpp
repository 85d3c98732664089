// Text of alignments; the contract is in text.h.
//
// Most runs of a CIGAR are short, so the time goes into runs, not letters: a table holds the text
// of every run shorter than 256, and the loop over runs is a load, a store and an add. Stores write a
// few bytes more than they need (kSlack); bounds include that.

#include "text.h"

#include <array>
#include <cstring>

namespace {

constexpr int64_t kSlack = 16;        // bytes that a store may write past the end of its text
constexpr uint8_t kGaps[kSlack + 1] = "----------------";
constexpr int kWidth = 50;            // letters a line of srspair
constexpr int kNameWidth = 13;        // characters of a name in front of such a line
constexpr int64_t kNumber = 11;       // bytes of any int32 as text
constexpr int64_t kFixed = 16 * (kNumber + 8);  // all numbers and tags of one PAF or TSV line

// A CIGAR run: length << 4 | op, SAM's op codes.
enum Op : uint32_t { kInsertion = 1, kDeletion = 2, kMatch = 7, kMismatch = 8 };
constexpr char kKinds[17] = "       |.       ";  // markup of an op; '.' may become ':'
constexpr char kOpLetters[17] = "MIDNSHP=X???????";
constexpr uint32_t kTableLength = 256;  // runs shorter than this are in the table

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
constexpr std::array<RunText, kTableLength * 16> kRunTable = make_run_table();

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

// Right-aligned in a field of `width` characters, wider when the number is.
inline char* put_padded(char* out, int64_t value, int width) {
    char digits[20];
    const int64_t size = put_unsigned(digits, static_cast<uint64_t>(value)) - digits;
    for (int64_t i = size; i < width; ++i) *out++ = ' ';
    return put(out, digits, size);
}

// raw / 10^decimals, exact; zeros at the end are left out down to `least` decimals.
inline char* put_score(char* out, int32_t raw, int32_t decimals, int32_t least) {
    int64_t scale = 1;
    for (int32_t i = 0; i < decimals; ++i) scale *= 10;
    int64_t size = raw;
    if (size < 0) {
        *out++ = '-';
        size = -size;
    }
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

// ---- a pair ----------------------------------------------------------------------------------

struct Side {
    const char* name;
    int64_t name_bytes;
    const uint8_t* letters;  // of the whole sequence
    const uint8_t* codes;
    const uint8_t* blob_end;   // end of all letters of the set: short copies may read up to here
    const uint8_t* codes_end;  // the same of codes
    int64_t length;
    int64_t start, end;  // the aligned span
};

struct Pair {
    Side query, target;
    int32_t raw_score;
    int64_t matches, mismatches, gap_openings, gap_letters, columns;
    const uint32_t* runs;
    int64_t run_count;
};

inline bool resolve_side(const PairalignTextSet& set, int32_t index, Side& side) {
    if (index < 0 || index >= set.count) return false;
    side.name = set.names + set.name_offsets[index];
    side.name_bytes = set.name_offsets[index + 1] - set.name_offsets[index];
    side.letters = set.letters + set.offsets[index];
    side.codes = set.codes + set.offsets[index];
    side.blob_end = set.letters + set.offsets[set.count];
    side.codes_end = set.codes + set.offsets[set.count];
    side.length = set.offsets[index + 1] - set.offsets[index];
    side.start = side.end = 0;
    return true;
}

inline bool sound_span(const Side& side) {
    return side.start >= 0 && side.start <= side.end && side.end <= side.length;
}

// Gather the columns of pair `k`. False when they make no sense.
inline bool resolve(const PairalignText& text, int64_t k, Pair& pair) {
    if (!resolve_side(text.queries, text.query[k], pair.query) ||
        !resolve_side(text.targets, text.target[k], pair.target))
        return false;
    pair.raw_score = text.raw_score[k];
    pair.columns = 0;
    pair.run_count = 0;
    if (text.matches == nullptr) return true;
    pair.query.start = text.query_start[k];
    pair.query.end = text.query_end[k];
    pair.target.start = text.target_start[k];
    pair.target.end = text.target_end[k];
    pair.matches = text.matches[k];
    pair.mismatches = text.mismatches[k];
    pair.gap_openings = text.gap_openings[k];
    pair.gap_letters = text.gap_letters[k];
    pair.columns = pair.matches + pair.mismatches + pair.gap_letters;
    if (!sound_span(pair.query) || !sound_span(pair.target)) return false;
    if (pair.matches < 0 || pair.mismatches < 0 || pair.gap_letters < 0 || pair.gap_openings < 0)
        return false;
    if (text.cigar == nullptr) return true;
    pair.runs = text.cigar + text.cigar_offsets[k];
    pair.run_count = text.cigar_offsets[k + 1] - text.cigar_offsets[k];
    return pair.run_count >= 0 && pair.run_count <= pair.columns;
}

inline bool shown(const PairalignText& text, const Pair& pair) {
    return text.format == PAIRALIGN_TSV || pair.columns > 0;
}

// Columns of the rows as FASTA and srspair show them: with the free end gaps when `whole`.
inline int64_t row_columns(const PairalignText& text, const Pair& pair) {
    if (!text.whole) return pair.columns;
    return pair.columns + pair.query.start + pair.target.start +
           (pair.query.length - pair.query.end) + (pair.target.length - pair.target.end);
}

// The rows of a pair in full, before they are cut into blocks. They live behind the text that is
// being written: the bound of a pair includes them.
struct Rows {
    int64_t columns;
    char* query;   // letters and '-'
    char* target;
    char* markup;  // '|' equal, ':' similar, '.' other, ' ' gap

    static constexpr int64_t bytes(int64_t columns) { return 5 * (columns + kSlack); }
};

// Bytes that the text of a pair needs at most.
inline int64_t bound(const PairalignText& text, const Pair& pair) {
    const int64_t names = pair.query.name_bytes + pair.target.name_bytes;
    switch (text.format) {
        case PAIRALIGN_FASTA:
            return 2 * row_columns(text, pair) + names + 2 * 128 + kSlack;
        case PAIRALIGN_SRSPAIR: {
            // Per block two rows of name (UTF-8: up to 4 bytes a character), numbers and
            // letters, the markup and an empty line.
            const int64_t row = 4 * kNameWidth + 2 * (kNumber + 1) + kWidth + 2;
            const int64_t blocks = row_columns(text, pair) / kWidth + 1;
            return blocks * (2 * row + kNameWidth + 8 + kWidth + 2) + names +
                   text.block_header_bytes + 512 + Rows::bytes(row_columns(text, pair));
        }
        default:
            // Runs in the table are at most 4 bytes, others at most 10, and those have 256 letters.
            return names + kFixed + 4 * pair.run_count + 6 * (pair.columns / kTableLength) + kSlack;
    }
}

// ---- PAF and TSV -------------------------------------------------------------------------------

// Returns null when the runs have more letters than the pair has columns.
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

inline char* put_tab_number(char* out, int64_t value) {
    *out++ = '\t';
    return put_unsigned(out, static_cast<uint64_t>(value));
}

inline char* put_span(char* out, const Side& side) {
    out = put_tab_number(out, side.length);
    out = put_tab_number(out, side.start);
    return put_tab_number(out, side.end);
}

char* put_paf(char* out, const PairalignText& text, const Pair& pair) {
    out = put(out, pair.query.name, pair.query.name_bytes);
    out = put_span(out, pair.query);
    out = put(out, "\t+\t");
    out = put(out, pair.target.name, pair.target.name_bytes);
    out = put_span(out, pair.target);
    out = put_tab_number(out, pair.matches);
    out = put_tab_number(out, pair.columns);
    out = put(out, "\t255\tNM:i:");
    out = put_unsigned(out, static_cast<uint64_t>(pair.mismatches + pair.gap_letters));
    out = text.decimals == 0 ? put(out, "\tAS:i:") : put(out, "\tAS:f:");
    out = put_score(out, pair.raw_score, text.decimals, 0);
    if (text.cigar != nullptr) {
        out = put(out, "\tcg:Z:");
        out = put_cigar(out, pair);
        if (out == nullptr) return nullptr;
    }
    *out++ = '\n';
    return out;
}

char* put_tsv(char* out, const PairalignText& text, const Pair& pair) {
    out = put(out, pair.query.name, pair.query.name_bytes);
    *out++ = '\t';
    out = put(out, pair.target.name, pair.target.name_bytes);
    *out++ = '\t';
    out = put_score(out, pair.raw_score, text.decimals, 0);
    if (text.matches != nullptr) {
        *out++ = '\t';
        out = put_fraction(out, pair.matches, pair.columns);
        out = put_tab_number(out, pair.columns);
        out = put_tab_number(out, pair.matches);
        out = put_tab_number(out, pair.mismatches);
        out = put_tab_number(out, pair.gap_openings);
        out = put_tab_number(out, pair.gap_letters);
        out = put_span(out, pair.query);
        out = put_span(out, pair.target);
    }
    if (text.cigar != nullptr) {
        *out++ = '\t';
        if (pair.run_count == 0) *out++ = '*';
        out = put_cigar(out, pair);
        if (out == nullptr) return nullptr;
    }
    *out++ = '\n';
    return out;
}

// ---- rows: FASTA pairs and srspair -------------------------------------------------------------

// Whether the runs add up to the spans and counts: what makes the row formats safe to write.
bool runs_fit(const Pair& pair) {
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
           int64_t{insertions} + deletions == pair.gap_letters &&
           aligned + insertions == pair.query.end - pair.query.start &&
           aligned + deletions == pair.target.end - pair.target.start;
}

// Call visit(op, length) for every run of the rows, free end gaps included when `whole`.
template <typename Visit>
inline void for_each_run(const PairalignText& text, const Pair& pair, Visit visit) {
    const int64_t edges[4] = {
        pair.query.start,
        pair.target.start,
        pair.query.length - pair.query.end,
        pair.target.length - pair.target.end,
    };
    const int64_t around = text.whole ? 2 : 0;
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

// Copy `size` letters, or write gaps when `gap`. Short runs, nearly all, take one load and one store
// and no branch that depends on the data. `end` guards the load.
inline char* put_run(char* out, const uint8_t* letters, bool gap, int64_t size, const uint8_t* end) {
    if (__builtin_expect(size <= kSlack && end - letters >= kSlack, 1)) {
        std::memcpy(out, choose(gap, kGaps, letters), kSlack);
    } else if (gap) {
        std::memset(out, '-', static_cast<size_t>(size));
    } else {
        std::memcpy(out, letters, static_cast<size_t>(size));
    }
    return out + size;
}

char* put_fasta_row(char* out, const PairalignText& text, const Pair& pair, const Side& side,
                    uint32_t gap_op, int64_t number) {
    *out++ = '>';
    out = put(out, side.name, side.name_bytes);
    out = put(out, " pair=");
    out = put_unsigned(out, static_cast<uint64_t>(number));
    out = put(out, " start=");
    out = put_unsigned(out, static_cast<uint64_t>(side.start));
    out = put(out, " end=");
    out = put_unsigned(out, static_cast<uint64_t>(side.end));
    out = put(out, " score=");
    out = put_score(out, pair.raw_score, text.decimals, 0);
    *out++ = '\n';
    const uint8_t* letters = side.letters + (text.whole ? 0 : side.start);
    for_each_run(text, pair, [&](uint32_t op, int64_t length) {
        const bool gap = op == gap_op;
        out = put_run(out, letters, gap, length, side.blob_end);
        letters += length & -int64_t{!gap};
    });
    *out++ = '\n';
    return out;
}

char* put_fasta(char* out, const PairalignText& text, const Pair& pair, int64_t number) {
    if (!runs_fit(pair)) return nullptr;
    out = put_fasta_row(out, text, pair, pair.query, kDeletion, number);
    return put_fasta_row(out, text, pair, pair.target, kInsertion, number);
}

// Markup of an aligned pair that is not equal, by its two codes.
struct Markup {
    char other[32][32];

    explicit Markup(const int32_t* matrix) {
        for (int i = 0; i < 32 * 32; ++i) other[i / 32][i % 32] = matrix[i] > 0 ? ':' : '.';
    }
};

Rows make_rows(const PairalignText& text, const Pair& pair, const Markup& markup, char* scratch) {
    const int64_t columns = row_columns(text, pair);
    const int64_t stride = columns + kSlack;
    const Rows rows{columns, scratch, scratch + stride, scratch + 2 * stride};
    char* const query_codes = scratch + 3 * stride;
    char* const target_codes = scratch + 4 * stride;
    int64_t q = text.whole ? 0 : pair.query.start;
    int64_t t = text.whole ? 0 : pair.target.start;
    int64_t at = 0;
    for_each_run(text, pair, [&](uint32_t op, int64_t length) {
        const Side &query = pair.query, &target = pair.target;
        const bool in_query = op != kDeletion, in_target = op != kInsertion;
        put_run(rows.query + at, query.letters + q, !in_query, length, query.blob_end);
        put_run(rows.target + at, target.letters + t, !in_target, length, target.blob_end);
        put_run(query_codes + at, query.codes + q, !in_query, length, query.codes_end);
        put_run(target_codes + at, target.codes + t, !in_target, length, target.codes_end);
        const int kind = kKinds[op];
        if (__builtin_expect(length <= kSlack, 1))
            std::memset(rows.markup + at, kind, kSlack);
        else
            std::memset(rows.markup + at, kind, static_cast<size_t>(length));
        at += length;
        q += length & -int64_t{in_query};
        t += length & -int64_t{in_target};
    });
    for (int64_t i = 0; i < columns; ++i) {
        const int other = markup.other[query_codes[i] & 31][target_codes[i] & 31];
        const int mask = -(rows.markup[i] == '.');
        rows.markup[i] = static_cast<char>((other & mask) | (rows.markup[i] & ~mask));
    }
    return rows;
}

// "    32/124 (25.8%)": the percentage rounded half up in integers.
char* put_share(char* out, int64_t part, int64_t total) {
    out = put_padded(out, part, 5);
    *out++ = '/';
    out = put_unsigned(out, static_cast<uint64_t>(total));
    const int64_t tenths = (part * 2000 + total) / (2 * total);
    out = put(out, " (");
    out = put_padded(out, tenths / 10, 2);
    *out++ = '.';
    *out++ = static_cast<char>('0' + tenths % 10);
    return put(out, "%)\n");
}

char* put_srspair_header(char* out, const PairalignText& text, const Pair& pair, const Rows& rows) {
    int64_t similar = pair.matches;
    for (int64_t i = 0; i < rows.columns; ++i) similar += rows.markup[i] == ':';
    out = put(out, "#=======================================\n#\n# Aligned_sequences: 2\n# 1: ");
    out = put(out, pair.query.name, pair.query.name_bytes);
    out = put(out, "\n# 2: ");
    out = put(out, pair.target.name, pair.target.name_bytes);
    *out++ = '\n';
    out = put(out, text.block_header, text.block_header_bytes);
    out = put(out, "#\n# Length: ");
    out = put_unsigned(out, static_cast<uint64_t>(rows.columns));
    out = put(out, "\n# Identity:   ");
    out = put_share(out, pair.matches, rows.columns);
    out = put(out, "# Similarity: ");
    out = put_share(out, similar, rows.columns);
    out = put(out, "# Gaps:       ");
    out = put_share(out, rows.columns - pair.matches - pair.mismatches, rows.columns);
    out = put(out, "# Score: ");
    out = put_score(out, pair.raw_score, text.decimals, 1);
    return put(out, "\n# \n#\n#=======================================\n\n");
}

// What stands before the letters in the lines of one sequence, and how far they have come.
struct Margin {
    char name[4 * kNameWidth];
    int64_t name_bytes = 0;
    int64_t position;  // letters of the sequence before the line, its overhang included

    Margin(const Side& side, bool whole) : position(whole ? 0 : side.start) {
        // Cut and pad to 13 characters, counted as readers count them: not in bytes.
        int characters = 0;
        for (int64_t i = 0; i < side.name_bytes && name_bytes < 4 * kNameWidth; ++i) {
            const bool starts = (static_cast<uint8_t>(side.name[i]) & 0xC0) != 0x80;
            if (starts && characters == kNameWidth) break;
            characters += starts;
            name[name_bytes++] = side.name[i];
        }
        while (characters++ < kNameWidth && name_bytes < 4 * kNameWidth) name[name_bytes++] = ' ';
    }

    char* put_line(char* out, const char* row, int64_t width) {
        int64_t letters = width;
        for (int64_t i = 0; i < width; ++i) letters -= row[i] == '-';
        out = put(out, name, name_bytes);
        *out++ = ' ';
        // A row of gaps only repeats the last position.
        out = put_padded(out, position + (letters > 0 ? 1 : 0), 6);
        *out++ = ' ';
        out = put(out, row, width);
        *out++ = ' ';
        position += letters;
        out = put_padded(out, position, 6);
        *out++ = '\n';
        return out;
    }
};

char* put_block(char* out, const Rows& rows, int64_t from, int64_t width, Margin& query,
                Margin& target) {
    out = query.put_line(out, rows.query + from, width);
    out = put(out, "                     ");
    out = put(out, rows.markup + from, width);
    *out++ = '\n';
    out = target.put_line(out, rows.target + from, width);
    *out++ = '\n';
    return out;
}

char* put_srspair(char* out, const PairalignText& text, const Pair& pair, const Markup& markup) {
    if (!runs_fit(pair)) return nullptr;
    const Rows rows =
        make_rows(text, pair, markup, out + bound(text, pair) - Rows::bytes(row_columns(text, pair)));
    out = put_srspair_header(out, text, pair, rows);
    Margin query(pair.query, text.whole);
    Margin target(pair.target, text.whole);
    int64_t from = 0;
    for (; from + kWidth <= rows.columns; from += kWidth)
        out = put_block(out, rows, from, kWidth, query, target);
    if (from < rows.columns) out = put_block(out, rows, from, rows.columns - from, query, target);
    *out++ = '\n';
    return out;
}

inline char* put_pair(char* out, const PairalignText& text, const Pair& pair, const Markup& markup,
                      int64_t number) {
    switch (text.format) {
        case PAIRALIGN_PAF:
            return put_paf(out, text, pair);
        case PAIRALIGN_TSV:
            return put_tsv(out, text, pair);
        case PAIRALIGN_FASTA:
            return put_fasta(out, text, pair, number);
        case PAIRALIGN_SRSPAIR:
            return put_srspair(out, text, pair, markup);
        default:
            return nullptr;
    }
}

}  // namespace

extern "C" PAIRALIGN_API int64_t pairalign_text_plan(const PairalignText* text, int64_t begin,
                                                     int64_t capacity, int64_t* end,
                                                     int64_t* shown_pairs) {
    int64_t bytes = 0;
    int64_t count = 0;
    int64_t k = begin;
    for (; k < text->pairs; ++k) {
        Pair pair;
        if (!resolve(*text, k, pair)) return -1 - k;
        if (!shown(*text, pair)) continue;
        const int64_t more = bound(*text, pair);
        if (count > 0 && bytes + more > capacity) break;
        bytes += more;
        ++count;
    }
    *end = k;
    *shown_pairs = count;
    return bytes;
}

extern "C" PAIRALIGN_API int64_t pairalign_text_format(const PairalignText* text, int64_t begin,
                                                       int64_t end, int64_t first_number, char* out,
                                                       int64_t capacity) {
    const Markup markup(text->matrix);
    char* at = out;
    int64_t number = first_number;
    for (int64_t k = begin; k < end; ++k) {
        Pair pair;
        if (!resolve(*text, k, pair)) return -1 - k;
        if (!shown(*text, pair)) continue;
        if (bound(*text, pair) > capacity - (at - out)) return -1 - k;
        at = put_pair(at, *text, pair, markup, number++);
        if (at == nullptr) return -1 - k;
    }
    return at - out;
}
