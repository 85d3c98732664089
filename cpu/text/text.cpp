// Text of alignments: PAF, TSV, and how a run of pairs is cut and written; the contract is in text.h.

#include <algorithm>
#include <utility>

#include "text_format.h"
#include "text_tags.h"

namespace pairalign::text {
namespace {

// ---- PAF and TSV -------------------------------------------------------------------------------

inline char* put_span(char* out, const Side& side) {
    out = put_tab_number(out, side.length);
    out = put_tab_number(out, side.start);
    return put_tab_number(out, side.end);
}

// The kind of overlap as the tag says it, seen from either side.
inline char* put_kind(char* out, uint8_t kind, bool exchanged) {
    if (kind == PAIRALIGN_DOVETAIL) return put(out, "\tov:Z:dovetail");
    if (kind == PAIRALIGN_INTERNAL) return put(out, "\tov:Z:internal");
    const bool contained = (kind == PAIRALIGN_CONTAINED) != exchanged;
    return contained ? put(out, "\tov:Z:contained") : put(out, "\tov:Z:contains");
}

// `exchanged`: query and target have changed places. The CIGAR runs along what is now the target.
char* put_paf(char* out, const pairalign_text& text, const Pair& given, bool exchanged) {
    Pair pair = given;
    if (exchanged) std::swap(pair.query, pair.target);
    out = put(out, pair.query.name, pair.query.name_bytes);
    out = put_span(out, pair.query);
    out = pair.minus ? put(out, "\t-\t") : put(out, "\t+\t");
    out = put(out, pair.target.name, pair.target.name_bytes);
    out = put_span(out, pair.target);
    out = put_tab_number(out, pair.matches);
    out = put_tab_number(out, pair.columns);
    out = put(out, "\t255\tNM:i:");
    out = put_unsigned(out, static_cast<uint64_t>(pair.mismatches + pair.gap_residues));
    out = text.decimals == 0 ? put(out, "\tAS:i:") : put(out, "\tAS:f:");
    out = put_score(out, pair.raw_score, text.decimals, 0);
    if (pair.kind != 0) out = put_kind(out, pair.kind, exchanged);
    if (text.tags & PAIRALIGN_TAG_TP) out = put(out, "\ttp:A:P");
    if (text.cigar != nullptr) {
        out = put(out, "\tcg:Z:");
        if (text.tags & PAIRALIGN_PLAIN_CIGAR) {
            out = put_plain_cigar(out, pair, exchanged && pair.minus, exchanged);
        } else {
            out = exchanged ? put_cigar_turned(out, pair, pair.minus, true) : put_cigar(out, pair);
        }
        if (out == nullptr) return nullptr;
    }
    if (text.tags & PAIRALIGN_TAG_CS) out = put_cs(put(out, "\tcs:Z:"), pair, exchanged);
    if (text.tags & PAIRALIGN_TAG_PP) {
        if (!has_confidence(text, pair)) return nullptr;
        out = put_confidence(put(out, "\tpp:Z:"), text, pair);
    }
    *out++ = '\n';
    return out;
}

char* put_tsv(char* out, const pairalign_text& text, const Pair& pair) {
    out = put_quoted(out, pair.query.name, pair.query.name_bytes);
    *out++ = '\t';
    out = put_quoted(out, pair.target.name, pair.target.name_bytes);
    *out++ = '\t';
    out = put_score(out, pair.raw_score, text.decimals, 0);
    if (text.matches != nullptr) {
        *out++ = '\t';
        out = put_fraction(out, pair.matches, pair.columns);
        out = put_tab_number(out, pair.columns);
        out = put_tab_number(out, pair.matches);
        out = put_tab_number(out, pair.mismatches);
        out = put_tab_number(out, pair.gap_openings);
        out = put_tab_number(out, pair.gap_residues);
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

// The names of a set. Most have fewer than `kCopied` bytes: so many are copied without asking, where they can
// be read; `out` has room for them.
class Names {
public:
    explicit Names(const pairalign_text_set& set)
        : names_(set.names), offsets_(set.name_offsets), count_(static_cast<uint32_t>(set.count)) {
        readable_ = offsets_[set.count] - kCopied;
    }

    bool has(int32_t index) const { return static_cast<uint32_t>(index) < count_; }
    char* put(char* out, int32_t index) const {
        const int64_t start = offsets_[index], size = offsets_[index + 1] - start;
        const char* const name = names_ + start;
        if (__builtin_expect(size > kCopied || start > readable_, 0)) return put_quoted(out, name, size);
        std::memcpy(out, name, kCopied);
        return __builtin_expect(is_plain_name(name, size), 1) ? out + size : put_quoted(out, name, size);
    }

    static constexpr int64_t kCopied = 32;

private:
    const char* names_;
    const int64_t* offsets_;
    uint32_t count_;
    int64_t readable_;
};

// TSV of scores alone: the same as `put_tsv` writes of all pairs, from nothing but names and scores.
int64_t format_scores(const pairalign_text& text, const Range& range, char* out, int64_t capacity) {
    const Names queries(text.queries), targets(text.targets);
    const int64_t most = line_bytes(text, text.queries.most_name_bytes + text.targets.most_name_bytes, 0, 0);
    static_assert(2 * (kNumber + 8) >= Names::kCopied, "a bound has room for what is copied");
    const bool fits = (range.end - range.begin) * most <= capacity;
    char* at = out;
    for (int64_t k = range.begin; k < range.end; ++k) {
        const int32_t query = text.query[k], target = text.target[k];
        if (!queries.has(query) || !targets.has(target)) return -1 - k;
        if (!fits && most > capacity - (at - out)) return -1 - k;
        at = queries.put(at, query);
        *at++ = '\t';
        at = targets.put(at, target);
        *at++ = '\t';
        at = put_score(at, text.raw_score[k], text.decimals, 0);
        *at++ = '\n';
    }
    return at - out;
}

// Needs spans and counts; cg:Z: when there are CIGARs.
struct Paf : LineFormat {
    using LineFormat::LineFormat;

    char* put(char* out, const pairalign_text& text, const Pair& pair, int64_t) const {
        out = put_paf(out, text, pair, false);
        return out != nullptr && text.dual ? put_paf(out, text, pair, true) : out;
    }
};

// With more tags, or M in the CIGAR; a CIGAR is then checked before residues are looked at.
struct PafTags : Paf {
    static constexpr bool kByPairs = true;

    using Paf::Paf;
    static int64_t bound(const pairalign_text& text, const Pair& pair) {
        const int64_t residues = text.tags & PAIRALIGN_TAG_CS ? residues_bound(pair) : 0;
        const int64_t marks = text.tags & PAIRALIGN_TAG_PP ? pair.columns + kNumber : 0;
        return Paf::bound(text, pair) + (text.dual ? 2 : 1) * (residues + marks + kNumber);
    }
    char* put(char* out, const pairalign_text& text, const Pair& pair, int64_t number) const {
        if (text.cigar != nullptr && !runs_fit(pair)) return nullptr;
        return Paf::put(out, text, pair, number);
    }
};

// Takes what there is, and shows all pairs.
struct Tsv : LineFormat {
    using LineFormat::LineFormat;

    static bool shown(const Pair&) { return true; }
    char* put(char* out, const pairalign_text& text, const Pair& pair, int64_t) const {
        return put_tsv(out, text, pair);
    }
};

int64_t format_tsv(const pairalign_text& text, const Range& range, char* out, int64_t capacity) {
    return text.matches == nullptr ? format_scores(text, range, out, capacity)
                                   : format_range<Tsv>(text, range, out, capacity);
}

int64_t most_columns(const pairalign_text& text) {
    if (text.matches == nullptr) return 0;
    int32_t most = 0;  // of 32 bits, which vectorises; where it wraps, `resolve` or `bound` finds the pair
    for (int64_t k = 0; k < text.pairs; ++k) {
        const uint32_t columns = static_cast<uint32_t>(text.matches[k]) +
                                 static_cast<uint32_t>(text.mismatches[k]) +
                                 static_cast<uint32_t>(text.gap_residues[k]);
        most = std::max(most, static_cast<int32_t>(columns));
    }
    return most;
}

}  // namespace

Range Planner::next(const pairalign_text& text, int64_t capacity, int64_t number) {
    const auto cut = text.format->cut;
    Range range = cut != nullptr ? cut(text, at_, capacity) : by_runs(text, capacity);
    range.number = number;
    at_ = range.end;
    return range;
}

// From the offsets of runs alone, with what the largest of the slab's pairs could need beside its runs: the
// pairs of a slab have about the same length.
Range Planner::by_runs(const pairalign_text& text, int64_t capacity) {
    const int64_t names = text.queries.most_name_bytes + text.targets.most_name_bytes;
    if (pair_bytes_ == 0) pair_bytes_ = line_bytes(text, names, 0, most_columns(text));
    const int64_t run_bytes =
        text.cigar == nullptr ? 0 : line_bytes(text, 0, 1, 0) - line_bytes(text, 0, 0, 0);
    auto needed = [&](int64_t end) {
        const int64_t runs = run_bytes ? text.cigar_offsets[end] - text.cigar_offsets[at_] : 0;
        return (end - at_) * pair_bytes_ + runs * run_bytes;
    };
    int64_t low = at_ + 1, high = text.pairs;  // the end is one of [low, high]
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (needed(middle) <= capacity) low = middle;
        else high = middle - 1;
    }
    Range range;
    range.begin = at_;
    range.end = low;
    range.bytes = needed(low);
    return range;
}

int64_t format_pairs(const pairalign_text& text, const Range& range, char* out, int64_t capacity) {
    return text.format->format(text, range, out, capacity);
}

}  // namespace pairalign::text

PAIRALIGN_TEXT_FORMAT(paf, pairalign::text::Paf)
PAIRALIGN_TEXT_FORMAT(paf_tags, pairalign::text::PafTags)
PAIRALIGN_API const pairalign_text_format pairalign_format_tsv;
const pairalign_text_format pairalign_format_tsv = {nullptr, pairalign::text::format_tsv};
