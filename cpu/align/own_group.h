// Batches of 8-bit lanes in which every lane has a row sequence of its own: what their group holds. Written
// once on the vector types of bytes.h and compiled once per instruction set. row_scores.h reads it.
//
// CLASSES: where scores depend on the residues' classes alone, as those of DNA mostly do, a class of a row
// and one of a column differ (by XOR) in a number below 16, and a table of 16 scores says the rest.
//
// ONE_TABLE, TWO_TABLES, FOUR_TABLES: where the lanes have few sequences, a lookup finds the scores of two or
// three of them (FewRows), for which the columns' residues say which it is: those of the second have higher
// numbers.
//
// LINES: a tier needs one score of each lane side by side. Of each lane they are taken in a line along its
// columns, by a lookup of the columns' residues, or, where that takes more than one instruction, from a
// profile (the scores of each residue against all columns). 16 columns of all lanes are turned at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../core/byte_batch.h"
#include "../simd/bytes.h"
#include "../core/recurrence.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

// 16 columns of all lanes, side by side: vector j gets byte j of what from(lane) points to. A round of
// interleaving moves the highest bit of the lane to the lowest of the column; after four all have changed
// places.
template <class V, class From>
static PAIRALIGN_INLINE void turn(From&& from, uint8_t* out) {
    V now[16];
    unrolled<0, 16>([&](auto which) __attribute__((always_inline)) {
        constexpr int k = decltype(which)::value;
        now[k] = V::every_16th([&](int part) __attribute__((always_inline)) { return from(16 * part + k); });
    });
    unrolled<0, 4>([&](auto) __attribute__((always_inline)) {
        V next[16];
        unrolled<0, 8>([&](auto which) __attribute__((always_inline)) {
            constexpr int k = decltype(which)::value;
            next[2 * k] = V::interleave_low(now[k], now[k + 8]);
            next[2 * k + 1] = V::interleave_high(now[k], now[k + 8]);
        });
        unrolled<0, 16>([&](auto which) __attribute__((always_inline)) {
            now[decltype(which)::value] = next[decltype(which)::value];
        });
    });
    unrolled<0, 16>([&](auto which) __attribute__((always_inline)) {
        constexpr int k = decltype(which)::value;
        now[k].store(out + k * V::LANES);
    });
}

// What the group of such a batch holds, see OwnLayout.
template <class V>
class OwnGroup {
public:
    static constexpr int LANES = V::LANES;
    static constexpr size_t TABLE_BYTES = OwnLayout::TABLE_BYTES;

    static size_t bytes(const OwnRows& own, int32_t columns) { return OwnLayout(LANES, own, columns).bytes; }

    static void prepare(const Scheme& scheme, Group& group, const OwnRows& own) {
        OwnGroup(scheme, group, own).fill();
    }

private:
    OwnGroup(const Scheme& scheme, Group& group, const OwnRows& own)
        : scheme_(scheme),
          group_(group),
          own_(own),
          layout_(LANES, own, group.columns),
          memory_(static_cast<uint8_t*>(group.lanes)) {}

    void fill() {
        if (own_.classes) {
            turn_residues(false, own_.classes->column);
            turn_residues(true, own_.classes->row);
            return;
        }
        uint8_t numbers[CODES], unambiguous[CODES];
        for (int a = 0; a < CODES; a++) {
            numbers[a] = number(a);
            unambiguous[a] = a < own_.unambiguous ? numbers[a] : 255;
        }
        turn_residues(true, unambiguous);
        turn_residues(false, numbers);
        make_tables();
        if (own_.few.count) {
            for (int l = 0; l < LANES; l++)
                memory_[layout_.others + static_cast<size_t>(l)] =
                    static_cast<uint8_t>(own_.few.of[lane(l)] / own_.few.of_table);
            return;
        }
        if (!V::LOOKUP) make_profiles();
        make_offsets();
    }

    uint8_t number(int code) const {
        return static_cast<uint8_t>(own_.few.count ? own_.few.number(code) : code);
    }

    // Lanes that are not used have what the last one has.
    int lane(int l) const { return l < group_.used ? l : group_.used - 1; }

    // Residues as `map` has them, a sequence after the other and then side by side.
    void turn_residues(bool rows, const uint8_t* map) {
        const FewRows& few = own_.few;
        const int of_table = few.count ? few.of_table : 1;
        alignas(64) uint8_t tables[3][TABLE_BYTES];
        for (int s = 0; s < of_table; s++)
            for (size_t k = 0; k < TABLE_BYTES; k++) {
                const uint8_t code = map[k % CODES];
                tables[s][k] = static_cast<uint8_t>(s && code < CODES ? code + s * few.numbers() : code);
            }
        const size_t stride = layout_.line_stride;
        uint8_t* const lines = memory_ + layout_.lines;
        for (int l = 0; l < LANES; l++) {
            const int from = lane(l);
            const uint8_t* const table = tables[few.count ? few.of[from] % of_table : 0];
            const uint8_t* codes = rows ? own_.codes[from] : group_.codes[from];
            const size_t length = static_cast<size_t>(rows ? own_.lengths[from] : group_.lengths[from]);
            uint8_t* const line = lines + static_cast<size_t>(l) * stride;
            for (size_t k = 0; k < length; k += LANES)
                V::lookup(table, V::index(V::load_any(codes + k))).store_any(line + k);
            memset(line + length, table[PAD], stride - length);
        }
        uint8_t* out = memory_ + (rows ? layout_.rows : layout_.codes);
        if (!rows) {
            V::set(map[PAD]).store(out);
            out += LANES;
        }
        const size_t count = static_cast<size_t>(rows ? own_.rows : group_.columns);
        for (size_t k = 0; k < count; k += 16, out += 16 * LANES)
            turn<V>([&](int l) { return lines + static_cast<size_t>(l) * stride + k; }, out);
    }

    // Makes a table of scores for each row residue.
    void make_tables() {
        const int32_t raise = scheme_.mode == LOCAL ? 0 : byte_raise(scheme_);
        uint8_t* const tables = memory_ + layout_.tables;
        for (int a = 0; a < CODES; a++)
            for (int b = 0; b < CODES; b++) {
                uint8_t* const to = tables + a * TABLE_BYTES + number(b);
                to[0] = to[CODES] = static_cast<uint8_t>(scheme_.matrix[a][b] + raise);
            }
    }

    bool has_row_residue(int a) const { return own_.row_codes >> a & 1; }

    // Makes a profile for each lane, from the lines of residues that turn_residues has left.
    void make_profiles() {
        const uint8_t* const tables = memory_ + layout_.tables;
        for (size_t l = 0; l < size_t{LANES}; l++) {
            const uint8_t* line = memory_ + layout_.lines + l * layout_.line_stride;
            uint8_t* const lane = memory_ + layout_.profiles + l * layout_.profile_bytes;
            for (size_t j = 0; j + LANES <= layout_.stride; j += LANES) {
                const auto index = V::index(V::load_any(line + j));
                uint8_t* out = lane + j;
                for (int a = 0; a < CODES; a++) {
                    if (!has_row_residue(a)) continue;
                    V::lookup(tables + a * TABLE_BYTES, index).store_any(out);
                    out += layout_.stride;
                }
            }
        }
    }

    // Where the table of a row's residue is, or of each lane its profile.
    void make_offsets() {
        uint32_t of_residue[CODES], count = 0;
        for (int a = 0; a < CODES; a++) {
            of_residue[a] = V::LOOKUP ? static_cast<uint32_t>(a * TABLE_BYTES)
                                      : count * static_cast<uint32_t>(layout_.stride);
            count += has_row_residue(a);
        }
        for (int l = 0; l < LANES; l++) {
            const int from = lane(l);
            const uint32_t profile =
                V::LOOKUP ? 0 : static_cast<uint32_t>(l) * static_cast<uint32_t>(layout_.profile_bytes);
            uint32_t* const out = reinterpret_cast<uint32_t*>(memory_ + layout_.offsets);
            const auto put = [&](int32_t row, int residue) {
                constexpr int IN_BLOCK = OwnLayout::IN_BLOCK;
                out[(static_cast<size_t>(row / IN_BLOCK) * LANES + static_cast<size_t>(l)) * IN_BLOCK +
                    static_cast<size_t>(row % IN_BLOCK)] = profile + of_residue[residue];
            };
            for (int32_t row = 0; row < own_.rows; row++)
                put(row, row < own_.lengths[from] ? own_.codes[from][row] : PAD);
        }
    }

    const Scheme& scheme_;
    Group& group_;
    const OwnRows& own_;
    const OwnLayout layout_;
    uint8_t* const memory_;
};

}  // namespace PAIRALIGN_ISA
}  // namespace pairalign
