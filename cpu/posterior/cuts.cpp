// Where the matrix of a pair of similar DNA sequences may be cut: in words of 16 bases that each of the two
// has once, of a heaviest chain of those. Given that two residues are aligned, the posteriors before and
// after them do not depend on each other; so the parts between cuts are pairs of their own. They reach beyond
// the cuts, where posteriors are of no use; whether the residues at the cuts are aligned for sure, their
// posteriors say (pairalign/engines/cut_posteriors.py).
//
// Parts reach as far as makes their x a multiple of 32 bases, for lanes of one length. What a pair is cut
// into depends on its sequences alone.

#include <algorithm>
#include <cstdint>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../export.h"
#include "model.h"

extern "C" {

// CUT in pairalign/engines/cut_posteriors.py: a part of a pair, from where in both sequences to where; and
// which of it counts.
struct pairalign_posterior_cut {
    int32_t x, y, x_end, y_end;
    int32_t x_core, y_core, x_core_end, y_core_end;
};
}

namespace pairalign {
namespace {

constexpr int WORD = 16, BEYOND = 16, LEAST_APART = 64, MULTIPLE = 32;
constexpr int64_t LEAST_GAIN = 2;  // parts have at most one in so many cells of the pair

using Cut = pairalign_posterior_cut;

struct Point {
    int32_t x, y;
};

// Words that a sequence has once, ascending, and where: word << 32 | place.
std::vector<uint64_t> words_of(const uint8_t* codes, int32_t length) {
    std::vector<uint64_t> all;
    uint32_t word = 0;
    int32_t known = 0;
    for (int32_t i = 0; i < length; i++) {
        known = codes[i] > 3 ? 0 : known + 1;
        word = word << 2 | (codes[i] & 3u);
        if (known >= WORD) all.push_back(uint64_t{word} << 32 | static_cast<uint32_t>(i + 1 - WORD));
    }
    std::sort(all.begin(), all.end());
    std::vector<uint64_t> once;
    for (size_t k = 0; k < all.size(); k++) {
        const auto is_word = [&](size_t other) { return all[other] >> 32 == all[k] >> 32; };
        if ((k > 0 && is_word(k - 1)) || (k + 1 < all.size() && is_word(k + 1))) continue;
        once.push_back(all[k]);
    }
    return once;
}

std::vector<Point> common(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
    std::vector<Point> points;
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i] >> 32 < b[j] >> 32) i++;
        else if (a[i] >> 32 > b[j] >> 32) j++;
        else points.push_back({static_cast<int32_t>(a[i++]), static_cast<int32_t>(b[j++])});
    }
    std::sort(points.begin(), points.end(), [](Point p, Point q) { return p.x < q.x; });
    return points;
}

// The longest chain of points that ascend in both sequences.
std::vector<Point> chain(const std::vector<Point>& points) {
    std::vector<size_t> ends, before(points.size());
    for (size_t k = 0; k < points.size(); k++) {
        const auto at = std::lower_bound(ends.begin(), ends.end(), points[k].y,
                                         [&](size_t end, int32_t y) { return points[end].y < y; });
        before[k] = at == ends.begin() ? k : *(at - 1);
        if (at == ends.end()) ends.push_back(k);
        else *at = k;
    }
    std::vector<Point> found(ends.size());
    for (size_t n = ends.size(), k = n ? ends.back() : 0; n-- > 0; k = before[k]) found[n] = points[k];
    return found;
}

// The ends of the pair, and between them where it is cut.
std::vector<Point> cuts_of(const std::vector<Point>& chain, int32_t x_length, int32_t y_length) {
    std::vector<Point> cuts{{0, 0}};
    for (const Point& word : chain) {
        const Point middle{word.x + WORD / 2, word.y + WORD / 2};
        if (std::min(middle.x - cuts.back().x, middle.y - cuts.back().y) < LEAST_APART) continue;
        if (std::min(x_length - middle.x, y_length - middle.y) < LEAST_APART) break;
        cuts.push_back(middle);
    }
    cuts.push_back({x_length, y_length});
    return cuts;
}

// The part between two cuts, with what it reaches beyond them.
Cut part_of(Point from, Point to, Point ends) {
    Cut part{from.x, from.y, to.x, to.y, from.x, from.y, to.x, to.y};
    const auto before = [&](int32_t most) {
        const int32_t by = std::min(most, std::min(part.x, part.y));
        part.x -= by;
        part.y -= by;
    };
    const auto after = [&](int32_t most) {
        const int32_t by = std::min(most, std::min(ends.x - part.x_end, ends.y - part.y_end));
        part.x_end += by;
        part.y_end += by;
    };
    const auto missing = [&] { return (MULTIPLE - (part.x_end - part.x) % MULTIPLE) % MULTIPLE; };
    const bool is_first = from.x == 0 && from.y == 0, is_last = to.x == ends.x && to.y == ends.y;
    if (!is_first) before(BEYOND);
    if (!is_last) after(BEYOND);
    if (!is_last) after(missing());
    if (!is_first) before(missing());
    return part;
}

class Cutter {
public:
    explicit Cutter(const pairalign_posterior_pairs& pairs) : pairs_(pairs) {}

    // Writes the parts of a pair; returns how many, 0 where cuts are not worth it.
    int32_t cut(int64_t pair, Cut* parts) {
        const int32_t x = pairs_.rows[pair], y = pairs_.columns[pair];
        const Point ends{pairs_.lengths[x], pairs_.lengths[y]};
        const std::vector<Point> cuts = cuts_of(chain(common(words(x), words(y))), ends.x, ends.y);
        int64_t cells = 0;
        for (size_t k = 0; k + 1 < cuts.size(); k++) {
            parts[k] = part_of(cuts[k], cuts[k + 1], ends);
            cells += int64_t{parts[k].x_end - parts[k].x} * (parts[k].y_end - parts[k].y);
        }
        return cells * LEAST_GAIN <= int64_t{ends.x} * ends.y ? static_cast<int32_t>(cuts.size() - 1) : 0;
    }

private:
    const std::vector<uint64_t>& words(int32_t sequence) {
        const auto [found, is_new] = words_.try_emplace(sequence);
        if (is_new)
            found->second = words_of(pairs_.codes + pairs_.starts[sequence], pairs_.lengths[sequence]);
        return found->second;
    }

    const pairalign_posterior_pairs& pairs_;
    std::unordered_map<int32_t, std::vector<uint64_t>> words_;
};

}  // namespace
}  // namespace pairalign

// Parts that a pair has at most.
PAIRALIGN_API int32_t pairalign_posterior_most_cuts(int32_t shorter) {
    return shorter / pairalign::LEAST_APART + 2;
}

// Writes how many parts each pair is cut into, 0: it is not, and all parts. Returns how many, -1: no memory.
PAIRALIGN_API int64_t pairalign_posterior_cuts(const pairalign_posterior_pairs* pairs, int32_t* counts,
                                               pairalign_posterior_cut* parts) try {
    pairalign::Cutter cutter(*pairs);
    int64_t total = 0;
    for (int64_t k = 0; k < pairs->count; k++) total += counts[k] = cutter.cut(k, parts + total);
    return total;
} catch (const std::bad_alloc&) {
    return -1;
}
