// Distances of clusters while they are joined: a triangle of numbers from which clusters drop out.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "../memory.h"

namespace pairalign {

// Clusters are known by a label, 0 .. count-1, and always come in the order of their labels. `live()` of
// them are left; the t-th of these has place t in the rows that go in and out. When half of them have
// dropped out, the rest moves together, so that the time of all rows stays that of the pairs left.
template <class Value>
class Triangle {
public:
    // `condensed`: [count * (count - 1) / 2], pairs (0, 1), (0, 2), ..., (1, 2), ...
    template <class From>
    Triangle(const From* condensed, int64_t count) : stride_(count) {
        const int64_t pairs = count * (count - 1) / 2;
        distances_ = allocate(static_cast<size_t>(pairs) * sizeof(Value));
        std::copy(condensed, condensed + pairs, distances_);
        for (int64_t slot = 0; slot < count; slot++) live_.push_back(static_cast<int32_t>(slot));
        labels_ = slots_ = live_;
        set_bases();
    }

    int64_t live() const { return static_cast<int64_t>(live_.size()); }
    int32_t label(int64_t place) const { return labels_[live_[place]]; }
    int64_t place(int32_t label) const {
        return std::lower_bound(live_.begin(), live_.end(), slots_[label]) - live_.begin();
    }

    // Writes the distances of a cluster to all that are left into row[live()], the largest for itself.
    void read_row(int64_t place, Value* row) const {
        for_each_of(place, [row](int64_t t, const Value& distance) { row[t] = distance; });
        row[place] = LARGEST;
    }

    // As read_row, but only those of later clusters are written.
    void read_later(int64_t place, Value* row) const {
        const Value* distances = distances_ + bases_[live_[place]];
        for (int64_t t = place + 1; t < live(); t++) row[t] = distances[live_[t]];
    }

    // Takes the distances of a cluster from row[live()].
    void write_row(int64_t place, const Value* row) {
        for_each_of(place, [row](int64_t t, Value& distance) { distance = row[t]; });
    }

    // Drops a cluster: the later ones move up by one place.
    void drop(int64_t place) {
        live_.erase(live_.begin() + place);
        if (stride_ > 64 && 2 * live() < stride_) move_together();
    }

private:
    using Limits = std::numeric_limits<Value>;
    static constexpr Value LARGEST = Limits::has_infinity ? Limits::infinity() : Limits::max();
    // Enough rows ahead to cover the way to memory; distances of earlier clusters are far apart.
    static constexpr int64_t AHEAD = 24;

    // Most accesses are to pages far apart: large ones, where the system gives them, are found sooner.
    Value* allocate(size_t bytes) {
        constexpr size_t PAGE = size_t{2} << 20;
        char* const start = static_cast<char*>(memory_.need(bytes + PAGE));
        char* const aligned = start + (PAGE - reinterpret_cast<uintptr_t>(start) % PAGE) % PAGE;
#ifdef MADV_HUGEPAGE
        madvise(aligned, bytes, MADV_HUGEPAGE);  // refused: slower, no more
#endif
        return reinterpret_cast<Value*>(aligned);
    }

    template <class Visit>
    void for_each_of(int64_t place, Visit visit) const {
        const int64_t slot = live_[place];
        for (int64_t t = 0; t < place; t++) {
            if (t + AHEAD < place) __builtin_prefetch(distances_ + bases_[live_[t + AHEAD]] + slot);
            visit(t, distances_[bases_[live_[t]] + slot]);
        }
        Value* distances = distances_ + bases_[slot];
        for (int64_t t = place + 1; t < live(); t++) visit(t, distances[live_[t]]);
    }

    // distances_[bases_[a] + b] is the distance of the slots a < b.
    void set_bases() {
        bases_.resize(static_cast<size_t>(stride_));
        for (int64_t a = 0; a < stride_; a++) bases_[a] = a * stride_ - a * (a + 1) / 2 - a - 1;
    }

    // Gives the clusters that are left the first slots. No distance moves back, so none is overwritten
    // before it has moved itself.
    void move_together() {
        Value* to = distances_;
        for (size_t a = 0; a < live_.size(); a++) {
            const Value* from = distances_ + bases_[live_[a]];
            for (size_t b = a + 1; b < live_.size(); b++) *to++ = from[live_[b]];
        }
        for (size_t slot = 0; slot < live_.size(); slot++) {
            labels_[slot] = labels_[live_[slot]];
            slots_[labels_[slot]] = live_[slot] = static_cast<int32_t>(slot);
        }
        stride_ = live();
        set_bases();
    }

    Buffer memory_;
    Value* distances_;
    int64_t stride_;               // slots of the triangle
    std::vector<int64_t> bases_;   // of each slot
    std::vector<int32_t> live_;    // slots in use, rising
    std::vector<int32_t> labels_;  // of each slot
    std::vector<int32_t> slots_;   // of each label
};

}  // namespace pairalign
