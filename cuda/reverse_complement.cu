// The other strand of some sequences of a set, into memory of its own.
//
// What it computes
//   reverse_complement   out[k] of a sequence = complement of letter (length - 1 - k)
//
// Inputs   letters     uint8: the set's letters as they lie on the device
//          starts      int64[sequences]: first letter of each, by sorted position
//          lengths     int32[sequences]
//          complement  uint8[256]: letter -> letter
// Output   out         uint8: sequence s begins at starts[s] - origin, so that `out - origin` with the
//                      same `starts` stands for `letters`; what lies between sequences is not written
//
// Thread mapping: a block a sequence (first + blockIdx.x), threads stride over its letters: writes are
// coalesced, reads too, backwards. Memory bound, and tiny beside any alignment. No shared memory.

#ifndef PAIRALIGN_EMULATE
#include <stdint.h>
#endif

extern "C" __global__ void reverse_complement(const uint8_t* letters, uint8_t* out, const int64_t* starts,
                                              const int32_t* lengths, const uint8_t* complement,
                                              int64_t origin, int32_t first) {
    const int32_t sequence = first + static_cast<int32_t>(blockIdx.x);
    const int32_t length = lengths[sequence];
    const uint8_t* from = letters + starts[sequence];
    uint8_t* to = out + (starts[sequence] - origin);
    for (int32_t k = static_cast<int32_t>(threadIdx.x); k < length; k += static_cast<int32_t>(blockDim.x))
        to[k] = complement[from[length - 1 - k]];
}
