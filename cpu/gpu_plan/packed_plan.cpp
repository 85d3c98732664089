// How part of the pair matrix becomes launches of the packed GPU kernels: pairalign_plan_packed. What words,
// places, items and chunks are is said in pairalign/engines/cuda/packed/packed_plan.py, which declares this
// with ctypes and runs it for every batch: here it takes microseconds, and other threads go on meanwhile.

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "../export.h"
#include "column_words.h"

namespace {

using pairalign::GROUPS;
using pairalign::Kind;
using pairalign::Word;

constexpr int MOST_LAUNCHES = 64;

struct Launch {
    int32_t kind, wide;
    int64_t items, chunks;      // how many
    int64_t traceback_threads;  // of a block: fewer where chunks have fewer paths
    // Where they begin in the tables, in bytes. Kinds that are not far have no borders and profiles.
    int64_t items_at, tiles_at, borders_at, profiles_at, chunks_at;
};

struct Item {
    int32_t column, first_place, last_place, columns;
};

struct Chunk {
    int32_t item, first_place, last_place, unused;
};

}  // namespace

struct pairalign_packed_plan {
    // What is to be planned on. By sorted position, longest first; kinds by number.
    const int32_t *row_lengths, *column_lengths, *strips_of_column;
    const uint8_t* kind_of_column;
    const Kind* kinds;
    int32_t kind_count, letters, multiprocessors;
    // What is to be planned: a rectangle, and of its columns which need a word of their own.
    int32_t row_start, row_stop, column_start, column_stop, triangular, traced;
    const uint8_t* wide;                  // [columns of the rectangle]
    const int32_t* tiers_before[GROUPS];  // [places + 1]
    const int64_t* residues_before;       // [places + 1]
    // Null, or the words of chosen pairs: then a place is a row of a word, else a row of the rectangle.
    const Word* words;
    int64_t word_count;
    // What comes of it. Tables that find no room are not written.
    uint8_t* tables;
    int64_t capacity, needed;  // bytes of the tables
    int64_t pair_of_row_at, first_pair_of_row_at, moves_of_row_at;
    int64_t tile_units, border_entries, profile_units, move_words;
    int32_t longest, launch_count;
    Launch launches[MOST_LAUNCHES];
};

namespace {

using Plan = pairalign_packed_plan;

int64_t divide_up(int64_t count, int64_t by) { return (count + by - 1) / by; }

// Takes room in the tables, at a multiple of 16 bytes.
int64_t take(Plan& plan, int64_t bytes) {
    const int64_t at = plan.needed;
    plan.needed += (bytes + 15) / 16 * 16;
    return at;
}

template <class T>
T* table(const Plan& plan, int64_t at) {
    return reinterpret_cast<T*>(plan.tables + at);
}

// Puts two neighbouring columns into a word where both are narrow.
std::vector<Word> words_of_rectangle(const Plan& plan) {
    std::vector<Word> words;
    words.reserve(static_cast<size_t>(plan.column_stop - plan.column_start));
    for (int32_t column = plan.column_start, columns; column < plan.column_stop; column += columns) {
        const uint8_t* wide = plan.wide + (column - plan.column_start);
        columns = pairalign::columns_of_word(wide, column, plan.column_stop);
        int32_t rows = plan.row_stop - plan.row_start;
        if (plan.triangular) rows = std::min(rows, column + columns - 1 - plan.row_start);
        if (rows > 0) words.push_back({column, columns, 0, rows});
    }
    return words;
}

int key_of(const Plan& plan, const Word& word) {
    return 2 * plan.kind_of_column[word.column] + plan.wide[word.column - plan.column_start];
}

// Numbers the pairs of each row, and finds room for what their paths leave: see cuda/packed/moves.cuh.
void write_rows(Plan& plan, bool writes) {
    const int64_t rows = plan.row_stop - plan.row_start;
    plan.pair_of_row_at = take(plan, 8 * rows);
    plan.first_pair_of_row_at = take(plan, 8 * (rows + 1));
    plan.moves_of_row_at = take(plan, 8 * (rows + 1));
    if (!writes) return;
    auto* const pair_of_row = table<int64_t>(plan, plan.pair_of_row_at);
    auto* const first_pair = table<int64_t>(plan, plan.first_pair_of_row_at);
    auto* const moves = table<int64_t>(plan, plan.moves_of_row_at);
    first_pair[0] = moves[0] = 0;
    for (int64_t place = 0; place < rows; place++) {
        const auto row = static_cast<int32_t>(plan.row_start + place);
        int32_t first = plan.column_start;
        if (plan.triangular) first = std::min(std::max(first, row + 1), plan.column_stop);
        const int64_t pairs = plan.column_stop - first;
        const int64_t words = pairalign::move_words(plan.row_lengths[row], plan.longest);
        pair_of_row[place] = first_pair[place] - first;
        first_pair[place + 1] = first_pair[place] + pairs;
        moves[place + 1] = moves[place] + pairs * words;
    }
    plan.move_words = moves[rows];
}

// Rows of a word that a block of the traceback takes, at most `most`: the tiles of a word's items follow one
// another, so any of its rows may go together.
int64_t share_of(int64_t size, int64_t most) {
    const int64_t share = divide_up(size, divide_up(size, most));
    return (share + 31) / 32 * 32;
}

// Writes the tables of a launch: items of at most `height` rows, and chunks of at most `most`.
void fill_launch(Plan& plan, const std::vector<Word>& words, int key, const Launch& launch, int64_t height,
                 int64_t most) {
    const Kind& kind = plan.kinds[key / 2];
    auto* item = table<Item>(plan, launch.items_at);
    auto* tiles = table<int64_t>(plan, launch.tiles_at);
    auto* borders = table<int64_t>(plan, launch.borders_at);
    auto* profiles = table<int64_t>(plan, launch.profiles_at);
    auto* chunk = table<Chunk>(plan, launch.chunks_at);
    const int32_t* const tiers_before = plan.tiers_before[kind.group];
    int32_t first_item = 0;
    for (const Word& word : words) {
        if (key_of(plan, word) != key) continue;
        const int64_t strips = plan.strips_of_column[word.column];
        int32_t items = 0;
        for (int32_t place = word.first_place; place < word.last_place; items++) {
            const auto end = static_cast<int32_t>(std::min<int64_t>(place + height, word.last_place));
            *item++ = {word.column, place, end, word.columns};
            if (plan.traced) {
                *tiles++ = plan.tile_units;
                // Sums of tiers may have gone round; their differences are right.
                const uint32_t tiers =
                    static_cast<uint32_t>(tiers_before[end]) - static_cast<uint32_t>(tiers_before[place]);
                plan.tile_units += tiers * strips * kind.tier_units;
            }
            if (kind.far) {
                *borders++ = plan.border_entries;
                *profiles++ = plan.profile_units;
                plan.border_entries += plan.residues_before[end] - plan.residues_before[place];
                // A few columns more, as pitch_of in cuda/packed/tile.cuh says; four bytes each.
                plan.profile_units += plan.letters * (strips * kind.width + 8) / 4;
            }
            place = end;
        }
        if (plan.traced) {
            const auto share = static_cast<int32_t>(share_of(word.last_place - word.first_place, most));
            for (int32_t place = word.first_place; place < word.last_place; place += share)
                *chunk++ = {first_item, place, std::min(place + share, word.last_place), 0};
        }
        first_item += items;
    }
}

// Cuts the places of the words of a kind into items and chunks.
void write_launch(Plan& plan, const std::vector<Word>& words, int key, int64_t all_places, bool writes) {
    const Kind& kind = plan.kinds[key / 2];
    // Enough blocks to even out their ends, enough rows to be worth a profile.
    const int64_t height =
        std::min<int64_t>(std::max<int64_t>(all_places / (plan.multiprocessors * 16), 2 * kind.groups), 512);
    // Several rows a thread even out paths' lengths, but there must be blocks enough.
    const int64_t several = all_places / (256 * 3 * plan.multiprocessors);
    const int64_t paths = key % 2 ? 1 : 2;  // of a row, a thread each
    const int64_t most = kind.traceback_threads / paths * std::min<int64_t>(std::max<int64_t>(several, 1), 8);
    Launch launch{key / 2, key % 2, 0, 0, 0, 0, 0, 0, 0, 0};
    for (const Word& word : words) {
        if (key_of(plan, word) != key) continue;
        const int64_t size = word.last_place - word.first_place;
        launch.items += divide_up(size, height);
        if (!plan.traced) continue;
        const int64_t share = share_of(size, most);
        launch.chunks += divide_up(size, share);
        const int64_t threads = divide_up(std::min(size, share) * paths, 32) * 32;
        launch.traceback_threads = std::max(launch.traceback_threads, threads);
    }
    launch.traceback_threads = std::min<int64_t>(launch.traceback_threads, kind.traceback_threads);
    if (!launch.items) return;
    launch.items_at = take(plan, static_cast<int64_t>(sizeof(Item)) * launch.items);
    launch.tiles_at = plan.traced ? take(plan, 8 * launch.items) : 0;
    launch.borders_at = kind.far ? take(plan, 8 * launch.items) : 0;
    launch.profiles_at = kind.far ? take(plan, 8 * launch.items) : 0;
    launch.chunks_at = take(plan, static_cast<int64_t>(sizeof(Chunk)) * launch.chunks);
    plan.launches[plan.launch_count++] = launch;
    if (writes) fill_launch(plan, words, key, launch, height, most);
}

void write_plan(Plan& plan, const std::vector<Word>& words, bool writes) {
    plan.needed = plan.tile_units = plan.border_entries = plan.profile_units = plan.move_words = 0;
    plan.launch_count = 0;
    if (!plan.words) write_rows(plan, writes);
    std::vector<bool> is_used(static_cast<size_t>(2 * plan.kind_count), false);
    int64_t all_places = 0;
    for (const Word& word : words) {
        is_used[static_cast<size_t>(key_of(plan, word))] = true;
        all_places += word.last_place - word.first_place;
    }
    // Wide ones, and many columns, first: they take longest.
    for (int key = 2 * plan.kind_count - 1; key >= 0; key--)
        if (is_used[static_cast<size_t>(key)]) write_launch(plan, words, key, all_places, writes);
}

}  // namespace

// Returns 0, or 1 where there is no memory. Afterwards `needed` may be more than `capacity`: then only that,
// `longest` and the number of launches are sure.
PAIRALIGN_API int32_t pairalign_plan_packed(pairalign_packed_plan* plan) {
    try {
        std::vector<Word> words(plan->words, plan->words + (plan->words ? plan->word_count : 0));
        if (!plan->words) {
            words = words_of_rectangle(*plan);
            const int32_t first =
                plan->triangular ? std::max(plan->column_start, plan->row_start + 1) : plan->column_start;
            plan->longest = first < plan->column_stop ? plan->column_lengths[first] : 0;
        }
        write_plan(*plan, words, false);
        if (plan->needed <= plan->capacity) write_plan(*plan, words, true);
        return 0;
    } catch (const std::bad_alloc&) {
        return 1;
    }
}
