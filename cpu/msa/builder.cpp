#include <algorithm>
#include <numeric>
#include <utility>

#include "msa.h"

namespace pairalign {

namespace {

constexpr int64_t WORTH_A_CELL = 64;  // pairs of columns that are filled in the time of a cell
constexpr int64_t TENTH = 6554;       // of a posterior of 1

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

void AlignmentBuilder::align(const int64_t* children, int32_t refinements, bool rejoins) {
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
    for (int32_t s = 0; rejoins && count > 2 && s < count; s++) rejoin(whole, s);
    width_ = whole.width;
}

// Joins a sequence anew if that gives it a tenth of what it can have more: less, of many weak posteriors, is
// no sign that it is out of place.
void AlignmentBuilder::rejoin(Profile& whole, int32_t sequence) {
    Profile one{{sequence}, whole.width}, others = whole;
    others.sequences.erase(std::find(others.sequences.begin(), others.sequences.end(), sequence));
    score_columns(one, others);
    int64_t here = 0;
    for (const Cell& cell : cells_) here += cell.row == cell.column ? cell.score : 0;
    int64_t most = 0;
    for (const int32_t other : others.sequences) most += weights_[other];
    most *= int64_t{weights_[sequence]} * graph_.length(sequence);
    if (sum_cells(whole.width) - here <= most * TENTH) return;
    close_up(one);
    close_up(others);
    whole = join(one, others);
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
    score_columns(a, b);
    const bool is_sparse = static_cast<int64_t>(cells_.size()) * WORTH_A_CELL < int64_t{a.width} * b.width;
    return place(a, b, is_sparse ? sparse_path(a, b) : filled_path(a, b));
}

// The pairs of columns that have posteriors, row by row.
void AlignmentBuilder::score_columns(const Profile& a, const Profile& b) {
    std::fill(in_b_.begin(), in_b_.end(), uint8_t{0});
    for (const int32_t s : b.sequences) in_b_[static_cast<size_t>(s)] = 1;
    for (const int32_t s : a.sequences) next_[static_cast<size_t>(s)] = graph_.start(s);
    scores_.assign(static_cast<size_t>(b.width), 0);
    cells_.clear();
    rows_.assign(1, 0);
    for (int32_t i = 0; i < a.width; i++) {
        score_column(a, i);
        rows_.push_back(cells_.size());
    }
}

// The sums of weight * weight * posterior of the residues of a column with those of each column of b.
void AlignmentBuilder::score_column(const Profile& a, int32_t column) {
    const size_t first = cells_.size();
    for (const int32_t s : a.sequences) {
        int32_t& g = next_[static_cast<size_t>(s)];
        if (g == graph_.start(s + 1) || columns_[static_cast<size_t>(g)] != column) continue;
        for (const PosteriorGraph::Link* link = graph_.begin(g); link < graph_.end(g); link++) {
            const int32_t other = graph_.sequence_of(link->residue);
            if (!in_b_[static_cast<size_t>(other)]) continue;
            const int32_t place = columns_[static_cast<size_t>(link->residue)];
            int64_t& score = scores_[static_cast<size_t>(place)];
            if (score == 0) cells_.push_back({column, place, 0, 0});
            score += int64_t{weights_[s]} * weights_[other] * static_cast<int64_t>(link->value);
        }
        g++;
    }
    for (size_t k = first; k < cells_.size(); k++)
        cells_[k].score = std::exchange(scores_[static_cast<size_t>(cells_[k].column)], int64_t{0});
}

// best(i, j) = max(best(i-1, j-1) + score(i, j), best(i-1, j), best(i, j-1)); of equals the first that is
// listed, but an aligned pair of columns scores more than 0. Returns the moves from the end.
std::vector<AlignmentBuilder::Move> AlignmentBuilder::filled_path(const Profile& a, const Profile& b) {
    const size_t columns = static_cast<size_t>(b.width);
    moves_.resize(static_cast<size_t>(a.width) * columns);
    std::vector<int64_t> best(columns + 1, 0);
    for (size_t i = 0; i < static_cast<size_t>(a.width); i++) {
        for (size_t k = rows_[i]; k < rows_[i + 1]; k++)
            scores_[static_cast<size_t>(cells_[k].column)] = cells_[k].score;
        uint8_t* const moves = moves_.data() + i * columns;
        int64_t diagonal = 0, left = 0;
        for (size_t j = 0; j < columns; j++) {
            const int64_t score = scores_[j], up = best[j + 1], both = diagonal + score;
            const int64_t gap = std::max(up, left);
            const bool aligned = score > 0 && both >= gap;
            moves[j] = aligned ? BOTH : up >= left ? FIRST : SECOND;
            diagonal = up;
            left = best[j + 1] = aligned ? both : gap;
        }
        for (size_t k = rows_[i]; k < rows_[i + 1]; k++) scores_[static_cast<size_t>(cells_[k].column)] = 0;
    }
    std::vector<Move> path;
    for (int32_t i = a.width, j = b.width; i > 0 || j > 0;) {
        Move move = j == 0 ? FIRST : SECOND;
        if (i > 0 && j > 0)
            move =
                static_cast<Move>(moves_[static_cast<size_t>(i - 1) * columns + static_cast<size_t>(j - 1)]);
        i -= move != SECOND;
        j -= move != FIRST;
        path.push_back(move);
    }
    return path;
}

// The same moves by the cells alone: those of one best sum are where the path may go on.
std::vector<AlignmentBuilder::Move> AlignmentBuilder::sparse_path(const Profile& a, const Profile& b) {
    int64_t best = sum_cells(b.width);
    std::sort(cells_.begin(), cells_.end(), [](const Cell& p, const Cell& q) { return p.sum < q.sum; });
    std::vector<Move> path;
    int32_t i = a.width, j = b.width;
    const auto go_to = [&](int32_t row, int32_t column) {
        path.insert(path.end(), static_cast<size_t>(i - row), FIRST);
        path.insert(path.end(), static_cast<size_t>(j - column), SECOND);
        i = row;
        j = column;
    };
    while (best > 0) {
        const Cell next = next_cell(best, i, j);
        go_to(next.row + 1, next.column + 1);
        path.push_back(BOTH);
        i--;
        j--;
        best -= next.score;
    }
    go_to(0, 0);
    return path;
}

// The sums of the best chains that end in each cell, by a tree of maxima over the columns before (Fenwick);
// returns the best of all.
int64_t AlignmentBuilder::sum_cells(int32_t width) {
    std::vector<int64_t> before(static_cast<size_t>(width) + 1, 0);
    int64_t best = 0;
    for (size_t i = 0; i + 1 < rows_.size(); i++) {
        for (size_t k = rows_[i]; k < rows_[i + 1]; k++) {
            int64_t most = 0;
            for (size_t j = static_cast<size_t>(cells_[k].column); j > 0; j -= j & -j)
                most = std::max(most, before[j]);
            cells_[k].sum = most + cells_[k].score;
            best = std::max(best, cells_[k].sum);
        }
        for (size_t k = rows_[i]; k < rows_[i + 1]; k++)
            for (size_t j = static_cast<size_t>(cells_[k].column) + 1; j < before.size(); j += j & -j)
                before[j] = std::max(before[j], cells_[k].sum);
    }
    return best;
}

// The cell that the moves from (i, j), where the best sum is `best`, come to: in column j the last one, else
// in the first row the last one.
AlignmentBuilder::Cell AlignmentBuilder::next_cell(int64_t best, int32_t i, int32_t j) const {
    const auto is_less = [](const Cell& cell, int64_t sum) { return cell.sum < sum; };
    const Cell* found = nullptr;
    const auto is_better = [&](const Cell& cell) {
        if ((cell.column == j - 1) != (found->column == j - 1)) return cell.column == j - 1;
        if (cell.column == j - 1) return cell.row > found->row;
        return cell.row != found->row ? cell.row < found->row : cell.column > found->column;
    };
    for (auto cell = std::lower_bound(cells_.begin(), cells_.end(), best, is_less);
         cell != cells_.end() && cell->sum == best; ++cell)
        if (cell->row < i && cell->column < j && (!found || is_better(*cell))) found = &*cell;
    return *found;
}

// Joins two profiles along a path.
AlignmentBuilder::Profile AlignmentBuilder::place(const Profile& a, const Profile& b,
                                                  const std::vector<Move>& path) {
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
