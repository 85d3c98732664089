// Pairs of reads that share seeds: words of equal residues, several of them near one diagonal, where an
// alignment scores enough. The C ABI that pairalign/engines/cpu/seed_index.py declares with ctypes.
#pragma once

#include <cstdint>

#include "../export.h"

// Reads, and what makes two of them a candidate.
struct pairalign_seed_reads {
    const uint8_t* codes;      // of all reads, one after the other; complements are 3 less the code
    const int64_t* offsets;    // [reads + 1]
    const int32_t* matrix;     // [32][32]
    const int32_t* cancelled;  // may become 1 while it runs
    int32_t reads;
    int32_t gap_open, gap_extend;
    int32_t unambiguous;  // codes from here on are in no word
    int32_t word;         // residues
    int32_t least_seeds;  // points of seeds near each other: see seed_pairs.cpp
    int32_t least_score;  // of an alignment near them, if it is at least 1
};

struct pairalign_read_seeds;

// Returns nothing without memory.
PAIRALIGN_API pairalign_read_seeds* pairalign_open_read_seeds(const pairalign_seed_reads* reads);
PAIRALIGN_API void pairalign_close_read_seeds(pairalign_read_seeds* seeds);

// Writes the candidates of a read among those after it: twice the number of the other read, one more where it
// is on the other strand. `found` has room for twice the reads. Returns how many; -1 without memory, -2 when
// cancelled. May be called on several threads at a time.
PAIRALIGN_API int32_t pairalign_seed_pairs(const pairalign_read_seeds* seeds, int32_t read,
                                           const char* instruction_set, int32_t* found);
