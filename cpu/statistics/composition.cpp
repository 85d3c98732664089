// What the residues of a pair do to lambda: the root of  sum over scores s of w(s) exp(lambda s) = 1, where
// w(s) is the weight of the pairs of residues with score s. The Python declarations are in
// pairalign/base/signatures.py.
//
// The function is convex and 0 less 1 at lambda = 0, so Newton's steps from above its root fall to the root
// and never pass it. Sums run in one order, so the same pair gives the same bytes whatever is beside it.

#include <cmath>
#include <cstdint>
#include <vector>

#include "../export.h"

namespace pairalign::statistics {
namespace {

constexpr int kSteps = 60;
constexpr double kAccuracy = 1e-9;

// w[value] += q[i] t[j] for each pair of residues i, j whose score is the value's.
void weigh(const double* q, const double* t, const int32_t* value, int32_t residues, std::vector<double>& w) {
    for (double& weight : w) weight = 0;
    for (int32_t i = 0; i < residues; ++i) {
        if (q[i] == 0) continue;
        for (int32_t j = 0; j < residues; ++j) w[value[i * residues + j]] += q[i] * t[j];
    }
}

double root(const std::vector<double>& weights, const double* scores, double least, double most) {
    double lambda = most;
    for (int step = 0; step < kSteps; ++step) {
        double sum = 0, slope = 0, total = 0;
        for (size_t k = 0; k < weights.size(); ++k) {
            const double term = weights[k] * std::exp(lambda * scores[k]);
            total += weights[k];
            sum += term;
            slope += term * scores[k];
        }
        if (sum <= total || slope <= 0) return lambda;  // the root is not below
        const double fall = (sum - total) / slope;
        lambda -= fall;
        if (lambda <= least) return least;
        if (fall < kAccuracy * most) return lambda;
    }
    return lambda;
}

}  // namespace
}  // namespace pairalign::statistics

// Lambda without gaps of each pair, from `least` to `most`, into lambdas[pairs].
//   first, second  [sequences][residues] shares of the residues of each sequence of either set
//   query, target  [pairs] indices into them
//   value          [residues][residues] index into scores of each pair of residues
//   scores         [values] the different raw scores, ascending
PAIRALIGN_API void pairalign_pair_lambdas(int64_t pairs, const int32_t* query, const int32_t* target,
                                          const double* first, const double* second, int32_t residues,
                                          const int32_t* value, const double* scores, int32_t values,
                                          double least, double most, double* lambdas) {
    std::vector<double> weights(static_cast<size_t>(values));
    for (int64_t k = 0; k < pairs; ++k) {
        const double* q = first + int64_t{query[k]} * residues;
        const double* t = second + int64_t{target[k]} * residues;
        pairalign::statistics::weigh(q, t, value, residues, weights);
        lambdas[k] = pairalign::statistics::root(weights, scores, least, most);
    }
}
