// Cutting a connected piece of a network in two, and the pieces that are left. The ctypes declarations, and
// what is cut and why, are in pairalign/jobs/splits/network.py.
//
// A region grows from a seed; its border is what its members are neighbours of. What joins the region is the
// sequence of the border with the least gain: prices of its neighbours outside, less its own; of equal ones
// the first. Stages are numbered by what has joined. A sequence is in the border from the stage in which it
// is touched to the one in which it joins, so that of the cheapest stage only the number is kept.
//
// Sums are of double, and run in one order: that of the neighbours.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "../export.h"
#include "../threads.h"

struct pairalign_priced_network {
    int32_t count, categories, counted;
    const int64_t* starts;      // [count + 1] into neighbours
    const int32_t* neighbours;  // of each sequence, ascending
    const double* prices;       // [count] above 0
    const int32_t* counted_in;  // [count][counted] categories of each sequence
    const double* most;         // [categories] that a part may have
};

namespace pairalign {
namespace {

using Network = pairalign_priced_network;
using Counts = std::vector<int64_t>;

constexpr int32_t NO_STAGE = -1, NEVER = std::numeric_limits<int32_t>::max();

void count(const Network& network, int32_t one, int sign, Counts& counts) {
    const int32_t* categories = network.counted_in + int64_t{one} * network.counted;
    for (int32_t k = 0; k < network.counted; k++) counts[static_cast<size_t>(categories[k])] += sign;
}

Counts count_all(const Network& network, const int32_t* piece, int32_t members) {
    Counts counts(static_cast<size_t>(network.categories));
    for (int32_t k = 0; k < members; k++) count(network, piece[k], 1, counts);
    return counts;
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

// The cheapest sequences whose going makes a piece fit, connected or not: of equally cheap ones those with
// most neighbours, then those that come first; of what there is most of first. Ascending.
std::vector<int32_t> trim(const Network& network, const int32_t* piece, int32_t members) {
    std::vector<int32_t> waiting(piece, piece + members), trimmed;
    std::sort(waiting.begin(), waiting.end(), [&](int32_t a, int32_t b) {
        if (network.prices[a] != network.prices[b]) return network.prices[a] < network.prices[b];
        const int64_t near = network.starts[a + 1] - network.starts[a];
        const int64_t near_b = network.starts[b + 1] - network.starts[b];
        return near != near_b ? near > near_b : a < b;
    });
    Counts counts = count_all(network, piece, members);
    for (const int32_t one : waiting) {
        if (load(network, counts) <= 1) break;
        const int32_t* categories = network.counted_in + int64_t{one} * network.counted;
        const bool helps = std::any_of(categories, categories + network.counted, [&](int32_t category) {
            return static_cast<double>(counts[static_cast<size_t>(category)]) > network.most[category];
        });
        if (!helps) continue;
        trimmed.push_back(one);
        count(network, one, -1, counts);
    }
    std::sort(trimmed.begin(), trimmed.end());
    return trimmed;
}

// The border with the least (gain, sequence) on top: a heap in which gains may fall.
class Heap {
public:
    explicit Heap(size_t count) : places_(count) {}

    bool empty() const { return entries_.empty(); }

    void push(int32_t one, double gain) {
        entries_.emplace_back(gain, one);
        rise(entries_.size() - 1);
    }

    void lower(int32_t one, double by) {
        const size_t place = static_cast<size_t>(places_[one]);
        entries_[place].first -= by;
        rise(place);
    }

    int32_t pop() {
        const int32_t top = entries_.front().second;
        const Entry last = entries_.back();
        entries_.pop_back();
        if (!entries_.empty()) sink(last);
        return top;
    }

private:
    using Entry = std::pair<double, int32_t>;
    static constexpr size_t WAYS = 4;

    void rise(size_t place) {
        const Entry entry = entries_[place];
        for (; place > 0 && entry < entries_[(place - 1) / WAYS]; place = (place - 1) / WAYS)
            put(place, entries_[(place - 1) / WAYS]);
        put(place, entry);
    }

    // Finds a place for an entry, from the top down.
    void sink(const Entry& entry) {
        size_t place = 0;
        for (size_t first; (first = WAYS * place + 1) < entries_.size();) {
            const auto end = entries_.begin() + static_cast<int64_t>(std::min(first + WAYS, entries_.size()));
            const auto least = std::min_element(entries_.begin() + static_cast<int64_t>(first), end);
            if (entry < *least) break;
            put(place, *least);
            place = static_cast<size_t>(least - entries_.begin());
        }
        put(place, entry);
    }

    void put(size_t place, const Entry& entry) {
        entries_[place] = entry;
        places_[entry.second] = static_cast<int32_t>(place);
    }

    std::vector<Entry> entries_;
    std::vector<int32_t> places_;
};

struct Cheapest {
    double cost;
    int32_t seed = NEVER;  // its number
    std::vector<int32_t> border;
};

class Growth {
public:
    Growth(const Network& network, const int32_t* piece, int32_t members)
        : network_(network),
          piece_(piece),
          members_(members),
          whole_(count_all(network, piece, members)),
          touched_(static_cast<size_t>(network.count), NO_STAGE),  // not in the piece: never outside
          joined_(touched_),
          border_(touched_.size()) {}

    // Grows from a seed over the whole piece; keeps the border of the cheapest stage, if that costs less.
    void run(int32_t seed, int32_t number, Cheapest& best) {
        for (int32_t k = 0; k < members_; k++) touched_[piece_[k]] = joined_[piece_[k]] = NEVER;
        rest_ = whole_;
        region_.assign(whole_.size(), 0);
        price_ = 0;
        stage_ = 0;
        touch(seed);
        int32_t stage = NO_STAGE;
        const double full = load(network_, whole_);
        while (!border_.empty()) {
            join(border_.pop());
            const double cost = cost_now(full);
            if (cost < best.cost) best.cost = cost, stage = stage_;
        }
        if (stage == NO_STAGE) return;
        best.seed = number;
        best.border.clear();
        for (int32_t k = 0; k < members_; k++)
            if (touched_[piece_[k]] <= stage && stage < joined_[piece_[k]]) best.border.push_back(piece_[k]);
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
            else if (joined_[near] == NEVER) border_.lower(near, price);
        }
        border_.push(touched, gain);
    }

    const Network& network_;
    const int32_t* const piece_;
    const int32_t members_;
    const Counts whole_;
    Counts region_, rest_;
    std::vector<int32_t> touched_, joined_;  // stages; NEVER: not yet
    Heap border_;
    double price_ = 0;  // of the border
    int32_t stage_ = 0;
};

}  // namespace
}  // namespace pairalign

// Grows a region from each of some seeds over a piece, piece[members], ascending, on some threads, and finds
// the border that costs least; of equal ones that of the first seed, then stage. What must be trimmed for
// the piece to fit is taken where no border costs less. Its sequences go into separator[members]. Returns how
// many these are; -1: no memory.
PAIRALIGN_API int32_t pairalign_find_separator(const pairalign_priced_network* network, int32_t members,
                                               const int32_t* piece, int32_t seeds, const int32_t* seed,
                                               int32_t threads, int32_t* separator) {
    using pairalign::Cheapest;
    try {
        Cheapest trimmed{0, pairalign::NEVER, pairalign::trim(*network, piece, members)};
        for (const int32_t one : trimmed.border) trimmed.cost += network->prices[one];
        threads = std::min(threads, seeds);
        std::vector<Cheapest> found(static_cast<size_t>(threads), trimmed);
        pairalign::on_threads(threads, threads, [&](int32_t thread) {
            pairalign::Growth growth(*network, piece, members);
            for (int32_t k = thread; k < seeds; k += threads)
                growth.run(seed[k], k, found[static_cast<size_t>(thread)]);
        });
        const auto best = std::min_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
            return a.cost != b.cost ? a.cost < b.cost : a.seed < b.seed;
        });
        std::copy(best->border.begin(), best->border.end(), separator);
        return static_cast<int32_t>(best->border.size());
    } catch (const std::bad_alloc&) {
        return -1;
    }
}

// Numbers the connected pieces of some sequences, member[members], ascending, by their first ones: of each
// member into pieces[members]. Returns how many there are; -1: no memory.
PAIRALIGN_API int32_t pairalign_find_pieces(int32_t count, const int64_t* starts, const int32_t* neighbours,
                                            int32_t members, const int32_t* member, int32_t* pieces) {
    constexpr int32_t OUTSIDE = -1, NOT_YET = -2;
    try {
        std::vector<int32_t> number(static_cast<size_t>(count), OUTSIDE), waiting;
        for (int32_t k = 0; k < members; k++) number[member[k]] = NOT_YET;
        int32_t found = 0;
        for (int32_t k = 0; k < members; k++) {
            if (number[member[k]] == NOT_YET) {
                number[member[k]] = found;
                waiting.push_back(member[k]);
                while (!waiting.empty()) {
                    const int32_t one = waiting.back();
                    waiting.pop_back();
                    for (int64_t n = starts[one]; n < starts[one + 1]; n++) {
                        if (number[neighbours[n]] != NOT_YET) continue;
                        number[neighbours[n]] = found;
                        waiting.push_back(neighbours[n]);
                    }
                }
                found++;
            }
            pieces[k] = number[member[k]];
        }
        return found;
    } catch (const std::bad_alloc&) {
        return -1;
    }
}
