#include "worth.h"

#include <algorithm>

namespace pairalign {
namespace {

// The least worth of the residues `of`, given what those of the other sequence are worth.
void tighten(const Scheme& s, const ResidueCounts& of, const ResidueCounts& other,
             const int32_t* others_worth, int32_t* worth) {
    for (int a = 0; a < CODES; a++) {
        worth[a] = -s.gap_extend;
        if (!of.of[a]) continue;
        for (int b = 0; b < CODES; b++)
            if (other.of[b]) worth[a] = std::max(worth[a], s.matrix[a][b] - others_worth[b]);
    }
}

int64_t total(const ResidueCounts& counts, const int32_t* worth) {
    int64_t sum = 0;
    for (int a = 0; a < CODES; a++) sum += int64_t{counts.of[a]} * worth[a];
    return sum;
}

// Residues that are few but cost little in a gap, as N and X, do not set the price of all others: `usual` is
// what says most of a gap of a sixteenth of the residues.
GapLoss gap_loss(const Scheme& s, const ResidueCounts& counts, const int32_t* worth) {
    int64_t residues = 0, most = -1;
    for (int32_t count : counts.of) residues += count;
    GapLoss loss{INT32_MAX, 0, 0};
    for (int a = 0; a < CODES; a++) {
        if (!counts.of[a]) continue;
        const int32_t one = worth[a] + s.gap_extend;
        int32_t cheaper = 0;
        for (int b = 0; b < CODES; b++)
            if (worth[b] + s.gap_extend < one) cheaper += counts.of[b];
        loss.least = std::min(loss.least, one);
        const int64_t said = one * (residues / 16 + 1 - cheaper);
        if (said > most) {
            most = said;
            loss.usual = one;
            loss.cheap = cheaper;
        }
    }
    return loss;
}

// No alignment has a higher score. `rows`, `columns`: how many cheap residues they have.
int64_t most_of(const Worth& p, int64_t rows, int64_t columns, const ResidueCounts& row_residues,
                const ResidueCounts& column_residues) {
    int64_t worth = 0, longer = 0;
    for (int a = 0; a < CODES; a++) {
        worth += int64_t{row_residues.of[a]} * p.row[a] + int64_t{column_residues.of[a]} * p.column[a];
        longer += row_residues.of[a] - column_residues.of[a];
    }
    if (!p.bonus)
        return worth - std::max(p.row_gaps.least * longer, p.row_gaps.usual * (longer - p.row_gaps.cheap));
    return worth + p.bonus * std::min(rows, columns) -
           std::max(p.row_gaps.least * longer - p.bonus * rows, p.row_gaps.usual * longer);
}

// Whether the residues of both score one thing when equal (some of them) and another one in all other cases.
bool has_two_scores(const Scheme& s, const ResidueCounts& row, const ResidueCounts& column,
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

}  // namespace

ResidueCounts count_residues(const uint8_t* codes, int32_t length) {
    ResidueCounts counts[4] = {};  // four counters each: equal residues in a row do not wait for one another
    int32_t k = 0;
    for (; k + 4 <= length; k += 4)
        for (int q = 0; q < 4; q++) counts[q].of[codes[k + q]]++;
    for (; k < length; k++) counts[0].of[codes[k]]++;
    for (int a = 0; a < CODES; a++) counts[0].of[a] += counts[1].of[a] + counts[2].of[a] + counts[3].of[a];
    return counts[0];
}

Worth worth_of_residues(const Scheme& s, const ResidueCounts& row, const ResidueCounts& column) {
    Worth best{};
    int64_t least = INT64_MAX;
    for (int part : {2, 4, 0}) {  // quarters of a residue's best score that count for the column's sequence
        Worth p{};
        for (int b = 0; b < CODES; b++) {
            int32_t most = -s.gap_extend;
            for (int a = 0; a < CODES; a++)
                if (row.of[a]) most = std::max(most, s.matrix[a][b]);
            p.column[b] = most > 0 ? most * part / 4 : most;
        }
        tighten(s, row, column, p.column, p.row);
        tighten(s, column, row, p.row, p.column);
        const int64_t sum = total(row, p.row) + total(column, p.column);
        if (sum < least) {
            least = sum;
            best = p;
        }
    }
    best.row_gaps = gap_loss(s, row, best.row);
    best.column_gaps = gap_loss(s, column, best.column);
    return best;
}

bool worth_of_two_scores(const Scheme& s, int32_t match, int32_t mismatch, uint32_t cheap, Worth& p) {
    match = std::max(match, -2 * s.gap_extend);
    mismatch = std::max(mismatch, -2 * s.gap_extend);
    const int32_t half = match > 0 ? match / 2 : -(-match / 2), rest = match - half;
    if (match <= mismatch || half + s.gap_extend <= 0 || rest + s.gap_extend <= 0) return false;
    p = Worth{};
    p.cheap = cheap;
    p.bonus = match - mismatch;
    for (int a = 0; a < CODES; a++) {
        const bool is_cheap = (cheap >> a & 1) != 0;
        p.row[a] = is_cheap ? mismatch - rest : half;
        p.column[a] = is_cheap ? mismatch - half : rest;
    }
    p.row_gaps = {half + s.gap_extend, half + s.gap_extend - p.bonus, 0};
    p.column_gaps = {rest + s.gap_extend, rest + s.gap_extend - p.bonus, 0};
    return true;
}

bool choose_worth(const Scheme& s, PrunedPair& pair, const ResidueCounts& row_residues,
                  const ResidueCounts& column_residues, Worth& of_cheap, Worth& usual) {
    pair.two_scores = has_two_scores(s, row_residues, column_residues, pair);
    if (s.mode != GLOBAL) {
        // Residues that an alignment leaves out add nothing, and cost nothing either.
        Scheme free = s;
        free.gap_extend = 0;
        usual = worth_of_residues(free, row_residues, column_residues);
        pair.most = most_of(usual, 0, 0, row_residues, column_residues);
        return false;
    }
    usual = worth_of_residues(s, row_residues, column_residues);
    pair.most = most_of(usual, 0, 0, row_residues, column_residues);
    uint32_t cheap = 0;
    int32_t rows = 0, columns = 0;
    for (int a = 0; a < CODES; a++) {
        if (s.matrix[a][a] == pair.match) continue;
        cheap |= uint32_t{1} << a;
        rows += row_residues.of[a];
        columns += column_residues.of[a];
    }
    if (!pair.two_scores || rows + columns == 0 ||
        !worth_of_two_scores(s, pair.match, pair.mismatch, cheap, of_cheap))
        return false;
    const int64_t most = most_of(of_cheap, rows, columns, row_residues, column_residues);
    // Where both have cheap residues, many diagonals cost little: this bound must be better by so much.
    if (most + of_cheap.bonus * std::min(rows, columns) / 2 <= pair.most) usual = of_cheap;
    pair.most = std::min(pair.most, most);
    return true;
}

void count_cheap(const uint8_t* codes, int32_t length, uint32_t cheap, int32_t* out) {
    int32_t sum = 0;
    out[length] = 0;
    for (int32_t k = length - 1; k >= 0; k--) out[k] = sum += cheap >> codes[k] & 1;
}

void sum_worth(const uint8_t* codes, int32_t length, const int32_t* worth, int32_t extend, int32_t* out) {
    int32_t sum = length * extend;
    out[length] = sum;
    for (int32_t k = length - 1; k >= 0; k--) out[k] = sum -= worth[codes[k]] + extend;
}

}  // namespace pairalign
