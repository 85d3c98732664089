// What the residues of a pair do to lambda: the root of  sum over scores s of w(s) exp(lambda s) = 1, where
// w(s) is the weight of the pairs of residues with score s. The Python declarations are in
// pairalign/base/native.py.
//
// The function is convex and 0 less 1 at lambda = 0, so Newton's steps from above its root fall to the root
// and never pass it. Sums run in one order, so the same pair gives the same bytes whatever is beside it.
//
// How much lambda varies because sequences have few residues follows from its derivatives by the delta
// method. With f = exp(lambda s(i, j)), u(i) its mean over the target's residues, v(j) that over the query's,
// and D the derivative of the sum above,
//
//     D^2 Var lambda = a Var u + b Var v - a b Var (f - u - v),    a, b = n / (n + pseudocounts)^2
//
// of each sequence of n residues. The last term is in both of the others, once too often.
//
// An alignment that takes much of a sequence uses up the residues that score most, which a normal lambda does
// not tell. To third order in the score, what n residues without replacement cost is the above and
//
//     a^2 (mean u^3 - 1) + b^2 (mean v^3 - 1)   by (D lambda)^3,
//
// as the cost of k of n residues of a kind is n h(k / n), with h(x) = x + (1 - x) ln(1 - x) = x^2/2 + x^3/6
// ...
//
// Where that sum has no root above 0, or gaps leave none, scores grow with the lengths. What a score is worth
// is then the Chernoff bound of alignments of at most as many columns as the shorter sequence has residues,
//
//     the largest theta S - columns max(0, ln sum w(s) exp(theta s) + gain)  of all theta > 0,
//
// with what gaps add to each column as the gain. With a root it is lambda S for scores that shorter
// alignments have.

#include <algorithm>
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

// Sums over the scores: of weights, of these times exp(lambda score), and the slope of that by lambda.
struct Moments {
    double sum = 0, slope = 0, total = 0;
};

Moments moments(const std::vector<double>& weights, const double* scores, double lambda) {
    Moments found;
    for (size_t k = 0; k < weights.size(); ++k) {
        const double term = weights[k] * std::exp(lambda * scores[k]);
        found.total += weights[k];
        found.sum += term;
        found.slope += term * scores[k];
    }
    return found;
}

double root(const std::vector<double>& weights, const double* scores, double least, double most) {
    double lambda = most;
    for (int step = 0; step < kSteps; ++step) {
        const auto [sum, slope, total] = moments(weights, scores, lambda);
        if (sum <= total || slope <= 0) return lambda;  // the root is not below
        const double fall = (sum - total) / slope;
        lambda -= fall;
        if (lambda <= least) return least;
        if (fall < kAccuracy * most) return lambda;
    }
    return lambda;
}

// The slope of the bound falls with theta, so its summit is found by halving.
constexpr int kHalvings = 40;

double bound(const std::vector<double>& weights, const double* scores, double score, double columns,
             double gain, double most) {
    struct Growth {
        double a_column, slope;
    };
    const auto growth = [&](double theta) {
        const auto [sum, slope, total] = moments(weights, scores, theta);
        return Growth{std::log(sum / total) + gain, slope / sum};
    };
    double low = 0, high = most;
    for (int step = 0; step < kHalvings; ++step) {
        const double middle = (low + high) / 2;
        const Growth found = growth(middle);
        (found.a_column > 0 && columns * found.slope > score ? high : low) = middle;
    }
    return low * score - columns * std::max(growth(low).a_column, 0.0);
}

// What the residues of a pair cost to second and third order; `powers` is exp(lambda score) of each score.
struct Costs {
    double second, third;
};

struct FewResidues {
    int32_t residues;
    const int32_t* value;
    std::vector<double> powers, of_query, of_target;

    FewResidues(int32_t count, const int32_t* places, size_t values)
        : residues(count), value(places), powers(values), of_query(count), of_target(count) {}

    Costs at(const double* q, const double* t, double a, double b, double slope) {
        if (slope <= 0) return {0, 0};
        double mean = 0, squares = 0;
        for (int32_t j = 0; j < residues; ++j) of_target[j] = 0;
        for (int32_t i = 0; i < residues; ++i) {
            double sum = 0, square = 0;
            for (int32_t j = 0; j < residues; ++j) {
                const double power = powers[value[i * residues + j]];
                sum += t[j] * power;
                square += t[j] * power * power;
                of_target[j] += q[i] * power;
            }
            of_query[i] = sum;
            mean += q[i] * sum;
            squares += q[i] * square;
        }
        const double square = mean * mean, cube = square * mean;
        double query = -square, target = -square, query3 = -cube, target3 = -cube;
        for (int32_t i = 0; i < residues; ++i) {
            const double u = of_query[i], v = of_target[i];
            query += q[i] * u * u;
            target += t[i] * v * v;
            query3 += q[i] * u * u * u;
            target3 += t[i] * v * v * v;
        }
        const double both = squares - square - query - target;
        return {std::max(a * query + b * target - a * b * both, 0.0) / (slope * slope),
                std::max(a * a * query3 + b * b * target3, 0.0) / (slope * slope * slope)};
    }
};

}  // namespace
}  // namespace pairalign::statistics

// Lambda without gaps of each pair, from `least` to `most`, into lambdas[pairs]; its variance because
// sequences have few residues into variances[pairs], and the cost to third order into thirds[pairs].
//   first, second  [sequences][residues] shares of the residues of each sequence of either set
//   noise, noise2  [sequences] n / (n + pseudocounts)^2 of each sequence of n residues
//   query, target  [pairs] indices into them
//   value          [residues][residues] index into scores of each pair of residues
//   scores         [values] the different raw scores, ascending
PAIRALIGN_API void pairalign_pair_lambdas(int64_t pairs, const int32_t* query, const int32_t* target,
                                          const double* first, const double* second, const double* noise,
                                          const double* noise2, int32_t residues, const int32_t* value,
                                          const double* scores, int32_t values, double least, double most,
                                          double* lambdas, double* variances, double* thirds) {
    std::vector<double> weights(static_cast<size_t>(values));
    pairalign::statistics::FewResidues few(residues, value, weights.size());
    for (int64_t k = 0; k < pairs; ++k) {
        const double* q = first + int64_t{query[k]} * residues;
        const double* t = second + int64_t{target[k]} * residues;
        pairalign::statistics::weigh(q, t, value, residues, weights);
        lambdas[k] = pairalign::statistics::root(weights, scores, least, most);
        double slope = 0;
        for (int32_t v = 0; v < values; ++v) {
            few.powers[v] = std::exp(lambdas[k] * scores[v]);
            slope += weights[v] * few.powers[v] * scores[v];
        }
        const auto costs = few.at(q, t, noise[query[k]], noise2[target[k]], slope);
        variances[k] = costs.second;
        thirds[k] = costs.third;
    }
}

// What the scores of pairs whose residues favour them are worth, into nats[pairs], see above. The gain is
// `gain` times the root of the mean square score of the pair's residues; theta is at most `most`.
//   columns        [pairs] residues of the shorter sequence
//   raw_scores     [pairs]
PAIRALIGN_API void pairalign_pair_bounds(int64_t pairs, const int32_t* query, const int32_t* target,
                                         const double* first, const double* second, const int32_t* columns,
                                         const int32_t* raw_scores, int32_t residues, const int32_t* value,
                                         const double* scores, int32_t values, double gain, double most,
                                         double* nats) {
    std::vector<double> weights(static_cast<size_t>(values));
    for (int64_t k = 0; k < pairs; ++k) {
        const double* q = first + int64_t{query[k]} * residues;
        const double* t = second + int64_t{target[k]} * residues;
        pairalign::statistics::weigh(q, t, value, residues, weights);
        double squares = 0;
        for (int32_t v = 0; v < values; ++v) squares += weights[v] * scores[v] * scores[v];
        nats[k] = pairalign::statistics::bound(weights, scores, raw_scores[k], columns[k],
                                               gain * std::sqrt(squares), most);
    }
}
