// Aligns pairs one by one within the part of their matrix that can hold optimal paths, where that pays.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../core/batch.h"
#include "../core/pruning.h"
#include "../memory.h"
#include "pair.h"
#include "worth.h"
#include "waves.h"

namespace pairalign {

// What became of a pair.
enum class Attempt {
    DONE,
    IN_FULL,   // it is to be aligned in full
    IN_LANES,  // it looks similar: it is to be tried with others
    BOUNDED    // its corridor is known: it is to be filled if that is found to pay
};

// A corridor that is to be filled.
struct PlannedCorridor {
    int64_t bound;      // a score that some alignment has
    double most_cells;  // share of the matrix that it may take
    double cost;        // expected, see costs.h
    bool wide;          // of lanes
};

class Pruner {
public:
    // room: bytes that flags and saved lanes of a pair may take.
    Pruner(const Scheme& scheme, const char* instruction_set, const PruningOptions& options, size_t room,
           const volatile bool* cancelled);

    // Whether an attempt is worth its while, from the lengths alone.
    bool may_pay(int32_t rows, int32_t columns) const;

    // `in_lanes`: enough others may be tried with it. `in_full`: what it costs otherwise, see costs.h. When
    // DONE, `path` is set as Batch.paths is; path.runs needs room for rows + columns + 2 runs when `trace`.
    // BOUNDED: planned() says what is to be filled.
    Attempt align(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns, bool in_lanes,
                  double in_full, bool trace, Path& path);
    // The same of a pair that was IN_LANES, without them.
    Attempt align_alone(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns,
                        double in_full, bool trace, Path& path);
    const PlannedCorridor& planned() const { return planned_; }
    // Fills what was planned for the pair.
    Attempt fill(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns,
                 const PlannedCorridor& planned, bool trace, Path& path);

    // What share of a matrix a corridor of lanes may take; 0: whatever it takes.
    static double widest_in_lanes(const PruningOptions& options);

    const PrunedCounts& counts() const { return counts_; }

private:
    Attempt align_by_corridor(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns,
                              double in_full, const PlannedCorridor* planned, bool trace, Path& path);
    void choose_widest(const PrunedKernel& kernel, const PrunedPair& pair, double in_full, bool trace);
    PlannedCorridor plan(const PrunedKernel& kernel, const PrunedPair& pair, bool trace) const;
    bool find_bound(const PrunedKernel& kernel, PrunedPair& pair, Progress& progress);
    Progress fill_and_trace(const PrunedKernel& kernel, PrunedPair& pair, bool trace, Path& path);
    bool choose_worth(PrunedPair& pair, const LetterCounts& row_letters, const LetterCounts& column_letters,
                      Worth& of_cheap, Worth& usual) const;
    void add_up(PrunedPair& pair, const Worth& worth, const uint8_t* row, const uint8_t* column);
    void prepare(const PrunedKernel& kernel, PrunedPair& pair, const uint8_t* row, const uint8_t* column);
    template <class Lane>
    void write_letters(PrunedPair& pair, const uint8_t* row, const uint8_t* column);
    Progress trace(const PrunedKernel& kernel, PrunedPair& pair, Path& path);
    bool thin_out(PrunedPair& pair) const;

    const Scheme& scheme_;
    const PrunedKernels* kernels_;
    PruningOptions options_;
    size_t room_;
    double widest_ = 0;      // of columns: how many diagonals a path may stray, with a margin
    double most_cells_ = 0;  // share of the matrix that a corridor may take
    PlannedCorridor planned_{};
    const volatile bool* cancelled_;
    Waves waves_;
    PrunedCounts counts_;
    Buffer row_letters_, column_letters_, table_, row_worth_, column_worth_, lanes_, reach_, blocks_, flags_,
        saved_, row_cheap_, column_cheap_;
};

}  // namespace pairalign
