// The order of a set's sequences, and how those of two sets compare. The ctypes declarations are in
// pairalign/sequences/row_order.py.

#include "../row_order.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "../export.h"

namespace {

// As pairalign_lay_out_residues is given them.
struct Sorted {
    int64_t sequences;
    const int32_t* order;
    const int64_t* offsets;
    const uint8_t* residues;

    int64_t count() const { return sequences; }
    int64_t length(int64_t k) const { return offsets[order[k] + 1] - offsets[order[k]]; }
    const uint8_t* codes(int64_t k) const { return residues + offsets[order[k]]; }
};

}  // namespace

// order[n]: input indices, the longest sequence first, of equally long ones the one whose codes come first,
// of the same ones the one that is earlier in the input.
PAIRALIGN_API void pairalign_order_rows(int64_t n, const int64_t* offsets, const uint8_t* codes,
                                        int32_t* order) {
    std::iota(order, order + n, 0);
    std::sort(order, order + n, [&](int32_t a, int32_t b) {
        const int found = pairalign::compare_rows(codes + offsets[a], offsets[a + 1] - offsets[a],
                                                  codes + offsets[b], offsets[b + 1] - offsets[b]);
        return found != 0 ? found < 0 : a < b;
    });
}

PAIRALIGN_API void pairalign_row_ranks(int64_t n, const int32_t* order, const int64_t* offsets,
                                       const uint8_t* codes, int64_t other_n, const int32_t* other_order,
                                       const int64_t* other_offsets, const uint8_t* other_codes,
                                       int32_t* ranks, int32_t* other_ranks) {
    pairalign::find_row_ranks(Sorted{n, order, offsets, codes},
                              Sorted{other_n, other_order, other_offsets, other_codes}, ranks, other_ranks);
}
