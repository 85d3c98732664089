// The join of two alignments by posteriors between some of their sequences: the heaviest chain of pairs of
// columns that ascend in both. Time and memory grow with the posteriors, not with the product of the widths.

#include <algorithm>
#include <cstdint>
#include <new>
#include <vector>

#include "../export.h"

namespace pairalign {
namespace {

// A pair of columns, and what the posteriors between their residues sum up to.
struct Cell {
    int32_t first, second;
    int64_t value;
    int64_t sum = 0;      // of the heaviest chain that ends here
    int32_t before = -1;  // the cell before it in that chain
};

std::vector<Cell> sum_cells(const int32_t* first, const int32_t* second, const uint16_t* values,
                            int64_t count) {
    std::vector<Cell> cells(static_cast<size_t>(count));
    for (size_t k = 0; k < cells.size(); k++) cells[k] = {first[k], second[k], values[k]};
    std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
        return a.first != b.first ? a.first < b.first : a.second < b.second;
    });
    size_t kept = 0;
    for (const Cell& cell : cells) {
        if (kept > 0 && cells[kept - 1].first == cell.first && cells[kept - 1].second == cell.second)
            cells[kept - 1].value += cell.value;
        else cells[kept++] = cell;
    }
    cells.resize(kept);
    return cells;
}

// Maxima of the cells in the columns of the second alignment before some column (Fenwick's tree). Of equal
// sums the cell that was added first stands.
class Heaviest {
public:
    Heaviest(const std::vector<Cell>& cells, int32_t width)
        : cells_(cells), best_(static_cast<size_t>(width) + 1, -1) {}

    int32_t before(int32_t column) const {
        int32_t found = -1;
        for (int32_t k = column; k > 0; k -= k & -k) found = heavier(best_[static_cast<size_t>(k)], found);
        return found;
    }
    void add(int32_t cell) {
        for (size_t k = static_cast<size_t>(cells_[static_cast<size_t>(cell)].second) + 1; k < best_.size();
             k += k & -k)
            best_[k] = heavier(best_[k], cell);
    }

private:
    int32_t heavier(int32_t a, int32_t b) const {
        if (a < 0 || b < 0) return std::max(a, b);
        const int64_t of_a = cells_[static_cast<size_t>(a)].sum, of_b = cells_[static_cast<size_t>(b)].sum;
        return of_a > of_b || (of_a == of_b && a < b) ? a : b;
    }

    const std::vector<Cell>& cells_;
    std::vector<int32_t> best_;
};

// Returns the last cell of the heaviest chain; -1: there are no cells.
int32_t link_cells(std::vector<Cell>& cells, int32_t width) {
    Heaviest heaviest(cells, width);
    for (size_t row = 0, end = 0; row < cells.size(); row = end) {
        while (end < cells.size() && cells[end].first == cells[row].first) end++;
        for (size_t k = row; k < end; k++) {
            Cell& cell = cells[k];
            cell.before = heaviest.before(cell.second);
            cell.sum = cell.value + (cell.before < 0 ? 0 : cells[static_cast<size_t>(cell.before)].sum);
        }
        for (size_t k = row; k < end; k++) heaviest.add(static_cast<int32_t>(k));
    }
    return heaviest.before(width);
}

// Places the columns of both in those of the join; between aligned ones the first alignment's come first.
int32_t place_columns(const std::vector<Cell>& cells, int32_t last, int32_t first_width, int32_t second_width,
                      int32_t* first_places, int32_t* second_places) {
    std::vector<const Cell*> chain;
    for (int32_t k = last; k >= 0; k = cells[static_cast<size_t>(k)].before)
        chain.push_back(&cells[static_cast<size_t>(k)]);
    int32_t i = 0, j = 0, width = 0;
    const auto up_to = [&](int32_t first, int32_t second) {
        while (i < first) first_places[i++] = width++;
        while (j < second) second_places[j++] = width++;
    };
    for (size_t k = chain.size(); k-- > 0;) {
        up_to(chain[k]->first, chain[k]->second);
        first_places[i++] = second_places[j++] = width++;
    }
    up_to(first_width, second_width);
    return width;
}

}  // namespace
}  // namespace pairalign

// Writes where the columns of two alignments are in their join, and returns its width; -1: no memory.
// Posterior k is between column first[k] of the first alignment and second[k] of the second.
PAIRALIGN_API int32_t pairalign_msa_join(const int32_t* first, const int32_t* second, const uint16_t* values,
                                         int64_t count, int32_t first_width, int32_t second_width,
                                         int32_t* first_places, int32_t* second_places) try {
    using namespace pairalign;
    std::vector<Cell> cells = sum_cells(first, second, values, count);
    const int32_t last = link_cells(cells, second_width);
    return place_columns(cells, last, first_width, second_width, first_places, second_places);
} catch (const std::bad_alloc&) {
    return -1;
}
