#include "waves.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "anchors.h"

namespace pairalign {
namespace {

// Nanoseconds of an antidiagonal of a band, a vector wide, of as many vectors as are expected
// (measured: 3.6). The ratio of an entry's to it decides up to which cost fronts are tried, which may take
// this share of a band's time, or this one where the band is one of many pairs at a time.
constexpr double BAND_VECTOR = 4.5, SHARE = 0.8, SHARE_OF_LANES = 0.93;
constexpr double BAND_MARGIN = 3;  // vectors, beside those that the cost asks for
constexpr int32_t MOST_PADDING = 64, LANES_AT_ONCE = 16;
// Fronts that are filled once more at a time, at least, and how many diagonals more there is room for than
// one alignment can take.
constexpr int64_t LEAST_BOX = 128, WIDE_BOX = 512;
// There is room for fronts of few costs at first, and for so many times as many when they are filled.
constexpr int32_t MOST_AT_FIRST = 64, MORE_REACH = 8;

uint8_t* residue_room(Buffer& buffer, int32_t length, uint8_t beyond) {
    const size_t bytes = static_cast<size_t>(length) + 2 * WAVE_PADDING;
    uint8_t* const room = static_cast<uint8_t*>(buffer.need(bytes));
    std::memset(room, beyond, WAVE_PADDING);
    std::memset(room + bytes - WAVE_PADDING, beyond, WAVE_PADDING);
    return room + WAVE_PADDING;
}

size_t rows_of(const WavePair& pair, const WaveFront& front) {
    return 3 * static_cast<size_t>(front.high - front.low + 1 + 2 * pair.padding);
}

// Moves a front to where `to` has its rows.
void move(const WavePair& pair, const WaveFront& from, WaveFront& to) {
    to.low = from.low;
    to.high = from.high;
    std::memcpy(to.rows, from.rows, rows_of(pair, from) * sizeof(int32_t));
}

}  // namespace

// How many fronts there are, and how many rows they have.
struct Waves::Layout {
    int64_t depth, open, extend, padding, antidiagonals;
    int64_t ring = 1, box = LEAST_BOX;  // fronts, powers of two

    Layout(const Costs& c, int32_t padding_, int64_t antidiagonals_)
        : depth(std::max(c.mismatch, c.open + c.extend)),
          open(c.open),
          extend(c.extend),
          padding(padding_),
          antidiagonals(antidiagonals_) {
        while (ring <= depth) ring *= 2;
        while (box < 16 * depth) box *= 2;
    }
    int64_t save_every() const { return box - depth; }
    // How far a side goes if the pair has a cost; how often it is saved, at first more often (see save_after
    // of wavefronts.h); and with what lies beyond, where the other side was saved.
    int64_t half(int64_t cost) const { return cost / 2 + 2 * depth + open + 2; }
    int64_t saves_of_half(int64_t cost) const {
        int64_t saves = 1, at = 0;
        for (int64_t after; at < half(cost) && (after = 4 * depth + at / 4) < save_every(); at += after)
            saves++;
        return saves + std::max<int64_t>(0, half(cost) - at) / save_every();
    }
    int64_t saves(int64_t cost) const { return 2 * saves_of_half(cost) + 2; }

    int64_t rows_of_front(int64_t spread) const {
        return 3 * (std::min(2 * spread + 3, antidiagonals + 1) + 2 * padding);
    }
    int64_t rows_of_slot(int64_t cost) const { return rows_of_front(half(cost) / extend); }
    int64_t fronts_of_box(int64_t cost) const {
        int64_t fronts = 1;
        while (fronts < box && fronts < cost + depth + 1) fronts *= 2;
        return fronts;
    }
    int64_t room_for(int64_t cost) const {
        const int64_t halves = 2 * saves_of_half(cost), widest = cost / extend + 1,
                      beyond = rows_of_front(std::min(widest, save_every() / extend + WIDE_BOX));
        return 2 * ring * rows_of_slot(cost) + halves * depth * rows_of_front(half(cost) / extend / 2) +
               saves(cost) * depth * beyond +
               (fronts_of_box(cost) + depth) *
                   rows_of_front(std::min(widest, 2 * (save_every() / extend) + WIDE_BOX));
    }
};

// Sets what fronts need of memory up to the cost that the pair is to reach. Those of a pair that waits move.
void Waves::lay_out(const Layout& layout, Memory& memory, WavePair& pair) {
    const WaveSide before[2] = {pair.sides[0], pair.sides[1]};
    pair.room = static_cast<size_t>(layout.room_for(pair.reach));
    pair.memory = static_cast<int32_t*>(memory.reached.need(pair.room * sizeof(int32_t)));
    pair.box_at = pair.room;
    pair.used = 0;
    const size_t ring = static_cast<size_t>(layout.ring),
                 box = static_cast<size_t>(layout.fronts_of_box(pair.reach)),
                 slot = static_cast<size_t>(layout.rows_of_slot(pair.reach)),
                 saves = static_cast<size_t>(layout.saves(pair.reach)),
                 depth = static_cast<size_t>(pair.depth);
    WaveFront* fronts =
        static_cast<WaveFront*>(memory.fronts.need((2 * (ring + saves * depth) + box) * sizeof(WaveFront)));
    int32_t* saved_costs = static_cast<int32_t*>(memory.costs_saved.need(2 * saves * sizeof(int32_t)));
    for (WaveSide& side : pair.sides) {
        side.ring = {fronts, static_cast<int32_t>(ring) - 1};
        for (size_t k = 0; k < ring; k++, pair.used += slot) fronts[k] = {0, 0, pair.memory + pair.used};
        side.saved = fronts + ring;
        side.saved_costs = saved_costs;
        saved_costs += saves;
        fronts += ring + saves * depth;
    }
    pair.box = {fronts, static_cast<int32_t>(box) - 1};
    for (int s = 0; s < 2 && pair.waits; s++) {
        WaveSide& side = pair.sides[s];
        for (size_t k = 0; k < ring; k++) move(pair, before[s].ring.fronts[k], side.ring.fronts[k]);
        for (size_t k = 0; k < static_cast<size_t>(side.saved_count) * depth; k++) {
            side.saved[k].rows = pair.memory + pair.used;
            move(pair, before[s].saved[k], side.saved[k]);
            pair.used += rows_of(pair, side.saved[k]);
        }
        std::copy_n(before[s].saved_costs, side.saved_count, side.saved_costs);
    }
}

// Begins with little room, if the cost is not known. What is not enough for a reason other than the cost,
// such as many diagonals of optimal alignments, begins anew in more. All there is room for is in the first
// memory: the other one stays small.
Progress Waves::fill_and_trace(const Layout& layout, WavePair& pair, bool known, bool trace, Path& path) {
    int moves = 0;
    for (pair.reach = pair.most; !known && pair.reach > MOST_AT_FIRST; moves++)
        pair.reach = pair.reach / MORE_REACH + 1;
    for (;; moves--) {
        lay_out(layout, memories_[moves & 1], pair);
        Progress progress = kernel_.fill(pair);
        if (progress == Progress::DONE && trace) progress = kernel_.trace(pair, scheme_, path);
        if (progress != Progress::MORE || moves == 0) return progress;
        pair.reach = moves == 1 ? pair.most : pair.reach * MORE_REACH;
    }
}

uint32_t Waves::copy(const uint8_t* codes, int32_t length, uint8_t beyond, Residues& residues) {
    residues.length = length;
    residues.begin = residue_room(residues.from_begin, length, beyond);
    residues.end = residue_room(residues.from_end, length, beyond);
    return kernel_.copy_residues(codes, length, residues.begin, residues.end);
}

// Marks residues that match nothing, and returns how many they are.
int32_t Waves::mark(Residues& residues, uint8_t mark) {
    kernel_.mark(residues.end, residues.length, costs_.others, mark);
    return kernel_.mark(residues.begin, residues.length, costs_.others, mark);
}

void Waves::choose_costs(uint32_t row_residues, uint32_t column_residues) {
    Costs c{};
    c.row_residues = row_residues;
    c.column_residues = column_residues;
    bool any_match = false, any_mismatch = false, two = true;
    int32_t mismatch = scheme_.matrix[PAD][PAD];
    const auto occurs = [](uint32_t residues, int a) { return (residues >> a & 1) != 0; };
    for (int a = 0; a < CODES; a++)
        for (int b = 0; b < CODES; b++) {
            if (a == b || !occurs(row_residues, a) || !occurs(column_residues, b)) continue;
            if (any_mismatch && mismatch != scheme_.matrix[a][b]) two = false;
            mismatch = scheme_.matrix[a][b];
            any_mismatch = true;
        }
    for (int a = 0; a < CODES; a++) {
        const int32_t score = scheme_.matrix[a][a];
        if (!occurs(row_residues & column_residues, a) || (any_mismatch && score == mismatch)) continue;
        if (any_match && score != c.match) two = false;
        c.match = score;
        any_match = true;
    }
    for (int a = 0; a < CODES; a++)
        if (scheme_.matrix[a][a] != c.match) c.others |= uint32_t{1} << a;
    c.mismatch = 2 * (c.match - mismatch);
    c.open = 2 * (scheme_.gap_open - scheme_.gap_extend);
    c.extend = c.match + 2 * scheme_.gap_extend;
    c.divisor = std::max(1, std::gcd(std::gcd(c.mismatch, c.open), c.extend));
    for (int32_t* one : {&c.mismatch, &c.open, &c.extend}) *one /= c.divisor;
    const int64_t farthest = std::max<int64_t>(c.mismatch, int64_t{c.open} + c.extend);
    c.usable = two && any_match && c.mismatch > 0 && c.extend > 0 && farthest / c.extend + 2 <= MOST_PADDING;
    costs_ = c;
}

// The cost up to which fronts take less than a share of the time that a beam and a band are expected to
// take.
int64_t Waves::most_cost(int64_t antidiagonals, double share) const {
    const double steps =
        static_cast<double>(antidiagonals) * BAND_VECTOR * share * 2 * costs_.extend / kernel_.entry;
    const double b = steps / (2.0 * costs_.extend * lanes_), c = steps * BAND_MARGIN;
    return static_cast<int64_t>((b + std::sqrt(b * b + 4 * c)) / 2);
}

// The same of a cost that is known, `unavoidable` of it for the lengths: fronts are as wide as what is left
// asks for.
bool Waves::pays(int64_t cost, int64_t unavoidable, int64_t antidiagonals, double share) const {
    const double all = static_cast<double>(cost), rest = static_cast<double>(cost - unavoidable),
                 entries = rest * (all - rest / 2) / costs_.extend,
                 vectors = BAND_MARGIN + all / (2.0 * costs_.extend * lanes_);
    return entries * kernel_.entry <= share * static_cast<double>(antidiagonals) * BAND_VECTOR * vectors;
}

Progress Waves::align(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns, int64_t score,
                      bool trace, WavesUse use, Path& path, int64_t& cells) {
    const bool forced = use == WavesUse::FORCED;
    const double share = use == WavesUse::OR_LANES ? SHARE_OF_LANES : SHARE;
    const uint32_t row_residues = copy(row, rows, 0xfe, row_),
                   column_residues = copy(column, columns, 0xff, column_);
    if (row_residues != costs_.row_residues || column_residues != costs_.column_residues)
        choose_costs(row_residues, column_residues);
    const Costs& c = costs_;
    if (!c.usable) return Progress::TOO_MANY;
    const int64_t antidiagonals = int64_t{rows} + columns,
                  worst = 2 * int64_t{c.open} + antidiagonals * c.extend;
    const int32_t padding = std::max(c.mismatch, c.open + c.extend) / c.extend + 2 + 2 * LANES_AT_ONCE;
    const Layout layout(c, padding, antidiagonals);
    const int64_t unavoidable = int64_t{c.extend} * std::abs(rows - columns) + (rows == columns ? 0 : c.open);
    int64_t most = std::min(worst, forced ? worst : most_cost(antidiagonals, share));
    const bool known = score != NO_SCORE;
    if (known) {
        const int64_t cost = (c.match * antidiagonals - 2 * score) / c.divisor;
        if (!forced && !pays(cost, unavoidable, antidiagonals, share)) return Progress::TOO_MANY;
        // Where fronts meet, their costs may come to more by a step of an alignment and a gap's opening.
        most = std::min(worst, cost + layout.depth + c.open);
    }
    // While fronts move, there is a little more.
    const int64_t room = static_cast<int64_t>(room_ / sizeof(int32_t)) / (MORE_REACH + 1) * MORE_REACH;
    while (most > 0 && layout.room_for(most) > room) most -= most / 8 + 1;
    if (layout.room_for(most) > room) return Progress::TOO_MANY;
    if (unavoidable > most) return Progress::TOO_MANY;

    const int32_t row_others = c.others & row_residues ? mark(row_, 0x20) : 0,
                  column_others = c.others & column_residues ? mark(column_, 0x40) : 0;
    // Residues that match nothing cost a mismatch each; few are opposite one another.
    if (!forced && !known && int64_t{c.mismatch} * (int64_t{row_others} + column_others) > most)
        return Progress::TOO_MANY;

    WavePair pair{};
    pair.row_count = rows;
    pair.column_count = columns;
    pair.mismatch = c.mismatch;
    pair.open = c.open;
    pair.extend = c.extend;
    pair.most = static_cast<int32_t>(most);
    pair.gives_up = !forced && !known;
    pair.depth = static_cast<int32_t>(layout.depth);
    pair.save_every = static_cast<int32_t>(layout.save_every());
    pair.padding = padding;
    for (int32_t k = 0; k < 16; k++) pair.counting[k] = k;
    pair.cancelled = cancelled_;
    pair.sides[0].row = row_.begin;
    pair.sides[0].column = column_.begin;
    pair.sides[1].row = row_.end;
    pair.sides[1].column = column_.end;
    const Progress progress = fill_and_trace(layout, pair, known, trace, path);
    cells += pair.cells;
    if (progress != Progress::DONE) return progress;
    path.score =
        static_cast<int32_t>((int64_t{c.match} * antidiagonals - int64_t{pair.cost} * c.divisor) / 2);
    path.end_row = rows;
    path.end_column = columns;
    if (!trace) path.start_row = path.start_column = path.run_count = 0;
    return progress;
}

}  // namespace pairalign
