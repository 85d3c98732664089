// Pairs as small blocks of rows for programs of multiple alignment: Stockholm, MAF, A3M, and T-Coffee's
// library. The contract is in text.h.

#include "text_cigar.h"
#include "text_format.h"
#include "text_rows.h"

namespace pairalign::text {
namespace {

constexpr int64_t kNumbers = 128;  // bytes of the numbers and words of a line at most

// What these formats share: pairs of which nothing is aligned are left out.
struct BlockFormat {
    static constexpr bool kByPairs = true;

    explicit BlockFormat(const pairalign_text&) {}
    static bool shown(const Pair& pair) { return pair.columns > 0; }
    static int64_t bound(const pairalign_text& text, const Pair& pair) {
        const int64_t names = pair.query.name_bytes + pair.target.name_bytes;
        const int64_t rows = text.confidence == nullptr ? 2 : 3;
        return rows * row_columns(text, pair) + names + 4 * kNumbers + kSlack;
    }
};

char* put_span_name(char* out, const pairalign_text& text, const Side& side) {
    out = put(out, side.name, side.name_bytes);
    *out++ = '/';
    out = put_unsigned(out, static_cast<uint64_t>(text.whole ? 1 : side.start + 1));
    *out++ = '-';
    out = put_unsigned(out, static_cast<uint64_t>(text.whole ? side.length : side.end));
    *out++ = ' ';
    return out;
}

// How sure each column of the rows is; free end gaps are gaps.
char* put_marks(char* out, const pairalign_text& text, const Pair& pair) {
    const auto put_gaps = [&](int64_t count) {
        std::memset(out, '.', static_cast<size_t>(count));
        out += count;
    };
    if (text.whole) put_gaps(pair.query.start + pair.target.start);
    out = put_confidence(out, text, pair);
    if (text.whole) put_gaps(pair.query.length - pair.query.end + pair.target.length - pair.target.end);
    return out;
}

// What follows the name in a header, as the description of a row; headers that are but a name have none.
char* put_description(char* out, const pairalign_text& text, const Side& side) {
    int64_t at = side.name_bytes;
    if (side.title_bytes < at || std::memcmp(side.title, side.name, static_cast<size_t>(at)) != 0) return out;
    while (at < side.title_bytes && side.title[at] == ' ') ++at;
    if (at == side.title_bytes) return out;
    out = put_span_name(put(out, "#=GS "), text, side);
    out = put(out, "DE ");
    out = put(out, side.title + at, side.title_bytes - at);
    *out++ = '\n';
    return out;
}

struct Stockholm : BlockFormat {
    using BlockFormat::BlockFormat;

    static int64_t bound(const pairalign_text& text, const Pair& pair) {
        const int64_t titles = pair.query.title_bytes + pair.target.title_bytes;
        return BlockFormat::bound(text, pair) + titles + 2 * kNumbers +
               (pair.query.name_bytes + pair.target.name_bytes);
    }

    [[gnu::noinline]] char* put(char* out, const pairalign_text& text, const Pair& pair,
                                int64_t number) const {
        if (!runs_fit(pair)) return nullptr;
        out = pairalign::text::put(out, "# STOCKHOLM 1.0\n#=GF ID pair");
        out = put_unsigned(out, static_cast<uint64_t>(number));
        out = pairalign::text::put(out, "\n#=GF SC ");
        out = put_score(out, pair.raw_score, text.decimals, 0);
        *out++ = '\n';
        out = put_description(out, text, pair.query);
        out = put_description(out, text, pair.target);
        out = put_span_name(out, text, pair.query);
        out = put_row(out, pair, pair.query, kDeletion, text.whole);
        *out++ = '\n';
        out = put_span_name(out, text, pair.target);
        out = put_row(out, pair, pair.target, kInsertion, text.whole);
        if (text.confidence != nullptr) {
            if (!has_confidence(text, pair)) return nullptr;
            out = put_marks(pairalign::text::put(out, "\n#=GC PP_cons "), text, pair);
        }
        return pairalign::text::put(out, "\n//\n");
    }
};

char* put_maf_line(char* out, const Pair& pair, const Side& side, uint32_t gap_op) {
    out = put(out, "s ");
    out = put(out, side.name, side.name_bytes);
    *out++ = ' ';
    out = put_unsigned(out, static_cast<uint64_t>(side.start));
    *out++ = ' ';
    out = put_unsigned(out, static_cast<uint64_t>(side.end - side.start));
    out = put(out, " + ");
    out = put_unsigned(out, static_cast<uint64_t>(side.length));
    *out++ = ' ';
    out = put_row(out, pair, side, gap_op, false);
    *out++ = '\n';
    return out;
}

// The target comes first: it is what readers take for the reference.
struct Maf : BlockFormat {
    using BlockFormat::BlockFormat;

    [[gnu::noinline]] char* put(char* out, const pairalign_text& text, const Pair& pair, int64_t) const {
        if (!runs_fit(pair)) return nullptr;
        out = pairalign::text::put(out, "a score=");
        out = put_score(out, pair.raw_score, text.decimals, 0);
        *out++ = '\n';
        out = put_maf_line(out, pair, pair.target, kInsertion);
        out = put_maf_line(out, pair, pair.query, kDeletion);
        *out++ = '\n';
        return out;
    }
};

// One row a target: a residue or '-' for each residue of the query, and between them, in small letters, what
// the target has besides. Nothing of the target outside the alignment.
struct A3m : BlockFormat {
    using BlockFormat::BlockFormat;

    static bool shown(const Pair& pair) { return pair.matches + pair.mismatches > 0; }
    static int64_t bound(const pairalign_text&, const Pair& pair) {
        return pair.target.name_bytes + pair.columns + pair.query.length + 2 * kNumbers + kSlack;
    }
    [[gnu::noinline]] char* put(char* out, const pairalign_text& text, const Pair& pair, int64_t) const {
        if (!runs_fit(pair)) return nullptr;
        out = put_header(out, text, pair);
        out = put_gaps(out, pair.query.start);
        const uint8_t* residues = pair.target.residues + pair.target.start;
        for (int64_t r = 0; r < pair.run_count; ++r) {
            const uint32_t op = pair.runs[r] & 15, length = pair.runs[r] >> 4;
            if (op == kInsertion) {
                out = put_gaps(out, length);
                continue;
            }
            for (uint32_t i = 0; i < length; ++i) out[i] = in_case(residues[i], op == kDeletion);
            out += length;
            residues += length;
        }
        out = put_gaps(out, pair.query.length - pair.query.end);
        *out++ = '\n';
        return out;
    }

    static char* put_header(char* out, const pairalign_text& text, const Pair& pair) {
        *out++ = '>';
        out = pairalign::text::put(out, pair.target.name, pair.target.name_bytes);
        out = pairalign::text::put(out, " start=");
        out = put_unsigned(out, static_cast<uint64_t>(pair.target.start));
        out = pairalign::text::put(out, " end=");
        out = put_unsigned(out, static_cast<uint64_t>(pair.target.end));
        out = pairalign::text::put(out, " score=");
        out = put_score(out, pair.raw_score, text.decimals, 0);
        *out++ = '\n';
        return out;
    }
    static char* put_gaps(char* out, int64_t count) {
        std::memset(out, '-', static_cast<size_t>(count));
        return out + count;
    }
    static char in_case(uint8_t letter, bool small) {
        const bool is_letter = (letter | 32) >= 'a' && (letter | 32) <= 'z';
        if (!is_letter) return static_cast<char>(letter);
        return static_cast<char>(small ? letter | 32 : letter & ~32);
    }
};

// A line for each aligned pair of residues: its two positions, from 1, and the per cent identity of the pair.
struct TcLib : BlockFormat {
    using BlockFormat::BlockFormat;

    static bool shown(const Pair& pair) { return pair.matches + pair.mismatches > 0; }
    static int64_t bound(const pairalign_text&, const Pair& pair) {
        return (pair.matches + pair.mismatches) * (2 * (kNumber + 1) + 4) + kNumbers + kSlack;
    }
    [[gnu::noinline]] char* put(char* out, const pairalign_text& text, const Pair& pair, int64_t) const {
        if (!runs_fit(pair)) return nullptr;
        // Of two sets, the targets follow the queries in the file's list.
        const int64_t before = text.queries.names == text.targets.names ? 0 : text.queries.count;
        *out++ = '#';
        out = put_unsigned(out, static_cast<uint64_t>(text.query[pair.place] + 1));
        *out++ = ' ';
        out = put_unsigned(out, static_cast<uint64_t>(before + text.target[pair.place] + 1));
        *out++ = '\n';
        const int64_t aligned = pair.matches + pair.mismatches;
        const uint64_t weight = static_cast<uint64_t>((200 * pair.matches + aligned) / (2 * aligned));
        uint64_t q = static_cast<uint64_t>(pair.query.start), t = static_cast<uint64_t>(pair.target.start);
        for (int64_t r = 0; r < pair.run_count; ++r) {
            const uint32_t op = pair.runs[r] & 15, length = pair.runs[r] >> 4;
            const bool both = op == kMatch || op == kMismatch;
            for (uint32_t i = 0; both && i < length; ++i) {
                out = put_unsigned(out, q + i + 1);
                *out++ = ' ';
                out = put_unsigned(out, t + i + 1);
                *out++ = ' ';
                out = put_unsigned(out, weight);
                *out++ = '\n';
            }
            q += op == kDeletion ? 0 : length;
            t += op == kInsertion ? 0 : length;
        }
        return out;
    }
};

}  // namespace
}  // namespace pairalign::text

PAIRALIGN_TEXT_FORMAT(stockholm, pairalign::text::Stockholm)
PAIRALIGN_TEXT_FORMAT(maf, pairalign::text::Maf)
PAIRALIGN_TEXT_FORMAT(a3m, pairalign::text::A3m)
PAIRALIGN_TEXT_FORMAT(tc_lib, pairalign::text::TcLib)
