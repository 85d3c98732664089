// Posteriors of one x against the y of each lane: forward rows, then backward rows that meet them.
//
// A row is brought to one size every GROUP rows, by a power of two a lane, which is kept; so all is linear
// arithmetic. Only a block of rows of M is kept (rows_of_block): the forward pass leaves the state before each
// block, and its rows are computed again when the backward pass comes there. That takes memory of the square
// root of the rows, keeps it near the processor, and gives the same bits for every block.
//
// A lane's values do not depend on the others: a y that is shorter than the longest is filled up with a code
// that emits PADDING, whose cells stay below the row's largest going forward, and are 0 going backward.
//
// Of a row, the largest forward value times the largest backward value is 2^w times the whole of the pair.
// What TINY adds is harmless while w leaves enough of the range; a lane that has less is `too_wide`.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "../memory.h"
#include "lanes.h"

namespace pairalign {
namespace PAIRALIGN_ISA {

template <class V>
class Lanes final : public PosteriorLanes {
    using Scalar = typename V::Scalar;
    static constexpr int LANES = V::LANES, GROUP = 4;
    static constexpr uint8_t PADDED = POSTERIOR_CODES - 1;
    static constexpr double PADDING = 0x1p-16;
    static constexpr double LEAST = 0x1p-24;  // what posteriors below are taken for
    static constexpr int SPARE_BITS = 30;  // for 16 bits of a posterior, and rows that grow

public:
    int lanes() const override { return LANES; }

    void compute(PosteriorBatch& batch) override {
        const NoSubnormals mode;
        prepare(batch);
        begin_forward();
        const int32_t block = rows_of_block(rows_);
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
    enum State { A, B1, B2, ZA, ZB, STATES };  // what the next row needs of this one

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
        row_ = batch.row;
        columns_ = *std::max_element(batch.lengths, batch.lengths + batch.count);
        width_ = columns_ + 2;
        for (int l = 0; l < LANES; l++) {
            source_[l] = std::min(l, batch.count - 1);  // lanes that are not in use repeat the last
            lengths_[l] = batch.lengths[source_[l]];
        }
        set_tables(model);
        start_match_ = V::all(model.start_match);
        start_short_ = V::all(model.start_short);
        start_long_ = V::all(model.start_long);
        stay_ = V::all(model.stay);
        open_short_ = V::all(model.open_short);
        open_long_ = V::all(model.open_long);
        extend_short_ = V::all(model.extend_short);
        extend_long_ = V::all(model.extend_long);
        close_short_ = V::all(model.close_short);
        close_long_ = V::all(model.close_long);
        gap_open_ = V::all(model.gap_open);
        gap_extend_ = V::all(model.gap_extend);
        tiny_ = V::SCALED ? V::all(std::ldexp(1.0, V::TINY)) : V::all(0);
        threshold_ = V::all(2.0 * batch.threshold * batch.threshold);
        take_memory();
        set_columns(batch);
        const size_t groups = static_cast<size_t>((rows_ - 1) / GROUP + 1);
        hmm_.forward.assign(groups * LANES, 0);
        partition_.forward.assign(groups * LANES, 0);
    }

    void set_tables(const pairalign_posterior_model& model) {
        for (int k = 0; k < POSTERIOR_CODES * POSTERIOR_CODES; k++) {
            const bool padded = k % POSTERIOR_CODES == PADDED;
            hmm_table_[k] = V::all(padded ? PADDING : model.hmm_emission[k]).get(0);
            partition_table_[k] = V::all(padded ? PADDING : model.partition_emission[k]).get(0);
        }
    }

    void take_memory() {
        const size_t width = static_cast<size_t>(width_);
        const size_t vectors = static_cast<size_t>(vectors_of_batch(rows_, columns_));
        V* next = static_cast<V*>(memory_.need(vectors * sizeof(V)));
        const auto take = [&](size_t rows) {
            V* const taken = next;
            next += rows * width;
            return taken;
        };
        const size_t block = static_cast<size_t>(rows_of_block(rows_));
        for (V*& state : state_) state = take(1);
        for (V*& state : back_) state = take(1);
        opens_ = take(1);
        extends_ = take(1);
        floor_ = take(1);
        kept_ = take(2 * block);
        saved_ = take(STATES * ((static_cast<size_t>(rows_) + block - 1) / block));
        codes_ = static_cast<uint8_t*>(code_memory_.need(width * LANES + 64));
    }

    // Codes of the columns, and what differs in each lane's last one: gaps of the partition function are free
    // there, and beyond nothing may come back.
    void set_columns(const PosteriorBatch& batch) {
        const Scalar free = V::all(1).get(0), none = V::all(0).get(0);
        for (int32_t j = 0; j < width_; j++) {
            opens_[j] = gap_open_;
            extends_[j] = gap_extend_;
            floor_[j] = tiny_;
            for (int l = 0; l < LANES; l++) {
                const bool inside = j >= 1 && j <= lengths_[l];
                codes_[j * LANES + l] = inside ? batch.columns[source_[l]][j - 1] : PADDED;
                if (j == lengths_[l]) {
                    opens_[j].set(l, free);
                    extends_[j].set(l, free);
                }
                if (j > lengths_[l]) floor_[j].set(l, none);
            }
        }
    }

    // Row 0: gaps alone.
    void begin_forward() {
        const V unit = V::SCALED ? V::all(std::ldexp(1.0, V::TOP)) : V::all(1);
        V y1 = start_short_ * unit, y2 = start_long_ * unit;
        state_[A][0] = start_match_ * unit;
        state_[B1][0] = y1;
        state_[B2][0] = y2;
        state_[ZA][0] = state_[ZB][0] = unit;
        for (int32_t j = 1; j <= columns_; j++) {
            state_[A][j] = (close_short_ * y1 + close_long_ * y2) + tiny_;
            state_[B1][j] = state_[B2][j] = state_[ZB][j] = tiny_;
            state_[ZA][j] = unit;
            y1 = y1 * extend_short_ + tiny_;
            y2 = y2 * extend_long_ + tiny_;
        }
        for (Model* model : {&hmm_, &partition_})
            for (int l = 0; l < LANES; l++) model->forward[static_cast<size_t>(l)] = V::TOP;
    }

    void save_state(int32_t block) {
        for (int s = 0; s < STATES; s++)
            std::copy(state_[s], state_[s] + width_, saved_ + (int64_t{block} * STATES + s) * width_);
    }
    void restore_state(int32_t block) {
        for (int s = 0; s < STATES; s++) {
            const V* const from = saved_ + (int64_t{block} * STATES + s) * width_;
            std::copy(from, from + width_, state_[s]);
        }
    }

    // Rows begin + 1 to end; KEEP: their M go to kept_.
    template <bool KEEP>
    void forward(int32_t begin, int32_t end) {
        for (int32_t i = begin + 1; i <= end; i++) {
            V* const keep = kept_ + int64_t{2} * (i - begin - 1) * width_;
            if (i == rows_) forward_row<KEEP, false, true>(i, keep);
            else if (i % GROUP == 0) forward_row<KEEP, true, false>(i, keep);
            else forward_row<KEEP, false, false>(i, keep);
        }
    }

    template <bool KEEP, bool GROUP_ENDS, bool LAST>
    void forward_row(int32_t i, V* keep) {
        const Scalar* const hmm = hmm_table_ + row_[i - 1] * POSTERIOR_CODES;
        const Scalar* const partition = partition_table_ + row_[i - 1] * POSTERIOR_CODES;
        V *const a = state_[A], *const b1 = state_[B1], *const b2 = state_[B2];
        V *const za = state_[ZA], *const zb = state_[ZB];
        const V tiny = tiny_, stay = stay_, close1 = close_short_, close2 = close_long_;
        const V open1 = open_short_, open2 = open_long_, extend1 = extend_short_, extend2 = extend_long_;
        const V z_open = LAST ? V::all(1) : gap_open_, z_extend = LAST ? V::all(1) : gap_extend_;
        V diagonal = a[0], z_diagonal = za[0];
        a[0] = (close1 * b1[0] + close2 * b2[0]) + tiny;
        b1[0] = extend1 * b1[0] + tiny;
        b2[0] = extend2 * b2[0] + tiny;
        za[0] = zb[0];
        V y1 = V::all(0), y2 = V::all(0), zy = V::all(0), largest = a[0], z_largest = za[0];
        for (int32_t j = 1; j <= columns_; j++) {
            const V m = V::lookup(hmm, codes_ + j * LANES) * diagonal;
            const V zm = V::lookup(partition, codes_ + j * LANES) * z_diagonal;
            const V x1 = b1[j], x2 = b2[j], zx = zb[j];
            diagonal = a[j];
            z_diagonal = za[j];
            if (KEEP) {
                keep[2 * j] = m;
                keep[2 * j + 1] = zm;
            }
            if (LAST) add_totals(j, m, x1 + y1, x2 + y2, zm + (zx + zy));
            const V next = (stay * m + (close1 * (x1 + y1) + close2 * (x2 + y2))) + tiny;
            const V z_next = (zm + (zx + zy)) + tiny;
            const V opened1 = open1 * m, opened2 = open2 * m;
            a[j] = next;
            b1[j] = extend1 * x1 + opened1;
            b2[j] = extend2 * x2 + opened2;
            y1 = extend1 * y1 + opened1;
            y2 = extend2 * y2 + opened2;
            za[j] = z_next;
            zb[j] = extends_[j] * zx + opens_[j] * zm;
            zy = z_extend * zy + z_open * zm;
            if (GROUP_ENDS) {
                largest = V::max(largest, V::max(next, V::max(b2[j], y2)));
                z_largest = V::max(z_largest, z_next);
            }
        }
        if (GROUP_ENDS) {
            int32_t by[LANES];
            const V factor = factor_of(largest, by), z_factor = factor_of(z_largest, z_by_);
            scale(factor, state_, {A, B1, B2}, nullptr);
            scale(z_factor, state_, {ZA, ZB}, nullptr);
            const size_t group = static_cast<size_t>(i / GROUP) * LANES;
            for (size_t l = 0; l < LANES; l++) {
                hmm_.forward[group + l] = hmm_.forward[group - LANES + l] + by[l];
                partition_.forward[group + l] = partition_.forward[group - LANES + l] + z_by_[l];
            }
        }
    }

    // Of the lanes that end in column j of the last row.
    void add_totals(int32_t j, V m, V short_gaps, V long_gaps, V partition) {
        V hmm{};
        bool is_known = false;
        for (int l = 0; l < LANES; l++) {
            if (lengths_[l] != j) continue;
            if (!is_known) hmm = start_match_ * m + (start_short_ * short_gaps + start_long_ * long_gaps);
            is_known = true;
            hmm_.total[l] = hmm.get(l);
            partition_.total[l] = partition.get(l);
        }
    }

    // Powers of two that bring the largest values to TOP, and their exponents.
    static V factor_of(V largest, int32_t* exponents) {
        V factor = V::all(1);
        for (int l = 0; l < LANES; l++) exponents[l] = 0;
        if constexpr (V::SCALED) {
            for (int l = 0; l < LANES; l++) {
                const Scalar value = largest.get(l);
                if (!(value > 0) || !(value <= std::numeric_limits<Scalar>::max())) continue;
                const int by = std::clamp(V::TOP - std::ilogb(value), -120, 120);
                exponents[l] = by;
                factor.set(l, std::ldexp(Scalar{1}, by));
            }
        }
        return factor;
    }

    // Columns of some states; what is added keeps them from being subnormal.
    void scale(V factor, V* const* states, std::initializer_list<int> which, const V* floor) {
        if constexpr (V::SCALED)
            for (const int s : which)
                for (int32_t j = 0; j <= columns_; j++)
                    states[s][j] = states[s][j] * factor + (floor ? floor[j] : tiny_);
    }

    void begin_backward(PosteriorBatch& batch) {
        std::fill(batch.too_wide, batch.too_wide + MOST_LANES, false);
        for (V* state : back_) std::fill(state, state + width_, V::all(0));
        for (Model* model : {&hmm_, &partition_}) std::fill(model->backward, model->backward + LANES, V::TOP);
    }

    // The rows of a group, the last first; forward values of rows begin + 1 and on are kept.
    void backward_group(PosteriorBatch& batch, int32_t group, int32_t begin, int32_t end) {
        set_factors(batch, hmm_, group);
        set_factors(batch, partition_, group);
        for (int32_t i = end; i > group * GROUP; i--) {
            const V* const kept = kept_ + int64_t{2} * (i - begin - 1) * width_;
            const bool group_ends = i == group * GROUP + 1;
            if (i == rows_ && group_ends) backward_row<true, true>(batch, i, kept);
            else if (i == rows_) backward_row<true, false>(batch, i, kept);
            else if (group_ends) backward_row<false, true>(batch, i, kept);
            else backward_row<false, false>(batch, i, kept);
        }
    }

    // near * far * forward * backward is a posterior; the product is cut in two where it may be too small.
    void set_factors(PosteriorBatch& batch, Model& model, int32_t group) {
        if constexpr (!V::SCALED) {
            model.near = V::all(1);
            model.far.set(0, model.total[0].inverse());
        } else {
            const size_t last = model.forward.size() - LANES, at = static_cast<size_t>(group) * LANES;
            const int cells = std::ilogb(static_cast<double>(rows_) * columns_) + 1;
            model.near = model.far = V::all(0);
            for (int l = 0; l < LANES; l++) {
                const size_t lane = static_cast<size_t>(l);
                const double total = static_cast<double>(model.total[l]);
                int exponent = 0;
                const double mantissa = std::frexp(total, &exponent);
                const int power =
                    model.forward[last + lane] - exponent - model.forward[at + lane] - model.backward[l];
                const int wide = power + 2 * V::TOP;
                const bool holds = wide <= V::TOP - V::TINY - SPARE_BITS - cells;
                if (!(total > 0) || std::isinf(total) || !holds) {
                    batch.too_wide[l] = true;
                    continue;
                }
                model.near.set(l, V::number(1, power / 2));
                model.far.set(l, V::number(1 / mantissa, power - power / 2));
            }
        }
    }

    template <bool LAST, bool GROUP_ENDS>
    void backward_row(PosteriorBatch& batch, int32_t i, const V* kept) {
        const Scalar* const hmm = hmm_table_ + row_[i - 1] * POSTERIOR_CODES;
        const Scalar* const partition = partition_table_ + row_[i - 1] * POSTERIOR_CODES;
        V *const a = back_[A], *const b1 = back_[B1], *const b2 = back_[B2];
        V *const za = back_[ZA], *const zb = back_[ZB];
        const V stay = stay_, close1 = close_short_, close2 = close_long_;
        const V open1 = open_short_, open2 = open_long_, extend1 = extend_short_, extend2 = extend_long_;
        const V z_open = LAST ? V::all(1) : gap_open_, z_extend = LAST ? V::all(1) : gap_extend_;
        const V near = hmm_.near, far = hmm_.far, z_near = partition_.near, z_far = partition_.far;
        const V least = V::all(LEAST), threshold = threshold_;
        V y1 = V::all(0), y2 = V::all(0), zy = V::all(0), largest = V::all(0), z_largest = V::all(0);
        V diagonal = a[columns_ + 1], z_diagonal = za[columns_ + 1];
        for (int32_t j = columns_; j >= 1; j--) {
            const V matched = diagonal + floor_[j], z_matched = z_diagonal + floor_[j];
            const V x1 = b1[j], x2 = b2[j], zx = zb[j];
            diagonal = a[j];
            z_diagonal = za[j];
            V m = stay * matched + (open1 * (x1 + y1) + open2 * (x2 + y2));
            const V closed1 = close1 * matched, closed2 = close2 * matched;
            V next1 = extend1 * x1 + closed1, next2 = extend2 * x2 + closed2;
            y1 = extend1 * y1 + closed1;
            y2 = extend2 * y2 + closed2;
            V zm = z_matched + (opens_[j] * zx + z_open * zy);
            V z_next = z_matched + extends_[j] * zx;
            zy = z_matched + z_extend * zy;
            if (LAST) begin_lanes(j, m, next1, next2, y1, y2, zm, z_next, zy);
            a[j] = V::lookup(hmm, codes_ + j * LANES) * m;
            za[j] = V::lookup(partition, codes_ + j * LANES) * zm;
            b1[j] = next1;
            b2[j] = next2;
            zb[j] = z_next;
            if (GROUP_ENDS) {
                largest = V::max(largest, V::max(m, V::max(next2, y2)));
                z_largest = V::max(z_largest, V::max(zm, V::max(z_next, zy)));
            }
            const V p = V::max((kept[2 * j] * near) * (m * far), least);
            const V z = V::max((kept[2 * j + 1] * z_near) * (zm * z_far), least);
            const V squares = p * p + z * z;
            if (const uint32_t found = V::above(squares, threshold)) add_entries(batch, i, j, squares, found);
        }
        if (GROUP_ENDS) {
            int32_t by[LANES];
            const V factor = factor_of(largest, by), z_factor = factor_of(z_largest, z_by_);
            scale(factor, back_, {A, B1, B2}, floor_);
            scale(z_factor, back_, {ZA, ZB}, floor_);
            for (int l = 0; l < LANES; l++) {
                hmm_.backward[l] += by[l];
                partition_.backward[l] += z_by_[l];
            }
        }
    }

    // The lanes that end in column j of the last row.
    void begin_lanes(int32_t j, V& m, V& x1, V& x2, V& y1, V& y2, V& zm, V& zx, V& zy) {
        const V unit = V::SCALED ? V::all(std::ldexp(1.0, V::TOP)) : V::all(1);
        const V match = start_match_ * unit, short_gap = start_short_ * unit, long_gap = start_long_ * unit;
        for (int l = 0; l < LANES; l++) {
            if (lengths_[l] != j) continue;
            m.set(l, match.get(l));
            for (V* one : {&x1, &y1}) one->set(l, short_gap.get(l));
            for (V* one : {&x2, &y2}) one->set(l, long_gap.get(l));
            for (V* one : {&zm, &zx, &zy}) one->set(l, unit.get(l));
        }
    }

    void add_entries(PosteriorBatch& batch, int32_t i, int32_t j, V squares, uint32_t found) {
        for (; found; found &= found - 1) {
            const int l = __builtin_ctz(found);
            if (l >= batch.count) break;
            const auto value = std::sqrt(number_of(squares.get(l)) / 2) * 65535 + typename V::Number(0.5);
            const uint16_t rounded = value < 65535 ? static_cast<uint16_t>(value) : 65535;
            batch.entries[l]->push_back({i - 1, j - 1, rounded});
        }
    }
    static float number_of(float x) { return x; }
    static double number_of(double x) { return x; }
    static double number_of(Extended x) { return x.value(); }

    int32_t rows_, columns_, width_;
    const uint8_t* row_;
    int source_[LANES];
    int32_t lengths_[LANES], z_by_[LANES];
    Scalar hmm_table_[POSTERIOR_CODES * POSTERIOR_CODES], partition_table_[POSTERIOR_CODES * POSTERIOR_CODES];
    V start_match_, start_short_, start_long_, stay_, open_short_, open_long_, extend_short_, extend_long_;
    V close_short_, close_long_, gap_open_, gap_extend_, tiny_, threshold_;
    V *state_[STATES], *back_[STATES];  // forward, backward
    V *opens_, *extends_, *floor_, *kept_, *saved_;
    uint8_t* codes_;
    Model hmm_, partition_;
    Buffer memory_{Pages::LARGE}, code_memory_;
};

template <class V>
PosteriorLanes* make_lanes() {
    return new Lanes<V>;
}

}  // namespace PAIRALIGN_ISA

#define PAIRALIGN_POSTERIOR_KERNEL(ISA)                                                               \
    extern const PosteriorKernel posterior_##ISA;                                                     \
    constexpr PosteriorKernel posterior_##ISA = {                                                     \
        #ISA,                                                                                         \
        {ISA::make_lanes<ISA::Vector<float>>, ISA::make_lanes<ISA::Vector<double>>,                   \
         ISA::make_lanes<ISA::ExtendedLane>}};

}  // namespace pairalign
