// Tandem repeats and other low complexity: the hidden Markov model of tantan (Frith 2011, Nucleic Acids
// Research 39:e23), and scores of alignments in which such residues earn nothing ("gentle masking", Frith
// 2011, PLoS ONE 6:e28819).
//
// At each residue x(k) the sequence is in the background, or repeats what stands a period i before. With
// R(i, k) the likelihood of x(k) as a copy of x(k - i) by that of x(k) alone, r and e the probabilities that
// a repeat starts and ends, and P(i) those of periods,
//
//     b(k)    = (1 - r) b(k-1) + e sum over i of f(i, k-1)
//     f(i, k) = ((1 - e) f(i, k-1) + r P(i) b(k-1)) R(i, k)
//
// and the same backwards. Values of each residue are divided by their sum. The declarations in Python are in
// pairalign/base/native.py.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../export.h"

namespace pairalign::statistics {
namespace {

// The model, and what the residues of one sequence need.
struct RepeatModel {
    int32_t codes, periods;
    const double* ratios;  // [codes][codes]
    double start, end;
    std::vector<double> of_period, state, background, scales;

    RepeatModel(int32_t count, const double* likelihoods, int32_t most, double starts, double ends,
                double decay)
        : codes(count), periods(most), ratios(likelihoods), start(starts), end(ends) {
        double weight = 1, sum = 0;
        for (int32_t i = 0; i < periods; ++i, weight *= decay) {
            of_period.push_back(weight);
            sum += weight;
        }
        for (double& one : of_period) one /= sum;
    }

    // Fills background and scales; returns the probability of the whole by the product of the scales.
    double forward(const uint8_t* sequence, int64_t length) {
        state.assign(static_cast<size_t>(periods), 0);
        background.resize(static_cast<size_t>(length));
        scales.resize(static_cast<size_t>(length));
        double current = 1, repeated = 0;
        for (int64_t k = 0; k < length; ++k) {
            const double* ratio = ratios + int64_t{sequence[k]} * codes;
            const auto known = static_cast<int32_t>(std::min<int64_t>(k, periods));
            const double next = (1 - start) * current + end * repeated;
            repeated = 0;
            for (int32_t i = 0; i < known; ++i) {
                state[i] =
                    ((1 - end) * state[i] + start * of_period[i] * current) * ratio[sequence[k - 1 - i]];
                repeated += state[i];
            }
            const double scale = next + repeated;
            current = next / scale;
            repeated /= scale;
            for (int32_t i = 0; i < known; ++i) state[i] /= scale;
            background[k] = current;
            scales[k] = scale;
        }
        return (1 - start) * current + end * repeated;
    }

    // Probabilities that residues are repeats, after `forward`.
    void backward(const uint8_t* sequence, int64_t length, double whole, float* probabilities) {
        double current = 1 - start;
        state.assign(static_cast<size_t>(periods), end);
        for (int64_t k = length; k-- > 0;) {
            const double share = background[k] * current / whole;
            probabilities[k] = static_cast<float>(std::min(std::max(1 - share, 0.0), 1.0));
            const double* ratio = ratios + int64_t{sequence[k]} * codes;
            const auto known = static_cast<int32_t>(std::min<int64_t>(k, periods));
            const double ending = end * current / scales[k];
            double starting = 0;
            for (int32_t i = 0; i < known; ++i) {
                const double copied = state[i] * ratio[sequence[k - 1 - i]] / scales[k];
                starting += of_period[i] * copied;
                state[i] = ending + (1 - end) * copied;
            }
            for (int32_t i = known; i < periods; ++i) state[i] = ending;
            current = (1 - start) * current / scales[k] + start * starting;
        }
    }
};

enum Operation : uint32_t { INSERTION = 1, DELETION = 2 };

}  // namespace
}  // namespace pairalign::statistics

// The probability that each residue is part of a repeat, into probabilities[residues].
//   offsets [sequences + 1] where sequences begin in codes
//   ratios  [alphabet][alphabet] likelihoods of copies by those of residues alone
PAIRALIGN_API void pairalign_repeat_probabilities(int64_t sequences, const int64_t* offsets,
                                                  const uint8_t* codes, int32_t alphabet,
                                                  const double* ratios, int32_t periods, double start,
                                                  double end, double decay, float* probabilities) {
    pairalign::statistics::RepeatModel model(alphabet, ratios, periods, start, end, decay);
    for (int64_t k = 0; k < sequences; ++k) {
        const int64_t first = offsets[k], length = offsets[k + 1] - first;
        const double whole = model.forward(codes + first, length);
        model.backward(codes + first, length, whole, probabilities + first);
    }
}

// Codes and masks of one set, and where its sequences begin.
struct pairalign_masked_set {
    const uint8_t* codes;
    const uint8_t* is_masked;
    const int64_t* offsets;
};

// The best stretch of each alignment where a pair with a masked residue scores 0 at most, into best[pairs].
//   index, spans [pairs] of the aligned parts, on the strands that were read
//   strand       [pairs] -1 where the query is reverse-complemented, or null
//   complement   [alphabet] codes on the other strand
//   runs         the CIGARs along the target, length << 4 | operation; those of pair k from run_offsets[k]
//   matrix       [alphabet][alphabet] raw scores
PAIRALIGN_API void pairalign_masked_scores(int64_t pairs, const pairalign_masked_set* queries,
                                           const pairalign_masked_set* targets, const int32_t* query,
                                           const int32_t* target, const int32_t* query_start,
                                           const int32_t* query_end, const int32_t* target_start,
                                           const int8_t* strand, const uint8_t* complement,
                                           const uint32_t* runs, const int64_t* run_offsets,
                                           const int32_t* matrix, int32_t alphabet, int32_t gap_open,
                                           int32_t gap_extend, int32_t* best) {
    using namespace pairalign::statistics;
    for (int64_t k = 0; k < pairs; ++k) {
        const bool turned = strand != nullptr && strand[k] < 0;
        const int64_t step = turned ? -1 : 1;
        int64_t i = queries->offsets[query[k]] + (turned ? query_end[k] - 1 : query_start[k]);
        int64_t j = targets->offsets[target[k]] + target_start[k];
        int64_t score = 0, most = 0;
        for (int64_t r = run_offsets[k]; r < run_offsets[k + 1]; ++r) {
            const uint32_t operation = runs[r] & 15;
            const int64_t length = runs[r] >> 4;
            if (operation == INSERTION || operation == DELETION) {
                if (operation == INSERTION) i += step * length;
                if (operation == DELETION) j += length;
                score = std::max<int64_t>(score - gap_open - (length - 1) * gap_extend, 0);
                continue;
            }
            for (const int64_t stop = j + length; j < stop; ++j, i += step) {
                const uint8_t code = turned ? complement[queries->codes[i]] : queries->codes[i];
                const int32_t pair = matrix[int64_t{code} * alphabet + targets->codes[j]];
                const bool is_masked = queries->is_masked[i] || targets->is_masked[j];
                score = std::max<int64_t>(score + (is_masked ? std::min(pair, 0) : pair), 0);
                most = std::max(most, score);
            }
        }
        best[k] = static_cast<int32_t>(most);
    }
}
