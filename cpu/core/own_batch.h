// Batches whose lanes are pairs from anywhere in a window, each with a row sequence of its own: what they are
// given of their pairs, and what a thread keeps while it works on them. See own_group.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../memory.h"
#include "byte_batch.h"
#include "pair_result.h"
#include "state.h"

namespace pairalign {

// The sequences of pairs, a lane each. `Pair`: PairPosition or what derives from it. `classes`: null where
// lanes have profiles.
template <class Pair>
void set_lanes(const pairalign_result& result, const Pair* pairs, int count, const ResidueClasses* classes,
               Group& group, OwnRows& own) {
    group.used = count;
    group.columns = own.rows = 0;
    own.row_codes = 1u << PAD;
    for (int l = 0; l < count; l++) {
        const PairPosition& pair = pairs[l];
        const Set &rows = result.rows_of(pair.flipped), &columns = result.columns_of(pair.flipped);
        group.codes[l] = columns.codes(pair.column);
        group.lengths[l] = columns.length(pair.column);
        group.columns = std::max(group.columns, group.lengths[l]);
        own.codes[l] = rows.codes(pair.row);
        own.lengths[l] = rows.length(pair.row);
        own.rows = std::max(own.rows, own.lengths[l]);
        own.row_codes |= rows.residues[static_cast<size_t>(pair.row)];
    }
    own.rows = static_cast<int32_t>(up_to_multiple(static_cast<size_t>(own.rows), OwnRows::ROWS));
    own.unambiguous = result.engine->unambiguous;
    own.classes = classes;
    own.lookup = result.engine->bytes().looks_up;
    own.few.count = 0;
}

// The residues of a pair, a bit set.
template <class Pair>
uint32_t codes_of(const pairalign_result& result, const Pair& pair) {
    return result.rows_of(pair.flipped).residues[static_cast<size_t>(pair.row)] |
           result.columns_of(pair.flipped).residues[static_cast<size_t>(pair.column)];
}

// Numbers the row sequences of pairs, if they are few.
template <class Pair>
void find_few_rows(const pairalign_result& result, const Pair* pairs, int count, FewRows& few) {
    few = {};
    uint32_t codes = 0;
    for (int l = 0; l < count; l++) codes |= codes_of(result, pairs[l]);
    few.set_codes(codes);
    const auto same_row = [pairs](int l, int m) {
        return pairs[l].flipped == pairs[m].flipped && pairs[l].row == pairs[m].row;
    };
    for (int l = 0; l < count; l++) {
        int s = 0;
        while (s < few.count && !same_row(l, few.first_lanes[s])) s++;
        if (s == FewRows::TABLES * few.of_table) {
            few.count = 0;
            return;
        }
        if (s == few.count) few.first_lanes[few.count++] = l;
        few.of[l] = static_cast<uint8_t>(s);
    }
}

// A batch and the memory that it works in.
class OwnBatch {
public:
    Group group{};
    OwnRows own{};
    ByteBatch batch{};

    // Once lanes are set: all else that the kernel is given. `work_bytes`: as ByteLayout says.
    void prepare(const pairalign_engine& engine, bool trace, int32_t side, size_t work_bytes) {
        const ByteKernel& kernel = engine.bytes();
        group.lanes = lanes_.need(kernel.own_bytes(own, group.columns));
        kernel.prepare_own(engine.scheme, group, own);
        batch.scheme = &engine.scheme;
        batch.group = &group;
        batch.own = &own;
        batch.rows = own.rows;
        batch.trace = trace;
        batch.side = side;
        batch.unambiguous = engine.unambiguous;
        batch.work = static_cast<uint8_t*>(work_.need(work_bytes));
        batch.cancelled = &engine.cancelled;
        if (trace) make_steps(batch, steps_, own.rows, group.columns, 0, group.used);
    }

private:
    Buffer lanes_, steps_, work_{Pages::LARGE};
};

}  // namespace pairalign
