// Multiple alignment from posteriors of all pairs: consistency, distances, joins along a tree, refinement.
//
// All is integer arithmetic: posteriors are 65535ths, weights whole numbers, so that no order of sums matters
// and every machine and thread count gives the same alignment. The ctypes declarations are in
// pairalign/engines/cpu/cpu_msa.py.
#pragma once

#include <cstdint>
#include <vector>

namespace pairalign {

// Posteriors between all residues of a set, which count through in the order of the input. Symmetric.
class PosteriorGraph {
public:
    struct Link {
        int32_t residue;
        uint16_t value;
    };

    PosteriorGraph(const int32_t* lengths, int32_t count);

    int32_t sequences() const { return static_cast<int32_t>(starts_.size()) - 1; }
    int32_t residues() const { return starts_.back(); }
    int32_t start(int32_t sequence) const { return starts_[static_cast<size_t>(sequence)]; }
    int32_t length(int32_t sequence) const { return start(sequence + 1) - start(sequence); }
    int32_t sequence_of(int32_t residue) const { return sequences_[static_cast<size_t>(residue)]; }
    const Link* begin(int32_t residue) const {
        return links_.data() + offsets_[static_cast<size_t>(residue)];
    }
    const Link* end(int32_t residue) const { return begin(residue + 1); }

    // Takes links in one direction, as `upper` has them for each residue, to later sequences in ascending
    // order, and adds the other direction.
    void set_links(const std::vector<std::vector<Link>>& upper);

    // Probabilistic consistency (Do et al., Genome Res 15:330, 2005), weighted: the posterior of two residues
    // becomes the mean over all sequences z of the ways through z, of which those of the pair itself count as
    // z = x and z = y. Below `least` there is no link.
    void relax(const int32_t* weights, uint16_t least, int32_t threads);

    // The expected number of correctly aligned residues of the best alignment of a pair, in 65535ths.
    uint64_t expected_accuracy(int32_t x, int32_t y) const;

private:
    std::vector<int32_t> starts_, sequences_;
    std::vector<int64_t> offsets_;
    std::vector<Link> links_;
};

// Some sequences and the columns that their residues are in.
class AlignmentBuilder {
public:
    AlignmentBuilder(const PosteriorGraph& graph, const int32_t* weights);

    // Joins along the tree, children[2 k], children[2 k + 1] those of node n + k; then cuts the alignment in
    // two and joins the parts anew, `refinements` times; then each sequence that is out of place, if
    // `rejoins`.
    void align(const int64_t* children, int32_t refinements, bool rejoins);

    int32_t width() const { return width_; }
    const std::vector<int32_t>& columns() const { return columns_; }  // of each residue

private:
    struct Profile {
        std::vector<int32_t> sequences;
        int32_t width = 0;
    };

    enum Move : uint8_t { BOTH, FIRST, SECOND };  // which profiles' columns a column of the join has
    struct Cell {
        int32_t row, column;  // of the first profile, and of the second
        int64_t score, sum;   // sum: of the best chain of cells that ends here
    };

    // The alignment of two with the most weighted posterior on aligned residues.
    Profile join(const Profile& a, const Profile& b);
    void score_columns(const Profile& a, const Profile& b);
    void score_column(const Profile& a, int32_t column);
    std::vector<Move> filled_path(const Profile& a, const Profile& b);
    std::vector<Move> sparse_path(const Profile& a, const Profile& b);
    int64_t sum_cells(int32_t width);
    Cell next_cell(int64_t best, int32_t i, int32_t j) const;
    Profile place(const Profile& a, const Profile& b, const std::vector<Move>& path);
    void close_up(Profile& profile);
    void rejoin(Profile& whole, int32_t sequence);

    const PosteriorGraph& graph_;
    const int32_t* weights_;
    int32_t width_ = 0;
    std::vector<int32_t> columns_;
    std::vector<uint8_t> in_b_;    // of each sequence
    std::vector<int32_t> next_;    // residue of each sequence of the first profile
    std::vector<int64_t> scores_;  // of a column of the first with each of the second
    std::vector<Cell> cells_;      // of a join
    std::vector<size_t> rows_;     // where those of each column of the first begin
    std::vector<uint8_t> moves_;
};

}  // namespace pairalign
