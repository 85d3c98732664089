// The parts of cut pairs become the pairs again (cuts.cpp).

#include <algorithm>
#include <cstdint>

#include "../export.h"
#include "cuts.h"
#include "model.h"

namespace pairalign {
namespace {

using Entries = pairalign_posterior_cut_entries;

// The entries of a part.
class PartEntries {
public:
    PartEntries(const Entries& all, int64_t part)
        : all_(all), begin_(all.offsets[all.places[part]]), end_(all.offsets[all.places[part] + 1]) {}

    // The posterior of two residues of the part.
    uint16_t at(int32_t row, int32_t column) const {
        int64_t k = std::lower_bound(all_.rows + begin_, all_.rows + end_, row) - all_.rows;
        for (; k < end_ && all_.rows[k] == row; k++)
            if (all_.columns[k] == column) return all_.values[k];
        return 0;
    }
    // Calls act(row, column, value) for those of the core.
    template <class Act>
    void each(const Cut& part, const Act& act) const {
        int64_t k = std::lower_bound(all_.rows + begin_, all_.rows + end_, part.x_core - part.x) - all_.rows;
        for (; k < end_ && all_.rows[k] < part.x_core_end - part.x; k++) {
            const int32_t column = all_.columns[k] + part.y;
            if (column >= part.y_core && column < part.y_core_end)
                act(all_.rows[k] + part.x, column, all_.values[k]);
        }
    }

private:
    const Entries& all_;
    int64_t begin_, end_;
};

// The posteriors of the last residues of what counts of a part, and of the first ones of the next.
uint16_t at_end(const Entries& entries, int64_t k, const Cut& part) {
    return PartEntries(entries, k).at(part.x_core_end - 1 - part.x, part.y_core_end - 1 - part.y);
}
uint16_t at_begin(const Entries& entries, int64_t k, const Cut& part) {
    return PartEntries(entries, k).at(part.x_core - part.x, part.y_core - part.y);
}
uint16_t between(const Entries& entries, int64_t k, const Cut& from, const Cut& to) {
    return static_cast<uint16_t>((at_end(entries, k, from) + at_begin(entries, k + 1, to) + 1) / 2);
}

// Merges the parts of a pair on both sides of cuts that are not sure; returns how many are left.
int32_t merge(const Entries& entries, int64_t first, int32_t count, int32_t sure, int32_t x_length,
              int32_t y_length, Cut* parts, int64_t* places) {
    const auto is_unsure = [&](int64_t k) {
        return std::min(at_end(entries, k, parts[k]), at_begin(entries, k + 1, parts[k + 1])) < sure;
    };
    int64_t left = first;
    int64_t cells = 0;
    const int64_t end = first + count;
    for (int64_t k = first; k < end;) {
        int64_t last = k;
        while (last + 1 < end && is_unsure(last)) last++;
        Cut part = parts[k];
        int64_t place = entries.places[k];
        if (last > k) {
            part.x_core_end = parts[last].x_core_end;
            part.y_core_end = parts[last].y_core_end;
            part = with_core_of(part, x_length, y_length);
            place = -1;
        }
        cells += cells_of(part);
        parts[left] = part;
        places[left++] = place;
        k = last + 1;
    }
    const int32_t merged = static_cast<int32_t>(left - first);
    return merged > 1 && are_worth(cells, x_length, y_length) ? merged : 0;
}

}  // namespace
}  // namespace pairalign

// Merges parts where their cuts are not sure, and moves all up: counts, parts, and their places in entries,
// -1 for those to compute. A pair of which one part is left, or that is not worth it, has none. Returns how
// many parts there are.
PAIRALIGN_API int64_t pairalign_posterior_merge(const pairalign_posterior_pairs* pairs,
                                                const pairalign_posterior_cut_entries* entries, int32_t sure,
                                                int32_t* counts, pairalign_posterior_cut* parts,
                                                int64_t* places) {
    int64_t first = 0, total = 0;
    for (int64_t pair = 0; pair < pairs->count; pair++) {
        const int32_t count = counts[pair];
        if (count == 0) continue;
        counts[pair] = pairalign::merge(*entries, first, count, sure, pairs->lengths[pairs->rows[pair]],
                                        pairs->lengths[pairs->columns[pair]], parts, places);
        std::copy(parts + first, parts + first + counts[pair], parts + total);
        std::copy(places + first, places + first + counts[pair], places + total);
        first += count;
        total += counts[pair];
    }
    return total;
}

// Writes how many entries each pair has; with `rows` also all entries.
PAIRALIGN_API void pairalign_posterior_join(int64_t count, const int32_t* counts,
                                            const pairalign_posterior_cut* parts,
                                            const pairalign_posterior_cut_entries* entries, int64_t* totals,
                                            int32_t* rows, int32_t* columns, uint16_t* values) {
    using namespace pairalign;
    int64_t part = 0;
    for (int64_t pair = 0; pair < count; pair++) {
        totals[pair] = 0;
        const auto add = [&](int32_t row, int32_t column, uint16_t value) {
            totals[pair]++;
            if (!rows) return;
            *rows++ = row;
            *columns++ = column;
            *values++ = value;
        };
        for (int32_t k = 0; k < counts[pair]; k++, part++) {
            PartEntries(*entries, part).each(parts[part], add);
            if (k + 1 == counts[pair]) continue;
            const Cut &from = parts[part], &to = parts[part + 1];
            const int32_t shift = from.y_core_end - from.x_core_end;
            const uint16_t value = between(*entries, part, from, to);
            for (int32_t x = from.x_core_end; x < to.x_core; x++) add(x, x + shift, value);
        }
    }
}
