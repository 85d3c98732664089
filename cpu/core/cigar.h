// From a path (steps, end to start) to CIGAR runs and the numbers of an alignment.
#pragma once

#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "batch.h"

namespace pairalign {

// Bit k: residues k of both sequences are equal and unambiguous (code < unambiguous). count <= 64 and both
// sequences must be readable for 16 bytes past `count`.
inline uint64_t equal_residues(const uint8_t* a, const uint8_t* b, int count, int unambiguous) {
    uint64_t mask = 0;
#ifdef __SSE2__
    const __m128i end = _mm_set1_epi8(static_cast<char>(unambiguous));
    for (int k = 0; k < count; k += 16) {
        const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a + k)),
                      y = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b + k)),
                      good = _mm_and_si128(_mm_cmpeq_epi8(x, y), _mm_cmplt_epi8(x, end));
        mask |= static_cast<uint64_t>(_mm_movemask_epi8(good)) << k;
    }
#else
    constexpr uint64_t EACH = 0x0101010101010101u, HIGH = 0x8080808080808080u;
    for (int k = 0; k < count; k += 8) {
        uint64_t x, y;
        memcpy(&x, a + k, 8);
        memcpy(&y, b + k, 8);
        // Codes are below 32, so no byte carries into the next.
        const uint64_t differ = ((x ^ y) & (EACH * 0x7f)) + EACH * 0x7f;
        const uint64_t ambiguous = (x & (EACH * 0x7f)) + EACH * static_cast<uint64_t>(128 - unambiguous);
        const uint64_t good = ~(differ | ambiguous) & HIGH;
        mask |= ((good >> 7) * 0x0102040810204080u >> 56) << k;
    }
#endif
    return count == 64 ? mask : mask & ((uint64_t{1} << count) - 1);
}

// Writes the CIGAR of a path and counts. `out` needs room for a run per column of the alignment; null
// counts only. Returns the number of runs. row_is_query decides what is an insertion.
inline int64_t write_cigar(const Path& path, const uint8_t* row, const uint8_t* column, int unambiguous,
                           bool row_is_query, uint32_t* out, Summary& summary) {
    const uint32_t operation_of[3] = {0, row_is_query ? INSERTION : DELETION,
                                      row_is_query ? DELETION : INSERTION};
    int32_t i = path.start_row, j = path.start_column;
    int64_t count = 0;
    for (int32_t r = path.run_count - 1; r >= 0; r--) {
        const uint32_t step = path.runs[r] & 3, length = path.runs[r] >> 2;
        if (step != DIAGONAL_STEP) {
            if (out) out[count] = length << 4 | operation_of[step];
            count++;
            summary.gap_openings++;
            summary.gap_residues += static_cast<int32_t>(length);
            (step == ROW_GAP ? i : j) += static_cast<int32_t>(length);
            continue;
        }
        uint32_t operation = 0, run = 0;
        int32_t matches = 0;
        for (uint32_t done = 0; done < length; done += 64) {
            const int chunk = static_cast<int>(length - done < 64 ? length - done : 64);
            uint64_t mask = equal_residues(row + i + done, column + j + done, chunk, unambiguous);
            if (!out) {
                matches += __builtin_popcountll(mask);
                continue;
            }
            for (int k = 0; k < chunk;) {
                const bool equal = mask & 1;
                const uint64_t change = equal ? ~mask : mask;
                int same = change ? __builtin_ctzll(change) : 64;
                if (same > chunk - k) same = chunk - k;
                const uint32_t next = equal ? EQUAL : DIFFERENT;
                if (next != operation) {
                    if (run) out[count++] = run << 4 | operation;
                    operation = next;
                    run = 0;
                }
                run += static_cast<uint32_t>(same);
                matches += equal ? same : 0;
                k += same;
                mask = same < 64 ? mask >> same : 0;
            }
        }
        if (out && run) out[count++] = run << 4 | operation;
        summary.matches += matches;
        summary.mismatches += static_cast<int32_t>(length) - matches;
        i += static_cast<int32_t>(length);
        j += static_cast<int32_t>(length);
    }
    return count;
}

}  // namespace pairalign
