#include <algorithm>
#include <numeric>

#include "msa.h"

namespace pairalign {

namespace {

enum Move : uint8_t { BOTH, FIRST, SECOND };  // which profiles' columns a column of the join has

// Numerical Recipes' generator: which sequences are on which side of a cut.
class Coins {
public:
    bool toss() {
        state_ = state_ * 1664525u + 1013904223u;
        return state_ >> 24 & 1;
    }

private:
    uint32_t state_ = 1;
};

}  // namespace

AlignmentBuilder::AlignmentBuilder(const PosteriorGraph& graph, const int32_t* weights)
    : graph_(graph),
      weights_(weights),
      columns_(static_cast<size_t>(graph.residues())),
      in_b_(static_cast<size_t>(graph.sequences())),
      next_(static_cast<size_t>(graph.sequences())) {}

void AlignmentBuilder::align(const int64_t* children, int32_t refinements) {
    const int32_t count = graph_.sequences();
    std::vector<Profile> nodes(static_cast<size_t>(2 * count - 1));
    for (int32_t s = 0; s < count; s++) {
        nodes[static_cast<size_t>(s)] = {{s}, graph_.length(s)};
        std::iota(columns_.begin() + graph_.start(s), columns_.begin() + graph_.start(s + 1), 0);
    }
    for (int32_t k = 0; k < count - 1; k++) {
        Profile& a = nodes[static_cast<size_t>(children[2 * k])];
        Profile& b = nodes[static_cast<size_t>(children[2 * k + 1])];
        nodes[static_cast<size_t>(count + k)] = join(a, b);
        a = b = Profile{};
    }
    Profile whole = std::move(nodes.back());
    Coins coins;
    for (int32_t k = 0; k < refinements && count > 2; k++) {
        Profile parts[2];
        for (int32_t s = 0; s < count; s++) parts[coins.toss()].sequences.push_back(s);
        if (parts[0].sequences.empty() || parts[1].sequences.empty()) continue;
        for (Profile& part : parts) {
            part.width = whole.width;
            close_up(part);
        }
        whole = join(parts[0], parts[1]);
    }
    width_ = whole.width;
}

// Drops the columns that none of its residues is in.
void AlignmentBuilder::close_up(Profile& profile) {
    std::vector<int32_t> place(static_cast<size_t>(profile.width), 0);
    const auto each = [&](const auto& act) {
        for (const int32_t s : profile.sequences)
            for (int32_t g = graph_.start(s); g < graph_.start(s + 1); g++)
                act(columns_[static_cast<size_t>(g)]);
    };
    each([&](int32_t column) { place[static_cast<size_t>(column)] = 1; });
    int32_t width = 0;
    for (int32_t& column : place) {
        const bool used = column;
        column = width;
        width += used;
    }
    each([&](int32_t& column) { column = place[static_cast<size_t>(column)]; });
    profile.width = width;
}

AlignmentBuilder::Profile AlignmentBuilder::join(const Profile& a, const Profile& b) {
    std::fill(in_b_.begin(), in_b_.end(), uint8_t{0});
    for (const int32_t s : b.sequences) in_b_[static_cast<size_t>(s)] = 1;
    for (const int32_t s : a.sequences) next_[static_cast<size_t>(s)] = graph_.start(s);
    fill(a, b);
    return trace(a, b);
}

// The sums of weight * weight * posterior of the residues of a column with those of each column of b.
void AlignmentBuilder::score_column(const Profile& a, int32_t column) {
    for (const int32_t s : a.sequences) {
        int32_t& g = next_[static_cast<size_t>(s)];
        if (g == graph_.start(s + 1) || columns_[static_cast<size_t>(g)] != column) continue;
        for (const PosteriorGraph::Link* link = graph_.begin(g); link < graph_.end(g); link++) {
            const int32_t other = graph_.sequence_of(link->residue);
            if (!in_b_[static_cast<size_t>(other)]) continue;
            const int32_t place = columns_[static_cast<size_t>(link->residue)];
            scored_.push_back(place);
            scores_[static_cast<size_t>(place)] +=
                int64_t{weights_[s]} * weights_[other] * static_cast<int64_t>(link->value);
        }
        g++;
    }
}

// best(i, j) = max(best(i-1, j-1) + score(i, j), best(i-1, j), best(i, j-1)); of equals the first that is
// listed, but an aligned pair of columns scores more than 0.
void AlignmentBuilder::fill(const Profile& a, const Profile& b) {
    const size_t columns = static_cast<size_t>(b.width);
    moves_.resize(static_cast<size_t>(a.width) * columns);
    scores_.assign(columns, 0);
    std::vector<int64_t> best(columns + 1, 0);
    for (int32_t i = 0; i < a.width; i++) {
        score_column(a, i);
        uint8_t* const moves = moves_.data() + static_cast<size_t>(i) * columns;
        int64_t diagonal = 0, left = 0;
        for (size_t j = 0; j < columns; j++) {
            const int64_t score = scores_[j], up = best[j + 1], both = diagonal + score;
            const int64_t gap = std::max(up, left);
            const bool aligned = score > 0 && both >= gap;
            moves[j] = aligned ? BOTH : up >= left ? FIRST : SECOND;
            diagonal = up;
            left = best[j + 1] = aligned ? both : gap;
        }
        for (const int32_t place : scored_) scores_[static_cast<size_t>(place)] = 0;
        scored_.clear();
    }
}

AlignmentBuilder::Profile AlignmentBuilder::trace(const Profile& a, const Profile& b) {
    std::vector<uint8_t> path;
    int32_t i = a.width, j = b.width;
    while (i > 0 || j > 0) {
        Move move = j == 0 ? FIRST : SECOND;
        if (i > 0 && j > 0)
            move = static_cast<Move>(moves_[static_cast<size_t>(i - 1) * static_cast<size_t>(b.width) +
                                            static_cast<size_t>(j - 1)]);
        i -= move != SECOND;
        j -= move != FIRST;
        path.push_back(move);
    }
    Profile joined{a.sequences, static_cast<int32_t>(path.size())};
    joined.sequences.insert(joined.sequences.end(), b.sequences.begin(), b.sequences.end());
    for (const Profile* side : {&a, &b}) {
        std::vector<int32_t> place;
        for (int32_t column = 0; column < joined.width; column++)
            if (path[static_cast<size_t>(joined.width - 1 - column)] != (side == &a ? SECOND : FIRST))
                place.push_back(column);
        for (const int32_t s : side->sequences)
            for (int32_t g = graph_.start(s); g < graph_.start(s + 1); g++) {
                int32_t& column = columns_[static_cast<size_t>(g)];
                column = place[static_cast<size_t>(column)];
            }
    }
    return joined;
}

}  // namespace pairalign
