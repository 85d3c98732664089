// Aligns very similar pairs by wavefronts of equal cost: what wavefronts.h needs, and when it pays.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "../core/batch.h"
#include "../memory.h"
#include "pair.h"

namespace pairalign {

// What else there would be for the pair. FORCED: whatever fronts cost, if there is room.
enum class WavesUse { OR_ALONE, OR_LANES, FORCED };

class Waves {
public:
    // room: bytes that the fronts of a pair may take. `lanes`: of a band's vectors.
    Waves(const Scheme& scheme, const WaveKernel& kernel, int lanes, size_t room,
          const std::atomic<bool>* cancelled)
        : scheme_(scheme), kernel_(kernel), lanes_(lanes), room_(room), cancelled_(cancelled) {}

    // DONE: `path` is set as Pruner::align sets it. Else the pair is to be aligned otherwise: it would cost
    // too much. `cells`: entries of fronts that were filled.
    // `score`: one that some alignment has, or NO_SCORE (anchors.h).
    Progress align(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns, int64_t score,
                   bool trace, WavesUse use, Path& path, int64_t& cells);

private:
    // Costs of residues that score `match` when equal, some of them, and `mismatch` in all other cases.
    struct Costs {
        uint32_t row_residues, column_residues;  // for which this holds, a bit each
        bool usable;
        int32_t match, divisor;
        int32_t mismatch, open, extend;  // divided
        uint32_t others;                 // residues that match nothing
    };
    void choose_costs(uint32_t row_residues, uint32_t column_residues);
    int64_t most_cost(int64_t antidiagonals, double share) const;
    bool pays(int64_t cost, int64_t unavoidable, int64_t antidiagonals, double share) const;
    // A sequence's residues, and from the last to the first, with what surrounds them.
    struct Residues {
        Buffer from_begin, from_end;
        uint8_t *begin = nullptr, *end = nullptr;
        int32_t length = 0;
    };
    uint32_t copy(const uint8_t* codes, int32_t length, uint8_t beyond, Residues& residues);
    int32_t mark(Residues& residues, uint8_t mark);
    // What fronts are in. They move from one to the other for more room.
    struct Memory {
        Buffer fronts, costs_saved, reached{Pages::LARGE_LATER};
    };
    struct Layout;
    void lay_out(const Layout& layout, Memory& memory, WavePair& pair);
    Progress fill_and_trace(const Layout& layout, WavePair& pair, bool known, bool trace, Path& path);

    const Scheme& scheme_;
    const WaveKernel& kernel_;
    const int lanes_;
    const size_t room_;
    const std::atomic<bool>* cancelled_;
    Costs costs_{};
    Residues row_, column_;
    Memory memories_[2];
};

}  // namespace pairalign
