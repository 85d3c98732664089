// GFA 1 lines of overlaps: L for dovetails, C for containments. The contract is in text.h.
//
// Columns:  L  from  orientation  to         orientation  CIGAR
//           C  container  +       contained  orientation  position  CIGAR
// The first sequence is the CIGAR's reference: D consumes it alone, I the other. Runs of = and X are
// joined to M, which is all that many readers know.
//
// An overlap goes on to the ends of the two sequences: what hangs over the alignment on both of them is M on
// each side of its CIGAR, so that the residues of a path are each there once.

#include "text_format.h"

#include <algorithm>

namespace pairalign::text {
namespace {

// Residues that hang over an alignment on both sequences, along the target.
struct Ends {
    explicit Ends(const Pair& pair) {
        const int64_t before = pair.query.start, after = pair.query.length - pair.query.end;
        left = std::min(pair.minus ? after : before, pair.target.start);
        right = std::min(pair.minus ? before : after, pair.target.length - pair.target.end);
    }
    int64_t left, right;
};

// How the pair's CIGAR is written: backwards, with I and D exchanged, or both. Without runs, as one of the
// reference's residues.
char* put_joined_cigar(char* out, const Pair& pair, const Ends& ends, bool backwards, bool exchanged) {
    if (pair.run_count == 0) {
        const Side& reference = exchanged ? pair.query : pair.target;
        const int64_t span = ends.left + reference.end - reference.start + ends.right;
        *(out = put_unsigned(out, static_cast<uint64_t>(span))) = 'M';
        return out + 1;
    }
    int64_t residues = 0;
    int64_t joined = backwards ? ends.right : ends.left;
    for (int64_t r = 0; r < pair.run_count; ++r) {
        const uint32_t run = pair.runs[backwards ? pair.run_count - 1 - r : r];
        const uint32_t op = run & 15, length = run >> 4;
        residues += length;
        if (residues > pair.columns) return nullptr;
        if (op == kMatch || op == kMismatch) {
            joined += length;
            continue;
        }
        if (joined) *(out = put_unsigned(out, static_cast<uint64_t>(joined))) = 'M', ++out, joined = 0;
        out = put_unsigned(out, length);
        *out++ = (op == kInsertion) != exchanged ? 'I' : 'D';
    }
    joined += backwards ? ends.left : ends.right;
    if (joined) *(out = put_unsigned(out, static_cast<uint64_t>(joined))) = 'M', ++out;
    return out;
}

char* put_segment(char* out, const Side& side, bool minus) {
    *out++ = '\t';
    out = put(out, side.name, side.name_bytes);
    return minus ? put(out, "\t-") : put(out, "\t+");
}

// Null when the CIGAR has more residues than the pair has columns.
char* put_gfa(char* out, const Pair& pair) {
    const Side &query = pair.query, &target = pair.target;
    const Ends ends(pair);
    if (pair.kind == PAIRALIGN_DOVETAIL) {
        // What hangs over to the left of the target as it was read decides who comes first.
        const int64_t query_left = pair.minus ? query.length - query.end : query.start;
        const bool query_first = query_left > target.start;
        *out++ = 'L';
        out = query_first ? put_segment(out, query, pair.minus) : put_segment(out, target, false);
        out = query_first ? put_segment(out, target, false) : put_segment(out, query, pair.minus);
        *out++ = '\t';
        out = put_joined_cigar(out, pair, ends, false, query_first);
    } else {
        const bool query_inside = pair.kind == PAIRALIGN_CONTAINED;
        const Side &container = query_inside ? target : query, &contained = query_inside ? query : target;
        *out++ = 'C';
        out = put_segment(out, container, false);
        out = put_segment(out, contained, pair.minus);
        *out++ = '\t';
        const bool backwards = pair.minus && !query_inside;
        out =
            put_unsigned(out, static_cast<uint64_t>(container.start - (backwards ? ends.right : ends.left)));
        *out++ = '\t';
        out = put_joined_cigar(out, pair, ends, backwards, !query_inside);
    }
    if (out == nullptr) return nullptr;
    out = put(out, "\tNM:i:");
    out = put_unsigned(out, static_cast<uint64_t>(pair.mismatches + pair.gap_residues));
    *out++ = '\n';
    return out;
}

// Needs kinds; links and containments, others are left out.
struct Gfa : LineFormat {
    using LineFormat::LineFormat;

    static bool shown(const Pair& pair) {
        return pair.columns > 0 && pair.kind >= PAIRALIGN_DOVETAIL && pair.kind <= PAIRALIGN_CONTAINS;
    }
    char* put(char* out, const pairalign_text&, const Pair& pair, int64_t) const {
        return put_gfa(out, pair);
    }
};

}  // namespace
}  // namespace pairalign::text

PAIRALIGN_TEXT_FORMAT(gfa, pairalign::text::Gfa)
