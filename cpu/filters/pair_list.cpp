// Lists of pairs: reading the names, sorting the pairs as windows have them, and masks of windows. The
// ctypes declarations are in pairalign/pairs/lists.py and pairalign/alignments/passes.py.

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>
#include <vector>

#include "../export.h"
#include "../pairs/name_index.h"

// A line that cannot be read.
struct pairalign_list_trouble {
    int64_t kind;          // 1: too few columns; 2: a name that the set does not have; 3: no memory
    int64_t line;          // counted from 1
    int64_t side;          // 0: the first name, 1: the second
    int64_t start, bytes;  // the name in the text
    // Lines of PAF that say another length of a sequence than it has: how many, and the first.
    int64_t other_lengths, first_other;
};

namespace {

// Column `number` of a line, counted from 0; with no text where there are not so many.
std::string_view column_of(std::string_view line, char separator, int number) {
    for (; number > 0; number--) {
        const size_t next = line.find(separator);
        if (next == line.npos) return {};
        line.remove_prefix(next + 1);
        // Blanks may be several.
        while (separator == ' ' && !line.empty() && line[0] == ' ') line.remove_prefix(1);
    }
    return line.substr(0, line.find(separator));
}

bool says(std::string_view number, int64_t length) {
    int64_t said = -1;
    std::from_chars(number.data(), number.data() + number.size(), said);
    return said == length;
}

}  // namespace

// Reads two names a line: of columns 1 and 2, of a PAF 1 and 6, between tabs, or blanks in a line without any
// tab. Writes the places of the names in their sets, as many as there are lines at most, and returns how many
// pairs; -1 after trouble. lengths: of the sequences of both sets.
PAIRALIGN_API int64_t pairalign_read_pairs(const char* text, int64_t bytes, int32_t is_paf,
                                           const pairalign_names* first, const pairalign_names* second,
                                           const int32_t* const* lengths, int32_t* firsts, int32_t* seconds,
                                           pairalign_list_trouble* trouble) {
    try {
        const pairalign::NameIndex index_first = pairalign::index_of(*first);
        const pairalign::NameIndex index_other =
            second ? pairalign::index_of(*second) : pairalign::NameIndex{};
        const pairalign::NameIndex* const indices[] = {&index_first, second ? &index_other : &index_first};
        int64_t pairs = 0, line_number = 0;
        const char* const stop = text + bytes;
        for (const char* at = text; at < stop;) {
            const void* const found = std::memchr(at, '\n', static_cast<size_t>(stop - at));
            const char* const end = found ? static_cast<const char*>(found) : stop;
            std::string_view line(at, static_cast<size_t>(end - at));
            at = end + 1;
            line_number++;
            while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
            while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
            if (line.empty()) continue;
            const char separator = line.find('\t') == line.npos ? ' ' : '\t';
            int32_t* const out[] = {firsts, seconds};
            bool is_other = false;
            for (int side = 0; side < 2; side++) {
                const std::string_view name = column_of(line, separator, side == 0 ? 0 : is_paf ? 5 : 1);
                trouble->kind = 1, trouble->line = line_number, trouble->side = side;
                trouble->start = name.empty() ? 0 : name.data() - text;
                trouble->bytes = static_cast<int64_t>(name.size());
                if (name.empty()) return -1;
                const auto place = indices[side]->find(name);
                trouble->kind = 2;
                if (place == indices[side]->end()) return -1;
                out[side][pairs] = place->second;
                if (!is_paf) continue;
                const std::string_view said = column_of(line, separator, side == 0 ? 1 : 6);
                is_other = is_other || !says(said, lengths[side][place->second]);
            }
            if (is_other && trouble->other_lengths++ == 0) trouble->first_other = line_number;
            pairs++;
        }
        return pairs;
    } catch (const std::bad_alloc&) {
        trouble->kind = 3;
        return -1;
    }
}

// Sorts pairs as the windows of `window` rows and columns have them. rows, columns: [pairs] sorted positions,
// in one set row <= column on return; order: [pairs] where each pair was before. Of equal pairs the
// first comes first. Returns 0, or 1 where there is no memory.
PAIRALIGN_API int32_t pairalign_sort_pairs(int64_t pairs, int32_t one_set, int64_t window,
                                           int64_t column_count, int32_t* rows, int32_t* columns,
                                           int64_t* order) {
    struct Keyed {
        uint64_t key;
        int64_t number;
        bool operator<(const Keyed& other) const {
            return key != other.key ? key < other.key : number < other.number;
        }
    };
    try {
        const uint64_t side = static_cast<uint64_t>(std::min(window, column_count));
        const uint64_t across = (static_cast<uint64_t>(column_count) + side - 1) / side;
        std::vector<Keyed> keyed(static_cast<size_t>(pairs));
        for (int64_t k = 0; k < pairs; k++) {
            if (one_set && rows[k] > columns[k]) std::swap(rows[k], columns[k]);
            const auto row = static_cast<uint64_t>(rows[k]), column = static_cast<uint64_t>(columns[k]);
            const uint64_t tier = row / static_cast<uint64_t>(window);
            // All of a tier of windows come first, then those of a window, then those of a row.
            const uint64_t key = ((tier * across + column / side) * static_cast<uint64_t>(window) +
                                  (row - tier * static_cast<uint64_t>(window))) *
                                     side +
                                 column % side;
            keyed[static_cast<size_t>(k)] = {key, k};
        }
        std::sort(keyed.begin(), keyed.end());
        std::vector<int32_t> before(rows, rows + pairs);
        for (int64_t k = 0; k < pairs; k++)
            rows[k] = before[static_cast<size_t>(keyed[static_cast<size_t>(k)].number)];
        before.assign(columns, columns + pairs);
        for (int64_t k = 0; k < pairs; k++) {
            order[k] = keyed[static_cast<size_t>(k)].number;
            columns[k] = before[static_cast<size_t>(order[k])];
        }
        return 0;
    } catch (const std::bad_alloc&) {
        return 1;
    }
}

// Sets the pairs of a window that a list names: mask[pairs of the window]. The pairs are all in the window.
PAIRALIGN_API void pairalign_mask_pairs(int32_t row_start, int32_t column_start, int32_t column_stop,
                                        int32_t triangular, int64_t pairs, const int32_t* rows,
                                        const int32_t* columns, int64_t mask_bytes, uint8_t* mask) {
    std::memset(mask, 0, static_cast<size_t>(mask_bytes));
    auto first_column = [=](int32_t row) {
        if (!triangular) return column_start;
        return std::min(std::max(column_start, row + 1), column_stop);
    };
    int32_t row = row_start;
    int64_t before = 0;  // pairs of the rows before
    for (int64_t k = 0; k < pairs; k++) {
        for (; row < rows[k]; row++) before += column_stop - first_column(row);
        mask[before + columns[k] - first_column(row)] = 1;
    }
}
