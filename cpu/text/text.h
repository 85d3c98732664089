// Text of alignments, formatted from flat columns: a C++ file a format, or a few that are alike.
//
// Contract
//   The caller describes a slab of pairs once (pairalign_text) and submits it to a queue
//   (text_queue.h), whose threads cut it into pieces and format them (text_plan.h). The text of a
//   pair depends on that pair and its number alone.
//   Memory outside the given arrays is neither read nor written, even when a CIGAR contradicts
//   the spans beside it: such a pair is reported instead.
//   The files themselves (header, footer, order, compression) are the business of pairalign/formats.
//   The ctypes declarations are in pairalign/formats/text.py and must be changed with this file.
#pragma once

#include <cstdint>

#include "../export.h"

// A format of files. A C++ file defines it and exports it as pairalign_format_NAME (text_format.h), a Python
// file of pairalign/formats writes its files; nothing else knows the formats one by one.
struct pairalign_text_format;

// How two reads overlap, see pairalign/reads/overlap_kinds.py.
enum pairalign_overlap_kind : uint8_t {
    PAIRALIGN_DOVETAIL = 1,
    PAIRALIGN_CONTAINED = 2,  // the query in the target
    PAIRALIGN_CONTAINS = 3,   // the target in the query
    PAIRALIGN_INTERNAL = 4,
};

// What lines have besides, or in another way: bits of `pairalign_text.tags`.
enum pairalign_tag : int32_t {
    PAIRALIGN_TAG_TP = 1,       // PAF: primary
    PAIRALIGN_TAG_CS = 2,       // PAF: minimap2's traceback
    PAIRALIGN_TAG_MD = 4,       // SAM: the target's residues where the query's differ
    PAIRALIGN_PLAIN_CIGAR = 8,  // PAF, SAM: M for = and X
    PAIRALIGN_TAG_PP = 16,      // PAF, SAM: how sure each column is
};

// What a chosen column shows; the order is that of pairalign/alignments/fields.py.
enum pairalign_field : int32_t {
    PAIRALIGN_QUERY,
    PAIRALIGN_TARGET,
    PAIRALIGN_SCORE,
    PAIRALIGN_BITS,
    PAIRALIGN_EVALUE,
    PAIRALIGN_IDENTITY,          // the fractions: by columns,
    PAIRALIGN_IDENTITY_ALIGNED,  // by columns without gaps,
    PAIRALIGN_IDENTITY_SHORTER,  // by residues of the shorter sequence
    PAIRALIGN_IDENTITY_LONGER,   // and of the longer
    PAIRALIGN_COLUMNS,
    PAIRALIGN_MATCHES,
    PAIRALIGN_MISMATCHES,
    PAIRALIGN_GAP_OPENINGS,
    PAIRALIGN_GAP_RESIDUES,
    PAIRALIGN_POSITIVES,  // aligned pairs of residues with a positive score
    PAIRALIGN_QUERY_LENGTH,
    PAIRALIGN_QUERY_START,
    PAIRALIGN_QUERY_END,
    PAIRALIGN_QUERY_COVERAGE,  // residues in the span by residues
    PAIRALIGN_TARGET_LENGTH,
    PAIRALIGN_TARGET_START,
    PAIRALIGN_TARGET_END,
    PAIRALIGN_TARGET_COVERAGE,
    PAIRALIGN_CIGAR,
    PAIRALIGN_QUERY_ALIGNED,  // rows of the aligned part
    PAIRALIGN_TARGET_ALIGNED,
    PAIRALIGN_PERCENT_IDENTITY,   // BLAST's: per cent with 3 decimals,
    PAIRALIGN_PERCENT_POSITIVES,  // with 2,
    PAIRALIGN_PERCENT_COVERAGE,   // and whole, of the query by this alignment
    PAIRALIGN_QUERY_FIRST,        // from 1, inclusive
    PAIRALIGN_TARGET_FIRST,
    PAIRALIGN_IDENTITY_INTERNAL,  // by columns that are not in a gap at an end
    PAIRALIGN_IDENTITY_MBL,       // 1 - mismatches and gaps by residues of the longer sequence
    PAIRALIGN_IDENTITY_FULL,      // by columns, one for each residue that is not aligned, anywhere
    PAIRALIGN_IDENTITY_MEAN,      // by the mean of both lengths
    PAIRALIGN_CONFIDENCE,         // how sure each column is, a mark each
    PAIRALIGN_QUERY_LAST,         // from 1, inclusive; on strand - one of the two sequences counts down
    PAIRALIGN_TARGET_LAST,
    PAIRALIGN_STRAND,         // + or -
    PAIRALIGN_TARGET_STRAND,  // plus or minus
    PAIRALIGN_QUERY_TITLE,    // whole headers
    PAIRALIGN_TARGET_TITLE,
    PAIRALIGN_BTOP,                   // BLAST's traceback
    PAIRALIGN_PERCENT_COVERAGE_PAIR,  // of the query by all alignments of the pair
    PAIRALIGN_TIES,                   // optimal alignments
    PAIRALIGN_FIELDS,
};

// One SequenceSet, in input order. n = count.
struct pairalign_text_set {
    int64_t count;
    const char* names;            // first tokens one after the other, UTF-8
    const int64_t* name_offsets;  // [n + 1]
    const uint8_t* residues;      // original residues one after the other
    const uint8_t* codes;         // alphabet codes, beside `residues`
    const int64_t* offsets;       // [n + 1] of both
    int64_t most_name_bytes;      // of the longest first token
    const char* titles;           // whole headers, likewise; null: not shown
    const int64_t* title_offsets;
    const char* qualities;  // beside `residues`; null: not known, or not shown
};

// The columns of an Alignments object. n = pairs.
struct pairalign_text {
    pairalign_text_set queries;
    pairalign_text_set targets;
    int64_t pairs;
    const int32_t* query;          // [n] indices into the sets
    const int32_t* target;         // [n]
    const int32_t* raw_score;      // [n] score * 10^decimals
    const int32_t* query_start;    // [n] this and the next seven: null with scores only
    const int32_t* query_end;      // [n]
    const int32_t* target_start;   // [n]
    const int32_t* target_end;     // [n]
    const int32_t* matches;        // [n]
    const int32_t* mismatches;     // [n]
    const int32_t* gap_openings;   // [n]
    const int32_t* gap_residues;   // [n]
    const uint32_t* cigar;         // [total] length << 4 | op; null without CIGARs
    const int64_t* cigar_offsets;  // [n + 1]
    const int8_t* strand;          // [n] -1: the query is reverse-complemented; null: none is
    const uint8_t* kind;           // [n] pairalign_overlap_kind; null: not known
    const int32_t* matrix;         // [32][32] by code; for srspair
    const uint8_t* complement;     // [32] of codes; null: there is one strand
    const char* block_header;      // srspair: lines of the pair's header that are equal for all pairs
    int64_t block_header_bytes;
    const pairalign_text_format* format;
    const uint8_t* secondary;  // [n] SAM: not the first alignment of its query in the file; null: all are
    const int32_t* fields;     // [field_count] pairalign_field, of the formats that have chosen columns
    const double* bits;        // [n] bit scores; null: no statistics
    const double* log_evalue;  // [n] natural logarithms of E-values; null: no statistics
    const double* log_evalue_exchanged;  // [n] the same with the target as the query; null: not written
    const char* confidence;              // [columns of all] marks; null: not known
    const int64_t* confidence_offsets;   // [n + 1]
    const int32_t* query_covered;   // [n] residues in the spans of all alignments of the pair; null: there is
    const int32_t* target_covered;  // one alignment of each
    const uint32_t* ties;           // [n] optimal alignments; null: not shown
    int32_t field_count;
    int32_t decimals;  // 0..6
    int32_t whole;     // rows show whole sequences (free end gaps as gaps): not local
    int32_t dual;      // PAF: each pair a second time with query and target exchanged
    int32_t tags;      // bits of pairalign_tag
    int32_t
        along_query;  // tables: on strand - columns run along the query, as BLAST has them, not the target
};
