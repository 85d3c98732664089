// Posteriors of one x against the y of each lane: forward rows, then backward rows that meet them.
// A row is brought to one size every GROUP rows, by a power of two a lane, which is kept; so all is linear
// arithmetic. Only a block of rows of M is kept (rows_of_block): the forward pass leaves the state before
// each block, and its rows are computed again when the backward pass comes there. That takes memory of the
// square root of the rows, keeps it near the processor, and gives the same bits for every block.
//
// Mixed: each lane has an x of its own, all of one length, of DNA. Where there are the bases and N alone,
// their codes are brought to a few, so that a table in registers has all emissions.
//
// Two or three x: lanes have one of these, which need not be of one length. All begin with row 0, so that
// groups are the same as of one x; beyond its end a lane goes on with a code that says nothing, and going
// backward it begins anew there.
//
// A lane's values do not depend on the others: a y that is shorter than the longest is filled up with a code
// that emits PADDING, whose cells stay below the row's largest going forward, and are 0 going backward.
// A lane whose range is more than its numbers hold (common/posterior_scaling.h), or of which a row's
// posteriors add up to more than 1, is `too_wide`.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "../memory.h"
#include "emissions.h"
#include "lanes.h"
#include "match_states.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V, int STATES, Mixed MIXED>
class Lanes final : public PosteriorLanes {
    using Scalar = typename V::Scalar;
    static constexpr int LANES = V::LANES, GROUP = PosteriorScaling::GROUP;
    static constexpr size_t STATE_VECTORS = STATES + 4, KEPT_VECTORS = STATES + 1;
    using RowEmissions = Emissions<V, STATES, MIXED>;
    static constexpr uint8_t PADDED = RowEmissions::PADDED;
    static constexpr int QUERIES = RowEmissions::QUERIES;
    static constexpr bool IS_MIXED = RowEmissions::IS_MIXED;

public:
    int lanes() const override { return LANES; }

    void compute(PosteriorBatch& batch) override {
        const NoSubnormals mode;
        prepare(batch);
        begin_forward();
        const int32_t block = rows_of_block(rows_, columns_, STATES);
        const int32_t blocks = (rows_ + block - 1) / block;
        for (int32_t b = 0; b < blocks; b++) {
            save_state(b);
            const int32_t end = std::min(rows_, (b + 1) * block);
            if (b + 1 == blocks) forward<true>(b * block, end);
            else forward<false>(b * block, end);
        }
        begin_backward(batch);
        for (int32_t b = blocks; b-- > 0;) {
            const int32_t begin = b * block, end = std::min(rows_, begin + block);
            if (b + 1 < blocks) {
                restore_state(b);
                forward<true>(begin, end);
            }
            for (int32_t group = (end - 1) / GROUP; group >= begin / GROUP; group--)
                backward_group(batch, group, begin, std::min(end, (group + 1) * GROUP));
        }
    }

private:
    using State = RowState<V, STATES>;
    using Kept = KeptCell<V, STATES>;
    using Column = ColumnGaps<V>;
    using Match = Values<V, STATES>;

    // A column in which posteriors of some lanes, a bit each, reach the threshold.
    struct Found {
        int32_t column;
        uint32_t lanes;
    };

    // An HMM's or a partition function's values of the pair as a whole, and how its rows were scaled.
    struct Model {
        Scalar total[LANES];
        std::vector<int32_t> forward;  // exponents [group][lane]
        int32_t backward[LANES];
        V near, far;  // what makes posteriors of forward and backward values, in the group at hand
    };

    void prepare(const PosteriorBatch& batch) {
        const pairalign_posterior_model& model = *batch.model;
        rows_ = batch.rows;
        queries_ = 0;
        columns_ = *std::max_element(batch.lengths, batch.lengths + batch.count);
        inner_ = *std::min_element(batch.lengths, batch.lengths + batch.count) - 1;
        width_ = columns_ + 2;
        for (int l = 0; l < LANES; l++) {
            source_[l] = std::min(l, batch.count - 1);  // lanes that are not in use repeat the last
            lengths_[l] = batch.lengths[source_[l]];
            row_lengths_[l] = batch.row_lengths[source_[l]];
            add_query(batch.row_of[source_[l]], l);
        }
        unknown_ = static_cast<uint8_t>(batch.unknown);
        emissions_.set(model, unknown_);
        match_.set(model);
        gaps_.set(model);
        tiny_ = V::SCALED ? V::all(std::ldexp(1.0, V::TINY)) : V::all(0);
        threshold_ = V::all(2.0 * batch.threshold * batch.threshold);
        spare_ = PosteriorScaling::SPARE_BITS + model.growth;
        take_memory();
        set_columns(batch);
        if (IS_MIXED) set_rows(batch);
        const size_t groups = static_cast<size_t>((rows_ - 1) / GROUP + 1);
        hmm_.forward.assign(groups * LANES, 0);
        partition_.forward.assign(groups * LANES, 0);
    }

    // Lanes of one x follow each other.
    void add_query(const uint8_t* row, int lane) {
        if (queries_ == 0 || (!IS_MIXED && rows_of_[queries_ - 1] != row)) {
            rows_of_[queries_] = row;
            lanes_of_[queries_++] = 0;
        }
        lanes_of_[queries_ - 1] |= uint32_t{1} << lane;
        query_lengths_[queries_ - 1] = row_lengths_[lane];
    }
    // The lanes whose last row this is, a bit each.
    uint32_t ending_in(int32_t row) const {
        uint32_t lanes = 0;
        for (int q = 0; q < queries_; q++)
            if (query_lengths_[q] == row) lanes |= lanes_of_[q];
        return lanes;
    }
    // Those that have it.
    uint32_t having(int32_t row) const {
        uint32_t lanes = 0;
        for (int q = 0; q < queries_; q++)
            if (query_lengths_[q] >= row) lanes |= lanes_of_[q];
        return lanes;
    }

    void take_memory() {
        const size_t width = static_cast<size_t>(width_);
        const size_t vectors = static_cast<size_t>(vectors_of_batch(rows_, columns_, STATES));
        V* next = static_cast<V*>(memory_.need(vectors * sizeof(V)));
        const auto take = [&](size_t rows) {
            V* const taken = next;
            next += rows * width;
            return taken;
        };
        const size_t block = static_cast<size_t>(rows_of_block(rows_, columns_, STATES));
        const auto rows_of = [&](size_t vectors) { return static_cast<void*>(take(vectors)); };
        forward_ = static_cast<State*>(rows_of(STATE_VECTORS));
        backward_ = static_cast<State*>(rows_of(STATE_VECTORS));
        lane_columns_ = static_cast<Column*>(rows_of(sizeof(Column) / sizeof(V)));
        squares_ = take(1);
        Kept* const profiles = static_cast<Kept*>(rows_of(KEPT_VECTORS * POSTERIOR_CODES));
        kept_ = static_cast<Kept*>(rows_of(KEPT_VECTORS * block));
        saved_ =
            static_cast<State*>(rows_of(STATE_VECTORS * ((static_cast<size_t>(rows_) + block - 1) / block)));
        found_ = static_cast<Found*>(found_memory_.need(width * sizeof(Found)));
        codes_ = static_cast<uint8_t*>(code_memory_.need(width * LANES + 64));
        emissions_.begin(codes_, columns_, profiles);
        if (IS_MIXED)
            shifts_ = static_cast<uint8_t*>(row_memory_.need(static_cast<size_t>(rows_) * LANES + 64));
    }

    void set_rows(const PosteriorBatch& batch) {
        for (int l = 0; l < LANES; l++)
            for (int32_t i = 0; i < rows_; i++)
                shifts_[i * LANES + l] = emissions_.shift(batch.row_of[source_[l]][i]);
    }

    typename RowEmissions::Row emissions_of(int32_t i) {
        int x[QUERIES];
        for (int q = 0; q < QUERIES; q++)
            x[q] = i <= query_lengths_[q] ? rows_of_[q][i - 1] : POSTERIOR_CODES - 1;
        return emissions_.of_row(x, lanes_of_, IS_MIXED ? shifts_ + int64_t{i - 1} * LANES : nullptr);
    }

    // Codes of the columns, and what differs in each lane's last one: gaps of the partition function are free
    // there, and beyond nothing may come back.
    void set_columns(const PosteriorBatch& batch) {
        const Scalar free = V::all(1).get(0), none = V::all(0).get(0);
        for (int32_t j = 0; j < width_; j++) {
            Column& column = lane_columns_[j];
            column = {gaps_.gap_open, gaps_.gap_extend, tiny_};
            for (int l = 0; l < LANES; l++) {
                const bool inside = j >= 1 && j <= lengths_[l];
                const uint8_t code = inside ? batch.columns[source_[l]][j - 1] : PADDED;
                codes_[j * LANES + l] = IS_MIXED && inside ? emissions_.mixed(code) : code;
                if (j == lengths_[l]) {
                    column.open.set(l, free);
                    column.extend.set(l, free);
                }
                if (j > lengths_[l]) column.floor.set(l, none);
            }
        }
    }

    // Row 0: gaps alone.
    void begin_forward() {
        const V unit = V::SCALED ? V::all(std::ldexp(1.0, V::TOP)) : V::all(1);
        V y1 = gaps_.start_short * unit, y2 = gaps_.start_long * unit;
        forward_[0] = {{}, y1, y2, unit, unit};
        match_.enter_all(forward_[0].m, gaps_.start_match * unit, V::all(0));
        for (int32_t j = 1; j <= columns_; j++) {
            forward_[j] = {{}, tiny_, tiny_, unit, tiny_};
            match_.enter_all(forward_[j].m, gaps_.close_short * y1 + gaps_.close_long * y2, tiny_);
            y1 = y1 * gaps_.extend_short + tiny_;
            y2 = y2 * gaps_.extend_long + tiny_;
        }
        for (Model* model : {&hmm_, &partition_})
            for (int l = 0; l < LANES; l++) model->forward[static_cast<size_t>(l)] = V::TOP;
    }

    void save_state(int32_t block) {
        std::copy(forward_, forward_ + width_, saved_ + int64_t{block} * width_);
    }
    void restore_state(int32_t block) {
        const State* const from = saved_ + int64_t{block} * width_;
        std::copy(from, from + width_, forward_);
    }

    // Rows begin + 1 to end; KEEP: their M go to kept_.
    template <bool KEEP>
    void forward(int32_t begin, int32_t end) {
        for (int32_t i = begin + 1; i <= end; i++) {
            Kept* const keep = kept_ + int64_t{i - begin - 1} * width_;
            if constexpr (KEEP)
                if (ending_in(i)) {
                    if (QUERIES > 1 && i < rows_ && i % GROUP == 0)
                        forward_row<true, QUERIES != 1, true>(i, keep);
                    else forward_row<true, false, true>(i, keep);
                    continue;
                }
            if (V::SCALED && i % GROUP == 0) forward_row<KEEP, V::SCALED, false>(i, keep);
            else forward_row<KEEP, false, false>(i, keep);
        }
    }

    template <bool KEEP, bool GROUP_ENDS, bool LAST>
    void forward_row(int32_t i, Kept* keep) {
        const auto emissions = emissions_of(i);
        State* const states = forward_;
        const MatchStates<V, STATES> match = match_;
        const V tiny = tiny_, close1 = gaps_.close_short, close2 = gaps_.close_long;
        const V extend1 = gaps_.extend_short, extend2 = gaps_.extend_long;
        const V z_open = LAST ? free_in(i, gaps_.gap_open) : gaps_.gap_open;
        const V z_extend = LAST ? free_in(i, gaps_.gap_extend) : gaps_.gap_extend;
        const V border1 = states[0].x1, border2 = states[0].x2;
        Match diagonal = states[0].m;
        V z_diagonal = states[0].zm;
        match.enter_all(states[0].m, close1 * border1 + close2 * border2, tiny);
        states[0].x1 = extend1 * border1 + tiny;
        states[0].x2 = extend2 * border2 + tiny;
        states[0].zm = states[0].zx;
        V y1 = V::all(0), y2 = V::all(0), zy = V::all(0), largest = largest_of(states[0].m),
          z_largest = states[0].zm;
        const auto step = [&](int32_t j, V open, V extend) PAIRALIGN_INLINED {
            State& state = states[j];
            Match m;
            for (int s = 0; s < STATES; s++) m[s] = emissions_.hmm(emissions, s, j) * diagonal[s];
            const V zm = emissions_.partition(emissions, j) * z_diagonal;
            const V x1 = state.x1, x2 = state.x2, zx = state.zx;
            diagonal = state.m;
            z_diagonal = state.zm;
            if (KEEP) {
                keep[j].m = m;
                keep[j].zm = zm;
            }
            const V gaps1 = x1 + y1, gaps2 = x2 + y2;
            if (LAST) add_totals(i, j, sum_of(m), gaps1, gaps2, zm + (zx + zy));
            match.go_on(state.m, m, close1 * gaps1 + close2 * gaps2, tiny);
            const V z_next = (zm + (zx + zy)) + tiny;
            const V opened1 = dot(match.open_short, m), opened2 = dot(match.open_long, m);
            const V next2 = extend2 * x2 + opened2;
            y1 = extend1 * y1 + opened1;
            y2 = extend2 * y2 + opened2;
            state.x1 = extend1 * x1 + opened1;
            state.x2 = next2;
            state.zm = z_next;
            state.zx = extend * zx + open * zm;
            zy = z_extend * zy + z_open * zm;
            if (GROUP_ENDS) {
                largest = V::max(largest, V::max(largest_of(state.m), V::max(next2, y2)));
                z_largest = V::max(z_largest, z_next);
            }
        };
        int32_t j = 1;
        if constexpr (!LAST)
            for (; j <= inner_; j++) step(j, z_open, z_extend);
        for (; j <= columns_; j++) step(j, lane_columns_[j].open, lane_columns_[j].extend);
        if (GROUP_ENDS) {
            int32_t by[LANES];
            const V factor = factor_of(largest, by), z_factor = factor_of(z_largest, z_by_);
            scale<false>(forward_, factor, z_factor);
            const size_t group = static_cast<size_t>(i / GROUP) * LANES;
            for (size_t l = 0; l < LANES; l++) {
                hmm_.forward[group + l] = hmm_.forward[group - LANES + l] + by[l];
                partition_.forward[group + l] = partition_.forward[group - LANES + l] + z_by_[l];
            }
        }
    }

    // Gaps in the last row of a lane cost nothing.
    V free_in(int32_t row, V cost) const {
        if constexpr (QUERIES > 1) return V::choose(ending_in(row), V::all(1), cost);
        return V::all(1);
    }

    // Of the lanes that end in row i and column j.
    void add_totals(int32_t i, int32_t j, V m, V short_gaps, V long_gaps, V partition) {
        V hmm{};
        bool is_known = false;
        for (int l = 0; l < LANES; l++) {
            if (lengths_[l] != j || row_lengths_[l] != i) continue;
            if (!is_known)
                hmm = gaps_.start_match * m + (gaps_.start_short * short_gaps + gaps_.start_long * long_gaps);
            is_known = true;
            hmm_.total[l] = hmm.get(l);
            partition_.total[l] = partition.get(l);
        }
    }

    // What is added keeps values from being subnormal. IN_LANES: not beyond a lane's last column.
    template <bool IN_LANES>
    void scale(State* states, V factor, V z_factor) {
        if constexpr (V::SCALED)
            for (int32_t j = 0; j <= columns_; j++) {
                const V floor = IN_LANES ? lane_columns_[j].floor : tiny_;
                State& state = states[j];
                for (V& one : state.m.of) one = one * factor + floor;
                state.x1 = state.x1 * factor + floor;
                state.x2 = state.x2 * factor + floor;
                state.zm = state.zm * z_factor + floor;
                state.zx = state.zx * z_factor + floor;
            }
    }

    void begin_backward(PosteriorBatch& batch) {
        std::fill(batch.too_wide, batch.too_wide + MOST_LANES, false);
        std::fill(backward_, backward_ + width_, State{});
        for (Model* model : {&hmm_, &partition_}) std::fill(model->backward, model->backward + LANES, V::TOP);
    }

    // The rows of a group, the last first; forward values of rows begin + 1 and on are kept.
    void backward_group(PosteriorBatch& batch, int32_t group, int32_t begin, int32_t end) {
        set_factors(batch, hmm_, group);
        set_factors(batch, partition_, group);
        for (int32_t i = end; i > group * GROUP; i--) {
            const Kept* const kept = kept_ + int64_t{i - begin - 1} * width_;
            const bool group_ends = i == group * GROUP + 1, begins = ending_in(i);
            if (begins && i < rows_) clear_lanes(i);
            if (begins) backward_row<Row::LAST>(batch, i, kept, group_ends);
            else if (group_ends) backward_row<Row::ENDS_GROUP>(batch, i, kept, true);
            else backward_row<Row::INNER>(batch, i, kept, false);
        }
    }

    // What begins in a row has nothing behind it.
    void clear_lanes(int32_t row) {
        if constexpr (QUERIES > 1) {
            const V factor = V::choose(ending_in(row), V::all(0), V::all(1));
            for (int32_t j = 0; j < width_; j++) {
                State& state = backward_[j];
                for (V& one : state.m.of) one = one * factor;
                for (V* one : {&state.x1, &state.x2, &state.zm, &state.zx}) *one = *one * factor;
            }
        }
    }

    // near * far * forward * backward is a posterior; the product is cut in two where it may be too small.
    void set_factors(PosteriorBatch& batch, Model& model, int32_t group) {
        if constexpr (!V::SCALED) {
            model.near = V::all(1);
            for (int l = 0; l < LANES; l++) model.far.set(l, model.total[l].inverse());
        } else {
            const size_t at = static_cast<size_t>(group) * LANES;
            model.near = model.far = V::all(0);
            for (int l = 0; l < LANES; l++) {
                const int32_t last_group = (row_lengths_[l] - 1) / GROUP;
                if (group > last_group) continue;
                const size_t lane = static_cast<size_t>(l), last = static_cast<size_t>(last_group) * LANES;
                const double total = static_cast<double>(model.total[l]);
                int exponent = 0;
                const double mantissa = std::frexp(total, &exponent);
                const int power =
                    model.forward[last + lane] - exponent - model.forward[at + lane] - model.backward[l];
                const int wide = power + 2 * V::TOP;
                const int cells = std::ilogb(static_cast<double>(row_lengths_[l]) * lengths_[l]) + 1;
                const bool holds = wide <= V::TOP - V::TINY - spare_ - cells;
                if (!(total > 0) || std::isinf(total) || !holds) {
                    batch.too_wide[l] = true;
                    continue;
                }
                model.near.set(l, V::number(1, power / 2));
                model.far.set(l, V::number(1 / mantissa, power - power / 2));
            }
        }
    }

    enum class Row { INNER, ENDS_GROUP, LAST };

    template <Row ROW, bool LAST = ROW == Row::LAST>
    void backward_row(PosteriorBatch& batch, int32_t i, const Kept* kept, bool group_ends) {
        if constexpr (!LAST) group_ends = ROW == Row::ENDS_GROUP;
        const auto emissions = emissions_of(i);
        State* const states = backward_;
        size_t count = 0;
        const MatchStates<V, STATES> match = match_;
        const V close1 = gaps_.close_short, close2 = gaps_.close_long, extend1 = gaps_.extend_short,
                extend2 = gaps_.extend_long;
        const V z_open = LAST ? free_in(i, gaps_.gap_open) : gaps_.gap_open;
        const V z_extend = LAST ? free_in(i, gaps_.gap_extend) : gaps_.gap_extend;
        const V near = hmm_.near, far = hmm_.far, z_near = partition_.near, z_far = partition_.far;
        const V least = V::all(PosteriorScaling::LEAST), threshold = threshold_;
        V y1 = V::all(0), y2 = V::all(0), zy = V::all(0), largest = V::all(0), z_largest = V::all(0);
        V sum = V::all(0), z_sum = V::all(0);
        Match diagonal = states[columns_ + 1].m;
        V z_diagonal = states[columns_ + 1].zm;
        const auto step = [&](int32_t j, const Column& column) PAIRALIGN_INLINED {
            State& state = states[j];
            const Match matched = diagonal.plus(column.floor);
            const V z_matched = z_diagonal + column.floor;
            const V x1 = state.x1, x2 = state.x2, zx = state.zx;
            diagonal = state.m;
            z_diagonal = state.zm;
            const V gaps1 = x1 + y1, gaps2 = x2 + y2;
            Match m;
            const V entered = match.come_back(m, matched, gaps1, gaps2);
            const V closed1 = close1 * entered, closed2 = close2 * entered;
            V next1 = extend1 * x1 + closed1, next2 = extend2 * x2 + closed2;
            y1 = extend1 * y1 + closed1;
            y2 = extend2 * y2 + closed2;
            V zm = z_matched + (column.open * zx + z_open * zy);
            V z_next = z_matched + column.extend * zx;
            zy = z_matched + z_extend * zy;
            if (LAST) begin_lanes(i, j, m, next1, next2, y1, y2, zm, z_next, zy);
            for (int s = 0; s < STATES; s++) state.m[s] = emissions_.hmm(emissions, s, j) * m[s];
            state.x1 = next1;
            state.x2 = next2;
            state.zm = emissions_.partition(emissions, j) * zm;
            state.zx = z_next;
            if (group_ends) {
                largest = V::max(largest, V::max(largest_of(m), V::max(next2, y2)));
                z_largest = V::max(z_largest, V::max(zm, V::max(z_next, zy)));
            }
            const V p = kept[j].match(m, near, far), z = V::settled((kept[j].zm * z_near) * (zm * z_far));
            if (group_ends) {
                sum = sum + p;
                z_sum = z_sum + z;
            }
            squares_[count] = squares_of(V::max(p, least), V::max(z, least));
            found_[count] = {j, V::above(squares_[count], threshold)};
            count += found_[count].lanes != 0;
        };
        int32_t j = columns_;
        for (; j > (LAST ? 0 : inner_); j--) step(j, lane_columns_[j]);
        const Column inner{z_open, z_extend, tiny_};
        for (; j >= 1; j--) step(j, inner);
        add_entries(batch, i, count);
        if (group_ends) {
            check_row(batch, i, sum, z_sum);
            scale_back(i, largest, z_largest);
        }
    }

    static PAIRALIGN_INLINE V squares_of(V p, V z) { return p * p + z * z; }

    void scale_back(int32_t i, V largest, V z_largest) {
        int32_t by[LANES];
        const V factor = factor_of(largest, by), z_factor = factor_of(z_largest, z_by_);
        scale<true>(backward_, factor, z_factor);
        for (int l = 0; l < LANES; l++) {
            if (row_lengths_[l] < i) continue;
            hmm_.backward[l] += by[l];
            partition_.backward[l] += z_by_[l];
        }
    }

    // Both models' posteriors of a row: lanes in which one's add up to more than they may, or to no number.
    void check_row(PosteriorBatch& batch, int32_t i, V sum, V z_sum) const {
        const V most = V::all(PosteriorScaling::MOST_OF_ROW);
        const uint32_t sound = (V::above(most, sum) & V::above(most, z_sum)) | ~having(i);
        for (int l = 0; l < LANES; l++)
            if (!(sound >> l & 1)) batch.too_wide[l] = true;
    }

    // The lanes that end in row i and column j.
    void begin_lanes(int32_t i, int32_t j, Match& m, V& x1, V& x2, V& y1, V& y2, V& zm, V& zx, V& zy) {
        const V unit = V::SCALED ? V::all(std::ldexp(1.0, V::TOP)) : V::all(1);
        const V match = gaps_.start_match * unit, short_gap = gaps_.start_short * unit,
                long_gap = gaps_.start_long * unit;
        for (int l = 0; l < LANES; l++) {
            if (lengths_[l] != j || row_lengths_[l] != i) continue;
            for (int s = 0; s < STATES; s++) m[s].set(l, match.get(l));
            for (V* one : {&x1, &y1}) one->set(l, short_gap.get(l));
            for (V* one : {&x2, &y2}) one->set(l, long_gap.get(l));
            for (V* one : {&zm, &zx, &zy}) one->set(l, unit.get(l));
        }
    }

    // Of row i what reaches the threshold, in `count` columns.
    void add_entries(PosteriorBatch& batch, int32_t i, size_t count) {
        const uint32_t used = ((uint32_t{2} << (batch.count - 1)) - 1) & having(i);
        for (size_t k = 0; k < count; k++)
            for (uint32_t lanes = found_[k].lanes & used; lanes; lanes &= lanes - 1) {
                const int l = __builtin_ctz(lanes);
                const auto root = std::sqrt(number_of(squares_[k].get(l)) / 2);
                const auto value = root * 65535 + typename V::Number(0.5);
                const uint16_t rounded = value < 65535 ? static_cast<uint16_t>(value) : 65535;
                batch.entries[l]->push_back({i - 1, found_[k].column - 1, rounded});
            }
    }

    int32_t rows_, columns_, width_, spare_;
    int32_t inner_;  // columns before any lane's last one
    int source_[LANES];
    int32_t lengths_[LANES], row_lengths_[LANES], z_by_[LANES];
    const uint8_t* rows_of_[MOST_QUERIES];  // of each x: its codes, lanes and length
    uint32_t lanes_of_[MOST_QUERIES];
    int32_t query_lengths_[MOST_QUERIES];
    int queries_;
    RowEmissions emissions_;
    MatchStates<V, STATES> match_;
    Gaps<V> gaps_;
    V tiny_, threshold_;
    State *forward_, *backward_, *saved_;
    Column* lane_columns_;
    Kept* kept_;
    V* squares_;
    Found* found_;
    uint8_t *codes_, *shifts_;
    uint8_t unknown_;
    Model hmm_, partition_;
    Buffer memory_{Pages::LARGE}, code_memory_, found_memory_, row_memory_;
};

template <int STATES, Mixed MIXED = Mixed::NOT>
PosteriorLanes* make_lanes_of(int arithmetic) {
    if (arithmetic == FLOAT32) return new Lanes<Vector<float>, STATES, MIXED>;
    if (arithmetic == FLOAT64) return new Lanes<Vector<double>, STATES, MIXED>;
    return new Lanes<ExtendedLanes, STATES, MIXED>;
}
inline PosteriorLanes* make_lanes(int arithmetic, int match_states, Mixed mixed) {
    if constexpr (Vector<float>::LANES == MOST_LANES) {  // others are full with one x
        if (mixed == Mixed::TWO) return new Lanes<Vector<float>, 1, Mixed::TWO>;
        if (mixed == Mixed::THREE) return new Lanes<Vector<float>, 1, Mixed::THREE>;
    }
    // Wider numbers are not looked up in registers: the table of all codes has those of bases, too.
    if (mixed == Mixed::BASES && arithmetic == FLOAT32) return new Lanes<Vector<float>, 1, Mixed::BASES>;
    if (mixed != Mixed::NOT) return make_lanes_of<1, Mixed::ALL>(arithmetic);
    return match_states == 1 ? make_lanes_of<1>(arithmetic) : make_lanes_of<MOST_MATCH_STATES>(arithmetic);
}

}  // namespace PAIRALIGN_ISA

#define PAIRALIGN_POSTERIOR_KERNEL(ISA)           \
    extern const PosteriorKernel posterior_##ISA; \
    constexpr PosteriorKernel posterior_##ISA = {#ISA, ISA::make_lanes};

}  // namespace pairalign
