// How lines of columns are read. The declarations for Python are in pairalign/alignments/alignment_records.py
// and must be changed with this file.
#pragma once

#include <cstdint>

#include "record.h"

// What a column holds; the order is that of ROLES in pairalign/alignments/alignment_records.py.
enum pairalign_role : int32_t {
    PAIRALIGN_ROLE_IGNORED,
    PAIRALIGN_ROLE_QUERY,
    PAIRALIGN_ROLE_TARGET,
    PAIRALIGN_ROLE_STRAND,
    PAIRALIGN_ROLE_QUERY_START,  // from 0
    PAIRALIGN_ROLE_QUERY_FIRST,  // from 1
    PAIRALIGN_ROLE_QUERY_END,    // after the last residue, from 0
    PAIRALIGN_ROLE_QUERY_LAST,   // the last residue, from 1
    PAIRALIGN_ROLE_TARGET_START,
    PAIRALIGN_ROLE_TARGET_FIRST,
    PAIRALIGN_ROLE_TARGET_END,
    PAIRALIGN_ROLE_TARGET_LAST,
    PAIRALIGN_ROLE_CIGAR,
    PAIRALIGN_ROLE_EXCHANGED_CIGAR,  // with the meanings of I and D exchanged
    PAIRALIGN_ROLE_QUERY_ROW,
    PAIRALIGN_ROLE_TARGET_ROW,
    PAIRALIGN_ROLE_BTOP,
    PAIRALIGN_ROLE_FLAG,       // SAM's
    PAIRALIGN_ROLE_SAM_CIGAR,  // says where the query's residues lie, too
    PAIRALIGN_ROLE_SAM_SEQUENCE,
    PAIRALIGN_ROLE_SAM_QUALITY,
    PAIRALIGN_ROLE_NEXT_NAME,  // of SAM's next read: its target, where it begins,
    PAIRALIGN_ROLE_NEXT_PLACE,
    PAIRALIGN_ROLE_TEMPLATE,  // and the length of both
    PAIRALIGN_ROLE_MAPPING_QUALITY,
    PAIRALIGN_ROLE_TARGET_STRAND,  // plus or minus, as the target's coordinates say
    PAIRALIGN_ROLE_REAL,           // any number
    PAIRALIGN_ROLE_EVALUE,         // none that is negative
    PAIRALIGN_ROLE_CONFIDENCE,     // a mark a column
    PAIRALIGN_ROLE_CLAIM,          // and one for each claim
};

// How lines are read.
struct pairalign_layout {
    const int32_t* roles;  // [columns]
    int32_t columns;
    int32_t quotes;    // whether names that have quotes are between quotes, as in our TSV
    int32_t tags;      // whether NM, AS, cg follow the columns as in PAF and SAM
    int32_t comment;   // lines that begin with this byte are not read; -1: there are none such
    int32_t program;   // whose SAM it is, of pairalign_program
    int32_t required;  // 1: all counts are known, as in formats whose columns are always the same; 2: and all
                       // other numbers
    int32_t along_query;  // on strand - columns run along the query, as BLAST has them, not along the target
};

// Programs whose SAM differs from what the specification says; the order is that of PROGRAMS in
// pairalign/alignments/alignment_records.py.
enum pairalign_program : int32_t {
    PAIRALIGN_ANY_PROGRAM,
    PAIRALIGN_DIAMOND,  // residues of the aligned part alone, without clips; ZS says where; AS has bits, ZR
                        // the score
    PAIRALIGN_VSEARCH,  // NM without gaps at ends; AS has an identity
};
