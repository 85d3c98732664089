// The C ABI of the CPU engine, as pairalign/engines/cpu/native_structs.py declares it with ctypes.
//
// Sets and windows: core/sets.h.
#pragma once

#include <cstdint>

#include "../core/sets.h"
#include "../export.h"

struct pairalign_want {
    int32_t detail;  // 0 score, 1 statistics, 2 CIGAR
    int32_t has_minimum;
    int32_t minimum;           // raw score that a pair must reach to be kept
    const uint8_t* pair_mask;  // [pairs of the window]: only these are looked at; null: all
};

struct pairalign_engine;

// What pairalign_align could not do, for the error message.
struct pairalign_trouble {
    int32_t row, column;  // positions of the pair in their sorted sets (row: first set)
    int64_t needed_bytes, available_bytes;
};

// What pairalign_align has found: pairs, and runs of their CIGARs; or the trouble.
struct pairalign_found {
    int64_t pairs, runs;
    pairalign_trouble trouble;
};

// Names of the instruction sets that this machine can run, best first, separated by commas.
PAIRALIGN_API const char* pairalign_instruction_sets();
// Those that the library has kernels for.
PAIRALIGN_API const char* pairalign_compiled_sets();
// `second` is null for one set against itself. long_pairs: 0 aligns pairs one by one, on all lanes of a
// vector, where that is faster; 1 (always) and 2 (never) are for tests. Null when `instruction_set` cannot
// run here.
PAIRALIGN_API pairalign_engine* pairalign_open(const pairalign_set* first, const pairalign_set* second,
                                               const int32_t* matrix, int32_t gap_open, int32_t gap_extend,
                                               int32_t mode, int32_t unambiguous, int32_t threads,
                                               int64_t memory_bytes, const char* instruction_set,
                                               int32_t long_pairs);
// What gaps at the ends cost in mode 3 (end-gaps), before the first window: open and extend of those opposite
// the first residues of the query, opposite its last ones, and the same of the target. `ties`: an enum Ties.
PAIRALIGN_API void pairalign_set_end_gaps(pairalign_engine* engine, const int32_t* costs, int32_t ties);
// Gives the sets with every sequence reverse-complemented: before the first window of strand -1. `second` is
// null where there is one set.
PAIRALIGN_API void pairalign_set_reversed(pairalign_engine* engine, const pairalign_set* first,
                                          const pairalign_set* second);
// How pairs of global mode are pruned, see pruned/pruner.h; all but `use` is for tests. Before the first
// window.
PAIRALIGN_API void pairalign_set_pruning(pairalign_engine* engine, int32_t use, int64_t worse_seed,
                                         int64_t lower_bound);
// How many bits a lane has at least: 0 takes as few as scores allow; 8, 16 and 32 are for tests. Before the
// first window.
PAIRALIGN_API void pairalign_set_lane_bits(pairalign_engine* engine, int32_t bits);
// Which pairs share vectors with pairs of other rows, see own_row_pairs.h: 0 chooses; 1 (all) and 2 (none)
// are for tests. Before the first window.
PAIRALIGN_API void pairalign_set_own_rows(pairalign_engine* engine, int32_t use);
// Which local pairs are aligned above floors, see byte_floors.h: 0 chooses; 1 (all) and 2 (none) are for
// tests. Before the first window.
PAIRALIGN_API void pairalign_set_floors(pairalign_engine* engine, int32_t use);
// Pairs tried, done and lost by pruning; cells of beams, of bands, and of the matrices of the pairs
// tried; pairs done by wavefronts.
PAIRALIGN_API void pairalign_pruned(const pairalign_engine* engine, int64_t* counts);
PAIRALIGN_API void pairalign_close(pairalign_engine* engine);
// May be called from another thread while pairalign_align runs: it then returns PAIRALIGN_CANCELLED soon.
PAIRALIGN_API void pairalign_cancel(pairalign_engine* engine);
PAIRALIGN_API int32_t pairalign_align(pairalign_engine* engine, const pairalign_window* window,
                                      const pairalign_want* want, pairalign_found* found);
// Copies out what was found, and lets go of it: the fields in the order of INT32_FIELDS, [3 of scores, else
// 11][pairs]; of CIGARs, unless these are null, [pairs + 1] offsets and [runs] runs.
PAIRALIGN_API void pairalign_take(pairalign_engine* engine, int32_t* fields, int64_t* cigar_offsets,
                                  uint32_t* cigar);
