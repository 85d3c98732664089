// What posteriors are computed of and what comes of it: the structs of
// pairalign/engines/cpu/cpu_posterior.py, and the interface between an instruction set's kernel (kernel.h)
// and who hands out the pairs (posterior.cpp).
//
// Two models of a pair (x, y). Both emit 1 for a residue in a gap: emissions are odds ratios.
//
// The pair HMM of ProbCons (Do et al., Genome Res 15:330, 2005), states X1, X2 (a residue of x), Y1, Y2, and
// one or more match states Ms, as MUMMALS has (Pei and Grishin, Nucleic Acids Res 34:4364, 2006). A match
// state stays, or is left for a match state that does not depend on it:
//     Ms(i,j) = e_s(x_i, y_j) As(i-1,j-1)         As = stay_s Ms + enter_s H
//     H       = sum of leave_s Ms + close1 (X1 + Y1) + close2 (X2 + Y2)
//     Xk(i,j) = extend_k Xk(i-1,j) + sum of open_k,s Ms(i-1,j)    and Yk along y; they begin and end with
//     start_k
// One match state: leave = 0, enter = 1.
// The partition function of Probalign (Roshan and Livesay, Bioinformatics 22:2715, 2006), states M, X, Y:
//     M(i,j) = z(x_i, y_j) (M + X + Y)(i-1,j-1)
//     X(i,j) = extend X(i-1,j) + open M(i-1,j)    and Y along y; gaps at ends of the pair cost nothing
// The posterior of (i,j) is the root of the mean of the squares of both models' (MSAProbs; Liu et al.,
// Bioinformatics 26:1958, 2010).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../common/posterior_scaling.h"

constexpr int POSTERIOR_CODES = 32;   // of an alphabet; code 31 is what a lane is filled up with
constexpr int MOST_MATCH_STATES = 4;  // a model has these, or one

extern "C" {

// PosteriorModel in Python. Emissions [match state][code of x][code of y].
struct pairalign_posterior_model {
    double hmm_emission[MOST_MATCH_STATES * POSTERIOR_CODES * POSTERIOR_CODES];
    double partition_emission[POSTERIOR_CODES * POSTERIOR_CODES];
    double start_match, start_short, start_long;
    double stay[MOST_MATCH_STATES], leave[MOST_MATCH_STATES], enter[MOST_MATCH_STATES];
    double open_short[MOST_MATCH_STATES], open_long[MOST_MATCH_STATES];
    double extend_short, extend_long, close_short, close_long;
    double gap_open, gap_extend;
    int32_t match_states;
    int32_t growth;  // bits that values of a row grow by in a group, see common/posterior_scaling.h
};

// PosteriorPairs in Python: pairs of sequences of a set, in the order of its input.
struct pairalign_posterior_pairs {
    const uint8_t* codes;
    const int64_t* starts;
    const int32_t* lengths;
    const int32_t* rows;     // x of each pair
    const int32_t* columns;  // y of each pair
    int64_t count;
    int32_t unknown;  // the code of N, where pairs are of parts of DNA, see cuts.cpp; else -1
};
}

namespace pairalign {

// A posterior that reaches the threshold.
struct PosteriorEntry {
    int32_t row, column;
    uint16_t value;  // in 65535ths
};

constexpr int MOST_LANES = 16;

// Whether lanes have an x of their own: no; of the bases and N; of any codes of DNA; one of two or three.
enum class Mixed { NOT, BASES, ALL, TWO, THREE };
constexpr int MOST_QUERIES = 3;
constexpr int MIXED_BASES = 5, MIXED_STEP = 6;  // four bases and N; and what a lane is filled up with
constexpr int MIXED_CODES = 15;                 // of DNA

// One x against the y of each lane; or two or three of any lengths; or, of parts of DNA, an x of each lane,
// all of one length.
struct PosteriorBatch {
    const pairalign_posterior_model* model;
    const uint8_t* row_of[MOST_LANES];
    int32_t rows;  // the most
    int32_t row_lengths[MOST_LANES];
    int32_t unknown;  // see pairalign_posterior_pairs
    int count;        // lanes in use
    const uint8_t* columns[MOST_LANES];
    int32_t lengths[MOST_LANES];
    float threshold;
    std::vector<PosteriorEntry>* entries[MOST_LANES];  // out: last row first, last column first
    bool too_wide[MOST_LANES];  // out: more than the arithmetic holds, or sums show it; no entries count
};

// The arithmetics, by how wide a range they hold.
enum Arithmetic { FLOAT32 = 0, FLOAT64 = 1, EXTENDED = 2, ARITHMETICS = 3 };

// A way to compute batches: memory of a thread, and the lanes at once.
class PosteriorLanes {
public:
    virtual ~PosteriorLanes() = default;
    virtual int lanes() const = 0;
    virtual void compute(PosteriorBatch& batch) = 0;
};

struct PosteriorKernel {
    const char* name;
    PosteriorLanes* (*make)(int arithmetic, int match_states, Mixed mixed);
};

// Rows of M that are kept at a time: all of a small pair, else a multiple of GROUP; the others are computed
// again of the state between blocks. About where both take the least memory, which also keeps them near the
// processor.
inline int32_t rows_of_block(int32_t rows, int32_t columns, int match_states) {
    constexpr int32_t GROUP = PosteriorScaling::GROUP;
    constexpr int64_t NEAR = 1 << 15;  // vectors: 2 MiB at most
    if (int64_t{match_states + 1} * rows * columns <= NEAR) return rows;
    int32_t block = GROUP;
    while (int64_t{match_states + 1} * block * block < int64_t{match_states + 4} * rows) block += GROUP;
    return block;
}

// Vectors that a batch needs, beside some for each of its rows.
inline int64_t vectors_of_batch(int32_t rows, int32_t columns, int match_states) {
    const int64_t block = rows_of_block(rows, columns, match_states), blocks = (rows + block - 1) / block;
    const int64_t state = match_states + 4, kept = match_states + 1;
    return (int64_t{columns} + 2) * (kept * (block + POSTERIOR_CODES) + state * (blocks + 2) + 4);
}

}  // namespace pairalign
