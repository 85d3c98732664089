// Making and asking the index of seeds. The ctypes declarations are in pairalign/engines/cpu/seed_index.py.

#include "seed_index.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "../threads.h"
#include "seed_shape.h"

namespace {

using namespace pairalign;

// Estimated times in nanoseconds: to look up a word, and for the filter to look at a pair.
constexpr double OF_WORD = 4, OF_PAIR = 2, OF_POSSIBLE_PAIR = 12;

using Placed = std::pair<uint64_t, IndexedSeed>;

void put_into_buckets(pairalign_seed_index& index, const std::vector<std::vector<Placed>>& parts) {
    int64_t entries = 0;
    for (const auto& part : parts) entries += static_cast<int64_t>(part.size());
    index.bucket_bits = bits_for(entries, 8, 26);
    const uint64_t last = (uint64_t{1} << index.bucket_bits) - 1;
    index.buckets.assign(static_cast<size_t>(last) + 2, 0);
    index.marks.assign(size_t{1} << (bits_for(16 * entries, 10, 30) - 6), 0);
    const uint64_t last_mark = index.marks.size() * 64 - 1;
    for (const auto& part : parts)
        for (const auto& [hash, seed] : part) {
            index.buckets[(hash & last) + 1]++;
            const uint64_t mark = hash & last_mark;
            index.marks[mark / 64] |= uint64_t{1} << (mark % 64);
        }
    for (size_t b = 0; b <= last; b++) index.buckets[b + 1] += index.buckets[b];
    index.seeds.resize(static_cast<size_t>(entries));
    std::vector<uint32_t> next(index.buckets.begin(), index.buckets.end() - 1);
    for (const auto& part : parts)
        for (const auto& [hash, seed] : part) index.seeds[next[hash & last]++] = seed;
}

void fill_index(pairalign_seed_index& index) {
    constexpr int32_t PART = 256;
    const pairalign_filter& filter = *index.filter;
    const FilteredSet &rows = filter.rows, &columns = filter.columns();
    const WordCounts counts = count_words(rows, index.shape);
    const int32_t count = (columns.given.count + PART - 1) / PART;
    std::vector<std::vector<Placed>> parts(static_cast<size_t>(count));
    std::vector<std::vector<int32_t>> without(static_cast<size_t>(count));
    on_threads(count, filter.threads, [&](int32_t part) {
        SeedChooser chooser(index.shape, counts);
        std::vector<Seed> seeds;
        const auto own = static_cast<size_t>(part);
        for (int32_t s = part * PART; s < std::min(columns.given.count, (part + 1) * PART); s++) {
            const WantedSeeds wanted(filter.thresholds, columns.length(s));
            if (!chooser.choose(columns.codes(s), wanted.first, wanted.stop, wanted.seeds, seeds))
                without[own].push_back(s);
            else
                for (const Seed& seed : seeds) {
                    const uint64_t hash = hash_of(seed.word);
                    parts[own].push_back({hash, {static_cast<uint32_t>(hash >> 32), s, seed.start}});
                }
        }
    });
    put_into_buckets(index, parts);
    for (const auto& part : without) index.without.insert(index.without.end(), part.begin(), part.end());
    for (int32_t s = 0; s < columns.given.count; s++)
        index.longest_column = std::max(index.longest_column, columns.length(s));
}

int32_t first_column(const pairalign_window& window, int32_t row) {
    return window.triangular ? std::min(std::max(window.column_start, row + 1), window.column_stop)
                             : window.column_start;
}

// Whether a sample of rows takes less time with the index than without.
bool is_worth(const pairalign_seed_index& index) {
    constexpr int32_t ROWS = 64;
    const pairalign_filter& filter = *index.filter;
    const int32_t count = filter.rows.given.count, columns = filter.columns().given.count;
    const pairalign_window all{0, count, 0, columns, !filter.other, 1};
    LengthBounds bounds(filter, index.longest_column);
    std::vector<uint8_t> mask(static_cast<size_t>(columns));
    double with = 0, without = 0;
    for (int32_t k = 0; k < std::min(ROWS, count); k++) {
        const auto row = static_cast<int32_t>(int64_t{k} * count / std::min(ROWS, count));
        const int32_t first = first_column(all, row);
        std::fill(mask.begin(), mask.end(), 0);
        with += OF_WORD * filter.rows.length(row);
        index.find(row, first, columns, bounds, [&](int32_t column, bool is_right) {
            with += OF_SEED + (is_right && !mask[static_cast<size_t>(column)] ? OF_FOUND : 0);
            mask[static_cast<size_t>(column)] |= is_right;
        });
        for (int32_t column = first; column < columns; column++) {
            const Diagonals& diagonals = bounds.of(row, column);
            without += OF_PAIR + (diagonals.first <= diagonals.last ? OF_POSSIBLE_PAIR : 0);
        }
    }
    return with < without;
}

}  // namespace

template <class Tell>
void pairalign_seed_index::find(int32_t row, int32_t first, int32_t stop, LengthBounds& bounds,
                                const Tell& tell) const {
    const uint64_t last = (uint64_t{1} << bucket_bits) - 1, last_mark = marks.size() * 64 - 1;
    auto look_up = [&](uint64_t word, int32_t start) {
        const uint64_t hash = hash_of(word), mark = hash & last_mark;
        if (!(marks[mark / 64] >> (mark % 64) & 1)) return;
        const IndexedSeed* seed = seeds.data() + buckets[hash & last];
        const IndexedSeed* end = seeds.data() + buckets[(hash & last) + 1];
        constexpr int64_t FEW = 8;
        if (end - seed > FEW)
            seed = std::lower_bound(
                seed, end, first, [](const IndexedSeed& one, int32_t column) { return one.column < column; });
        for (; seed < end && seed->column < stop; seed++) {
            if (seed->column < first || seed->check != static_cast<uint32_t>(hash >> 32)) continue;
            tell(seed->column, bounds.of(row, seed->column).has(int64_t{start} - seed->start));
        }
    };
    for_each_word(filter->rows.codes(row), filter->rows.length(row), shape.residues, shape.bits,
                  shape.unambiguous, look_up);
    for (auto at = std::lower_bound(without.begin(), without.end(), first); at != without.end() && *at < stop;
         ++at) {
        const Diagonals& diagonals = bounds.of(row, *at);
        tell(*at, diagonals.first <= diagonals.last);
    }
}

PAIRALIGN_API pairalign_seed_index* pairalign_open_seed_index(const pairalign_filter* filter,
                                                              int32_t residues) {
    if (seed_rule(filter->thresholds) == SeedRule::NONE) return nullptr;
    if (filter->rows.given.count == 0 || filter->columns().given.count == 0) return nullptr;
    try {
        auto index = std::make_unique<pairalign_seed_index>();
        index->filter = filter;
        index->shape = choose_shape(*filter).shape;
        if (residues > 0) index->shape.residues = residues;
        fill_index(*index);
        return residues > 0 || is_worth(*index) ? index.release() : nullptr;
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

PAIRALIGN_API void pairalign_close_seed_index(pairalign_seed_index* index) { delete index; }

PAIRALIGN_API int32_t pairalign_seed_residues(const pairalign_seed_index* index) {
    return index->shape.residues;
}

PAIRALIGN_API int32_t pairalign_seeded_columns(const pairalign_seed_index* index,
                                               const pairalign_window* window) {
    if (!window->triangular || window->row_start >= window->row_stop) return window->column_stop;
    // Rows and columns become shorter, and no row is shorter than its columns: what is too short for the
    // last row is too short for all.
    LengthBounds bounds(*index->filter, index->longest_column);
    const int32_t row = window->row_stop - 1;
    int32_t low = std::max(window->column_start, std::min(row + 1, window->column_stop));
    int32_t high = window->column_stop;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        const Diagonals& diagonals = bounds.of(row, middle);
        if (diagonals.first <= diagonals.last) low = middle + 1;
        else high = middle;
    }
    return low;
}

PAIRALIGN_API int32_t pairalign_find_seeded(const pairalign_seed_index* index, const pairalign_window* window,
                                            const uint8_t* rows_left, uint8_t* mask, int64_t* looked_at) {
    try {
        constexpr int32_t PART = 16;  // rows
        const pairalign_filter& filter = *index->filter;
        const int32_t rows = window->row_stop - window->row_start;
        std::vector<int64_t> before(1, 0);
        *looked_at = 0;
        for (int32_t row = window->row_start; row < window->row_stop; row++) {
            const int64_t pairs = window->column_stop - first_column(*window, row);
            before.push_back(before.back() + pairs);
            if (!rows_left || rows_left[row - window->row_start]) *looked_at += pairs;
        }
        on_threads((rows + PART - 1) / PART, filter.threads, [&](int32_t part) {
            LengthBounds bounds(filter, index->longest_column);
            const int32_t stop = std::min(rows, (part + 1) * PART);
            for (int32_t k = part * PART; k < stop; k++) {
                const int32_t row = window->row_start + k, first = first_column(*window, row);
                uint8_t* own = mask + before[static_cast<size_t>(k)];
                std::memset(own, 0, static_cast<size_t>(window->column_stop - first));
                if (rows_left && !rows_left[k]) continue;
                index->find(row, first, window->column_stop, bounds,
                            [&](int32_t column, bool is_right) { own[column - first] |= is_right; });
            }
        });
        return 0;
    } catch (const std::bad_alloc&) {
        return 1;
    }
}

PAIRALIGN_API int32_t pairalign_count_seeded(const pairalign_seed_index* index,
                                             const pairalign_window* window, int32_t step, int32_t width,
                                             int64_t* counts) {
    try {
        const int32_t columns = window->column_stop - window->column_start;
        std::vector<uint8_t> mask(static_cast<size_t>(std::max(columns, 0)));
        LengthBounds bounds(*index->filter, index->longest_column);
        for (int32_t row = window->row_start; row < window->row_stop; row += step) {
            std::fill(mask.begin(), mask.end(), 0);
            index->find(row, first_column(*window, row), window->column_stop, bounds,
                        [&](int32_t column, bool is_right) {
                            uint8_t& own = mask[static_cast<size_t>(column - window->column_start)];
                            if (is_right && !own) counts[(column - window->column_start) / width]++;
                            own |= is_right;
                        });
        }
        return 0;
    } catch (const std::bad_alloc&) {
        return 1;
    }
}
