// The numbers that a file states of an alignment, compared with what its columns hold.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "local_parts.h"
#include "record.h"

namespace pairalign {

// What the columns of an alignment hold.
struct Counts {
    int64_t matches = 0, columns = 0, aligned = 0, openings = 0, gaps = 0, positives = 0;
    int64_t both_ambiguous = 0;  // may be taken for matches
    int64_t ambiguous = 0;       // columns with any ambiguous residue, in gaps too
    int64_t at_ends = 0;         // residues in gaps at the ends of whole sequences
    int64_t score = 0;
    bool scored = true;
};

// What is wrong with a record: the first fault with its numbers, and which others there are.
struct Faults {
    pairalign_finding* finding = nullptr;

    void blame(int fault, double says = 0, double is = 0) {
        if (finding->fault == 0) {
            finding->fault = fault;
            finding->says = says;
            finding->is = is;
        }
        finding->faults |= uint64_t{1} << fault;
    }
};

class Claims {
public:
    Claims(const pairalign_record& record, Faults& faults) : record_(record), faults_(faults) {}

    // `lengths` of both sequences, residues that are `aligned` of them; `scale` of scores, or 0: the file's
    // scores, and positives, are of another scoring.
    void check(const Counts& counts, const int64_t (&lengths)[2], const int64_t (&aligned)[2],
               int64_t scale) {
        const int64_t unequal = counts.aligned - counts.matches;
        claim(PAIRALIGN_SAYS_MATCHES, counts.matches, counts.both_ambiguous);
        claim(PAIRALIGN_SAYS_MISMATCHES, unequal - std::min(unequal, counts.ambiguous),
              std::min(unequal, counts.ambiguous));
        claim(PAIRALIGN_SAYS_COLUMNS, counts.columns - counts.ambiguous, counts.ambiguous);
        claim(PAIRALIGN_SAYS_ALIGNED, counts.aligned - std::min(unequal, counts.ambiguous),
              std::min(unequal, counts.ambiguous));
        claim(PAIRALIGN_SAYS_GAP_OPENINGS, counts.openings, 0);
        claim(PAIRALIGN_SAYS_GAP_RESIDUES, counts.gaps, 0);
        claim(PAIRALIGN_SAYS_EDITS, unequal + counts.gaps - counts.both_ambiguous, counts.both_ambiguous);
        const int64_t shorter = std::min(lengths[0], lengths[1]);
        const int64_t longer = std::max(lengths[0], lengths[1]);
        rate(PAIRALIGN_SAYS_IDENTITY, 1, counts.matches, counts.both_ambiguous, counts.columns);
        rate(PAIRALIGN_SAYS_PER_CENT_IDENTITY, 100, counts.matches, counts.both_ambiguous, counts.columns);
        rate(PAIRALIGN_SAYS_IDENTITY_ALIGNED, 1, counts.matches, counts.both_ambiguous, counts.aligned);
        rate(PAIRALIGN_SAYS_PER_CENT_ALIGNED, 100, counts.matches, counts.both_ambiguous, counts.aligned);
        rate(PAIRALIGN_SAYS_IDENTITY_SHORTER, 1, counts.matches, counts.both_ambiguous, shorter);
        rate(PAIRALIGN_SAYS_IDENTITY_LONGER, 1, counts.matches, counts.both_ambiguous, longer);
        const int64_t more = counts.both_ambiguous, internal = counts.columns - counts.at_ends;
        const int64_t different = unequal + counts.openings;
        rate(PAIRALIGN_SAYS_IDENTITY_INTERNAL, 1, counts.matches, more, internal);
        const int64_t same = counts.columns > 0 ? std::max<int64_t>(longer - different, 0) : 0;
        rate(PAIRALIGN_SAYS_IDENTITY_MBL, 1, same, more, longer);
        rate(PAIRALIGN_SAYS_IDENTITY_FULL, 1, counts.matches, more, shorter + longer - counts.aligned);
        rate(PAIRALIGN_SAYS_IDENTITY_MEAN, 2, counts.matches, more, shorter + longer);
        rate(PAIRALIGN_SAYS_PER_CENT_GAPS, 100, counts.gaps, 0, counts.columns);
        // vsearch takes an ambiguous residue for a match of all that it may be.
        const int64_t maybe = std::min(unequal, counts.ambiguous);
        claim(PAIRALIGN_SAYS_EDITS_INTERNAL, unequal + counts.gaps - counts.at_ends - maybe, maybe);
        check_coverages(lengths, aligned);
        if (scale == 0 || !counts.scored) return;
        // BLAST takes X opposite X for a match, and so for positive.
        claim(PAIRALIGN_SAYS_POSITIVES, counts.positives, counts.both_ambiguous);
        rate(PAIRALIGN_SAYS_PER_CENT_POSITIVES, 100, counts.positives, counts.both_ambiguous, counts.columns);
        check_score(counts.score, scale);
    }

    // Those of all columns; or, if it may be one, of a local alignment in them; null: costs are not known.
    void check_edits_of_part(const Counts& counts, bool may_be_part, const LocalParts* parts) {
        const int64_t all = counts.columns - counts.matches, least = all - counts.both_ambiguous;
        int64_t fewest = least, most = all;
        if (may_be_part && value(PAIRALIGN_SAYS_EDITS_OF_PART) < static_cast<double>(least)) {
            if (parts == nullptr) fewest = counts.gaps;
            else if (!parts->edits(fewest, most)) fewest = least, most = all;
        }
        claim(PAIRALIGN_SAYS_EDITS_OF_PART, fewest, most - fewest);
    }

    // Residues of the spans by residues; -1: how many is not said.
    void check_coverages(const int64_t (&lengths)[2], const int64_t (&aligned)[2]) {
        for (int side = 0; side < 2; ++side) {
            const int64_t least = std::max<int64_t>(aligned[side], 0);
            const int64_t more = aligned[side] < 0 ? lengths[side] : 0;
            rate(PAIRALIGN_SAYS_QUERY_COVERAGE + side, 1, least, more, lengths[side]);
            if (side == 1) continue;
            rate(PAIRALIGN_SAYS_PER_CENT_COVERAGE, 100, least, more, lengths[0]);
            rate(PAIRALIGN_SAYS_PER_CENT_COVERAGES, 100, least, lengths[0] - least, lengths[0]);
        }
    }

    // Numbers that no alignment of these sequences can have, wherever it lies.
    void check_possible(const int64_t (&lengths)[2]) {
        const int64_t least = std::min(lengths[0], lengths[1]), all = lengths[0] + lengths[1];
        for (const int number : {PAIRALIGN_SAYS_MATCHES, PAIRALIGN_SAYS_MISMATCHES, PAIRALIGN_SAYS_ALIGNED,
                                 PAIRALIGN_SAYS_POSITIVES})
            between(number, 0, least);
        for (const int number : {PAIRALIGN_SAYS_COLUMNS, PAIRALIGN_SAYS_GAP_OPENINGS,
                                 PAIRALIGN_SAYS_GAP_RESIDUES, PAIRALIGN_SAYS_EDITS})
            between(number, 0, all);
        for (const int number :
             {PAIRALIGN_SAYS_IDENTITY, PAIRALIGN_SAYS_IDENTITY_ALIGNED, PAIRALIGN_SAYS_IDENTITY_SHORTER,
              PAIRALIGN_SAYS_IDENTITY_LONGER, PAIRALIGN_SAYS_IDENTITY_INTERNAL, PAIRALIGN_SAYS_IDENTITY_MBL,
              PAIRALIGN_SAYS_IDENTITY_FULL, PAIRALIGN_SAYS_IDENTITY_MEAN})
            rate(number, 1, 0, 1, 1);
        for (const int number : {PAIRALIGN_SAYS_PER_CENT_IDENTITY, PAIRALIGN_SAYS_PER_CENT_ALIGNED,
                                 PAIRALIGN_SAYS_PER_CENT_GAPS, PAIRALIGN_SAYS_PER_CENT_POSITIVES})
            rate(number, 100, 0, 1, 1);
    }

    // A record without columns: its counts must agree with each other and with its spans. `residues` of both
    // spans, of which `ambiguous` may count as matches or not.
    void check_counts(const int64_t (&residues)[2], const int64_t (&lengths)[2], int64_t ambiguous) {
        const int64_t most = std::min(residues[0], residues[1]);
        between(PAIRALIGN_SAYS_MATCHES, 0, most);
        between(PAIRALIGN_SAYS_MISMATCHES, 0, most);
        if (record_.trimmed) return;
        check_coverages(lengths, residues);
        const int64_t columns = record_.says[PAIRALIGN_SAYS_COLUMNS];
        if (columns == PAIRALIGN_UNSAID) return;
        between(PAIRALIGN_SAYS_COLUMNS, std::max(residues[0], residues[1]), residues[0] + residues[1]);
        if (faults_.finding->faults != 0) return;
        const int64_t aligned = residues[0] + residues[1] - columns, gaps = columns - aligned;
        between(PAIRALIGN_SAYS_GAP_RESIDUES, gaps, gaps);
        between(PAIRALIGN_SAYS_GAP_OPENINGS, (columns > residues[0]) + (columns > residues[1]), gaps);
        between(PAIRALIGN_SAYS_ALIGNED, aligned, aligned);
        between(PAIRALIGN_SAYS_MATCHES, 0, aligned);
        rate(PAIRALIGN_SAYS_PER_CENT_GAPS, 100, gaps, 0, columns);
        check_matches(lengths, columns, aligned, ambiguous);
    }

private:
    // Matches as each number says them: all must be one number, and with mismatches the columns of two
    // residues.
    void check_matches(const int64_t (&lengths)[2], int64_t columns, int64_t aligned, int64_t ambiguous) {
        const double both = static_cast<double>(lengths[0]) + static_cast<double>(lengths[1]);
        const struct {
            int number;
            double factor, whole;
        } known[] = {
            {PAIRALIGN_SAYS_MATCHES, 1, 1},
            {PAIRALIGN_SAYS_MISMATCHES, -1, 1},
            {PAIRALIGN_SAYS_IDENTITY, 1, static_cast<double>(columns)},
            {PAIRALIGN_SAYS_PER_CENT_IDENTITY, 100, static_cast<double>(columns)},
            {PAIRALIGN_SAYS_IDENTITY_ALIGNED, 1, static_cast<double>(aligned)},
            {PAIRALIGN_SAYS_PER_CENT_ALIGNED, 100, static_cast<double>(aligned)},
            {PAIRALIGN_SAYS_IDENTITY_SHORTER, 1, static_cast<double>(std::min(lengths[0], lengths[1]))},
            {PAIRALIGN_SAYS_IDENTITY_LONGER, 1, static_cast<double>(std::max(lengths[0], lengths[1]))},
            {PAIRALIGN_SAYS_IDENTITY_FULL, 1, both - static_cast<double>(aligned)},
            {PAIRALIGN_SAYS_IDENTITY_MEAN, 2, both},
        };
        double low = 0, high = static_cast<double>(aligned);
        for (const auto& [number, factor, whole] : known) {
            if (record_.says[number] == PAIRALIGN_UNSAID) continue;
            const double unit = whole == 1 ? 0 : std::pow(10.0, -record_.decimals[number]);
            double least = whole * (value(number) - unit) / factor,
                   most = whole * (value(number) + unit) / factor;
            if (factor < 0) {
                least += static_cast<double>(aligned - ambiguous);
                most += static_cast<double>(aligned);
            }
            low = std::max(low, least);
            high = std::min(high, most);
            if (std::ceil(low - 1e-6) > std::floor(high + 1e-6))
                return faults_.blame(PAIRALIGN_FAULT_COUNTS, value(number), static_cast<double>(aligned));
        }
    }

    void between(int number, int64_t least, int64_t most) { claim(number, least, most - least); }

    // A count from `least` to `least + more`.
    void claim(int number, int64_t least, int64_t more) {
        if (record_.says[number] == PAIRALIGN_UNSAID) return;
        const double said = value(number), low = static_cast<double>(least);
        const double high = static_cast<double>(least + more);
        if (said == std::floor(said) && said >= low && said <= high) return;
        faults_.blame(PAIRALIGN_FAULT_CLAIM + number, said, said > low ? high : low);
    }

    // A share of `part` to `part + more` in `whole`: programs round its last digit, or cut behind it.
    void rate(int number, int factor, int64_t part, int64_t more, int64_t whole) {
        if (record_.says[number] == PAIRALIGN_UNSAID) return;
        const double unit = std::pow(10.0, -record_.decimals[number]) * (1 - 1e-9);
        const double said = value(number);
        const double divisor = static_cast<double>(std::max<int64_t>(whole, 1));
        const double low = factor * static_cast<double>(part) / divisor;
        const double high = factor * static_cast<double>(part + more) / divisor;
        // Of a share that has no more digits there is nothing to cut.
        if (said > low - unit && said <= high + unit / 2 + 1e-9) return;
        faults_.blame(PAIRALIGN_FAULT_CLAIM + number, said, said > high ? high : low);
    }

    // Exact, but for digits that the file leaves out.
    void check_score(int64_t raw, int64_t scale) {
        if (record_.says[PAIRALIGN_SAYS_SCORE] == PAIRALIGN_UNSAID) return;
        int64_t unit = 1;
        for (int k = 0; k < record_.decimals[PAIRALIGN_SAYS_SCORE]; ++k) unit *= 10;
        const __int128 difference = static_cast<__int128>(record_.says[PAIRALIGN_SAYS_SCORE]) * scale -
                                    static_cast<__int128>(raw) * unit;
        const __int128 size = difference < 0 ? -difference : difference;
        if (2 * size <= (unit < scale ? scale : 0)) return;
        faults_.blame(PAIRALIGN_FAULT_CLAIM + PAIRALIGN_SAYS_SCORE, value(PAIRALIGN_SAYS_SCORE),
                      static_cast<double>(raw) / static_cast<double>(scale));
    }

    double value(int number) const {
        return static_cast<double>(record_.says[number]) / std::pow(10.0, record_.decimals[number]);
    }

    const pairalign_record& record_;
    Faults& faults_;
};

}  // namespace pairalign
