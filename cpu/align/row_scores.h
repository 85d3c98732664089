// How a fill of 8-bit lanes finds the scores of some rows: of one row sequence, or of one for each lane
// (own_group.h). Written once on the vector types of bytes.h and compiled once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../core/byte_batch.h"
#include "byte_state.h"
#include "../simd/bytes.h"
#include "own_group.h"
#include "../core/recurrence.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

// How a fill finds scores.
enum class Scores { ONE_ROW, CLASSES, ONE_TABLE, TWO_TABLES, FOUR_TABLES, LINES };

// Twice the moves of paths that come by the diagonal, where the mask says whether residues are equal and
// unambiguous: bits of a cell's code.
template <class V>
static PAIRALIGN_INLINE V moves_where(typename V::Mask same) {
    return V::unless(same, V::set(2 * OTHER_MOVE));
}

// The scores of ROWS rows from `row` on. Columns are gone through in stretches: reach(j, stop, ...) makes
// those from j on ready and says the last of them; column(residues) is what the rows of a column have in
// common, and move(residues) see moves_where.
template <class V, Scores SCORES, int ROWS>
class RowScores;

template <class V, int ROWS>
class RowScores<V, Scores::CLASSES, ROWS> {
public:
    using Column = V;
    PAIRALIGN_INLINE RowScores(const ByteWork<V>& w, int32_t row)
        : table_(V::table_of_16(w.batch.own->classes->scores)),
          rows_(w.own_rows + static_cast<size_t>(row) * V::LANES) {}
    PAIRALIGN_INLINE int32_t reach(int32_t, int32_t stop) { return stop; }
    PAIRALIGN_INLINE int32_t reach(int32_t, int32_t stop, const int32_t*) { return stop; }
    static PAIRALIGN_INLINE Column column(V residues) { return residues; }
    template <int K>
    PAIRALIGN_INLINE V of(Column column, int32_t) const {
        return V::lookup_16(table_, V::bit_xor(column, V::load(rows_ + K * V::LANES)));
    }
    template <int K>
    PAIRALIGN_INLINE V move(V residues) const {
        return moves_where<V>(V::eq(residues, V::load(rows_ + K * V::LANES)));
    }

private:
    const V table_;
    const uint8_t* const rows_;
};

// Tables that have the scores of the residues of some sequences each, one after another.
template <class V, int TABLES, int ROWS>
class TableScores {
public:
    using Column = typename V::Index;
    PAIRALIGN_INLINE TableScores(const ByteWork<V>& w, int32_t row)
        : rows_(w.own_rows + static_cast<size_t>(row) * V::LANES) {
        const V table_of = V::load(w.own_group + w.own.others);
        for (int t = 1; t < TABLES; t++) have_[t] = V::eq(table_of, V::set(t));
        const OwnRows& own = *w.batch.own;
        const uint8_t* const tables = w.own_group + w.own.tables;
        const int of_table = own.few.of_table, numbers = own.few.numbers();
        uint8_t* to = tables_;
        for (int k = 0; k < ROWS; k++)
            for (int t = 0; t < TABLES; t++, to += V::LANES)
                for (int s = t * of_table, at = 0; s < own.few.count && s < (t + 1) * of_table;
                     s++, at += numbers) {
                    const int lane = own.few.first_lanes[s];
                    const int code = row + k < own.lengths[lane] ? own.codes[lane][row + k] : PAD;
                    // The next one is written over what is too much.
                    memcpy(to + at, tables + static_cast<size_t>(code) * OwnLayout::TABLE_BYTES, CODES);
                }
    }
    PAIRALIGN_INLINE int32_t reach(int32_t, int32_t stop) { return stop; }
    PAIRALIGN_INLINE int32_t reach(int32_t, int32_t stop, const int32_t*) { return stop; }
    static PAIRALIGN_INLINE Column column(V residues) { return V::index(residues); }
    template <int K>
    PAIRALIGN_INLINE V of(Column column, int32_t) const {
        const uint8_t* const table = tables_ + K * TABLES * V::LANES;
        V scores = V::lookup(table, column);
        if constexpr (TABLES > 1)
            unrolled<1, TABLES>([&](auto which) __attribute__((always_inline)) {
                constexpr int t = decltype(which)::value;
                scores = V::lookup_where(have_[t], table + t * V::LANES, column, scores);
            });
        return scores;
    }
    template <int K>
    PAIRALIGN_INLINE V move(V residues) const {
        return moves_where<V>(V::eq(residues, V::load(rows_ + K * V::LANES)));
    }

private:
    typename V::Mask have_[TABLES];  // lanes whose sequence is in a table, but for the first one
    const uint8_t* const rows_;
    alignas(64) uint8_t tables_[ROWS * TABLES * V::LANES + CODES];  // of each row
};

template <class V, int ROWS>
class RowScores<V, Scores::ONE_TABLE, ROWS> : public TableScores<V, 1, ROWS> {
public:
    using TableScores<V, 1, ROWS>::TableScores;
};

template <class V, int ROWS>
class RowScores<V, Scores::TWO_TABLES, ROWS> : public TableScores<V, 2, ROWS> {
public:
    using TableScores<V, 2, ROWS>::TableScores;
};

template <class V, int ROWS>
class RowScores<V, Scores::FOUR_TABLES, ROWS> : public TableScores<V, 4, ROWS> {
public:
    using TableScores<V, 4, ROWS>::TableScores;
};

template <class V, int ROWS>
class RowScores<V, Scores::LINES, ROWS> {
public:
    struct Column {};
    PAIRALIGN_INLINE RowScores(const ByteWork<V>& w, int32_t row)
        : w_(w), row_(row), rows_(w.own_rows + static_cast<size_t>(row) * V::LANES) {}
    PAIRALIGN_INLINE int32_t reach(int32_t j, int32_t stop) {
        if ((j - 1) % AT_ONCE == 0) make<false>(j, w_.columns, nullptr);
        const int32_t end = (j - 1) / AT_ONCE * AT_ONCE + AT_ONCE;
        return end < stop ? end : stop;
    }
    // The same where each lane's columns begin elsewhere, after `lefts` columns.
    PAIRALIGN_INLINE int32_t reach(int32_t t, int32_t stop, const int32_t* lefts) {
        make<true>(t, stop, lefts);
        return t - 1 + AT_ONCE < stop ? t - 1 + AT_ONCE : stop;
    }
    static PAIRALIGN_INLINE Column column(V) { return {}; }
    template <int K>
    PAIRALIGN_INLINE V of(Column, int32_t j) const {
        return V::load(scores_ + (static_cast<std::ptrdiff_t>(K) * AT_ONCE + j) * V::LANES);
    }
    template <int K>
    PAIRALIGN_INLINE V move(V residues) const {
        return moves_where<V>(V::eq(residues, V::load(rows_ + K * V::LANES)));
    }

private:
    static constexpr int AT_ONCE = OwnLayout::AT_ONCE, IN_BLOCK = OwnLayout::IN_BLOCK;

    // The scores of columns j to `last`, or of so many as are made at once.
    template <bool WINDOWS>
    __attribute__((noinline)) void make(int32_t j, int32_t last, const int32_t* lefts) {
        const int32_t count = last - j + 1 < AT_ONCE ? last - j + 1 : AT_ONCE;
        uint8_t *const taken = w_.own_group + w_.own.taken, *const scores = w_.own_group + w_.own.scores;
        for (int k = 0; k < ROWS; k++) {
            take_lines<WINDOWS>(row_ + k, static_cast<size_t>(j - 1), lefts, taken);
            for (int c = 0; c < count; c += 16)
                turn<V>([&](int l) __attribute__((
                            always_inline)) { return taken + static_cast<size_t>(l) * AT_ONCE + c; },
                        scores + static_cast<size_t>(k * AT_ONCE + c) * V::LANES);
        }
        scores_ = scores - static_cast<std::ptrdiff_t>(j) * V::LANES;
    }

    // The scores of a row, each lane's in a line.
    template <bool WINDOWS>
    PAIRALIGN_INLINE void take_lines(int32_t row, size_t at, const int32_t* lefts, uint8_t* taken) const {
        const uint32_t* const offsets = reinterpret_cast<const uint32_t*>(w_.own_group + w_.own.offsets) +
                                        static_cast<size_t>(row / IN_BLOCK) * IN_BLOCK * V::LANES +
                                        static_cast<size_t>(row % IN_BLOCK);
        using Lookup = typename V::WithLookup;
        const bool lookup = Lookup::LOOKUP && w_.batch.own->lookup;
        const uint8_t* const tables = w_.own_group + (lookup ? w_.own.tables : w_.own.profiles);
        const uint8_t* line = w_.own_group + w_.own.lines;
        const size_t end = static_cast<size_t>(w_.columns);  // columns from there on do not matter
        for (size_t l = 0; l < size_t{V::LANES}; l++, line += w_.own.line_stride, taken += AT_ONCE) {
            size_t from = at;
            if constexpr (WINDOWS) {
                from += static_cast<size_t>(lefts[l]);
                from = from < end ? from : end;
            }
            const uint8_t* const table = tables + offsets[l * IN_BLOCK];
            for (int c = 0; c < AT_ONCE; c += V::LANES) {
                const size_t here = from + static_cast<size_t>(c);
                if (lookup)
                    Lookup::lookup(table, Lookup::index(Lookup::load_any(line + here))).store(taken + c);
                else V::load_any(table + here).store(taken + c);
            }
        }
    }

    const ByteWork<V>& w_;
    const int32_t row_;
    const uint8_t* const rows_;
    const uint8_t* scores_ = nullptr;  // of column 0
};

// Batches with one row sequence: a table of its residue, or a profile that the group has.
template <class V, int ROWS>
class RowScores<V, Scores::ONE_ROW, ROWS> {
public:
    using Column = typename V::Index;
    PAIRALIGN_INLINE RowScores(const ByteWork<V>& w, int32_t row) {
        const size_t stride = (static_cast<size_t>(w.batch.group->columns) + 1) * V::LANES;
        unrolled<0, ROWS>([&](auto which) __attribute__((always_inline)) {
            constexpr int k = decltype(which)::value;
            const int code = w.batch.row[row + k];
            if constexpr (V::LOOKUP) scores_[k] = w.tables + static_cast<size_t>(code) * 2 * CODES;
            else scores_[k] = w.profile + static_cast<size_t>(w.profile_of[code]) * stride;
        });
    }
    PAIRALIGN_INLINE int32_t reach(int32_t, int32_t stop) { return stop; }
    static PAIRALIGN_INLINE Column column(V residues) {
        Column none{};
        if constexpr (V::LOOKUP) return V::index(residues);
        return none;
    }
    template <int K>
    PAIRALIGN_INLINE V of(Column column, int32_t j) const {
        if constexpr (V::LOOKUP) return V::lookup(scores_[K], column);
        return V::load(scores_[K] + static_cast<size_t>(j) * V::LANES);
    }

private:
    const uint8_t* scores_[ROWS];
};

// For each residue of the row, and one that is not unambiguous: the moves of all residues of columns, twice.
struct MovesOfResidues {
    alignas(64) uint8_t of[CODES + 1][2 * CODES];
    constexpr MovesOfResidues() : of() {
        for (int a = 0; a <= CODES; a++)
            for (int b = 0; b < 2 * CODES; b++) of[a][b] = b % CODES == a ? 2 * SAME_MOVE : 2 * OTHER_MOVE;
    }
};
constexpr MovesOfResidues MOVES_OF_RESIDUES;

// With the residues of the rows.
template <class V, int ROWS>
class RowResidues {
public:
    PAIRALIGN_INLINE RowResidues(const ByteWork<V>& w, int32_t row) {
        unrolled<0, ROWS>([&](auto which) __attribute__((always_inline)) {
            constexpr int k = decltype(which)::value;
            const int code = w.batch.row[row + k];
            const bool unambiguous = code < w.batch.unambiguous;
            if constexpr (V::LOOKUP) residues_[k] = MOVES_OF_RESIDUES.of[unambiguous ? code : CODES];
            else residues_[k] = V::set(unambiguous ? code : 255);
        });
    }
    template <int K>
    PAIRALIGN_INLINE V move(V residues) const {
        if constexpr (V::LOOKUP) return V::lookup(residues_[K], V::index(residues));  // takes less
        else return moves_where<V>(V::eq(residues, residues_[K]));
    }

private:
    std::conditional_t<V::LOOKUP, const uint8_t*, V> residues_[ROWS];
};

template <class V, int ROWS>
class ProfileAndResidues : public RowScores<V, Scores::ONE_ROW, ROWS>, public RowResidues<V, ROWS> {
public:
    PAIRALIGN_INLINE ProfileAndResidues(const ByteWork<V>& w, int32_t row)
        : RowScores<V, Scores::ONE_ROW, ROWS>(w, row), RowResidues<V, ROWS>(w, row) {}
};

template <class V, Scores SCORES, int ROWS>
using ScoresAndResidues =
    std::conditional_t<SCORES == Scores::ONE_ROW, ProfileAndResidues<V, ROWS>, RowScores<V, SCORES, ROWS>>;

// The same for windows, of whose columns there is no profile.
template <class V, int ROWS>
class RowTables : public RowResidues<V, ROWS> {
public:
    using Column = typename V::Index;
    PAIRALIGN_INLINE RowTables(const ByteWork<V>& w, int32_t row) : RowResidues<V, ROWS>(w, row) {
        unrolled<0, ROWS>([&](auto which) __attribute__((always_inline)) {
            constexpr int k = decltype(which)::value;
            const int code = w.batch.row[row + k];
            tables_[k] = w.tables + static_cast<size_t>(code) * 2 * CODES;
        });
    }
    PAIRALIGN_INLINE int32_t reach(int32_t, int32_t stop, const int32_t*) { return stop; }
    static PAIRALIGN_INLINE Column column(V residues) { return V::index(residues); }
    template <int K>
    PAIRALIGN_INLINE V of(Column column, int32_t) const {
        return V::lookup(tables_[K], column);
    }

private:
    const uint8_t* tables_[ROWS];
};

template <class V, Scores SCORES, int ROWS>
using WindowScores =
    std::conditional_t<SCORES == Scores::ONE_ROW, RowTables<V, ROWS>, RowScores<V, SCORES, ROWS>>;

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
