#include <algorithm>
#include <cstring>
#include <utility>

#include "../threads.h"
#include "msa.h"

namespace pairalign {

constexpr uint64_t ONE = 65535;  // a posterior of 1

namespace {

// Sums for residues, most of which stay 0: those that were added to are found without a look at each.
class SparseSums {
public:
    explicit SparseSums(size_t residues) : sums_(residues), blocks_(residues / BLOCK / 8 * 8 + 8) {}

    void add(size_t residue, uint64_t what) {
        sums_[residue] += what;
        blocks_[residue / BLOCK] = 1;
    }
    // Calls act(residue, sum) for those that are not 0, in ascending order, and makes them 0.
    template <class Act>
    void take_all(size_t first, const Act& act) {
        for (size_t eight = first / BLOCK / 8 * 8; eight < blocks_.size(); eight += 8) {
            uint64_t any;
            std::memcpy(&any, &blocks_[eight], sizeof any);
            if (!any) continue;
            for (size_t block = eight; block < eight + 8; block++)
                if (std::exchange(blocks_[block], uint8_t{0})) take_block(block, act);
        }
    }

private:
    static constexpr size_t BLOCK = 64;

    template <class Act>
    void take_block(size_t block, const Act& act) {
        for (size_t c = block * BLOCK; c < std::min(sums_.size(), (block + 1) * BLOCK); c++)
            if (sums_[c]) act(c, std::exchange(sums_[c], uint64_t{0}));
    }

    std::vector<uint64_t> sums_;
    std::vector<uint8_t> blocks_;  // whether a block of residues was added to
};

}  // namespace

PosteriorGraph::PosteriorGraph(const int32_t* lengths, int32_t count) : starts_{0} {
    for (int32_t s = 0; s < count; s++) {
        starts_.push_back(starts_.back() + lengths[s]);
        sequences_.insert(sequences_.end(), static_cast<size_t>(lengths[s]), s);
    }
    offsets_.assign(sequences_.size() + 1, 0);
}

void PosteriorGraph::set_links(const std::vector<std::vector<Link>>& upper) {
    const size_t count = sequences_.size();
    std::vector<int64_t> offsets(count + 1, 0);
    for (size_t g = 0; g < count; g++) {
        offsets[g + 1] += static_cast<int64_t>(upper[g].size());
        for (const Link& link : upper[g]) offsets[static_cast<size_t>(link.residue) + 1]++;
    }
    for (size_t g = 0; g < count; g++) offsets[g + 1] += offsets[g];
    std::vector<Link> links(static_cast<size_t>(offsets[count]));
    std::vector<int64_t> next(offsets.begin(), offsets.end() - 1);
    // Links to earlier residues come first, since g ascends; then a residue's own.
    for (size_t g = 0; g < count; g++) {
        for (const Link& link : upper[g]) {
            const size_t to = static_cast<size_t>(link.residue);
            links[static_cast<size_t>(next[to]++)] = {static_cast<int32_t>(g), link.value};
        }
    }
    for (size_t g = 0; g < count; g++) std::copy(upper[g].begin(), upper[g].end(), links.begin() + next[g]);
    offsets_ = std::move(offsets);
    links_ = std::move(links);
}

void PosteriorGraph::relax(const int32_t* weights, uint16_t least, int32_t threads) {
    uint64_t all = 0;
    for (int32_t s = 0; s < sequences(); s++) all += static_cast<uint64_t>(weights[s]);
    const uint64_t divisor = all * ONE;
    std::vector<std::vector<Link>> upper(sequences_.size());
    on_threads(sequences(), threads, [&](int32_t x) {
        // Sums of weight * posterior * posterior: exact, below 2^15 * 2^32 times the most links of a residue.
        SparseSums sums(sequences_.size());
        const int32_t later = start(x + 1);
        for (int32_t g = start(x); g < later; g++) {
            for (const Link* way = begin(g); way < end(g); way++) {
                const int32_t z = sequence_of(way->residue);
                const uint64_t weight = static_cast<uint64_t>(weights[z]) * way->value;
                const auto is_before = [](const Link& link, int32_t residue) {
                    return link.residue < residue;
                };
                const Link* const stop = end(way->residue);
                for (const Link* to = std::lower_bound(begin(way->residue), stop, later, is_before);
                     to < stop; to++)
                    sums.add(static_cast<size_t>(to->residue), weight * to->value);
                if (z > x) {
                    const uint64_t own = static_cast<uint64_t>(weights[x] + weights[z]) * ONE;
                    sums.add(static_cast<size_t>(way->residue), own * way->value);
                }
            }
            sums.take_all(static_cast<size_t>(later), [&](size_t c, uint64_t sum) {
                const uint64_t value = std::min((sum + divisor / 2) / divisor, ONE);
                if (value >= least)
                    upper[static_cast<size_t>(g)].push_back(
                        {static_cast<int32_t>(c), static_cast<uint16_t>(value)});
            });
        }
    });
    set_links(upper);
}

// The heaviest chain of links that ascend in both sequences: a tree of maxima over the columns before.
uint64_t PosteriorGraph::expected_accuracy(int32_t x, int32_t y) const {
    const int32_t first = start(y), last = start(y + 1), size = last - first;
    std::vector<uint64_t> best(static_cast<size_t>(size) + 1, 0);
    std::vector<std::pair<int32_t, uint64_t>> row;
    uint64_t most = 0;
    for (int32_t g = start(x); g < start(x + 1); g++) {
        const auto is_before = [](const Link& link, int32_t residue) { return link.residue < residue; };
        row.clear();
        for (const Link* link = std::lower_bound(begin(g), end(g), first, is_before);
             link < end(g) && link->residue < last; link++) {
            uint64_t before = 0;
            for (int32_t k = link->residue - first; k > 0; k -= k & -k)
                before = std::max(before, best[static_cast<size_t>(k)]);
            row.push_back({link->residue - first + 1, before + link->value});
        }
        for (const auto& [column, sum] : row) {
            most = std::max(most, sum);
            for (int32_t k = column; k <= size; k += k & -k)
                best[static_cast<size_t>(k)] = std::max(best[static_cast<size_t>(k)], sum);
        }
    }
    return most;
}

}  // namespace pairalign
