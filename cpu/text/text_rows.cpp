// Rows of alignments: FASTA pairs and EMBOSS srspair. The contract is in text.h.

#include "text_format.h"
#include "text_rows.h"

namespace pairalign::text {
namespace {

constexpr int64_t kFastaHeader = 128;    // bytes of a header line at most, less the name
constexpr int64_t kSrspairHeader = 512;  // bytes of a pair's header at most, less names and parameters
constexpr char kKinds[17] = "       |.       ";  // markup of an op; '.' may become ':'

char* put_fasta_row(char* out, const pairalign_text& text, const Pair& pair, const Side& side,
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
    out = put_row(out, pair, side, gap_op, text.whole);
    *out++ = '\n';
    return out;
}

// Needs CIGARs.
struct Fasta {
    static constexpr bool kByPairs = true;

    explicit Fasta(const pairalign_text&) {}
    static bool shown(const Pair& pair) { return pair.columns > 0; }
    static int64_t bound(const pairalign_text& text, const Pair& pair) {
        const int64_t names = pair.query.name_bytes + pair.target.name_bytes;
        return 2 * row_columns(text, pair) + names + 2 * kFastaHeader + kSlack;
    }
    [[gnu::noinline]] char* put(char* out, const pairalign_text& text, const Pair& pair,
                                int64_t number) const {
        if (!runs_fit(pair)) return nullptr;
        out = put_fasta_row(out, text, pair, pair.query, kDeletion, number);
        return put_fasta_row(out, text, pair, pair.target, kInsertion, number);
    }
};

// Markup of an aligned pair that is not equal, by its two codes.
struct Markup {
    char other[32][32];

    explicit Markup(const int32_t* matrix) {
        for (int i = 0; i < 32 * 32; ++i) other[i / 32][i % 32] = matrix[i] > 0 ? ':' : '.';
    }
};

Rows make_rows(const pairalign_text& text, const Pair& pair, const Markup& markup, char* scratch) {
    const int64_t columns = row_columns(text, pair);
    const int64_t stride = columns + kSlack;
    const Rows rows{columns, scratch, scratch + stride, scratch + 2 * stride};
    char* const query_codes = scratch + 3 * stride;
    char* const target_codes = scratch + 4 * stride;
    int64_t q = text.whole ? 0 : pair.query.start;
    int64_t t = text.whole ? 0 : pair.target.start;
    int64_t at = 0;
    for_each_run(pair, text.whole, [&](uint32_t op, int64_t length) {
        const Side &query = pair.query, &target = pair.target;
        const bool in_query = op != kDeletion, in_target = op != kInsertion;
        put_run(rows.query + at, query.residues + q, !in_query, length, query.blob_end);
        put_run(rows.target + at, target.residues + t, !in_target, length, target.blob_end);
        put_run(query_codes + at, query.codes + q, !in_query, length, query.codes_end);
        put_run(target_codes + at, target.codes + t, !in_target, length, target.codes_end);
        const int kind = kKinds[op];
        if (__builtin_expect(length <= kSlack, 1)) std::memset(rows.markup + at, kind, kSlack);
        else std::memset(rows.markup + at, kind, static_cast<size_t>(length));
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

char* put_srspair_header(char* out, const pairalign_text& text, const Pair& pair, const Rows& rows) {
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

// What stands before the residues in the lines of one sequence, and how far they have come.
struct Margin {
    char name[4 * kNameWidth];
    int64_t name_bytes = 0;
    int64_t position;  // residues of the sequence before the line, its overhang included

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
        int64_t residues = width;
        for (int64_t i = 0; i < width; ++i) residues -= row[i] == '-';
        out = put(out, name, name_bytes);
        *out++ = ' ';
        // A row of gaps only repeats the last position.
        out = put_padded(out, position + (residues > 0 ? 1 : 0), 6);
        *out++ = ' ';
        out = put(out, row, width);
        *out++ = ' ';
        position += residues;
        out = put_padded(out, position, 6);
        *out++ = '\n';
        return out;
    }
};

char* put_block(char* out, const Rows& rows, int64_t from, int64_t width, Margin& query, Margin& target) {
    out = query.put_line(out, rows.query + from, width);
    out = put(out, "                     ");
    out = put(out, rows.markup + from, width);
    *out++ = '\n';
    out = target.put_line(out, rows.target + from, width);
    *out++ = '\n';
    return out;
}

// Needs CIGARs and the matrix.
struct Srspair {
    static constexpr bool kByPairs = true;

    explicit Srspair(const pairalign_text& text) : markup(text.matrix) {}
    static bool shown(const Pair& pair) { return pair.columns > 0; }
    static int64_t bound(const pairalign_text& text, const Pair& pair) {
        // Per block two rows of name (UTF-8: up to 4 bytes a character), numbers and
        // residues, the markup and an empty line.
        const int64_t names = pair.query.name_bytes + pair.target.name_bytes;
        const int64_t row = 4 * kNameWidth + 2 * (kNumber + 1) + kWidth + 2;
        const int64_t blocks = row_columns(text, pair) / kWidth + 1;
        return blocks * (2 * row + kNameWidth + 8 + kWidth + 2) + names + text.block_header_bytes +
               kSrspairHeader + Rows::bytes(row_columns(text, pair));
    }
    [[gnu::noinline]] char* put(char* out, const pairalign_text& text, const Pair& pair, int64_t) const {
        if (!runs_fit(pair)) return nullptr;
        char* const behind = out + bound(text, pair) - Rows::bytes(row_columns(text, pair));
        const Rows rows = make_rows(text, pair, markup, behind);
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

    Markup markup;
};

}  // namespace
}  // namespace pairalign::text

PAIRALIGN_TEXT_FORMAT(fasta, pairalign::text::Fasta)
PAIRALIGN_TEXT_FORMAT(srspair, pairalign::text::Srspair)
