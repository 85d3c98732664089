#include "waves.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace pairalign {
namespace {

// Nanoseconds: of an entry of a front, and of an antidiagonal of a corridor and its beam, a vector wide.
// Their ratio decides up to which cost fronts are tried, which may take this share of a corridor's time, or
// this one where the corridor is one of many pairs at a time.
constexpr double WAVE_ENTRY = 4, CORRIDOR_VECTOR = 12, SHARE = 0.5, SHARE_OF_LANES = 0.35;
constexpr double CORRIDOR_MARGIN = 3;  // vectors, beside those that the cost asks for
constexpr int32_t MOST_PADDING = 64, LANES_AT_ONCE = 16;

// Letters with what surrounds them.
uint8_t* letter_room(Buffer& buffer, int32_t length, uint8_t beyond) {
    const size_t bytes = static_cast<size_t>(length) + 2 * WAVE_PADDING;
    uint8_t* const room = static_cast<uint8_t*>(buffer.need(bytes));
    std::memset(room, beyond, WAVE_PADDING);
    std::memset(room + bytes - WAVE_PADDING, beyond, WAVE_PADDING);
    return room + WAVE_PADDING;
}

}  // namespace

void Waves::choose_costs(uint32_t row_letters, uint32_t column_letters) {
    Costs c{};
    c.row_letters = row_letters;
    c.column_letters = column_letters;
    bool any_match = false, any_mismatch = false, two = true;
    int32_t mismatch = scheme_.matrix[PAD][PAD];
    const auto occurs = [](uint32_t letters, int a) { return (letters >> a & 1) != 0; };
    for (int a = 0; a < CODES; a++)
        for (int b = 0; b < CODES; b++) {
            if (a == b || !occurs(row_letters, a) || !occurs(column_letters, b)) continue;
            if (any_mismatch && mismatch != scheme_.matrix[a][b]) two = false;
            mismatch = scheme_.matrix[a][b];
            any_mismatch = true;
        }
    for (int a = 0; a < CODES; a++) {
        const int32_t score = scheme_.matrix[a][a];
        if (!occurs(row_letters & column_letters, a) || (any_mismatch && score == mismatch)) continue;
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

// The cost up to which fronts take less than a share of the time that a beam and a corridor are expected to
// take.
int64_t Waves::most_cost(int64_t antidiagonals, double share) const {
    const double steps =
        static_cast<double>(antidiagonals) * CORRIDOR_VECTOR * share * 2 * costs_.extend / WAVE_ENTRY;
    const double b = steps / (4.0 * costs_.extend * lanes_), c = steps * CORRIDOR_MARGIN;
    return static_cast<int64_t>((b + std::sqrt(b * b + 4 * c)) / 2);
}

Progress Waves::align(const uint8_t* row, int32_t rows, const uint8_t* column, int32_t columns, bool trace,
                      WavesUse use, Path& path, int64_t& cells) {
    const bool forced = use == WavesUse::FORCED;
    const double share = use == WavesUse::OR_LANES ? SHARE_OF_LANES : SHARE;
    const uint32_t row_letters = kernel_.letters_of(row, rows),
                   column_letters = kernel_.letters_of(column, columns);
    if (row_letters != costs_.row_letters || column_letters != costs_.column_letters)
        choose_costs(row_letters, column_letters);
    const Costs& c = costs_;
    if (!c.usable) return Progress::TOO_MANY;
    const int64_t antidiagonals = int64_t{rows} + columns,
                  worst = 2 * int64_t{c.open} + antidiagonals * c.extend;
    const int32_t padding = std::max(c.mismatch, c.open + c.extend) / c.extend + 2 + 2 * LANES_AT_ONCE;
    const auto room_for = [&](int64_t cost) {
        return 3 * ((cost * cost) / (2 * c.extend) + (2 * padding + 4) * cost + 64);
    };
    int64_t most = std::min(worst, forced ? worst : most_cost(antidiagonals, share));
    const int64_t room = static_cast<int64_t>(room_ / sizeof(int32_t));
    if (room_for(most) > room)
        most = static_cast<int64_t>(std::sqrt(static_cast<double>(room) * c.extend / 3));
    const int64_t unavoidable = int64_t{c.extend} * std::abs(rows - columns);
    if (unavoidable + (rows == columns ? 0 : c.open) > most) return Progress::TOO_MANY;

    uint8_t *const a = letter_room(row_, rows, 0xfe), *const b = letter_room(column_, columns, 0xff);
    const int32_t row_others = kernel_.mark(row, rows, c.others, 0x20, a),
                  column_others = kernel_.mark(column, columns, c.others, 0x40, b);
    // Letters that match nothing cost a mismatch each; few are opposite one another.
    if (!forced && int64_t{c.mismatch} * (int64_t{row_others} + column_others) > most)
        return Progress::TOO_MANY;

    WavePair pair{};
    pair.row = a;
    pair.column = b;
    pair.row_count = rows;
    pair.column_count = columns;
    pair.mismatch = c.mismatch;
    pair.open = c.open;
    pair.extend = c.extend;
    pair.most = static_cast<int32_t>(most);
    pair.gives_up = !forced;
    pair.padding = padding;
    for (int32_t k = 0; k < 16; k++) pair.counting[k] = k;
    pair.cancelled = cancelled_;
    pair.room = static_cast<size_t>(std::min(room, room_for(most)));
    pair.fronts = static_cast<WaveFront*>(fronts_.need(static_cast<size_t>(most + 1) * sizeof(WaveFront)));
    pair.none = static_cast<int32_t*>(none_.need(static_cast<size_t>(4 * padding + 1) * sizeof(int32_t)));
    pair.rows_reached = static_cast<int32_t*>(reached_.need(pair.room * sizeof(int32_t)));
    const Progress progress = kernel_.fill(pair);
    cells += pair.cells;
    if (progress != Progress::DONE) return progress;
    path.score =
        static_cast<int32_t>((int64_t{c.match} * antidiagonals - int64_t{pair.cost} * c.divisor) / 2);
    path.end_row = rows;
    path.end_column = columns;
    path.start_row = path.start_column = path.run_count = 0;
    return !trace || kernel_.trace(pair, scheme_, path) ? Progress::DONE : Progress::LOST;
}

}  // namespace pairalign
