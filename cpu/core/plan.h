// What fits: scores into lanes, flags and checkpoints into memory; and which kernel is the faster one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "batch.h"
#include "byte_batch.h"

namespace pairalign {

// True when every value of the recurrences fits the 16-bit (32-bit) lanes for a pair of these lengths.
bool fits_narrow(const Scheme& scheme, int32_t rows, int32_t columns);
bool fits_wide(const Scheme& scheme, int32_t rows, int32_t columns);

// True when 8-bit lanes can align such pairs: as differences whatever their lengths, in local mode as long as
// scores are low, which shows when they are aligned.
bool fits_bytes(const Scheme& scheme);

// True when scores of local mode are found above floors, see byte_floors.h: floors fit their numbers, and a
// byte has room for some residues of a block.
bool fits_floors(const Scheme& scheme, int32_t rows, int32_t columns);

// Classes of a bit set of residues, or false where scores take more than classes can say.
bool classes_of(const Scheme& scheme, int unambiguous, uint32_t codes, ResidueClasses& classes);

// The unit of costs is about half the time in which 16-bit lanes fill one vector of cells without flags.

// How a batch of pairs is filled: the flags of `block_rows` rows are kept at once, all or as many as fit.
struct BatchPlan {
    int32_t block_rows;
    size_t bytes;  // of flags and checkpoints; more than the budget where nothing fits
    double cost;   // exact below 2^53
};
BatchPlan plan_batch(const Kernel& kernel, int32_t rows, int32_t columns, bool trace, size_t budget);

// How a batch of 8-bit lanes is filled: into tiles of what size it is cut, if it is.
struct BytePlan {
    int32_t side;
    size_t bytes;  // of all its memory; more than the budget where nothing fits
    double cost;
};
// `least_bits`: the engine's; 8: in tiles, however short the sequences are.
BytePlan plan_bytes(const ByteKernel& kernel, Mode mode, int32_t rows, int32_t columns, bool trace,
                    size_t budget, int32_t least_bits);
// The same of local mode above floors.
BytePlan plan_floors(const ByteKernel& kernel, int32_t rows, int32_t columns, bool trace, size_t budget);

// By what factor a batch costs more when lanes have row sequences of their own, for each way to find scores.
enum class OwnScores { CLASSES, ONE_TABLE, TWO_TABLES, FOUR_TABLES, LINES };
OwnScores scores_of(const FewRows& few);
double own_rows_factor(OwnScores scores);

// How one pair is filled by the kernel for long pairs: of the tiles that fit, the one that costs least.
struct LongPlan {
    Tile tile;
    size_t bytes;
    double cost;
};
LongPlan plan_long_pair(const LongKernel& kernel, int32_t rows, int32_t columns, bool trace, size_t budget);

}  // namespace pairalign
