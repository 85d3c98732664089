// How chosen pairs of a rectangle become batches of the packed GPU kernels: pairalign_cut_pairs, and how
// those of a batch share words: pairalign_place_pairs. What words and places are is said in
// pairalign/engines/cuda/packed/packed_plan.py, which declares this with ctypes.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "../export.h"
#include "column_words.h"

namespace {

// Which word each column of the rectangle is in, and the first column and number of columns of each word.
struct WordsOfColumns {
    std::vector<int32_t> word_of_column;
    std::vector<pairalign::Word> words;
};

WordsOfColumns pair_up(const uint8_t* wide, int32_t column_start, int32_t column_stop) {
    WordsOfColumns of;
    of.word_of_column.reserve(static_cast<size_t>(column_stop - column_start));
    for (int32_t column = column_start, columns; column < column_stop; column += columns) {
        columns = pairalign::columns_of_word(wide + (column - column_start), column, column_stop);
        of.word_of_column.insert(of.word_of_column.end(), static_cast<size_t>(columns),
                                 static_cast<int32_t>(of.words.size()));
        of.words.push_back({column, columns, 0, 0});
    }
    return of;
}

}  // namespace

// What is placed, and where the tables go that come of it.
struct pairalign_chosen_pairs {
    // Sorted positions of the pairs, row by row, and the rectangle that they are in.
    const int32_t *rows, *columns;
    int64_t pairs;
    int32_t row_start, row_stop, column_start, column_stop;
    const uint8_t* wide;                             // [columns of the rectangle]
    const int32_t *row_lengths, *column_lengths;     // of the sets, by sorted position
    const int32_t* tiers_before[pairalign::GROUPS];  // of all rows of the set
    // Kind and strips of each column of the set, and the kinds by number.
    const uint8_t* kind_of_column;
    const int32_t* strips_of_column;
    const pairalign::Kind* kinds;
    // What comes of it; there are at most as many places and words as pairs.
    pairalign::Word* words;
    int32_t *row_of_place, *pair_of_place;    // [places], [places][2]
    int64_t *moves_before, *residues_before;  // [pairs + 1], [places + 1]
    int32_t* place_tiers[pairalign::GROUPS];  // [places + 1]; null where no column needs them
    int64_t word_count, places;
    int32_t longest, unused;
};

namespace {

using Chosen = pairalign_chosen_pairs;

// Sums may wrap around: only differences matter.
int32_t difference(int32_t sum, int32_t before) {
    return static_cast<int32_t>(static_cast<uint32_t>(sum) - static_cast<uint32_t>(before));
}

int32_t add(int32_t sum, int32_t more) {
    return static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(more));
}

// Bytes that a pair takes on the device at most, in a word of its own.
int64_t bytes_of(const Chosen& chosen, int32_t row, int32_t column, bool traced) {
    const int64_t strips = chosen.strips_of_column[column], residues = chosen.row_lengths[row];
    const int64_t bytes = 160 + (strips > 1 ? 8 * residues : 0);
    if (!traced) return bytes;
    const pairalign::Kind& kind = chosen.kinds[chosen.kind_of_column[column]];
    const int32_t* const before = chosen.tiers_before[kind.group];
    return bytes + 16 * strips * kind.tier_units * difference(before[row + 1], before[row]) +
           8 * pairalign::move_words(residues, chosen.column_lengths[column]);
}

// First pass over the pairs: how many moves those before each take, the longest column, and the words that
// have places. Pairs come row by row, so that the one or two of a place follow one another. Returns the first
// place of each word of the rectangle.
std::vector<int32_t> write_words(Chosen& chosen, const WordsOfColumns& of) {
    std::vector<int32_t> places(of.words.size(), 0);
    const int32_t *const rows = chosen.rows, *const columns = chosen.columns;
    const int32_t *const row_lengths = chosen.row_lengths, *const column_lengths = chosen.column_lengths;
    const int32_t *const words = of.word_of_column.data(), column_start = chosen.column_start;
    int64_t* const moves_before = chosen.moves_before;
    const int64_t pairs = chosen.pairs;
    int64_t moves = 0;
    int32_t longest = 0, last_row = -1, last_word = -1;
    for (int64_t pair = 0; pair < pairs; pair++) {
        const int32_t row = rows[pair], column = columns[pair], word = words[column - column_start];
        places[static_cast<size_t>(word)] += static_cast<int32_t>((word != last_word) | (row != last_row));
        last_row = row;
        last_word = word;
        longest = std::max(longest, column_lengths[column]);
        moves_before[pair] = moves;
        moves += pairalign::move_words(row_lengths[row], column_lengths[column]);
    }
    moves_before[pairs] = moves;
    chosen.longest = longest;
    int32_t first = 0;
    for (size_t word = 0; word < of.words.size(); word++) {
        const int32_t count = places[word];
        places[word] = first;
        if (count == 0) continue;
        chosen.words[chosen.word_count] = of.words[word];
        chosen.words[chosen.word_count].first_place = first;
        chosen.words[chosen.word_count++].last_place = first += count;
    }
    chosen.places = first;
    return places;
}

// Second pass. A place is a row of a word; those of a word follow one another. `next`: the first place of
// each word.
void write_places(Chosen& chosen, const WordsOfColumns& of, std::vector<int32_t> next) {
    const int32_t *const rows = chosen.rows, *const columns = chosen.columns;
    const int32_t *const words = of.word_of_column.data(), column_start = chosen.column_start;
    int32_t *const row_of_place = chosen.row_of_place, *const pair_of_place = chosen.pair_of_place;
    const int64_t pairs = chosen.pairs;
    std::memset(pair_of_place, 0xff, static_cast<size_t>(chosen.places) * 2 * sizeof(int32_t));
    int32_t last_row = -1, last_word = -1;
    for (int64_t pair = 0; pair < pairs; pair++) {
        const int32_t row = rows[pair], column = columns[pair], word = words[column - column_start];
        const auto is_new = static_cast<int32_t>((word != last_word) | (row != last_row));
        last_row = row;
        last_word = word;
        const int32_t place = next[static_cast<size_t>(word)] += is_new;
        row_of_place[place - 1] = row;
        pair_of_place[2 * (place - 1) + column - of.words[static_cast<size_t>(word)].column] =
            static_cast<int32_t>(pair);
    }
}

void write_sums(Chosen& chosen) {
    const int32_t *const rows = chosen.row_of_place, *const lengths = chosen.row_lengths;
    const int64_t places = chosen.places;
    int64_t* const residues_before = chosen.residues_before;
    int64_t residues = 0;
    for (int64_t place = 0; place < places; place++) {
        residues_before[place] = residues;
        residues += lengths[rows[place]];
    }
    residues_before[places] = residues;
    for (int group = 0; group < pairalign::GROUPS; group++) {
        int32_t *const of_place = chosen.place_tiers[group], tiers = 0;
        if (of_place == nullptr) continue;
        const int32_t* const before = chosen.tiers_before[group];
        for (int64_t place = 0; place < places; place++) {
            of_place[place] = tiers;
            tiers = add(tiers, difference(before[rows[place] + 1], before[rows[place]]));
        }
        of_place[places] = tiers;
    }
}

}  // namespace

// Returns how many pairs from `first` on make a batch of at most `limit` bytes on the device, or 1 where a
// single pair takes more.
PAIRALIGN_API int64_t pairalign_cut_pairs(const pairalign_chosen_pairs* chosen, int64_t first, int32_t traced,
                                          int64_t limit) {
    // Nearly always all: none takes more than the longest row with the longest column of the rectangle.
    const int64_t rest = chosen->pairs - first;
    if (rest > 0 && chosen->strips_of_column[chosen->column_start] == 1 &&
        rest * bytes_of(*chosen, chosen->rows[first], chosen->column_start, traced != 0) <= limit)
        return rest;
    int64_t stop = first;
    for (int64_t bytes = 0; stop < chosen->pairs; stop++) {
        bytes += bytes_of(*chosen, chosen->rows[stop], chosen->columns[stop], traced != 0);
        if (bytes > limit && stop > first) break;
    }
    return stop - first;
}

// Returns 0, or 1 where there is no memory.
PAIRALIGN_API int32_t pairalign_place_pairs(pairalign_chosen_pairs* chosen) {
    try {
        const WordsOfColumns of = pair_up(chosen->wide, chosen->column_start, chosen->column_stop);
        chosen->word_count = 0;
        write_places(*chosen, of, write_words(*chosen, of));
        write_sums(*chosen);
        return 0;
    } catch (const std::bad_alloc&) {
        return 1;
    }
}
