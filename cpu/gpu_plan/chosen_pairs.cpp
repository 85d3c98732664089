// How chosen pairs of a rectangle share words of the packed GPU kernels: pairalign_place_pairs. What words
// and places are is said in pairalign/engines/cuda/packed/plan.py, which declares this with ctypes.

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "../export.h"
#include "words.h"

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
    const int32_t* bands_before[pairalign::GROUPS];  // of all rows of the set
    // What comes of it; there are at most as many places and words as pairs.
    pairalign::Word* words;
    int32_t *row_of_place, *pair_of_place;    // [places], [places][2]
    int64_t *moves_before, *letters_before;   // [pairs + 1], [places + 1]
    int32_t* place_bands[pairalign::GROUPS];  // [places + 1]
    int64_t word_count, places;
    int32_t longest, unused;
};

namespace {

using Chosen = pairalign_chosen_pairs;

// The pairs' numbers word by word, in a word row by row: a stable counting sort.
std::vector<int64_t> by_word(const Chosen& chosen, const WordsOfColumns& of) {
    std::vector<int64_t> starts(of.words.size() + 1, 0);
    for (int64_t pair = 0; pair < chosen.pairs; pair++)
        starts[static_cast<size_t>(of.word_of_column[chosen.columns[pair] - chosen.column_start]) + 1]++;
    for (size_t word = 0; word < of.words.size(); word++) starts[word + 1] += starts[word];
    std::vector<int64_t> order(static_cast<size_t>(chosen.pairs));
    for (int64_t pair = 0; pair < chosen.pairs; pair++) {
        const auto word = static_cast<size_t>(of.word_of_column[chosen.columns[pair] - chosen.column_start]);
        order[static_cast<size_t>(starts[word]++)] = pair;
    }
    return order;
}

// A place is a row of a word; those of a word follow one another.
void write_places(Chosen& chosen, const WordsOfColumns& of, const std::vector<int64_t>& order) {
    int32_t last_word = -1, last_row = -1;
    int64_t place = -1;
    for (const int64_t pair : order) {
        const int32_t row = chosen.rows[pair], column = chosen.columns[pair];
        const int32_t word = of.word_of_column[column - chosen.column_start];
        if (word != last_word || row != last_row) {
            place++;
            chosen.row_of_place[place] = row;
            chosen.pair_of_place[2 * place] = chosen.pair_of_place[2 * place + 1] = -1;
        }
        if (word != last_word) {
            chosen.words[chosen.word_count] = of.words[word];
            chosen.words[chosen.word_count++].first_place = static_cast<int32_t>(place);
        }
        chosen.words[chosen.word_count - 1].last_place = static_cast<int32_t>(place + 1);
        chosen.pair_of_place[2 * place + column - of.words[word].column] = static_cast<int32_t>(pair);
        last_word = word;
        last_row = row;
    }
    chosen.places = place + 1;
}

void write_sums(Chosen& chosen) {
    chosen.moves_before[0] = 0;
    for (int64_t pair = 0; pair < chosen.pairs; pair++) {
        const int32_t letters = chosen.column_lengths[chosen.columns[pair]];
        chosen.longest = std::max(chosen.longest, letters);
        chosen.moves_before[pair + 1] =
            chosen.moves_before[pair] + pairalign::move_words(chosen.row_lengths[chosen.rows[pair]], letters);
    }
    chosen.letters_before[0] = 0;
    for (int group = 0; group < pairalign::GROUPS; group++) chosen.place_bands[group][0] = 0;
    for (int64_t place = 0; place < chosen.places; place++) {
        const int32_t row = chosen.row_of_place[place];
        chosen.letters_before[place + 1] = chosen.letters_before[place] + chosen.row_lengths[row];
        for (int group = 0; group < pairalign::GROUPS; group++) {
            // Sums may go round: only differences matter.
            const int32_t* const before = chosen.bands_before[group];
            const uint32_t bands =
                static_cast<uint32_t>(before[row + 1]) - static_cast<uint32_t>(before[row]);
            chosen.place_bands[group][place + 1] =
                static_cast<int32_t>(static_cast<uint32_t>(chosen.place_bands[group][place]) + bands);
        }
    }
}

}  // namespace

// Returns 0, or 1 where there is no memory.
PAIRALIGN_API int32_t pairalign_place_pairs(pairalign_chosen_pairs* chosen) {
    try {
        const WordsOfColumns of = pair_up(chosen->wide, chosen->column_start, chosen->column_stop);
        chosen->word_count = 0;
        chosen->longest = 0;
        write_places(*chosen, of, by_word(*chosen, of));
        write_sums(*chosen);
        return 0;
    } catch (const std::bad_alloc&) {
        return 1;
    }
}
