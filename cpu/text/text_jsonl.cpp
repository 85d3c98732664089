// JSON Lines: an object a pair. `block_header` has a line a field: what comes before its value, that is a
// bracket or comma, the key and a colon. The contract is in text.h.

#include <cstring>
#include <utility>

#include "text_fields.h"
#include "text_format.h"

namespace pairalign::text {
namespace {

constexpr int64_t kEscape = 6;  // bytes of \u0000

char* put_escaped(char* out, uint32_t code) {
    constexpr char kDigits[] = "0123456789abcdef";
    out = put(out, "\\u");
    for (int shift = 12; shift >= 0; shift -= 4) *out++ = kDigits[code >> shift & 15];
    return out;
}

// U+0085, U+2028 and U+2029 end lines for some readers; 0: none of them begins at `at`.
uint32_t line_end(const uint8_t* at, int64_t size) {
    if (size >= 2 && at[0] == 0xC2 && at[1] == 0x85) return 0x85;
    if (size >= 3 && at[0] == 0xE2 && at[1] == 0x80 && (at[2] & 0xFE) == 0xA8) return 0x2000 | (at[2] & 0x3F);
    return 0;
}

char* put_string(char* out, const char* bytes, int64_t size) {
    const auto* at = reinterpret_cast<const uint8_t*>(bytes);
    *out++ = '"';
    for (int64_t k = 0; k < size; ++k) {
        if (at[k] == '"' || at[k] == '\\') {
            *out++ = '\\';
            *out++ = bytes[k];
        } else if (at[k] < 0x20 || at[k] == 0x7F) {
            out = put_escaped(out, at[k]);
        } else if (const uint32_t code = line_end(at + k, size - k); code != 0) {
            out = put_escaped(out, code);
            k += code == 0x85 ? 1 : 2;
        } else {
            *out++ = bytes[k];
        }
    }
    *out++ = '"';
    return out;
}

bool is_text(int32_t field) {
    return field == PAIRALIGN_CIGAR || field == PAIRALIGN_QUERY_ALIGNED ||
           field == PAIRALIGN_TARGET_ALIGNED || field == PAIRALIGN_CONFIDENCE || field == PAIRALIGN_STRAND ||
           field == PAIRALIGN_TARGET_STRAND || field == PAIRALIGN_BTOP;
}

// Numbers and texts of tables need no escapes; null when the pair contradicts itself.
char* put_json(char* out, const Row& row, int32_t field) {
    if (const Words words = row.words(field); words.bytes != nullptr)
        return put_string(out, words.bytes, words.size);
    if (!row.knows(field)) return put(out, "null");
    if (!is_text(field)) return row.put_value(out, field);
    *out++ = '"';
    out = row.put_value(out, field);
    if (out != nullptr) *out++ = '"';
    return out;
}

char* put_object(char* out, const Row& row) {
    const char* key = row.text.block_header;
    const char* last = key + row.text.block_header_bytes;
    for (int32_t f = 0; f < row.text.field_count; ++f) {
        const void* end = std::memchr(key, '\n', static_cast<size_t>(last - key));
        if (end == nullptr) return nullptr;
        out = put(out, key, static_cast<const char*>(end) - key);
        key = static_cast<const char*>(end) + 1;
        out = put_json(out, row, row.text.fields[f]);
        if (out == nullptr) return nullptr;
    }
    return put(out, "}\n");
}

// Shows all pairs, as TSV does.
struct Jsonl : LineFormat {
    static constexpr bool kByPairs = true;

    using LineFormat::LineFormat;
    static bool shown(const Pair&) { return true; }
    static int64_t bound(const pairalign_text& text, const Pair& pair) {
        int64_t bytes = text.block_header_bytes + kSlack;
        for (int32_t f = 0; f < text.field_count; ++f) bytes += field_bytes(pair, text.fields[f]) + kEscape;
        bytes += (kEscape - 2) * (count_of(text, PAIRALIGN_QUERY) + count_of(text, PAIRALIGN_TARGET)) *
                 std::max(pair.query.name_bytes, pair.target.name_bytes);
        bytes += (kEscape - 2) *
                 (count_of(text, PAIRALIGN_QUERY_TITLE) + count_of(text, PAIRALIGN_TARGET_TITLE)) *
                 std::max(pair.query.title_bytes, pair.target.title_bytes);
        return (text.dual ? 2 : 1) * bytes + kSlack;
    }
    char* put(char* out, const pairalign_text& text, const Pair& pair, int64_t) const {
        if (text.cigar != nullptr && !runs_fit(pair)) return nullptr;
        out = put_object(out, Row{text, pair, false});
        if (out == nullptr || !text.dual) return out;
        Pair exchanged = pair;
        std::swap(exchanged.query, exchanged.target);
        return put_object(out, Row{text, exchanged, true});
    }

private:
    static int64_t count_of(const pairalign_text& text, int32_t field) {
        return std::count(text.fields, text.fields + text.field_count, field);
    }
};

}  // namespace
}  // namespace pairalign::text

PAIRALIGN_TEXT_FORMAT(jsonl, pairalign::text::Jsonl)
