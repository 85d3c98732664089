// Which two clusters are the closest, while they are joined: what linkages have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "triangle.h"

namespace pairalign {

// Of each cluster the nearest later one, or, once that has changed, a bound below its distance: joining two
// brings the result no closer to a third than the nearer of them was. A bound is looked into only when it is
// the smallest (Muellner 2011, generic algorithm). A cluster is known by its first sequence, its label; of
// equals the one with the earliest first, then the earliest second sequence is the closest.
//
// `Linkage`, which derives from this, has look(place), which finds the nearest of the clusters later than
// one, and compare(one, later, value), which takes in the value, which changed, of a cluster and a later one.
template <class Linkage, class Value, class Bound>
class NearestLater {
protected:
    static constexpr int32_t UNKNOWN = -1;

    template <class From>
    NearestLater(const From* condensed, int64_t count, const Bound& bound)
        : triangle_(condensed, count),
          row_(static_cast<size_t>(count)),
          other_row_(row_.size()),
          bounds_(row_.size(), bound),
          nearest_(row_.size(), UNKNOWN) {}

    // The place of the cluster with the closest later one.
    int64_t closest() {
        for (;;) {
            int64_t best = 0;
            for (int64_t t = 1; t + 1 < triangle_.live(); t++)
                if (bounds_[triangle_.label(t)] < bounds_[triangle_.label(best)]) best = t;
            if (nearest_[triangle_.label(best)] != UNKNOWN) return best;
            linkage().look(best);
        }
    }

    // After the cluster `gone` was joined to the one at `place`, whose values, in row_, changed.
    void update(int64_t place, int32_t gone) {
        const int32_t label = triangle_.label(place);
        for (int64_t t = 0; t < triangle_.live() && triangle_.label(t) < gone; t++) {
            const int32_t one = triangle_.label(t);
            if (nearest_[one] == gone) nearest_[one] = UNKNOWN;
            if (t < place) linkage().compare(one, label, row_[t]);
        }
        linkage().look(place);
    }

    Triangle<Value> triangle_;
    std::vector<Value> row_, other_row_;  // of each place
    std::vector<Bound> bounds_;           // of each label
    std::vector<int32_t> nearest_;        // of each label, a label or UNKNOWN

private:
    Linkage& linkage() { return static_cast<Linkage&>(*this); }
};

}  // namespace pairalign
