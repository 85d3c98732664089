// How posteriors' rows are kept within what numbers hold: the same for CPU and CUDA, so that both give the
// same bits.
//
// A row is brought to one size every GROUP rows, by a power of two. Of a row, the largest forward value times
// the largest backward value is 2^w times the whole of the pair; what TINY adds is harmless while w leaves
// enough of the range.
//
// Shared by cpu/posterior/ and cuda/posterior/.
#pragma once

// TOP: the exponent that the largest value of a row is brought to. TINY: that of a value which is added to
// each cell, so that none is subnormal. Values grow by less than 2^5 a row.
template <class Scalar>
struct PosteriorRange;
template <>
struct PosteriorRange<float> {
    static constexpr int TOP = 80, TINY = -100;
};
template <>
struct PosteriorRange<double> {
    static constexpr int TOP = 900, TINY = -900;
};

struct PosteriorScaling {
    static constexpr int GROUP = 8;           // rows
    static constexpr int MOST_AT_ONCE = 120;  // the exponent of a power of two
    static constexpr int SPARE_BITS = 44;     // for 16 bits of a posterior, and rows that grow
    static constexpr double LEAST = 0x1p-24;  // what a model's posteriors below are taken for
};
