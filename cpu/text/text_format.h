// A format of text: what a C++ file defines, and the loops over pairs that are made of it.
//
// A format is a class, made for every run of pairs, with
//   static constexpr bool kByPairs       pieces are cut pair by pair: pairs are numbered, or differ
//                                        much in size; else by the offsets of the runs, with
//                                        `line_bytes` for every pair
//   static bool shown(pair)              whether the pair is in the file
//   static int64_t bound(text, pair)     bytes that its text needs at most
//   explicit Format(text)
//   char* put(out, text, pair, number)   writes a pair; null when its CIGAR contradicts its spans or counts
// and `PAIRALIGN_TEXT_FORMAT(name, Format)` exports it as pairalign_format_NAME, where pairalign/formats
// finds it by the name of the format. Internal to cpu/text.
#pragma once

#include "text_pair.h"
#include "text_plan.h"

struct pairalign_text_format {
    // The longest run from `begin` whose text surely fits; null: see kByPairs.
    pairalign::text::Range (*cut)(const pairalign_text& text, int64_t begin, int64_t capacity);
    int64_t (*format)(const pairalign_text& text, const pairalign::text::Range& range, char* out,
                      int64_t capacity);
};

namespace pairalign::text {

// One pair after the other: exact, and counts those that are shown.
template <class Format>
Range cut_by_pairs(const pairalign_text& text, int64_t begin, int64_t capacity) {
    Range range;
    range.begin = begin;
    int64_t k = begin;
    for (; k < text.pairs; ++k) {
        Pair pair;
        if (!resolve(text, k, pair)) {
            range.bytes = -1 - k;
            break;
        }
        if (!Format::shown(pair)) continue;
        const int64_t more = Format::bound(text, pair);
        if (range.shown > 0 && range.bytes + more > capacity) break;
        range.bytes += more;
        ++range.shown;
    }
    range.end = k;
    return range;
}

template <class Format>
int64_t format_range(const pairalign_text& text, const Range& range, char* out, int64_t capacity) {
    const Format format(text);
    char* at = out;
    int64_t number = range.number;
    for (int64_t k = range.begin; k < range.end; ++k) {
        Pair pair;
        if (!resolve(text, k, pair)) return -1 - k;
        if (!Format::shown(pair)) continue;
        if (Format::bound(text, pair) > capacity - (at - out)) return -1 - k;
        at = format.put(at, text, pair, number++);
        if (at == nullptr) return -1 - k;
    }
    return at - out;
}

// What formats of one line a pair share.
struct LineFormat {
    static constexpr bool kByPairs = false;

    explicit LineFormat(const pairalign_text&) {}
    static bool shown(const Pair& pair) { return pair.columns > 0; }
    static int64_t bound(const pairalign_text& text, const Pair& pair) {
        const int64_t names = pair.query.name_bytes + pair.target.name_bytes;
        return line_bytes(text, names, pair.run_count, pair.columns);
    }
};

}  // namespace pairalign::text

#define PAIRALIGN_TEXT_FORMAT(name, Format)                                 \
    PAIRALIGN_API const pairalign_text_format pairalign_format_##name;      \
    const pairalign_text_format pairalign_format_##name = {                 \
        Format::kByPairs ? pairalign::text::cut_by_pairs<Format> : nullptr, \
        pairalign::text::format_range<Format>};
