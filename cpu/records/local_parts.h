// Which parts of an alignment's columns can be a local alignment: those that score 0 or more up to, and from,
// each of their columns. A file may state numbers of such a part alone (GFA goes on to the ends of segments).
//
// Parts that overlap are parts of a larger one, so that the largest ones are disjoint: found as Ruzzo and
// Tompa (1999) do, here with equal scores joined.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace pairalign {

class LocalParts {
public:
    // The next column, or run of gap columns: its score, and how many of its columns differ.
    void add(int64_t score, int64_t edits, bool is_gap) {
        const Point before = end_;
        end_.score += score;
        end_.edits += edits;
        end_.gaps += is_gap;
        find_shortest(before, is_gap);
        if (score > 0 && !is_gap) find_longest({before, end_, -1});
    }

    // The fewest and the most edits of parts that have all gaps; false: there are none.
    bool edits(int64_t& fewest, int64_t& most) const {
        bool any = false;
        most = 0;
        for (const Part& part : parts_) {
            if (part.begin.gaps > 0 || part.end.gaps < end_.gaps) continue;
            most = std::max(most, part.end.edits - part.begin.edits);
            any = true;
        }
        fewest = any && end_.gaps > 0 ? shortest_.end.edits - shortest_.begin.edits : 0;
        return any;
    }

private:
    // What the columns before a place add up to.
    struct Point {
        int64_t score = 0, edits = 0, gaps = 0;
    };
    struct Part {
        Point begin, end;
        int64_t lower = -1;  // the last part before whose begin is no higher; -1: none
    };

    // From the last place before all gaps to the first behind them.
    void find_shortest(const Point& before, bool is_gap) {
        if (before.gaps == 0) begins_.push_back(before);
        while (!begins_.empty() && begins_.back().score > end_.score) begins_.pop_back();
        if (before.gaps == 0) highest_ = before.score;
        if (is_gap) {
            is_behind_ = false;
            if (!begins_.empty()) shortest_.begin = begins_.back();
        } else if (!is_behind_ && end_.score >= highest_) {
            is_behind_ = true;
            shortest_.end = end_;
        }
        highest_ = std::max(highest_, end_.score);
    }

    void find_longest(Part part) {
        for (;;) {
            int64_t k = static_cast<int64_t>(parts_.size()) - 1;
            while (k >= 0 && parts_[k].begin.score > part.begin.score) k = parts_[k].lower;
            part.lower = k;
            if (k < 0 || parts_[k].end.score > part.end.score) break;
            part.begin = parts_[k].begin;
            parts_.resize(k);
        }
        parts_.push_back(part);
    }

    Point end_;
    std::vector<Point> begins_;  // places before all gaps after which no sum is lower
    int64_t highest_ = 0;        // the most that columns add up to, from the first gap on
    bool is_behind_ = false;
    Part shortest_;
    std::vector<Part> parts_;  // the largest ones
};

}  // namespace pairalign
