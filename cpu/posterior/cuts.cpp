// Where the matrix of a pair of similar DNA sequences may be cut: in runs of equal bases. Given that two
// residues are aligned, the posteriors before and after them do not depend on each other; so the parts
// between cuts are pairs of their own. They reach beyond the cuts, where posteriors are of no use; whether
// the residues at the cuts are aligned for sure, their posteriors say (cut_parts.cpp). What is deep inside a
// long run is in no part.
//
// Runs are around words of 16 bases that each of the two has once (one in four words, by its bases), of a
// longest chain of those; and between them around shorter words that each has once there. A part reaches
// further where one of its sides is longer: ends of pairs have free gaps, and what is aligned beyond a gap
// must be worth more than it costs. It reaches as far as makes its x a multiple of some bases, for lanes of
// one length. What a pair is cut into depends on its sequences alone.

#include "cuts.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../export.h"
#include "../threads.h"
#include "model.h"

namespace pairalign {
namespace {

constexpr int WORD = 16, LEAST_WORD = 9, MOST_SHORT_WORD = 12;
constexpr int BEYOND = 8, LEAST_APART = 48, MULTIPLE = 16;
constexpr int INSIDE = 16, LEAST_LEFT_OUT = 16;  // of a run: before what is in no part, and of that
constexpr int WORTH_A_GAP = 2;     // a part reaches further by one in so many residues of its gaps
constexpr int64_t CHANCES = 2;     // of a word in cells of unrelated sequences: less than one in so many
constexpr int64_t LEAST_GAIN = 2;  // parts have at most one in so many cells of the pair

struct Point {
    int32_t x, y;
};

// Equal bases in a row.
struct Run {
    int32_t x, y, length;
    int32_t x_end() const { return x + length; }
    int32_t y_end() const { return y + length; }
};

struct Sequence {
    const uint8_t* codes;
    int32_t length;
};

// Words that a sequence has once, ascending, and where: word << 32 | place.
std::vector<uint64_t> words_of(Sequence sequence, int bases, bool is_sample) {
    std::vector<uint64_t> all;
    const uint32_t mask = bases == 16 ? ~0u : (1u << 2 * bases) - 1;
    uint32_t word = 0;
    int32_t known = 0;
    for (int32_t i = 0; i < sequence.length; i++) {
        known = sequence.codes[i] > 3 ? 0 : known + 1;
        word = (word << 2 | (sequence.codes[i] & 3u)) & mask;
        if (known < bases || (is_sample && word * 0x9E3779B1u >> 30)) continue;
        all.push_back(uint64_t{word} << 32 | static_cast<uint32_t>(i + 1 - bases));
    }
    std::sort(all.begin(), all.end());
    std::vector<uint64_t> once;
    for (size_t k = 0; k < all.size(); k++) {
        const auto is_word = [&](size_t other) { return all[other] >> 32 == all[k] >> 32; };
        if ((k > 0 && is_word(k - 1)) || (k + 1 < all.size() && is_word(k + 1))) continue;
        once.push_back(all[k]);
    }
    return once;
}

// The length of words that two such stretches seldom have in common by chance; 0: of none.
int bases_for(int64_t cells) {
    for (int bases = LEAST_WORD; bases <= MOST_SHORT_WORD; bases++)
        if (cells * CHANCES <= int64_t{1} << 2 * bases) return bases;
    return 0;
}

// Where two sequences have a word, in ascending order of x.
std::vector<Point> common(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
    std::vector<Point> points;
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i] >> 32 < b[j] >> 32) i++;
        else if (a[i] >> 32 > b[j] >> 32) j++;
        else points.push_back({static_cast<int32_t>(a[i++]), static_cast<int32_t>(b[j++])});
    }
    std::sort(points.begin(), points.end(), [](Point p, Point q) { return p.x < q.x; });
    return points;
}

// The longest chain of points that ascend in both sequences.
std::vector<Point> chain(const std::vector<Point>& points) {
    std::vector<size_t> ends, before(points.size());
    for (size_t k = 0; k < points.size(); k++) {
        const auto at = std::lower_bound(ends.begin(), ends.end(), points[k].y,
                                         [&](size_t end, int32_t y) { return points[end].y < y; });
        before[k] = at == ends.begin() ? k : *(at - 1);
        if (at == ends.end()) ends.push_back(k);
        else *at = k;
    }
    std::vector<Point> found(ends.size());
    for (size_t n = ends.size(), k = n ? ends.back() : 0; n-- > 0; k = before[k]) found[n] = points[k];
    return found;
}

// The runs around a chain of words, apart from each other. What two share goes to neither.
std::vector<Run> runs_around(const std::vector<Point>& words, Sequence a, Sequence b) {
    std::vector<Run> runs;
    const auto is_same = [&](int32_t x, int32_t y) {
        return x >= 0 && y >= 0 && x < a.length && y < b.length && a.codes[x] <= 3 &&
               a.codes[x] == b.codes[y];
    };
    for (const Point& word : words) {
        if (!runs.empty() && word.x < runs.back().x_end() && word.y < runs.back().y_end()) continue;
        Run run{word.x, word.y, 0};
        while (is_same(run.x - 1, run.y - 1)) run.x--, run.y--;
        while (is_same(run.x_end(), run.y_end())) run.length++;
        if (!runs.empty()) {
            Run& last = runs.back();
            const int32_t shared = std::max({last.x_end() - run.x, last.y_end() - run.y, 0});
            last.length -= shared;
            run = {run.x + shared, run.y + shared, run.length - shared};
            if (last.length < LEAST_WORD) runs.pop_back();
        }
        if (run.length >= LEAST_WORD) runs.push_back(run);
    }
    return runs;
}

// The chain of words between two runs, or a run and an end.
void add_short(std::vector<Point>& words, Point from, Point to, Sequence a, Sequence b) {
    const int32_t x = to.x - from.x, y = to.y - from.y;
    const int bases = bases_for(int64_t{x} * y);
    if (std::min(x, y) < LEAST_APART || bases == 0) return;
    const std::vector<uint64_t> of_a = words_of({a.codes + from.x, x}, bases, false),
                                of_b = words_of({b.codes + from.y, y}, bases, false);
    for (const Point& word : chain(common(of_a, of_b))) words.push_back({from.x + word.x, from.y + word.y});
}

// The runs around words, and around shorter ones between those.
std::vector<Run> all_runs(const std::vector<Point>& words, Sequence a, Sequence b) {
    std::vector<Point> all;
    Point from{0, 0};
    for (const Run& run : runs_around(words, a, b)) {
        add_short(all, from, {run.x, run.y}, a, b);
        all.push_back({run.x, run.y});
        from = {run.x_end(), run.y_end()};
    }
    add_short(all, from, {a.length, b.length}, a, b);
    return runs_around(all, a, b);
}

// What is between runs, or the halves of them: parts that do not reach beyond yet.
std::vector<Cut> cores_between(const std::vector<Run>& runs, Point ends) {
    std::vector<Cut> cores;
    Point from{0, 0};
    const auto add = [&](Point to) { cores.push_back({0, 0, 0, 0, from.x, from.y, to.x, to.y}); };
    for (const Run& run : runs) {
        const bool is_long = run.length >= 2 * INSIDE + LEAST_LEFT_OUT;
        const int32_t before = is_long ? INSIDE : run.length / 2;
        const Point to{run.x + before, run.y + before};
        if (!is_long && std::min(std::min(to.x - from.x, to.y - from.y),
                                 std::min(ends.x - to.x, ends.y - to.y)) < LEAST_APART)
            continue;
        add(to);
        const int32_t after = is_long ? run.length - INSIDE : before;
        from = {run.x + after, run.y + after};
    }
    add(ends);
    return cores;
}

class Cutter {
public:
    Cutter(const pairalign_posterior_pairs& pairs, int32_t threads) : pairs_(pairs) {
        std::vector<int32_t> sequences;
        for (int64_t k = 0; k < pairs.count; k++)
            for (const int32_t sequence : {pairs.rows[k], pairs.columns[k]})
                if (words_.try_emplace(sequence).second) sequences.push_back(sequence);
        on_threads(static_cast<int32_t>(sequences.size()), threads, [&](int32_t k) {
            const int32_t sequence = sequences[static_cast<size_t>(k)];
            words_.at(sequence) = words_of(at(sequence), WORD, true);
        });
    }

    // The parts of a pair, none where cuts are not worth it.
    std::vector<Cut> cut(int64_t pair) const {
        const int32_t row = pairs_.rows[pair], column = pairs_.columns[pair];
        const Sequence x = at(row), y = at(column);
        const std::vector<Point> words = chain(common(words_.at(row), words_.at(column)));
        std::vector<Cut> parts = cores_between(all_runs(words, x, y), {x.length, y.length});
        int64_t cells = 0;
        for (Cut& part : parts) cells += cells_of(part = with_core_of(part, x.length, y.length));
        if (parts.size() == 1 || !are_worth(cells, x.length, y.length)) parts.clear();
        return parts;
    }

private:
    Sequence at(int32_t sequence) const {
        return {pairs_.codes + pairs_.starts[sequence], pairs_.lengths[sequence]};
    }

    const pairalign_posterior_pairs& pairs_;
    std::unordered_map<int32_t, std::vector<uint64_t>> words_;
};

}  // namespace

Cut with_core_of(const Cut& core, int32_t x_length, int32_t y_length) {
    Cut part = core;
    const auto before = [&](int32_t most) {
        const int32_t by = std::min(most, std::min(part.x, part.y));
        part.x -= by;
        part.y -= by;
    };
    const auto after = [&](int32_t most) {
        const int32_t by = std::min(most, std::min(x_length - part.x_end, y_length - part.y_end));
        part.x_end += by;
        part.y_end += by;
    };
    part.x = core.x_core;
    part.y = core.y_core;
    part.x_end = core.x_core_end;
    part.y_end = core.y_core_end;
    const auto missing = [&] { return (MULTIPLE - (part.x_end - part.x) % MULTIPLE) % MULTIPLE; };
    const bool is_first = part.x == 0 && part.y == 0,
               is_last = part.x_end == x_length && part.y_end == y_length;
    const int32_t gaps = std::abs((part.x_end - part.x) - (part.y_end - part.y));
    const int32_t beyond = BEYOND + gaps / WORTH_A_GAP;
    if (!is_first) before(beyond);
    if (!is_last) after(beyond);
    if (!is_last) after(missing());
    if (!is_first) before(missing());
    return part;
}

bool are_worth(int64_t cells, int32_t x_length, int32_t y_length) {
    return cells * LEAST_GAIN <= int64_t{x_length} * y_length;
}

}  // namespace pairalign

// What pairalign_posterior_cuts has found.
struct pairalign_posterior_parts {
    std::vector<std::vector<pairalign::Cut>> of_pair;
};

// Cuts pairs; writes how many parts each has, 0: it is not cut. Null: no memory. Else it has to be freed.
PAIRALIGN_API pairalign_posterior_parts* pairalign_posterior_cuts(const pairalign_posterior_pairs* pairs,
                                                                  int32_t threads, int32_t* counts) try {
    auto found = std::make_unique<pairalign_posterior_parts>();
    found->of_pair.resize(static_cast<size_t>(pairs->count));
    const pairalign::Cutter cutter(*pairs, threads);
    pairalign::on_threads(static_cast<int32_t>(pairs->count), threads, [&](int32_t k) {
        std::vector<pairalign::Cut>& parts = found->of_pair[static_cast<size_t>(k)];
        parts = cutter.cut(k);
        counts[k] = static_cast<int32_t>(parts.size());
    });
    return found.release();
} catch (const std::bad_alloc&) {
    return nullptr;
}

// Writes all parts and frees what was found.
PAIRALIGN_API void pairalign_posterior_take_cuts(pairalign_posterior_parts* found,
                                                 pairalign_posterior_cut* parts) {
    for (const auto& own : found->of_pair) parts = std::copy(own.begin(), own.end(), parts);
    delete found;
}
