// SAM records. The contract is in text.h.
//
// Columns:  query  flag  target  position  255  CIGAR  *  0  0  residues  qualities  NM:i:  AS:i:, and MD:Z:,
// pp:Z: where asked. The query's residues outside the alignment are clipped (S), so that all of them are
// there. On strand - they are those of the other strand (flag 16). Qualities are * where they are not known.

#include "text_format.h"
#include "text_tags.h"

namespace pairalign::text {
namespace {

constexpr int64_t kTags = 160;  // bytes of all numbers and tags of a record at most

char* put_clip(char* out, int64_t residues) {
    if (residues == 0) return out;
    out = put_unsigned(out, static_cast<uint64_t>(residues));
    *out++ = 'S';
    return out;
}

char* put_other_strand(char* out, const uint8_t* residues, int64_t count) {
    const Complement& opposite = complement();
    for (int64_t k = count - 1; k >= 0; --k) *out++ = opposite.letters[residues[k]];
    return out;
}

char* put_qualities(char* out, const Side& query, bool turned) {
    if (query.qualities == nullptr) return pairalign::text::put(out, "*");
    if (!turned) return pairalign::text::put(out, query.qualities, query.length);
    for (int64_t k = query.length - 1; k >= 0; --k) *out++ = query.qualities[k];
    return out;
}

// Needs CIGARs; pairs without an aligned pair of residues are left out.
struct Sam {
    static constexpr bool kByPairs = true;

    explicit Sam(const pairalign_text&) {}
    static bool shown(const Pair& pair) { return pair.matches + pair.mismatches > 0; }
    static int64_t bound(const pairalign_text& text, const Pair& pair) {
        return (text.tags & PAIRALIGN_TAG_MD ? residues_bound(pair) : 0) +
               (text.tags & PAIRALIGN_TAG_PP ? pair.columns : 0) + pair.query.name_bytes +
               pair.target.name_bytes + 2 * pair.query.length + 4 * pair.run_count +
               6 * (pair.columns / kTableLength) + kTags + kSlack;
    }
    [[gnu::noinline]] char* put(char* out, const pairalign_text& text, const Pair& pair, int64_t) const {
        if (!runs_fit(pair)) return nullptr;
        const bool secondary = text.secondary != nullptr && text.secondary[pair.place] != 0;
        out = pairalign::text::put(out, pair.query.name, pair.query.name_bytes);
        *out++ = '\t';
        out = put_unsigned(out, (secondary ? 256 : 0) + (pair.minus ? 16 : 0));
        *out++ = '\t';
        out = pairalign::text::put(out, pair.target.name, pair.target.name_bytes);
        out = put_tab_number(out, pair.target.start + 1);
        out = pairalign::text::put(out, "\t255\t");
        const int64_t clips[2] = {pair.query.start, pair.query.length - pair.query.end};
        out = put_clip(out, clips[pair.minus]);
        out = text.tags & PAIRALIGN_PLAIN_CIGAR ? put_plain_cigar(out, pair, false, false)
                                                : put_cigar(out, pair);
        if (out == nullptr) return nullptr;
        out = put_clip(out, clips[!pair.minus]);
        out = pairalign::text::put(out, "\t*\t0\t0\t");
        const char* residues = reinterpret_cast<const char*>(pair.query.residues);
        out = pair.minus ? put_other_strand(out, pair.query.residues, pair.query.length)
                         : pairalign::text::put(out, residues, pair.query.length);
        *out++ = '\t';
        out = put_qualities(out, pair.query, pair.minus);
        out = pairalign::text::put(out, "\tNM:i:");
        out = put_unsigned(out, static_cast<uint64_t>(pair.mismatches + pair.gap_residues));
        out =
            text.decimals == 0 ? pairalign::text::put(out, "\tAS:i:") : pairalign::text::put(out, "\tAS:f:");
        out = put_score(out, pair.raw_score, text.decimals, 0);
        if (text.tags & PAIRALIGN_TAG_MD) out = put_md(pairalign::text::put(out, "\tMD:Z:"), pair);
        if (text.tags & PAIRALIGN_TAG_PP) {
            if (!has_confidence(text, pair)) return nullptr;
            out = put_confidence(pairalign::text::put(out, "\tpp:Z:"), text, pair);
        }
        *out++ = '\n';
        return out;
    }
};

}  // namespace
}  // namespace pairalign::text

PAIRALIGN_TEXT_FORMAT(sam, pairalign::text::Sam)
