// Representatives for Python. The ctypes declarations are in pairalign/engines/cpu/representative_index.py.

#include "representatives.h"

#include <algorithm>
#include <new>
#include <numeric>

#include "../threads.h"

namespace pairalign {

void sort_candidates(std::vector<Candidate>::iterator begin, std::vector<Candidate>::iterator end) {
    std::sort(begin, end, [](const Candidate& a, const Candidate& b) {
        if (a.column != b.column) return a.column < b.column;
        const int64_t one = a.part * b.whole, other = b.part * a.whole;
        return one != other ? one > other : a.row < b.row;
    });
}

}  // namespace pairalign

int64_t pairalign_representatives::find_in_parts(int32_t first, int32_t stop, int32_t parts, int32_t threads,
                                                 const FindPart& find_part) {
    std::vector<std::vector<pairalign::Candidate>> found(static_cast<size_t>(parts));
    std::vector<int64_t> counts(found.size());
    const auto start_of = [=](int32_t part) {
        return first + static_cast<int32_t>(int64_t{stop - first} * part / parts);
    };
    pairalign::on_threads(parts, threads, [&](int32_t part) {
        const auto own = static_cast<size_t>(part);
        counts[own] = find_part(part, start_of(part), start_of(part + 1), found[own]);
    });
    candidates.clear();
    for (const auto& part : found) candidates.insert(candidates.end(), part.begin(), part.end());
    return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

PAIRALIGN_API void pairalign_close_representatives(pairalign_representatives* known) { delete known; }

PAIRALIGN_API int32_t pairalign_add_rows(pairalign_representatives* known, int32_t count,
                                         const int32_t* rows) {
    try {
        known->add(rows, count);
        return 0;
    } catch (const std::bad_alloc&) {
        return 1;
    }
}

PAIRALIGN_API int32_t pairalign_drop_rows(pairalign_representatives* known, int32_t count,
                                          const int32_t* rows) {
    try {
        known->drop(rows, count);
        return 0;
    } catch (const std::bad_alloc&) {
        return 1;
    }
}

PAIRALIGN_API int64_t pairalign_find_candidates(pairalign_representatives* known, int32_t first, int32_t stop,
                                                int32_t least_row, const pairalign_best_rows* best,
                                                int64_t* found) {
    try {
        *found += known->find(first, stop, least_row, *best);
        return static_cast<int64_t>(known->candidates.size());
    } catch (const std::bad_alloc&) {
        return -1;
    }
}

PAIRALIGN_API void pairalign_take_candidates(const pairalign_representatives* known, int32_t* rows,
                                             int32_t* columns, int64_t* parts, int64_t* wholes,
                                             uint8_t* are_known) {
    for (const pairalign::Candidate& one : known->candidates) {
        *rows++ = one.row;
        *columns++ = one.column;
        *parts++ = one.part;
        *wholes++ = one.whole;
        *are_known++ = one.is_known;
    }
}
