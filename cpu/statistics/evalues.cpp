// Logarithms of E-values with the correction for finite lengths of Park, Sheetlin, Ma, Madden and Spouge
// (2012).
//
//     ln E = ln K + ln area - lambda S + ln (database / n)
//
// `area` is the mean number of starting points from which an alignment of score S ends inside both sequences
// of m and n residues: p(m) p(n) + c P(m) P(n), where the length that an alignment of score S takes of a
// sequence has the mean a S + b and the variance alpha S + beta, the two lengths the covariance
// c = sigma S + tau, x = m - a S - b, P(m) = Phi(x / sd), p(m) = x P(m) + sd phi(x / sd).
//
// A skewed law has one length L for both sequences, with an inverse Gaussian distribution of that mean and
// variance: that of the first passage of a walk with a drift through S (Tweedie 1957). Then
//
//     area = the integral of (m - x) (n - x) f(x) over x from 0 to the smaller of m and n.
//
// The struct is declared in pairalign/statistics/finite_size.py.

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../export.h"

// Of raw scores.
struct pairalign_length_law {
    double lambda, log_k;
    double a, b, alpha, beta, sigma, tau;
    int32_t skewed;
};

namespace pairalign::statistics {
namespace {

constexpr double kLeastArea = 1e-300;  // so that the logarithm of what no double holds stays a number
constexpr double kInverseRootTwoPi = 0.39894228040143267794;

constexpr int kNodes = 40;
constexpr double kLeastMean = 1;   // of a skewed law: residues, and their square
constexpr double kNoneBeyond = 9;  // deviations above the mean: all alignments are shorter
constexpr double kNoneBelow = 12;  // deviations below the mean: none is shorter

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

double normal_area(const pairalign_length_law& law, double score, double m, double n) {
    const double taken = law.a * score + law.b;
    const double variance = std::max(2 * law.alpha / law.lambda, law.alpha * score + law.beta);
    const double covariance = std::max(2 * law.sigma / law.lambda, law.sigma * score + law.tau);
    const double deviation = std::sqrt(variance);
    const Room query = room_of(m, taken, deviation), target = room_of(n, taken, deviation);
    return query.mean * target.mean + covariance * query.probability * target.probability;
}

// Nodes and weights of Gauss and Legendre on [0, 1], with x = u^2: more of them where f rises.
struct Nodes {
    double square[kNodes], weight[kNodes];

    Nodes() {
        for (int k = 0; k < kNodes; ++k) {
            double x = std::cos(3.14159265358979323846 * (k + 0.75) / (kNodes + 0.5)), slope = 1;
            for (int step = 0; step < 20; ++step) {
                double before = 1, value = x;
                for (int degree = 2; degree <= kNodes; ++degree) {
                    const double next = ((2 * degree - 1) * x * value - (degree - 1) * before) / degree;
                    before = value;
                    value = next;
                }
                slope = kNodes * (x * value - before) / (x * x - 1);
                x -= value / slope;
            }
            const double u = (1 + x) / 2;
            square[k] = u * u;
            weight[k] = 2 * u / ((1 - x * x) * slope * slope);
        }
    }
};

double skewed_area(const pairalign_length_law& law, double score, double m, double n) {
    static const Nodes nodes;
    const double mean = std::max(law.a * score + law.b, kLeastMean);
    const double variance = std::max(law.alpha * score + law.beta, kLeastMean);
    const double deviation = std::sqrt(variance), shorter = std::min(m, n);
    if (shorter > mean + kNoneBeyond * deviation) return (m - mean) * (n - mean) + variance;
    const double low = std::max(0.0, mean - kNoneBelow * deviation), range = shorter - low;
    if (range <= 0) return 0;
    const double shape = mean * mean * mean / variance, scale = shape / (2 * mean * mean);
    double area = 0;
    for (int k = 0; k < kNodes; ++k) {
        const double x = low + range * nodes.square[k], away = x - mean;
        const double density = std::exp(-scale * away * away / x) / (x * std::sqrt(x));
        area += nodes.weight[k] * density * (m - x) * (n - x);
    }
    return area * range * std::sqrt(shape) * kInverseRootTwoPi;
}

double log_evalue(const pairalign_length_law& law, double score, double m, double n) {
    const double area = (law.skewed ? skewed_area : normal_area)(law, score, m, n);
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
