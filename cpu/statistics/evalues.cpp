// Logarithms of E-values with the correction for finite lengths of Park, Sheetlin, Ma, Madden and Spouge
// (2012).
//
//     ln E = ln K + ln area - lambda S + ln (database / n)
//
// `area` is the mean number of starting points from which an alignment of score S ends inside both sequences
// of m and n residues: p(m) p(n) + c P(m) P(n), where the length that an alignment of score S takes of a
// sequence has the mean a S + b and the variance alpha S + beta, the two lengths the covariance
// c = sigma S + tau, x = m - a S - b, P(m) = Phi(x / sd), p(m) = x P(m) + sd phi(x / sd).
// The struct is declared in pairalign/statistics/finite_size.py.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../export.h"

// Of raw scores.
struct pairalign_length_law {
    double lambda, log_k;
    double a, b, alpha, beta, sigma, tau;
};

namespace pairalign::statistics {
namespace {

constexpr double kLeastArea = 1e-300;  // so that the logarithm of what no double holds stays a number
constexpr double kInverseRootTwoPi = 0.39894228040143267794;

// Of one sequence: the mean number of starting points, and the probability that there is room.
struct Room {
    double mean, probability;
};

Room room_of(double length, double taken, double deviation) {
    const double x = length - taken, ratio = x / deviation;
    const double probability = 0.5 * std::erfc(-ratio * std::sqrt(0.5));
    const double mean = x * probability + deviation * kInverseRootTwoPi * std::exp(-0.5 * ratio * ratio);
    return {std::max(mean, 0.0), probability};
}

double log_evalue(const pairalign_length_law& law, double score, double m, double n) {
    const double taken = law.a * score + law.b;
    const double variance = std::max(2 * law.alpha / law.lambda, law.alpha * score + law.beta);
    const double covariance = std::max(2 * law.sigma / law.lambda, law.sigma * score + law.tau);
    const double deviation = std::sqrt(variance);
    const Room query = room_of(m, taken, deviation), target = room_of(n, taken, deviation);
    const double area = query.mean * target.mean + covariance * query.probability * target.probability;
    return law.log_k + std::log(std::max(area, kLeastArea)) - law.lambda * score - std::log(n);
}

}  // namespace
}  // namespace pairalign::statistics

// For each pair, into values[pairs]: ln E for a database of one residue; add ln of its residues.
//   scores        [pairs] raw scores, less or more for the composition of the pair
//   query, target [pairs] residues of the query and of the target
PAIRALIGN_API void pairalign_log_evalues(const pairalign_length_law* law, int64_t pairs, const double* scores,
                                         const int32_t* query, const int32_t* target, double* values) {
    for (int64_t k = 0; k < pairs; ++k)
        values[k] =
            pairalign::statistics::log_evalue(*law, scores[k], std::max(query[k], 1), std::max(target[k], 1));
}
