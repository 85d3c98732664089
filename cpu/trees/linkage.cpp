// Hierarchical clustering of a triangle of distances, by averages (UPGMA), by MAFFT's mixture of the nearest
// and the mean, and by the farthest (complete linkage). The ctypes declarations, and what the results mean,
// are in pairalign/trees/tree_joining.py.

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

constexpr double INFINITE = std::numeric_limits<double>::infinity();

enum Method { UPGMA = 0, MIXED = 1, COMPLETE = 2 };

// Two clusters joined at a distance, known by their first sequences, one < other.
struct Merge {
    int32_t one, other;
    double distance;
};

// The first of the smallest values.
int64_t place_of_minimum(const double* row, int64_t begin, int64_t end) {
    double least[4] = {INFINITE, INFINITE, INFINITE, INFINITE};  // four chains of comparisons at a time
    int64_t t = begin;
    for (; t + 4 <= end; t += 4)
        for (int k = 0; k < 4; k++) least[k] = row[t + k] < least[k] ? row[t + k] : least[k];
    for (; t < end; t++) least[0] = std::min(least[0], row[t]);
    const double minimum = std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
    return std::find(row + begin, row + end, minimum) - row;
}

// Mean distance of a cluster to all sequences of two others.
struct Average {
    double operator()(double kept, double gone, double kept_size, double gone_size) const {
        return (kept_size * kept + gone_size * gone) / (kept_size + gone_size);
    }
};

// 0.9 of the nearer and 0.1 of the mean of the two.
struct Mixture {
    double operator()(double kept, double gone, double, double) const {
        const double least = std::min(kept, gone), most = std::max(kept, gone);
        return least + 0.05 * (most - least);
    }
};

// The farther of the two.
struct Farthest {
    double operator()(double kept, double gone, double, double) const { return std::max(kept, gone); }
};

// Joins the closest two clusters again and again, of equals the ones with the earliest first, then the
// earliest second sequence.
template <class Linkage>
class Clustering : private NearestLater<Clustering<Linkage>, double, double> {
    using Base = NearestLater<Clustering<Linkage>, double, double>;
    friend Base;
    using Base::bounds_, Base::closest, Base::nearest_, Base::other_row_, Base::row_, Base::triangle_;
    using Base::UNKNOWN, Base::update;

public:
    Clustering(const float* condensed, int64_t count)
        : Base(condensed, count, 1.0), sizes_(static_cast<size_t>(count), 1.0) {
        merges_.reserve(sizes_.size() - 1);
    }

    // Joins sequences with the first one that is equal, first[k] <= k, at distance 0; then all others.
    std::vector<Merge>& join_all(const int32_t* first) {
        const int32_t count = static_cast<int32_t>(sizes_.size());
        for (int32_t k = 0; k < count; k++)
            if (first[k] != k) merge(triangle_.place(first[k]), triangle_.place(k), 0.0);
        for (int64_t place = 0; place < triangle_.live(); place++) look(place);
        while (triangle_.live() > 1) {
            const int64_t place = closest();
            const int32_t gone = nearest_[triangle_.label(place)];
            merge(place, triangle_.place(gone), bounds_[triangle_.label(place)]);
            update(place, gone);
        }
        return merges_;
    }

private:
    // Joins two clusters, kept < gone; row_ then has the distances of what they became, places as before.
    void merge(int64_t kept, int64_t gone, double distance) {
        const int32_t label = triangle_.label(kept), gone_label = triangle_.label(gone);
        triangle_.read_row(kept, row_.data());
        triangle_.read_row(gone, other_row_.data());
        for (int64_t t = 0; t < triangle_.live(); t++)
            row_[t] = Linkage()(row_[t], other_row_[t], sizes_[label], sizes_[gone_label]);
        triangle_.write_row(kept, row_.data());
        merges_.push_back({label, gone_label, distance});
        sizes_[label] += sizes_[gone_label];
        triangle_.drop(gone);
    }

    // Finds the nearest of the clusters later than one.
    void look(int64_t place) {
        const int32_t label = triangle_.label(place);
        triangle_.read_later(place, other_row_.data());
        const int64_t found = place_of_minimum(other_row_.data(), place + 1, triangle_.live());
        const bool any = found < triangle_.live();
        bounds_[label] = any ? other_row_[found] : INFINITE;
        nearest_[label] = any ? triangle_.label(found) : UNKNOWN;
    }

    // Takes in the distance, which changed, of a cluster to a later one.
    void compare(int32_t one, int32_t later, double distance) {
        if (distance < bounds_[one]) {  // by a hair: means are rounded
            bounds_[one] = distance;
            nearest_[one] = later;
        } else if (nearest_[one] == later && distance > bounds_[one]) {
            nearest_[one] = UNKNOWN;
        } else if (nearest_[one] != UNKNOWN && distance == bounds_[one]) {
            nearest_[one] = std::min(nearest_[one], later);
        }
    }

    std::vector<double> sizes_;  // of each label: sequences
    std::vector<Merge> merges_;
};

// Writes merges as SciPy has them: rows (node, node, distance, sequences) by distance, of equals the earlier
// merge, where node count + k is the k-th row.
void write_linkage(std::vector<Merge>& merges, double* linkage) {
    const int64_t count = static_cast<int64_t>(merges.size()) + 1;
    std::stable_sort(merges.begin(), merges.end(),
                     [](const Merge& a, const Merge& b) { return a.distance < b.distance; });
    std::vector<int64_t> parent(static_cast<size_t>(2 * count - 1));
    std::vector<int64_t> sizes(parent.size(), 1);
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&parent](int64_t node) {
        while (parent[node] != node) node = parent[node] = parent[parent[node]];
        return node;
    };
    for (int64_t k = 0; k + 1 < count; k++, linkage += 4) {
        const int64_t one = root(merges[k].one), other = root(merges[k].other), node = count + k;
        parent[one] = parent[other] = node;
        sizes[node] = sizes[one] + sizes[other];
        linkage[0] = static_cast<double>(std::min(one, other));
        linkage[1] = static_cast<double>(std::max(one, other));
        linkage[2] = merges[k].distance;
        linkage[3] = static_cast<double>(sizes[node]);
    }
}

}  // namespace
}  // namespace pairalign

// Clusters `count` >= 2 sequences. condensed: float[count * (count - 1) / 2]; first: int32[count], of each
// sequence the first one that is equal; linkage: double[count - 1][4]. Returns 0, or 1 without memory.
PAIRALIGN_API int pairalign_linkage(int method, int64_t count, const float* condensed, const int32_t* first,
                                    double* linkage) {
    using namespace pairalign;
    try {
        if (method == UPGMA) write_linkage(Clustering<Average>(condensed, count).join_all(first), linkage);
        else if (method == COMPLETE)
            write_linkage(Clustering<Farthest>(condensed, count).join_all(first), linkage);
        else write_linkage(Clustering<Mixture>(condensed, count).join_all(first), linkage);
        return 0;
    } catch (const std::bad_alloc&) {
        return 1;
    }
}
