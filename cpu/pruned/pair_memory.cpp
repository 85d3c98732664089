#include "pair_memory.h"

#include <algorithm>
#include <cstddef>

#include "worth.h"

namespace pairalign {
namespace {

// Sums of worths; windows read beyond both ends, whatever there is.
int32_t* room_for_sums(Buffer& buffer, int32_t residues) {
    const size_t count = static_cast<size_t>(residues) + 1 + 2 * LANE_PADDING;
    int32_t* room = static_cast<int32_t*>(buffer.need(count * sizeof(int32_t)));
    std::fill(room, room + LANE_PADDING, 0);
    std::fill(room + count - LANE_PADDING, room + count, 0);
    return room + LANE_PADDING;
}

}  // namespace

template <class Lane>
void PairMemory::write_residues(PrunedPair& pair, const uint8_t* row, const uint8_t* column) {
    // The lanes that refill() lays for all antidiagonals of a cell reach so far beyond both ends in some.
    const int32_t row_padding = LANE_PADDING + pair.columns / 2,
                  column_padding = LANE_PADDING + pair.rows / 2;
    const size_t row_lanes = static_cast<size_t>(pair.rows) + 2 * static_cast<size_t>(row_padding);
    const size_t column_lanes = static_cast<size_t>(pair.columns) + 2 * static_cast<size_t>(column_padding);
    Lane* const a = static_cast<Lane*>(row_residues_.need(row_lanes * sizeof(Lane))) + row_padding;
    Lane* const b = static_cast<Lane*>(column_residues_.need(column_lanes * sizeof(Lane))) + column_padding;
    // With two scores, residues that are no match for themselves get codes that the other sequence has not.
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

void PairMemory::lay_out(const PrunedKernel& kernel, PrunedPair& pair, const uint8_t* row,
                         const uint8_t* column) {
    if (kernel.lane_bytes == 2) write_residues<int16_t>(pair, row, column);
    else write_residues<int32_t>(pair, row, column);
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

void PairMemory::add_up(PrunedPair& pair, const Worth& worth, const uint8_t* row, const uint8_t* column) {
    pair.row_gaps = worth.row_gaps;
    pair.column_gaps = worth.column_gaps;
    pair.bonus = worth.bonus;
    pair.most_of_two = *std::max_element(worth.row, worth.row + CODES) +
                       *std::max_element(worth.column, worth.column + CODES);
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

}  // namespace pairalign
