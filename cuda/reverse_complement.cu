// The other strand of some sequences of a set, into memory of its own.
//
// What it computes
//   reverse_complement   out[k] of a sequence = complement of residue (length - 1 - k)
//
// Inputs   residues     uint8: the set's residues as they lie on the device
//          starts      int64[sequences]: first residue of each, by sorted position
//          lengths     int32[sequences]
//          complement  uint8[256]: residue -> residue
// Output   out         uint8: sequence s begins at starts[s] - origin, so that `out - origin` with the
//                      same `starts` stands for `residues`; what lies between sequences is not written
//
// Thread mapping: a block a sequence (first + blockIdx.x), threads stride over its residues: writes are
// coalesced, reads too, backwards. Memory bound, and tiny beside any alignment. No shared memory.

#ifndef PAIRALIGN_EMULATE
#include <stdint.h>
#endif

extern "C" __global__ void reverse_complement(const uint8_t* residues, uint8_t* out, const int64_t* starts,
                                              const int32_t* lengths, const uint8_t* complement,
                                              int64_t origin, int32_t first) {
    const int32_t sequence = first + static_cast<int32_t>(blockIdx.x);
    const int32_t length = lengths[sequence];
    const uint8_t* from = residues + starts[sequence];
    uint8_t* to = out + (starts[sequence] - origin);
    for (int32_t k = static_cast<int32_t>(threadIdx.x); k < length; k += static_cast<int32_t>(blockDim.x))
        to[k] = complement[from[length - 1 - k]];
}
