// How a slab of pairs is cut into pieces of text. Internal to text.cpp and text_queue.cpp.
#pragma once

#include "text.h"

namespace pairalign::text {

// A run of pairs [begin, end) whose text is one piece.
struct Range {
    int64_t begin = 0, end = 0;
    int64_t bytes = 0;   // that its text needs at most, or -1 - k when the columns of pair k make no sense
    int64_t number = 1;  // of the first shown pair in the file, counted from 1
    int64_t shown = 0;   // pairs that the format shows, where it numbers them (FASTA)
};

// Cuts one slab, from its first pair to its last. Nothing is allocated and nothing throws.
class Planner {
public:
    // The longest run from where the last one ended whose text surely fits into `capacity` bytes; it has at
    // least one pair, even when that one needs more.
    Range next(const pairalign_text& text, int64_t capacity, int64_t number);

private:
    Range by_runs(const pairalign_text& text, int64_t capacity);

    int64_t at_ = 0;
    int64_t pair_bytes_ = 0;  // of any pair of the slab, less its runs; 0: not known yet
};

// Write the pairs of a range to `out`. Returns the bytes written, or -1 - k when pair k does not fit into
// `capacity` or its CIGAR contradicts its spans or counts. Reads and writes nothing outside the given arrays.
int64_t format_pairs(const pairalign_text& text, const Range& range, char* out, int64_t capacity);

}  // namespace pairalign::text
