#include "pruner.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "../instruction_sets.h"
#include "costs.h"
#include "words_in_place.h"

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

// A pair whose corridor would take more than this of its matrix is aligned in full.
constexpr double WIDEST = 0.5;
// The same of many at a time, where `auto` gives up earlier.
constexpr double WIDEST_AUTO = 0.43;
// What beams and corridor of unrelated letters come to; and how much more than expected one that was begun.
constexpr double MOST_OF_ANY = 0.75, SPARE = 1.3;
// Lanes of a window that the caches hold. Each antidiagonal or two of a wider one goes to memory, which makes
// a cell four times as dear as one of the full matrix: `auto` fills such corridors up to a share of it.
// Beams of such pairs may take little as well: what is left of them may have to be aligned in full.
constexpr double LANES_IN_CACHE = 100e3, WIDEST_IN_MEMORY = 0.15, MOST_BEAMS_IN_MEMORY = 0.04;
// Widths of beams, in diagonals that a path may stray; each next one is tried where the last one lost its
// way.
constexpr int64_t FIRST_BEAM = 20, BEAM_GROWTH = 4;
// A wider beam is tried when the corridor would be so many times as wide as it, and its cells are expected to
// be at most such a part of the corridor's.
constexpr int64_t WORTH_A_BEAM = 8;
constexpr double MOST_OF_CORRIDOR = 1.0 / 3;
// Diagonals that windows are wider than the corridor, about.
constexpr int64_t WINDOW_MARGIN = 64;

// Antidiagonals between saved lanes: the lanes that a cell depends on so far back fit few vectors.
constexpr int32_t SAVE_EVERY = 64;
constexpr int FEW_VECTORS = 2;
// Of the room, what is for lanes that are saved; for those of them that the way back saves; and for flags.
constexpr size_t saved_part(size_t room) { return room - room / 4; }
constexpr size_t halfway_part(size_t room) { return room / 32; }
constexpr size_t flags_part(size_t room) { return room / 4; }
constexpr int64_t NO_LIMIT = int64_t{1} << 34;  // more than any pair loses; times its steps it fits 64 bits

// With more than two scores a cell takes several times as long, so that `auto` prunes only what is very
// similar: a quarter of the words must be in place.
constexpr double WIDEST_OF_MANY_SCORES = 0.06;
// Short pairs are filled so fast that finding out that nothing can be pruned takes its time: `auto` wants
// some words of theirs in place. Unrelated letters have two of them once in a thousand pairs, genes of
// 75% identity nearly always. Wavefronts want so many that most letters are equal, and more where a corridor
// is one of many pairs at a time.
constexpr int32_t SHORT = 5000, FEW_WORDS = 2, WORDS_OF_WAVES = 12, MORE_WORDS_OF_WAVES = 22;

// Whether the first three letters of the alphabet are enough to see that letters have more than two scores.
bool has_many_scores(const Scheme& s) {
    return s.matrix[0][1] != s.matrix[0][2] || s.matrix[0][1] != s.matrix[1][2] ||
           s.matrix[0][0] != s.matrix[1][1];
}

int32_t each_diagonal(const PrunedPair& pair) {  // what a step off the diagonal and back costs at least
    return std::max(1, std::max(pair.row_gaps.least, pair.row_gaps.usual) +
                           std::max(pair.column_gaps.least, pair.column_gaps.usual));
}

double matrix_of(const PrunedPair& pair) { return static_cast<double>(pair.rows) * pair.columns; }
// What a corridor for a score takes of it, if it is as high as it is wide.
double triangle_of(const PrunedPair& pair) {
    return static_cast<double>(pair.most - pair.bound) / each_diagonal(pair) / pair.columns;
}
// No alignment has a higher score. `rows`, `columns`: how many cheap letters they have.
int64_t most_of(const Worth& p, int64_t rows, int64_t columns, const LetterCounts& row_letters,
                const LetterCounts& column_letters) {
    int64_t worth = 0, longer = 0;
    for (int a = 0; a < CODES; a++) {
        worth += int64_t{row_letters.of[a]} * p.row[a] + int64_t{column_letters.of[a]} * p.column[a];
        longer += row_letters.of[a] - column_letters.of[a];
    }
    if (!p.bonus)
        return worth - std::max(p.row_gaps.least * longer, p.row_gaps.usual * (longer - p.row_gaps.cheap));
    return worth + p.bonus * std::min(rows, columns) -
           std::max(p.row_gaps.least * longer - p.bonus * rows, p.row_gaps.usual * longer);
}

// Sums of scores and worths stay far within 32 bits.
bool fits(const Scheme& s, int32_t rows, int32_t columns) {
    const int64_t letter =
        std::max<int64_t>({s.highest, -int64_t{s.matrix[PAD][PAD]}, 1}) + 2 * int64_t{s.gap_extend};
    return letter * (int64_t{rows} + columns + 4 * LANE_PADDING) + 4 * int64_t{s.gap_open} <
           (int64_t{1} << 28);
}

bool fits_narrow_lanes(const Scheme& s) {
    return s.highest + 2 * int64_t{s.gap_extend} < 400 && s.gap_open < 4000 && s.matrix[PAD][PAD] > -4000;
}

// Sums of worths; windows read beyond both ends, whatever there is.
int32_t* room_for_sums(Buffer& buffer, int32_t letters) {
    const size_t count = static_cast<size_t>(letters) + 1 + 2 * LANE_PADDING;
    int32_t* room = static_cast<int32_t*>(buffer.need(count * sizeof(int32_t)));
    std::fill(room, room + LANE_PADDING, 0);
    std::fill(room + count - LANE_PADDING, room + count, 0);
    return room + LANE_PADDING;
}

}  // namespace

Pruner::Pruner(const Scheme& scheme, const char* instruction_set, const PruningOptions& options, size_t room,
               const volatile bool* cancelled)
    : scheme_(scheme),
      kernels_(pruned_kernels(instruction_set)),
      options_(options),
      room_(room),
      cancelled_(cancelled),
      waves_(scheme, kernels_->waves, kernels_->narrow.lanes, room, cancelled) {}

bool Pruner::may_pay(int32_t rows, int32_t columns) const {
    if (options_.use == Pruning::NEVER || scheme_.mode != GLOBAL || rows == 0 || columns == 0) return false;
    if (!fits(scheme_, rows, columns)) return false;
    if (options_.use != Pruning::AUTO) return true;
    return columns >= 800;
}

template <class Lane>
void Pruner::write_letters(PrunedPair& pair, const uint8_t* row, const uint8_t* column) {
    // The lanes that refill() lays for all antidiagonals of a cell reach so far beyond both ends in some.
    const int32_t row_padding = LANE_PADDING + pair.columns / 2,
                  column_padding = LANE_PADDING + pair.rows / 2;
    const size_t row_lanes = static_cast<size_t>(pair.rows) + 2 * static_cast<size_t>(row_padding);
    const size_t column_lanes = static_cast<size_t>(pair.columns) + 2 * static_cast<size_t>(column_padding);
    Lane* const a = static_cast<Lane*>(row_letters_.need(row_lanes * sizeof(Lane))) + row_padding;
    Lane* const b = static_cast<Lane*>(column_letters_.need(column_lanes * sizeof(Lane))) + column_padding;
    // With two scores, letters that are no match for themselves get codes that the other sequence has not.
    Lane row_code[CODES], column_code[CODES];
    for (int c = 0; c < CODES; c++) {
        const bool other = pair.two_scores && scheme_.matrix[c][c] != pair.match;
        row_code[c] = static_cast<Lane>(c + (other ? CODES : 0));
        column_code[c] = static_cast<Lane>(c + (other ? 2 * CODES : 0));
    }
    const Lane beyond = static_cast<Lane>(PAD),
               row_beyond = static_cast<Lane>(pair.two_scores ? 3 * CODES : PAD);
    std::fill(a - row_padding, a, row_beyond);
    std::fill(a + pair.rows, a + pair.rows + row_padding, row_beyond);
    std::fill(b - column_padding, b, beyond);
    std::fill(b + pair.columns, b + pair.columns + column_padding, beyond);
    for (int32_t k = 0; k < pair.rows; k++) a[k] = row_code[row[k]];
    for (int32_t k = 0; k < pair.columns; k++) b[pair.columns - 1 - k] = column_code[column[k]];
    pair.row = a;
    pair.column = b;
    if (pair.two_scores) return;
    Lane* table = static_cast<Lane*>(table_.need(CODES * CODES * sizeof(Lane)));
    for (int c = 0; c < CODES * CODES; c++)
        table[c] = static_cast<Lane>(scheme_.matrix[c / CODES][c % CODES] + 2 * scheme_.gap_extend);
    pair.table = table;
}

// Whether the letters of both score one thing when equal (some of them) and another one in all other cases.
static bool has_two_scores(const Scheme& s, const LetterCounts& row, const LetterCounts& column,
                           PrunedPair& pair) {
    bool any_match = false, any_mismatch = false;
    pair.match = pair.mismatch = s.matrix[PAD][PAD];
    for (int a = 0; a < CODES; a++)
        for (int b = 0; b < CODES; b++)
            if (a != b && row.of[a] && column.of[b]) {
                if (any_mismatch && pair.mismatch != s.matrix[a][b]) return false;
                pair.mismatch = s.matrix[a][b];
                any_mismatch = true;
            }
    for (int a = 0; a < CODES; a++) {
        const int32_t score = s.matrix[a][a];
        if (!row.of[a] || !column.of[a] || (any_mismatch && score == pair.mismatch)) continue;
        if (any_match && pair.match != score) return false;
        pair.match = score;
        any_match = true;
    }
    return any_match;
}

// Chooses what letters are worth. True: a beam should take `of_cheap`; `usual` may be better for the
// corridor.
bool Pruner::choose_worth(PrunedPair& pair, const LetterCounts& row_letters,
                          const LetterCounts& column_letters, Worth& of_cheap, Worth& usual) const {
    pair.two_scores = has_two_scores(scheme_, row_letters, column_letters, pair);
    usual = worth_of_letters(scheme_, row_letters, column_letters);
    pair.most = most_of(usual, 0, 0, row_letters, column_letters);
    uint32_t cheap = 0;
    int32_t rows = 0, columns = 0;
    for (int a = 0; a < CODES; a++) {
        if (scheme_.matrix[a][a] == pair.match) continue;
        cheap |= uint32_t{1} << a;
        rows += row_letters.of[a];
        columns += column_letters.of[a];
    }
    if (!pair.two_scores || rows + columns == 0 ||
        !worth_of_two_scores(scheme_, pair.match, pair.mismatch, cheap, of_cheap))
        return false;
    const int64_t most = most_of(of_cheap, rows, columns, row_letters, column_letters);
    // Where both have cheap letters, many diagonals cost little: this bound must be better by so much.
    if (most + of_cheap.bonus * std::min(rows, columns) / 2 <= pair.most) usual = of_cheap;
    pair.most = std::min(pair.most, most);
    return true;
}

// What letters are worth from each on, for the bound.
void Pruner::add_up(PrunedPair& pair, const Worth& worth, const uint8_t* row, const uint8_t* column) {
    pair.row_gaps = worth.row_gaps;
    pair.column_gaps = worth.column_gaps;
    pair.bonus = worth.bonus;
    if (pair.bonus) {
        int32_t* const counts[2] = {room_for_sums(row_cheap_, pair.rows),
                                    room_for_sums(column_cheap_, pair.columns)};
        count_cheap(row, pair.rows, worth.cheap, counts[0]);
        count_cheap(column, pair.columns, worth.cheap, counts[1]);
        pair.row_cheap = counts[0];
        pair.column_cheap = counts[1];
    }
    int32_t* sums[2] = {room_for_sums(row_worth_, pair.rows), room_for_sums(column_worth_, pair.columns)};
    sum_worth(row, pair.rows, worth.row, scheme_.gap_extend, sums[0]);
    sum_worth(column, pair.columns, worth.column, scheme_.gap_extend, sums[1]);
    std::reverse(sums[1], sums[1] + pair.columns + 1);
    const int32_t slopes[4] = {-2 * pair.row_gaps.least, -2 * pair.row_gaps.usual, 2 * pair.column_gaps.least,
                               2 * pair.column_gaps.usual};
    for (int q = 0; q < 4; q++)
        for (int l = 0; l < 16; l++) pair.ramps[q][l] = l * slopes[q];
    pair.row_worth = sums[0];
    pair.column_worth = sums[1];
}

void Pruner::prepare(const PrunedKernel& kernel, PrunedPair& pair, const uint8_t* row,
                     const uint8_t* column) {
    if (kernel.lane_bytes == 2) write_letters<int16_t>(pair, row, column);
    else write_letters<int32_t>(pair, row, column);
    pair.origin = pair.columns / 2 + LANE_PADDING;
    const size_t lanes =
        (static_cast<size_t>(pair.rows) / 2 + static_cast<size_t>(pair.origin) + LANE_PADDING + 63) / 64 * 64;
    const size_t bytes = lanes * static_cast<size_t>(kernel.lane_bytes);
    uint8_t* memory = static_cast<uint8_t*>(lanes_.need(4 * bytes));
    pair.h[0] = memory;
    pair.h[1] = memory + bytes;
    pair.e = memory + 2 * bytes;
    pair.f = memory + 3 * bytes;
    pair.reach = static_cast<int32_t*>(reach_.need(lanes * sizeof(int32_t)));
    const size_t blocks =
        (static_cast<size_t>(pair.rows) + static_cast<size_t>(pair.columns)) / LEAST_STEPS + 2;
    pair.blocks = static_cast<Block*>(blocks_.need(blocks * sizeof(Block)));
}

Attempt Pruner::align(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns, bool in_lanes,
                      double in_full, bool trace, Path& path) {
    if (!may_pay(rows, columns)) return Attempt::IN_FULL;
    counts_.tried++;
    counts_.matrix_cells += int64_t{rows} * columns;
    if (options_.use == Pruning::LANES) return in_lanes ? Attempt::IN_LANES : Attempt::IN_FULL;
    const bool is_short = columns < SHORT && !has_many_scores(scheme_);
    const bool to_lanes = in_lanes && is_short && options_.use != Pruning::FORCED;
    const int32_t words_of_waves = to_lanes ? MORE_WORDS_OF_WAVES : WORDS_OF_WAVES;
    int32_t words = WordsInPlace::WORDS;
    if (options_.use == Pruning::AUTO && is_short) {
        words = words_in_place(row, rows, column, columns, FEW_WORDS, words_of_waves);
        const double cells = cells_for(in_full, int64_t{rows} + columns, kernels_->narrow.lanes, trace);
        if (words < FEW_WORDS && cells < MOST_OF_ANY * rows * columns) return Attempt::IN_FULL;
    }
    if (options_.use == Pruning::WAVEFRONTS ||
        (options_.use != Pruning::FORCED && !has_many_scores(scheme_) && words >= words_of_waves)) {
        const bool forced = options_.use == Pruning::WAVEFRONTS;
        const WavesUse use = forced ? WavesUse::FORCED : to_lanes ? WavesUse::OR_LANES : WavesUse::OR_ALONE;
        const Progress progress = waves_.align(row, rows, column, columns, trace, use, path, counts_.cells);
        counts_.lost += progress == Progress::LOST;
        counts_.by_wavefronts += progress == Progress::DONE;
        counts_.done += progress == Progress::DONE;
        if (progress == Progress::DONE) return Attempt::DONE;
        if (forced || progress == Progress::CANCELLED) return Attempt::IN_FULL;
    }
    if (to_lanes) return Attempt::IN_LANES;
    return align_alone(row, rows, column, columns, in_full, trace, path);
}

Attempt Pruner::align_alone(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns,
                            double in_full, bool trace, Path& path) {
    if (options_.use == Pruning::LANES) return Attempt::IN_FULL;
    return align_by_corridor(row, rows, column, columns, in_full, nullptr, trace, path);
}

Attempt Pruner::fill(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns,
                     const PlannedCorridor& planned, bool trace, Path& path) {
    return align_by_corridor(row, rows, column, columns, 0, &planned, trace, path);
}

double Pruner::widest_in_lanes(const PruningOptions& options) {
    if (options.use == Pruning::LANES) return 0;
    return options.use == Pruning::AUTO ? WIDEST_AUTO : WIDEST;
}

// A corridor may take what the pair costs in full, and a little more: others like it may do with less.
void Pruner::choose_widest(const PrunedKernel& kernel, const PrunedPair& pair, double in_full, bool trace) {
    widest_ = most_cells_ = WIDEST;
    if (options_.use != Pruning::AUTO) return;
    widest_ = most_cells_ = WIDEST_OF_MANY_SCORES;
    if (has_many_scores(scheme_)) return;
    const int64_t antidiagonals = int64_t{pair.rows} + pair.columns;
    most_cells_ = cells_for(in_full, antidiagonals, kernel.lanes, trace) / matrix_of(pair);
    const double share = cells_for(SPARE * in_full, antidiagonals, kernel.lanes, trace) / matrix_of(pair);
    const double triangle = triangle_within(share, pair.columns);
    widest_ = triangle > 0 ? triangle + static_cast<double>(WINDOW_MARGIN) / pair.columns : 0;
    widest_ = std::min(widest_, std::max(WIDEST_IN_MEMORY, LANES_IN_CACHE / pair.columns));
}

PlannedCorridor Pruner::plan(const PrunedKernel& kernel, const PrunedPair& pair, bool trace) const {
    PlannedCorridor planned{pair.bound, most_cells_, 0, kernel.lane_bytes != 2};
    if (options_.use != Pruning::AUTO || has_many_scores(scheme_)) return planned;
    const double aside = static_cast<double>(pair.rows - pair.columns) / pair.columns,
                 share = share_of_corridor(triangle_of(pair) + aside, pair.columns);
    planned.most_cells = std::max(most_cells_, SPARE * share);
    planned.cost =
        cost_of_corridor(share * matrix_of(pair), int64_t{pair.rows} + pair.columns, kernel.lanes, trace);
    return planned;
}

// `planned`: null: finds out what is to be filled, and does so where that is clear.
Attempt Pruner::align_by_corridor(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns,
                                  double in_full, const PlannedCorridor* planned, bool trace, Path& path) {
    const bool is_auto = options_.use == Pruning::AUTO, many_scores = has_many_scores(scheme_);
    if (is_auto && many_scores && !planned &&
        words_in_place(row, rows, column, columns) < WordsInPlace::SIMILAR)
        return Attempt::IN_FULL;
    const LetterCounts row_letters = count_letters(row, rows),
                       column_letters = count_letters(column, columns);
    PrunedPair pair{};
    pair.scheme = &scheme_;
    pair.rows = rows;
    pair.columns = columns;
    pair.cancelled = cancelled_;
    Worth of_cheap, usual;
    const bool differ = choose_worth(pair, row_letters, column_letters, of_cheap, usual);

    Progress progress = Progress::OVERFLOWN;
    for (const PrunedKernel* kernel : {&kernels_->narrow, &kernels_->wide}) {
        const bool wide = kernel->lane_bytes != 2;
        if (!wide && (!fits_narrow_lanes(scheme_) || (planned && planned->wide))) continue;
        if (!planned) choose_widest(*kernel, pair, in_full, trace);
        if (!planned && widest_ <= 0) return Attempt::IN_FULL;
        prepare(*kernel, pair, row, column);
        add_up(pair, differ ? of_cheap : usual, row, column);
        if (planned || find_bound(*kernel, pair, progress)) {
            if (differ && !usual.bonus) add_up(pair, usual, row, column);
            planned_ = planned ? *planned : plan(*kernel, pair, trace);
            if (!planned && is_auto && !many_scores) return Attempt::BOUNDED;
            pair.bound = planned_.bound;
            progress = fill_and_trace(*kernel, pair, trace, path);
        }
        if (progress != Progress::OVERFLOWN) break;
    }
    if (progress == Progress::LOST) counts_.lost++;
    if (progress == Progress::DONE) counts_.done++;
    return progress == Progress::DONE ? Attempt::DONE : Attempt::IN_FULL;
}

// Sets pair.bound to the score of some alignment. False: there is none that is worth going on with.
bool Pruner::find_bound(const PrunedKernel& kernel, PrunedPair& pair, Progress& progress) {
    const double matrix = matrix_of(pair);
    const bool forced = options_.use == Pruning::FORCED;
    const int64_t most = pair.most, diagonal = each_diagonal(pair);
    // The corridor is a triangle, as high as its base: half of the loss at each end.
    const int64_t widest = static_cast<int64_t>(widest_ * pair.columns * static_cast<double>(diagonal));
    const double most_beams = options_.use == Pruning::AUTO && pair.columns > LANES_IN_CACHE
                                  ? MOST_BEAMS_IN_MEMORY * matrix
                                  : 1e300;
    bool found = false;
    int overflown = 0;
    double beams = 0;
    progress = Progress::TOO_MANY;
    pair.flags = nullptr;
    for (int64_t width = FIRST_BEAM * diagonal;; width *= BEAM_GROWTH) {
        pair.cell_limit = forced ? INT64_MAX : static_cast<int64_t>(matrix * widest_ / 2) + (1 << 16);
        kernel.start(pair);
        const Progress beam = kernel.beam(pair, width, forced ? NO_LIMIT : widest);
        counts_.beam_cells += pair.cells;
        beams += static_cast<double>(pair.cells);
        if (beam == Progress::CANCELLED) {
            progress = beam;
            return false;
        }
        if (beam == Progress::OVERFLOWN) {
            progress = beam;
            if (++overflown == 2 && !found) return false;  // it is not the beam that is too narrow
        }
        if (beam == Progress::DONE && (!found || pair.score > pair.bound)) {
            pair.bound = pair.score;
            found = true;
        }
        const int64_t lanes = width / diagonal;  // of a beam: diagonals on one side
        if (found ? most - pair.bound <= WORTH_A_BEAM * BEAM_GROWTH * width || 2 * lanes >= pair.columns
                  : lanes >= (forced ? 2 * pair.rows : pair.columns / 50))
            break;
        const auto next = static_cast<double>(BEAM_GROWTH * pair.cells);
        if (found && next > MOST_OF_CORRIDOR * matrix * triangle_of(pair)) break;
        if (beams + next > most_beams) break;
    }
    if (!found) return false;
    progress = Progress::TOO_MANY;
    pair.bound -= options_.worse_seed;
    return forced || most - pair.bound + WINDOW_MARGIN * diagonal <= widest;
}

// Drops every other of what was saved, to make room. False: there is nothing to drop.
bool Pruner::thin_out(PrunedPair& pair) const {
    if (pair.block_count < 2) return false;
    size_t used = 0;
    int32_t kept = 0;
    for (int32_t k = 0; k < pair.block_count; k += 2) {
        const size_t end = k + 1 < pair.block_count ? pair.blocks[k + 1].flags : pair.saved_used;
        const size_t begin = pair.blocks[k].flags, bytes = end - begin;
        std::memmove(pair.saved + used, pair.saved + begin, bytes);
        pair.blocks[kept] = pair.blocks[k];
        pair.blocks[kept++].flags = used;
        used += bytes;
    }
    pair.block_count = kept;
    pair.saved_used = used;
    pair.save_every *= 2;
    pair.save_at = pair.blocks[kept - 1].step + pair.save_every;
    return true;
}

// Fills the corridor and follows the path. The flags of narrow ones are kept; of others, lanes are saved
// every now and then, and only flags near the path are filled.
Progress Pruner::fill_and_trace(const PrunedKernel& kernel, PrunedPair& pair, bool trace_it, Path& path) {
    const bool forced = options_.use == Pruning::FORCED;
    const double steps = static_cast<double>(pair.rows) + pair.columns;
    const double lanes = triangle_of(pair) * pair.columns / 2;  // on average
    const double flag_bytes = (lanes + 2 * kernel.lanes) / kernel.lanes * steps * kernel.flag_bytes;
    bool keep_flags = lanes <= FEW_VECTORS * kernel.lanes && 2 * flag_bytes <= static_cast<double>(room_);
    pair.cell_limit =
        forced ? INT64_MAX : static_cast<int64_t>(matrix_of(pair) * planned_.most_cells) + (1 << 16);
    pair.bound += options_.lower_bound;  // the same as a bound that is lower by so much
    pair.save_every = SAVE_EVERY;
    Progress progress = Progress::MORE;
    for (bool again = true; again; keep_flags = false) {
        pair.flags = pair.saved = nullptr;
        pair.flags_room = static_cast<size_t>(2 * flag_bytes) + (1 << 16);
        pair.saved_room = saved_part(room_) - halfway_part(room_);
        if (trace_it && keep_flags) pair.flags = static_cast<uint8_t*>(flags_.need(pair.flags_room));
        if (trace_it && !keep_flags) pair.saved = static_cast<uint8_t*>(saved_.need(saved_part(room_)));
        kernel.start(pair);
        do {
            progress = kernel.fill(pair);
        } while (progress == Progress::MORE && pair.saved && thin_out(pair));
        again = progress == Progress::MORE && pair.flags;
    }
    counts_.cells += pair.cells;
    if (progress == Progress::MORE) progress = Progress::TOO_MANY;
    if (progress != Progress::DONE) return progress;
    path.score = static_cast<int32_t>(pair.score);
    path.end_row = pair.rows;
    path.end_column = pair.columns;
    path.start_row = path.start_column = path.run_count = 0;
    return trace_it ? trace(kernel, pair, path) : progress;
}

Progress Pruner::trace(const PrunedKernel& kernel, PrunedPair& pair, Path& path) {
    int32_t row = pair.rows, column = pair.columns;
    int state = 0;
    if (pair.flags) return kernel.trace(pair, row, column, state, path);
    // Filling again goes over everything but the list of what was saved.
    std::vector<Block> saved(pair.blocks, pair.blocks + pair.block_count);
    pair.saved_room = saved_part(room_);
    pair.flags_room = flags_part(room_);
    pair.flags = static_cast<uint8_t*>(flags_.need(pair.flags_room));
    Progress progress = Progress::MORE;
    while (progress == Progress::MORE) {
        if (*cancelled_) return Progress::CANCELLED;
        while (saved.back().step >= row + column) saved.pop_back();
        progress = kernel.refill(pair, saved.back(), row, column);
        if (progress == Progress::DONE) {
            progress = kernel.trace(pair, row, column, state, path);
        } else if (progress == Progress::MORE) {
            progress = kernel.save_halfway(pair, saved.back(), row, column);
            if (progress != Progress::DONE) break;
            saved.push_back(pair.blocks[0]);
            progress = Progress::MORE;
        }
    }
    return progress;
}

}  // namespace pairalign
