/* All pairs of a set through one parasail kernel, as a C program would do it: a profile a row, used
 * for every column after it. Called from Python this would be up to 30% slower for pairs of 250
 * letters, which would flatter the comparison. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "parasail.h"

/* Scores of the pairs i < j, row by row, to `scores`. With want_cigar the CIGAR of every pair is made
 * and copied to one growing array, which is what pairalign does too; *runs is how many there are.
 * Returns 0, or 1 when there is no such kernel, 2 without memory. */
int all_pairs(const char *kernel, const char *matrix_name, int gap_open, int gap_extend, int sequences,
              const char *letters, const int64_t *offsets, int want_cigar, int32_t *scores, int64_t *runs) {
    const parasail_matrix_t *matrix = parasail_matrix_lookup(matrix_name);
    parasail_pfunction_t *align = parasail_lookup_pfunction(kernel);
    parasail_pcreator_t *create = parasail_lookup_pcreator(kernel);
    if (!matrix || !align || !create) return 1;
    size_t used = 0, room = 1 << 16;
    uint32_t *all_runs = malloc(room * sizeof(uint32_t));
    for (int i = 0; i + 1 < sequences; i++) {
        const char *query = letters + offsets[i];
        int query_length = (int)(offsets[i + 1] - offsets[i]);
        parasail_profile_t *profile = create(query, query_length, matrix);
        for (int j = i + 1; j < sequences; j++) {
            const char *target = letters + offsets[j];
            int target_length = (int)(offsets[j + 1] - offsets[j]);
            parasail_result_t *result = align(profile, target, target_length, gap_open, gap_extend);
            *scores++ = parasail_result_get_score(result);
            if (want_cigar) {
                parasail_cigar_t *cigar =
                    parasail_result_get_cigar(result, query, query_length, target, target_length, matrix);
                if (used + (size_t)cigar->len > room) {
                    room = 2 * room + (size_t)cigar->len;
                    all_runs = realloc(all_runs, room * sizeof(uint32_t));
                    if (!all_runs) return 2;
                }
                memcpy(all_runs + used, cigar->seq, (size_t)cigar->len * sizeof(uint32_t));
                used += (size_t)cigar->len;
                parasail_cigar_free(cigar);
            }
            parasail_result_free(result);
        }
        parasail_profile_free(profile);
    }
    free(all_runs);
    *runs = (int64_t)used;
    return 0;
}
