// Clusters by average linkage of whole numbers: means are compared as fractions, so that equal ones are equal
// and a threshold is met exactly. The ctypes declarations are in pairalign/trees/tree_joining.py.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <numeric>
#include <vector>

#include "../export.h"
#include "nearest_later.h"

namespace pairalign {
namespace {

using Wide = __int128;

// A mean of `pairs` whole numbers.
struct Mean {
    int64_t sum, pairs;

    bool operator<(const Mean& other) const { return Wide{sum} * other.pairs < Wide{other.sum} * pairs; }
    bool operator==(const Mean& other) const { return Wide{sum} * other.pairs == Wide{other.sum} * pairs; }
};
constexpr Mean NONE{std::numeric_limits<int64_t>::max(), 1};  // above all others

// Joins the closest two clusters again and again while their mean is within a limit; of equals the ones with
// the earliest first, then the earliest second sequence. The triangle has sums of distances.
class AverageClustering : private NearestLater<AverageClustering, int64_t, Mean> {
    friend NearestLater;

public:
    AverageClustering(const int64_t* distances, int64_t count)
        : NearestLater(distances, count, NONE),
          sizes_(static_cast<size_t>(count), 1),
          firsts_(sizes_.size()) {
        std::iota(firsts_.begin(), firsts_.end(), 0);
    }

    // Means up to whole + part / parts are within the limit. Returns the first sequence of each one's
    // cluster.
    const std::vector<int32_t>& join_within(int64_t whole, int64_t part, int64_t parts) {
        for (int64_t place = 0; place < triangle_.live(); place++) look(place);
        while (triangle_.live() > 1) {
            const int64_t place = closest();
            const int32_t label = triangle_.label(place), gone = nearest_[label];
            const Mean mean = bounds_[label];
            if ((Wide{mean.sum} - Wide{whole} * mean.pairs) * parts > Wide{part} * mean.pairs) break;
            merge(place, triangle_.place(gone));
            firsts_[gone] = label;
            update(place, gone);
        }
        for (int32_t& first : firsts_) first = firsts_[first];  // an earlier one, whose own is known
        return firsts_;
    }

private:
    Mean mean_of(int64_t sum, int32_t one, int32_t other) const { return {sum, sizes_[one] * sizes_[other]}; }

    // Joins two clusters, kept < gone; row_ then has the sums of what they became, places as before.
    void merge(int64_t kept, int64_t gone) {
        const int32_t label = triangle_.label(kept);
        sizes_[label] += sizes_[triangle_.label(gone)];
        triangle_.read_row(kept, row_.data());
        triangle_.read_row(gone, other_row_.data());
        for (int64_t t = 0; t < triangle_.live(); t++)
            if (t != kept && t != gone) row_[t] += other_row_[t];
        triangle_.write_row(kept, row_.data());
        triangle_.drop(gone);
    }

    // Finds the nearest of the clusters later than one.
    void look(int64_t place) {
        const int32_t label = triangle_.label(place);
        triangle_.read_later(place, other_row_.data());
        bounds_[label] = NONE;
        nearest_[label] = UNKNOWN;
        for (int64_t t = place + 1; t < triangle_.live(); t++) {
            const Mean mean = mean_of(other_row_[t], label, triangle_.label(t));
            if (!(mean < bounds_[label])) continue;
            bounds_[label] = mean;
            nearest_[label] = triangle_.label(t);
        }
    }

    // Takes in the sum, which changed, of a cluster with a later one: the mean is no less than the bound.
    void compare(int32_t one, int32_t later, int64_t sum) {
        const Mean mean = mean_of(sum, one, later);
        if (mean == bounds_[one]) {
            if (nearest_[one] != UNKNOWN) nearest_[one] = std::min(nearest_[one], later);
        } else if (nearest_[one] == later) {
            nearest_[one] = UNKNOWN;
        }
    }

    std::vector<int64_t> sizes_;   // of each label: sequences
    std::vector<int32_t> firsts_;  // of each label: what it was joined to
};

}  // namespace
}  // namespace pairalign

// Clusters `count` >= 2 sequences while their mean distance is at most whole + part / parts, 0 <= part <
// parts
// <= 2^60. distances: int64[count * (count - 1) / 2], whose sum is below 2^62; firsts: int32[count]. Returns
// 0, or 1 without memory.
PAIRALIGN_API int pairalign_average_clusters(int64_t count, const int64_t* distances, int64_t whole,
                                             int64_t part, int64_t parts, int32_t* firsts) {
    try {
        pairalign::AverageClustering clustering(distances, count);
        const std::vector<int32_t>& found = clustering.join_within(whole, part, parts);
        std::copy(found.begin(), found.end(), firsts);
        return 0;
    } catch (const std::bad_alloc&) {
        return 1;
    }
}
