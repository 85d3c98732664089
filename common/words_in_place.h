// Whether two sequences look similar, at a glance: of some words of one, how many the other has in place.
//
// WORDS words of RESIDUES residues begin at even distances in the row sequence. Word w is in place when it is
// in the column sequence at most `near` residues from where it is expected, as far into it as into the row
// sequence. With few gaps the share of words in place is about the eighth power of the identity.
//
// Shared by cpu/pruned/words_in_place.h and cuda/pruned/align.cu; pairalign/sequences/residues.py has the
// numbers, too.
#pragma once

#ifdef __CUDACC__
#define WORDS_INLINE __device__ __forceinline__
#else
#define WORDS_INLINE inline
#endif

struct WordsInPlace {
    static constexpr int WORDS = 32, RESIDUES = 8;
    static constexpr int SIMILAR = WORDS / 4;   // so many in place: the sequences look similar
    static constexpr int NEAR = 48;             // gaps move words that far
    static constexpr int NEAR_AFTER_END = 300;  // where an end is missing, all that follows is moved

    // Where word w begins in the row sequence, and where in the column sequence it is expected.
    static WORDS_INLINE int start(int w, int rows) { return int((long long)(rows - RESIDUES) * w / WORDS); }
    static WORDS_INLINE int expected(int start, int rows, int columns) {
        return int((long long)start * columns / rows);
    }
};
