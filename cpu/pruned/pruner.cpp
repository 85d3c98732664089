#include "pruner.h"

#include <cstring>

#include "../instruction_sets.h"
#include "costs.h"
#include "words_in_place.h"
#include "worth.h"

namespace pairalign {

#define PAIRALIGN_DECLARE(NAME) extern const PrunedKernels pruned_##NAME;
PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_DECLARE)
#undef PAIRALIGN_DECLARE

#define PAIRALIGN_ADDRESS(NAME) &pruned_##NAME,
static const PrunedKernels* const ALL[] = {PAIRALIGN_INSTRUCTION_SETS(PAIRALIGN_ADDRESS)};
#undef PAIRALIGN_ADDRESS

const PrunedKernels* pruned_kernels(const char* instruction_set) {
    for (const PrunedKernels* one : ALL)
        if (std::strcmp(one->name, instruction_set) == 0) return one;
    return nullptr;
}

namespace {

// Short pairs are filled so fast that finding out that nothing can be pruned takes its time: `auto` wants
// some words of theirs in place. Unrelated residues have two of them once in a thousand pairs, genes of
// 75% identity nearly always. Wavefronts want so many that most residues are equal, and more where a band
// is one of many pairs at a time.
constexpr int32_t SHORT = 5000, FEW_WORDS = 2, FEW_MOVED_WORDS = 3, WORDS_OF_WAVES = 12,
                  MORE_WORDS_OF_WAVES = 22;
// A row sequence that is longer by such a part loses so much for that alone that wavefronts take a score
// first.
constexpr int32_t LONGER = 200;

// Sums of scores and worths stay far within 32 bits.
bool fits(const Scheme& s, int32_t rows, int32_t columns) {
    const int64_t residue =
        std::max<int64_t>({s.highest, -int64_t{s.matrix[PAD][PAD]}, 1}) + 2 * int64_t{s.gap_extend};
    return residue * (int64_t{rows} + columns + 4 * LANE_PADDING) + 4 * int64_t{s.gap_open} <
           (int64_t{1} << 28);
}

// Beyond the borders, where alignments begin, nothing is worth more than they are; and none begins with a
// gap.
bool may_have_free_ends(const Scheme& s) {
    return s.gap_open > 0 && s.matrix[PAD][PAD] <= 0 && s.highest > 0;
}

bool fits_narrow_lanes(const Scheme& s) {
    return s.highest + 2 * int64_t{s.gap_extend} < 400 && s.gap_open < 4000 && s.matrix[PAD][PAD] > -4000;
}

}  // namespace

bool prunes(const Scheme& scheme, const PruningOptions& options) {
    if (options.use == Pruning::NEVER) return false;
    if (scheme.mode == GLOBAL) return true;
    return (scheme.mode == SEMIGLOBAL || scheme.mode == LOCAL) && may_have_free_ends(scheme) &&
           options.use != Pruning::LANES && options.use != Pruning::WAVEFRONTS;
}

Pruner::Pruner(const Scheme& scheme, const char* instruction_set, const PruningOptions& options, size_t room,
               const std::atomic<bool>* cancelled)
    : scheme_(scheme),
      kernels_(pruned_kernels(instruction_set)),
      options_(options),
      cancelled_(cancelled),
      memory_(scheme),
      filler_(options, room, cancelled),
      waves_(scheme, kernels_->waves, kernels_->narrow.lanes, room, cancelled) {}

bool Pruner::may_pay(int32_t rows, int32_t columns) const {
    if (!prunes(scheme_, options_) || rows == 0 || columns == 0) return false;
    if (!fits(scheme_, rows, columns)) return false;
    if (options_.use != Pruning::AUTO) return true;
    return columns >= 800;
}

Attempt Pruner::align(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns, bool in_lanes,
                      double in_full, bool trace, Path& path) {
    if (!may_pay(rows, columns)) return Attempt::IN_FULL;
    counts_.tried++;
    counts_.matrix_cells += int64_t{rows} * columns;
    if (options_.use == Pruning::LANES) return in_lanes ? Attempt::IN_LANES : Attempt::IN_FULL;
    if (scheme_.mode != GLOBAL) {
        // Ends that are missing move words.
        const int32_t words = options_.use == Pruning::AUTO
                                  ? words_in_place(row, rows, column, columns, FEW_MOVED_WORDS,
                                                   WordsInPlace::SIMILAR, WordsInPlace::NEAR_AFTER_END)
                                  : WordsInPlace::WORDS;
        if (words < FEW_MOVED_WORDS) return Attempt::IN_FULL;
        looks_similar_ = words >= WordsInPlace::SIMILAR;
        return align_alone(row, rows, column, columns, in_full, trace, path);
    }
    const bool is_short = columns < SHORT && !has_many_scores(scheme_);
    const bool to_lanes = in_lanes && is_short && options_.use != Pruning::FORCED;
    const int32_t words_of_waves = to_lanes ? MORE_WORDS_OF_WAVES : WORDS_OF_WAVES;
    int32_t words = WordsInPlace::WORDS;
    int64_t score = NO_SCORE;
    if (options_.use == Pruning::AUTO && is_short) {
        words =
            words_in_place(row, rows, column, columns, FEW_WORDS, words_of_waves, WordsInPlace::NEAR, true);
        const double cells = cells_for(in_full, int64_t{rows} + columns, kernels_->narrow.lanes, trace);
        if (words < FEW_WORDS && cells < MOST_OF_ANY * rows * columns)
            return to_lanes ? Attempt::IN_DOUBT : Attempt::IN_FULL;
    }
    if (options_.use == Pruning::WAVEFRONTS ||
        (options_.use != Pruning::FORCED && !has_many_scores(scheme_) && words >= words_of_waves)) {
        const bool forced = options_.use == Pruning::WAVEFRONTS;
        const WavesUse use = forced ? WavesUse::FORCED : to_lanes ? WavesUse::OR_LANES : WavesUse::OR_ALONE;
        if (rows - columns > rows / LONGER) score = find_score(row, rows, column, columns);
        Progress progress = waves_.align(row, rows, column, columns, score, trace, use, path, counts_.cells);
        // Bases that are unknown, or a gap, may lie at an end: that costs much at once, not in all.
        if (progress == Progress::TOO_MANY && !to_lanes && !forced && score == NO_SCORE) {
            score = find_score(row, rows, column, columns);
            if (score != NO_SCORE)
                progress = waves_.align(row, rows, column, columns, score, trace, use, path, counts_.cells);
        }
        counts_.lost += progress == Progress::LOST;
        counts_.by_wavefronts += progress == Progress::DONE;
        counts_.done += progress == Progress::DONE;
        if (progress == Progress::DONE) return Attempt::DONE;
        if (forced || progress == Progress::CANCELLED) return Attempt::IN_FULL;
    }
    if (to_lanes) return Attempt::IN_LANES;
    if (score == NO_SCORE) score = find_score(row, rows, column, columns);
    return align_by_band(row, rows, column, columns, score, in_full, nullptr, trace, path);
}

int64_t Pruner::find_score(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns) {
    if (scheme_.mode != GLOBAL || has_many_scores(scheme_)) return NO_SCORE;
    return anchors_.find_score(scheme_, row, rows, column, columns);
}

Attempt Pruner::align_alone(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns,
                            double in_full, bool trace, Path& path) {
    if (options_.use == Pruning::LANES) return Attempt::IN_FULL;
    const int64_t score = find_score(row, rows, column, columns);
    return align_by_band(row, rows, column, columns, score, in_full, nullptr, trace, path);
}

Attempt Pruner::fill(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns,
                     const PlannedBand& planned, bool trace, Path& path) {
    return align_by_band(row, rows, column, columns, NO_SCORE, 0, &planned, trace, path);
}

// `planned`: null: finds out what is to be filled, and does so where that is clear.
Attempt Pruner::align_by_band(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns,
                              int64_t score, double in_full, const PlannedBand* planned, bool trace,
                              Path& path) {
    const bool is_auto = options_.use == Pruning::AUTO, many_scores = has_many_scores(scheme_);
    if (is_auto && many_scores && !planned &&
        words_in_place(row, rows, column, columns) < WordsInPlace::SIMILAR)
        return Attempt::IN_FULL;
    const ResidueCounts row_residues = count_residues(row, rows),
                        column_residues = count_residues(column, columns);
    PrunedPair pair{};
    pair.scheme = &scheme_;
    pair.rows = rows;
    pair.columns = columns;
    pair.cancelled = cancelled_;
    pair.looks_similar = looks_similar_;
    Worth of_cheap, usual;
    const bool differ = choose_worth(scheme_, pair, row_residues, column_residues, of_cheap, usual);
    if (has_free_ends(pair) && pair.two_scores && pair.mismatch > 0) return Attempt::IN_FULL;

    BandLimits limits;
    Progress progress = Progress::OVERFLOWN;
    for (const PrunedKernel* kernel : {&kernels_->narrow, &kernels_->wide}) {
        const bool wide = kernel->lane_bytes != 2;
        if (!wide && (!fits_narrow_lanes(scheme_) || (planned && planned->wide))) continue;
        if (!planned) limits = choose_limits(scheme_, options_, *kernel, pair, in_full, trace);
        if (!planned && limits.widest <= 0) return Attempt::IN_FULL;
        memory_.lay_out(*kernel, pair, row, column);
        memory_.add_up(pair, differ ? of_cheap : usual, row, column);
        if (planned ||
            find_bound(options_, limits.widest, *kernel, pair, score, counts_.beam_cells, progress)) {
            if (differ && !usual.bonus) memory_.add_up(pair, usual, row, column);
            planned_ = planned ? *planned : plan_band(scheme_, options_, limits, *kernel, pair, trace);
            if (!planned && is_auto && !many_scores) return Attempt::BOUNDED;
            pair.bound = planned_.bound;
            progress = filler_.fill_and_trace(*kernel, pair, planned_.most_cells, trace, path, counts_.cells);
        }
        if (progress != Progress::OVERFLOWN) break;
    }
    if (progress == Progress::LOST) counts_.lost++;
    if (progress == Progress::DONE) counts_.done++;
    return progress == Progress::DONE ? Attempt::DONE : Attempt::IN_FULL;
}

}  // namespace pairalign
