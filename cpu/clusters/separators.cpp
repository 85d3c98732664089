// Cutting a connected piece of a network in two. The ctypes declarations, and what is cut and why, are in
// pairalign/jobs/splits/separators.py.
//
// A region grows from a seed; its border is what its members are neighbours of. What joins the region is the
// sequence of the border with the least gain: prices of its neighbours outside, less its own; of equal ones
// the first. Stages are numbered by what has joined. A sequence is in the border from the stage in which it
// is touched to the one in which it joins, so that of the cheapest stage only the number is kept.
//
// Sums are of double, and run in one order: that of the neighbours.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <new>
#include <queue>
#include <utility>
#include <vector>

#include "../export.h"
#include "../threads.h"

struct pairalign_priced_network {
    int32_t count, categories;
    const int64_t* starts;         // [count + 1] into neighbours
    const int32_t* neighbours;     // of each sequence, ascending
    const double* prices;          // [count] above 0
    const int64_t* counts_starts;  // [count + 1] into counted_in
    const int32_t* counted_in;     // categories of each sequence
    const double* most;            // [categories] that a part may have
};

namespace pairalign {
namespace {

using Network = pairalign_priced_network;
using Counts = std::vector<int64_t>;

constexpr int32_t NO_STAGE = -1, NEVER = std::numeric_limits<int32_t>::max();

void count(const Network& network, int32_t one, int sign, Counts& counts) {
    for (int64_t k = network.counts_starts[one]; k < network.counts_starts[one + 1]; k++)
        counts[static_cast<size_t>(network.counted_in[k])] += sign;
}

// How full a part is: 1 is what is allowed.
double load(const Network& network, const Counts& counts) {
    double fullest = -std::numeric_limits<double>::infinity();
    for (size_t k = 0; k < counts.size(); k++) {
        const double n = static_cast<double>(counts[k]), most = network.most[k];
        fullest = std::max(fullest, most > 0 ? n / most : 2.0 * n);
    }
    return fullest;
}

struct Cheapest {
    double cost = 0;
    int32_t stage = NO_STAGE;
};

class Growth {
public:
    Growth(const Network& network, const int32_t* piece, int32_t members)
        : network_(network),
          piece_(piece),
          members_(members),
          whole_(static_cast<size_t>(network.categories)),
          gains_(static_cast<size_t>(network.count)),
          touched_(static_cast<size_t>(network.count), NO_STAGE),  // not in the piece: never outside
          joined_(touched_) {
        for (int32_t k = 0; k < members; k++) count(network, piece[k], 1, whole_);
    }

    // Grows from a seed over the whole piece; returns the cheapest stage, if that costs less than `limit`.
    Cheapest run(int32_t seed, double limit) {
        for (int32_t k = 0; k < members_; k++) touched_[piece_[k]] = joined_[piece_[k]] = NEVER;
        rest_ = whole_;
        region_.assign(whole_.size(), 0);
        price_ = 0;
        stage_ = 0;
        touch(seed);
        Cheapest best{limit};
        const double full = load(network_, whole_);
        while (!heap_.empty()) {
            const auto [gain, joining] = heap_.top();
            heap_.pop();
            if (joined_[joining] != NEVER || gain != gains_[joining]) continue;
            join(joining);
            const double cost = cost_now(full);
            if (cost < best.cost) best = {cost, stage_};
        }
        return best;
    }

    // The border in a stage of the last run, in the order of the piece. Returns how many are in it.
    int32_t border(int32_t stage, int32_t* found) const {
        int32_t* end = found;
        for (int32_t k = 0; k < members_; k++)
            if (touched_[piece_[k]] <= stage && stage < joined_[piece_[k]]) *end++ = piece_[k];
        return static_cast<int32_t>(end - found);
    }

private:
    double cost_now(double full) const {
        const double fullest = std::max(load(network_, region_), load(network_, rest_));
        if (fullest <= 1) return price_;
        const double gained = full - fullest;
        return gained > 0 ? price_ * (full - 1) / gained : std::numeric_limits<double>::infinity();
    }

    // Takes a sequence of the border into the region; its neighbours are the border's now.
    void join(int32_t joining) {
        joined_[joining] = ++stage_;
        price_ -= network_.prices[joining];
        count(network_, joining, 1, region_);
        for (int64_t k = network_.starts[joining]; k < network_.starts[joining + 1]; k++)
            if (touched_[network_.neighbours[k]] == NEVER) touch(network_.neighbours[k]);
    }

    // Moves a sequence from outside to the border.
    void touch(int32_t touched) {
        touched_[touched] = stage_;
        const double price = network_.prices[touched];
        price_ += price;
        count(network_, touched, -1, rest_);
        double gain = -price;
        for (int64_t k = network_.starts[touched]; k < network_.starts[touched + 1]; k++) {
            const int32_t near = network_.neighbours[k];
            if (touched_[near] == NEVER) gain += network_.prices[near];
            else if (joined_[near] == NEVER) heap_.push({gains_[near] -= price, near});
        }
        heap_.push({gains_[touched] = gain, touched});
    }

    using Gain = std::pair<double, int32_t>;

    const Network& network_;
    const int32_t* const piece_;
    const int32_t members_;
    Counts whole_, region_, rest_;
    std::vector<double> gains_;
    std::vector<int32_t> touched_, joined_;                                  // stages; NEVER: not yet
    std::priority_queue<Gain, std::vector<Gain>, std::greater<Gain>> heap_;  // some gains are old ones
    double price_ = 0;                                                       // of the border
    int32_t stage_ = 0;
};

}  // namespace
}  // namespace pairalign

// Grows a region from each of some seeds over a piece, piece[members], ascending, on some threads, and finds
// the border that costs less than `limit`, and least; of equal ones that of the first seed, then stage. Its
// sequences go into border[members]. Returns how many these are; 0: none is cheaper; -1: no memory.
PAIRALIGN_API int32_t pairalign_cheapest_border(const pairalign_priced_network* network, int32_t members,
                                                const int32_t* piece, int32_t seeds, const int32_t* seed,
                                                double limit, int32_t threads, int32_t* border) {
    using pairalign::Cheapest;
    using pairalign::Growth;
    try {
        std::vector<Cheapest> of_seed(static_cast<size_t>(seeds));
        threads = std::min(threads, seeds);
        pairalign::on_threads(threads, threads, [&](int32_t thread) {
            Growth growth(*network, piece, members);
            for (int32_t k = thread; k < seeds; k += threads)
                of_seed[static_cast<size_t>(k)] = growth.run(seed[k], limit);
        });
        const auto cheaper = [](const Cheapest& a, const Cheapest& b) { return a.cost < b.cost; };
        const auto best = std::min_element(of_seed.begin(), of_seed.end(), cheaper);
        if (best == of_seed.end() || best->stage == pairalign::NO_STAGE) return 0;
        Growth growth(*network, piece, members);
        growth.run(seed[best - of_seed.begin()], limit);
        return growth.border(best->stage, border);
    } catch (const std::bad_alloc&) {
        return -1;
    }
}
