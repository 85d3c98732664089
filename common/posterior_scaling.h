// How posteriors' rows are kept within what numbers hold: the same for CPU and CUDA, so that both give the
// same bits.
//
// A row is brought to one size every GROUP rows, by a power of two. Until then its values grow by less than
// 2^growth, which pairalign/scoring/posterior_models.py proves of a model's tables.
//
// Of a row, the largest forward value times the largest backward value is 2^w times the whole of the pair.
// TINY is added to each of `cells` cells, and multiplied by the others' largest value: that adds less than
// 2^(w + growth + 2 - (TOP - TINY)) * 6 * cells to a posterior. SPARE_BITS makes it less than 2^-17.
//
// Shared by cpu/posterior/ and cuda/posterior/.
#pragma once

// TOP: the exponent that the largest value of a row is brought to. TINY: that of a value which is added to
// each cell, so that none is subnormal. END: values from 2^END on are infinite.
template <class Scalar>
struct PosteriorRange;
template <>
struct PosteriorRange<float> {
    static constexpr int TOP = 75, TINY = -100, END = 128;
};
template <>
struct PosteriorRange<double> {
    static constexpr int TOP = 900, TINY = -900, END = 1024;
};

struct PosteriorScaling {
    static constexpr int GROUP = 8;           // rows
    static constexpr int MOST_AT_ONCE = 120;  // the exponent of a power of two
    static constexpr int MOST_GROWTH = 50;    // bits
    static constexpr int SPARE_BITS = 22;     // for 17 bits of a posterior
    static constexpr double LEAST = 0x1p-24;  // what a model's posteriors below are taken for
    // What a model's posteriors of a row may add up to. Rows where a group begins are added up.
    static constexpr double MOST_OF_ROW = 1 + 1e-3;

    // The largest value is below 2^(TOP + 1); one bit more for what rounding adds.
    template <class Scalar>
    static constexpr bool holds() {
        return PosteriorRange<Scalar>::TOP + 1 + MOST_GROWTH + 1 < PosteriorRange<Scalar>::END;
    }
};
static_assert(PosteriorScaling::holds<float>() && PosteriorScaling::holds<double>(), "no value overflows");
