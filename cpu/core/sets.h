// Sets and windows as all engines and filters are given them through the C ABI, declared with ctypes in
// pairalign/engines/cpu/native_structs.py.
//
// Sets are given by sorted position (longest first). A window is a rectangle of the pair matrix; its
// pairs are numbered row by row, in a triangular window only those with row < column.
#pragma once

#include <cstdint>

struct pairalign_set {
    const uint8_t* codes;    // all residues; stays valid while the engine is open
    const int64_t* starts;   // [count] first residue of each sequence, by sorted position
    const int32_t* lengths;  // [count] by sorted position, descending
    const int32_t* inputs;   // [count] input index of each sorted position
    int32_t count;
};

struct pairalign_window {
    int32_t row_start, row_stop, column_start, column_stop;
    int32_t triangular;
    int32_t strand;  // 1; -1: of each pair, what runs along the columns is reverse-complemented
};

enum pairalign_status {
    PAIRALIGN_DONE = 0,
    PAIRALIGN_CANCELLED = 1,
    PAIRALIGN_CAPACITY = 2,
    PAIRALIGN_NO_MEMORY = 3,
    PAIRALIGN_SCORES = 4
};
