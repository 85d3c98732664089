// Tables of chosen columns: `columns` (TSV) and `blast6`. The contract is in text.h.

#include <utility>

#include "text_fields.h"
#include "text_format.h"

namespace pairalign::text {
namespace {

// `quotes`: around names that have some, as tables have them.
char* put_line(char* out, const Row& row, bool quotes) {
    for (int32_t f = 0; f < row.text.field_count; ++f) {
        if (f > 0) *out++ = '\t';
        const int32_t field = row.text.fields[f];
        if (const Words words = row.words(field); words.bytes == nullptr) {
            out = row.put_value(out, field);
        } else if (quotes) {
            out = put_quoted(out, words.bytes, words.size);
        } else {
            out = put(out, words.bytes, words.size);
        }
        if (out == nullptr) return nullptr;
    }
    *out++ = '\n';
    return out;
}

// `fields`, which need of the columns what they show; `kAll`: with pairs of which nothing is aligned, and
// quotes around names that have some.
template <bool kAll>
struct ChosenColumns {
    static constexpr bool kByPairs = true;

    explicit ChosenColumns(const pairalign_text&) {}
    static bool shown(const Pair& pair) { return kAll || pair.columns > 0; }
    static int64_t bound(const pairalign_text& text, const Pair& pair) {
        int64_t bytes = kSlack;
        for (int32_t f = 0; f < text.field_count; ++f) bytes += field_bytes(pair, text.fields[f]) + 1;
        return (text.dual ? 2 : 1) * bytes + kSlack;
    }
    [[gnu::noinline]] char* put(char* out, const pairalign_text& text, const Pair& pair, int64_t) const {
        if (text.cigar != nullptr && !runs_fit(pair)) return nullptr;
        out = put_line(out, Row{text, pair, false}, kAll);
        if (out == nullptr || !text.dual) return out;
        Pair exchanged = pair;
        std::swap(exchanged.query, exchanged.target);
        return put_line(out, Row{text, exchanged, true}, kAll);
    }
};

}  // namespace
}  // namespace pairalign::text

PAIRALIGN_TEXT_FORMAT(columns, pairalign::text::ChosenColumns<true>)
PAIRALIGN_TEXT_FORMAT(blast6, pairalign::text::ChosenColumns<false>)
