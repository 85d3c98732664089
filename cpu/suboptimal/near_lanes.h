// Whether pairs have an alignment near a diagonal that scores enough, in 8 bits: a lane a pair. Included by
// kernel_ISA.cpp, once for each instruction set.
//
// Lanes hold a score less 128, and -128 for all that is less: no local alignment goes on from there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "byte_neighbours.h"
#include "suboptimal.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

// Cell k of a row is on diagonal k of the band: what was above it is now at k + 1.
inline uint64_t suboptimal_near_lanes(const SuboptimalPlaces& places) {
    constexpr size_t LANES = Bytes::LANES;
    const Bytes opens = Bytes::set(-places.gap_open), extends = Bytes::set(-places.gap_extend);
    const Bytes match = Bytes::set(places.match), mismatch = Bytes::set(places.mismatch);
    const Bytes zero = Bytes::set(-128);
    const size_t diagonals = static_cast<size_t>(places.diagonals);
    uint8_t* const h_row = places.cells;
    uint8_t* const f_row = h_row + diagonals * LANES;
    for (size_t k = 0; k <= 2 * diagonals; ++k) zero.store(h_row + k * LANES);
    Bytes best = zero;
    for (size_t row = 0; row < static_cast<size_t>(places.row_count); ++row) {
        const Bytes residue = Bytes::load(places.rows + row * LANES);
        const uint8_t* const columns = places.columns + row * LANES;
        Bytes e = zero;
        for (size_t at = 0; at < diagonals * LANES; at += LANES) {
            const auto equal = Bytes::eq(residue, Bytes::load(columns + at));
            const Bytes aligned = add_signed(Bytes::load(h_row + at), Bytes::blend(equal, match, mismatch));
            const Bytes f = Bytes::load(f_row + at + LANES);
            const Bytes h = Bytes::max_signed(Bytes::max_signed(aligned, f), e),
                        opened = add_signed(h, opens);
            e = Bytes::max_signed(add_signed(e, extends), opened);
            Bytes::max_signed(add_signed(f, extends), opened).store(f_row + at);
            h.store(h_row + at);
            best = Bytes::max_signed(best, h);
        }
    }
    best = Bytes::bit_xor(best, Bytes::set(128));
    return Bytes::bits(Bytes::ge(best, Bytes::set(places.enough)));
}

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
