// Emissions of the cells of a row. One x: a row of one residue has the same ones as any other, so that those
// with all columns are kept of each residue that x has, unless they are looked up in registers. Mixed, or two
// or three x (kernel.h): they are looked up.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lanes.h"
#include "match_states.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V, int STATES, Mixed MIXED>
class Emissions {
    using Scalar = typename V::Scalar;
    using Profile = KeptCell<V, STATES>;  // of a residue and a column

public:
    static constexpr int QUERIES = MIXED == Mixed::TWO ? 2 : MIXED == Mixed::THREE ? 3 : 1;
    static constexpr bool IS_MIXED = MIXED == Mixed::BASES || MIXED == Mixed::ALL;
    static constexpr uint8_t PADDED = MIXED == Mixed::BASES ? MIXED_BASES
                                      : MIXED == Mixed::ALL ? MIXED_CODES
                                                            : POSTERIOR_CODES - 1;

    using Tables = RowTables<V, QUERIES>;
    struct Row {
        Tables hmm, partition;
        const uint8_t* shifts;
        const Profile* profile;
    };

    void set(const pairalign_posterior_model& model, uint8_t unknown) {
        unknown_ = unknown;
        const auto set = [](Scalar* table, const double* emission, int size) {
            for (int k = 0; k < size; k++)
                table[k] = V::all(k % POSTERIOR_CODES == PADDED ? PADDING : emission[k]).get(0);
        };
        const auto set_mixed = [this](Scalar* table, const double* emission) {
            const auto code = [this](int k) {
                return MIXED == Mixed::BASES && k == MIXED_BASES - 1 ? unknown_ : k;
            };
            for (int k = 0; k < (STEP - 1) * STEP; k++) {
                const int x = k / STEP, y = k % STEP;
                table[k] =
                    V::all(y == PADDED ? PADDING : emission[code(x) * POSTERIOR_CODES + code(y)]).get(0);
            }
        };
        if (IS_MIXED) {
            set_mixed(hmm_table_, model.hmm_emission);
            set_mixed(partition_table_, model.partition_emission);
            return;
        }
        set(hmm_table_, model.hmm_emission, STATES * TABLE);
        set(partition_table_, model.partition_emission, TABLE);
    }

    // Mixed: the code of a column, and what the code of a row adds to it.
    uint8_t mixed(uint8_t code) const {
        return MIXED == Mixed::BASES && code == unknown_ ? static_cast<uint8_t>(MIXED_BASES - 1) : code;
    }
    uint8_t shift(uint8_t code) const { return static_cast<uint8_t>(mixed(code) * STEP); }

    // codes: of the lanes in each column, from 1; profiles: memory for POSTERIOR_CODES times columns + 2.
    void begin(const uint8_t* codes, int32_t columns, Profile* profiles) {
        codes_ = codes;
        columns_ = columns;
        profiles_ = profiles;
        std::fill(has_profile_, has_profile_ + POSTERIOR_CODES, false);
    }

    // x: the codes of a row; lanes: those that have each of them, a bit each; shifts: mixed, of each lane.
    Row of_row(const int (&x)[QUERIES], const uint32_t* lanes, const uint8_t* shifts) {
        Row row{};
        for (int q = 0; q < QUERIES; q++) {
            row.hmm.of[q] = hmm_table_ + (IS_MIXED ? 0 : x[q] * POSTERIOR_CODES);
            row.partition.of[q] = partition_table_ + (IS_MIXED ? 0 : x[q] * POSTERIOR_CODES);
            row.hmm.lanes[q] = row.partition.lanes[q] = lanes[q];
        }
        row.shifts = shifts;
        if constexpr (IS_PROFILED) row.profile = profile_of(x[0], row);
        return row;
    }

    PAIRALIGN_INLINE V hmm(const Row& row, int state, int32_t j) const {
        if constexpr (IS_PROFILED) return row.profile[j].m[state];
        else return look_up(row, row.hmm, state, j);
    }
    PAIRALIGN_INLINE V partition(const Row& row, int32_t j) const {
        if constexpr (IS_PROFILED) return row.profile[j].zm;
        else return look_up(row, row.partition, 0, j);
    }

private:
    static constexpr bool IS_PROFILED = MIXED == Mixed::NOT && !V::HAS_LOOKUP;
    static constexpr int STEP = MIXED == Mixed::BASES ? MIXED_STEP : MIXED_CODES + 1;
    static constexpr int TABLE = POSTERIOR_CODES * POSTERIOR_CODES;
    static constexpr double PADDING = 0x1p-16;

    const Profile* profile_of(int x, const Row& row) {
        Profile* const profile = profiles_ + int64_t{x} * (columns_ + 2);
        if (!has_profile_[x])
            for (int32_t j = 1; j <= columns_; j++) {
                for (int s = 0; s < STATES; s++) profile[j].m[s] = look_up(row, row.hmm, s, j);
                profile[j].zm = look_up(row, row.partition, 0, j);
            }
        has_profile_[x] = true;
        return profile;
    }

    PAIRALIGN_INLINE V look_up(const Row& row, Tables tables, int state, int32_t j) const {
        const uint8_t* const at = codes_ + j * V::LANES;
        if constexpr (MIXED == Mixed::BASES) return V::lookup(tables.of[0], at, row.shifts);
        else if constexpr (IS_MIXED) return V::pick(tables.of[0], at, row.shifts);
        for (auto& of : tables.of) of += state * TABLE;
        return tables.look_up(at);
    }

    Scalar hmm_table_[STATES * TABLE], partition_table_[TABLE];
    uint8_t unknown_;
    const uint8_t* codes_;
    int32_t columns_;
    Profile* profiles_;  // by the code of x
    bool has_profile_[POSTERIOR_CODES];
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
