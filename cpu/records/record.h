// Records of alignment files: what a file says of an alignment, and what is found of it.
//
// Contract
//   Python reads a piece of a file as text; read_table.cpp makes records of its lines, read_rows.cpp of rows
//   of residues, Python of columns of Parquet. check.cpp compares each record with the sequences and scores
//   it; findings.cpp writes the table of what was found. Nothing outside of the given arrays is touched
//   whatever a file says. The declarations for Python are in pairalign/alignments/alignment_records.py and
//   must be changed with this file.
#pragma once

#include <cstdint>

#include "../export.h"

// What is wrong with a record; the order is that of KINDS in pairalign/alignments/alignment_records.py. 0:
// nothing is.
enum pairalign_fault : int32_t {
    PAIRALIGN_LEGAL,
    PAIRALIGN_FAULT_TRUNCATED,     // too few columns, or rows that are missing
    PAIRALIGN_FAULT_NUMBER,        // a number that cannot be read
    PAIRALIGN_FAULT_QUERY,         // a name that the queries do not have
    PAIRALIGN_FAULT_TARGET,        // or the targets
    PAIRALIGN_FAULT_STRAND,        // neither + nor -, or - of residues that have no complement
    PAIRALIGN_FAULT_QUERY_LENGTH,  // not the sequence's
    PAIRALIGN_FAULT_TARGET_LENGTH,
    PAIRALIGN_FAULT_QUERY_SPAN,  // outside of the sequence, or turned
    PAIRALIGN_FAULT_TARGET_SPAN,
    PAIRALIGN_FAULT_CIGAR,        // not a CIGAR, or runs of no residues
    PAIRALIGN_FAULT_QUERY_CIGAR,  // the CIGAR has more or fewer residues than the span
    PAIRALIGN_FAULT_TARGET_CIGAR,
    PAIRALIGN_FAULT_OPERATION,       // = on residues that differ, X on equal ones
    PAIRALIGN_FAULT_ROWS,            // of different lengths, or a gap opposite a gap
    PAIRALIGN_FAULT_QUERY_RESIDUES,  // residues that are not the sequence's
    PAIRALIGN_FAULT_TARGET_RESIDUES,
    PAIRALIGN_FAULT_ALIGNMENT,  // CIGAR, rows and traceback of a record differ
    PAIRALIGN_FAULT_MODE,       // spans that the mode does not allow
    PAIRALIGN_FAULT_TAG,      // a tag that cannot be read; from here on, what is not of the alignment itself
    PAIRALIGN_FAULT_HEADER,   // a target that the header does not have
    PAIRALIGN_FAULT_MD,       // SAM's MD is not that of the alignment
    PAIRALIGN_FAULT_QUALITY,  // of the residues: their number, or their characters
    PAIRALIGN_FAULT_MAPPING_QUALITY,
    PAIRALIGN_FAULT_MATE,         // SAM's next read
    PAIRALIGN_FAULT_COORDINATES,  // at the ends of rows
    PAIRALIGN_FAULT_BARS,         // between rows
    PAIRALIGN_FAULT_COUNTS,       // that contradict each other or the spans
    PAIRALIGN_FAULT_CLAIM,        // and one for each claim: its number is not true
};

// Numbers that a file may state; the order is that of CLAIMS in pairalign/alignments/alignment_records.py.
enum pairalign_claim : int32_t {
    PAIRALIGN_SAYS_QUERY_LENGTH,  // both have faults of their own
    PAIRALIGN_SAYS_TARGET_LENGTH,
    PAIRALIGN_SAYS_SCORE,
    PAIRALIGN_SAYS_MATCHES,
    PAIRALIGN_SAYS_MISMATCHES,
    PAIRALIGN_SAYS_COLUMNS,
    PAIRALIGN_SAYS_ALIGNED,  // columns without gaps
    PAIRALIGN_SAYS_GAP_OPENINGS,
    PAIRALIGN_SAYS_GAP_RESIDUES,
    PAIRALIGN_SAYS_EDITS,  // mismatches and gap residues: NM
    PAIRALIGN_SAYS_POSITIVES,
    PAIRALIGN_SAYS_IDENTITY,  // the rates: matches by columns,
    PAIRALIGN_SAYS_PER_CENT_IDENTITY,
    PAIRALIGN_SAYS_IDENTITY_ALIGNED,  // by columns without gaps,
    PAIRALIGN_SAYS_PER_CENT_ALIGNED,
    PAIRALIGN_SAYS_IDENTITY_SHORTER,  // by residues of the shorter sequence
    PAIRALIGN_SAYS_IDENTITY_LONGER,   // and of the longer
    PAIRALIGN_SAYS_PER_CENT_POSITIVES,
    PAIRALIGN_SAYS_QUERY_COVERAGE,  // residues of the span by residues
    PAIRALIGN_SAYS_TARGET_COVERAGE,
    PAIRALIGN_SAYS_IDENTITY_INTERNAL,  // by columns that are not in gaps at ends,
    PAIRALIGN_SAYS_IDENTITY_MBL,       // with a gap as one difference,
    PAIRALIGN_SAYS_IDENTITY_FULL,      // by columns of whole sequences,
    PAIRALIGN_SAYS_IDENTITY_MEAN,      // by the mean length
    PAIRALIGN_SAYS_EDITS_INTERNAL,     // edits without gaps at ends
    PAIRALIGN_SAYS_PER_CENT_GAPS,
    PAIRALIGN_SAYS_PER_CENT_COVERAGE,   // of the query by this record,
    PAIRALIGN_SAYS_PER_CENT_COVERAGES,  // and by all of its pair: no less
    PAIRALIGN_SAYS_EDITS_OF_PART,       // edits of all columns, or of a local alignment in them
    PAIRALIGN_SAYS_TIES,                // optimal alignments, which Python counts
    PAIRALIGN_CLAIMS,
};

inline constexpr int64_t PAIRALIGN_UNSAID = INT64_MIN;

// What a file says of an alignment. Places are bytes of the text, -1 bytes: there is none.
struct pairalign_record {
    int64_t number;      // of the records of the text, from 0
    int64_t line;        // of the text, from 0
    int64_t query_name;  // places of names
    int64_t target_name;
    int64_t spans[4];   // query_start, query_end, target_start, target_end, from 0; -1: not said
    int64_t first_run;  // place in the runs
    int64_t runs;       // how many; -1: no CIGAR
    int64_t rows[2];    // places of rows, residues and gaps, of the query and of the target
    int64_t row_bytes[2];
    int64_t residues;  // place of the query's residues in the order of the CIGAR (SAM)
    int64_t residue_bytes;
    int64_t clipped[2];  // of which are not in the CIGAR, before it and after it
    int64_t btop;        // place of a BLAST traceback
    int64_t btop_bytes;
    int64_t cs;  // and of minimap2's
    int64_t cs_bytes;
    int64_t md;  // of SAM's MD
    int64_t md_bytes;
    int64_t bars;  // of what stands between the rows
    int64_t bar_bytes;
    int64_t says[PAIRALIGN_CLAIMS];     // digits without the point; PAIRALIGN_UNSAID
    int8_t decimals[PAIRALIGN_CLAIMS];  // how many of the digits are behind the point
    int32_t query_name_bytes;
    int32_t target_name_bytes;
    int32_t query;  // input indices; -1: no such name
    int32_t target;
    int32_t turned;     // 0: none; 1: the query is reverse-complemented; 2: the target is
    int32_t fault;      // what the reader has found: the record is not looked at further
    int32_t trimmed;    // of pairalign_trimmed
    int32_t first;      // the first of `noticed` and `fault`
    uint64_t noticed;   // faults with which it is looked at further: bit 1 << fault
    double first_says;  // of `first`
    double first_is;
};

// What leaves out gaps at ends: counts, while spans have them (vsearch's tables), or spans, while rows show
// whole sequences (our FASTA).
enum pairalign_trimmed : int32_t { PAIRALIGN_UNTRIMMED, PAIRALIGN_TRIMMED_COUNTS, PAIRALIGN_TRIMMED_SPANS };

// What is found of a record.
struct pairalign_finding {
    int64_t score;    // raw
    int32_t scored;   // whether there is a score
    int32_t fault;    // the first one
    uint64_t faults;  // all of them: bit 1 << fault
    double says;      // of the first fault: what the record says,
    double is;        // and what is true
};
