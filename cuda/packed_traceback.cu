// Alignments from the tiles that fill_pairs_per_group kept: traceback_pairs_per_thread.
//
// Computes   for every pair its alignment's spans, counts and CIGAR runs (last run first).
// In         the batch's items as filled, tiles, score, end_row, end_column; chunks[blocks]: an item
//            and some of its rows.
// Out        fields[FIELDS][pairs] (see Field), runs.
// Threads    A thread follows both pairs of a word: it computes the tile that each path is in
//            anew, with four flags a cell, walks through it, and goes on with the next tile.
// Shared     per letter and column the score of each half, times 16, 16 bits (profile_of_far_item
//            prepares the same in global memory where it is too large).
// After      Dohi et al. 2010; Huynh et al. (block diagonals); flags as in gpu-pairAlign.
//
// Values in a tile are taken relative to its corner and times 16, which leaves four bits for flags
// that the maxima carry along:
//
//   bits 3-2   where H comes from: 3 stop (local), 2 diagonal, else E or F: 1 the preferred of
//              them (E, or F in a transposed pair), 0 the other
//   bit 1      F of the next row continues a gap      (set in F's candidate that extends)
//   bit 0      E of the next column continues a gap   (set in E's candidate that extends)
//
// Of equal values the maximum takes the one with the larger flags, which is the tie rule.
#include "packed.cuh"

namespace {

enum Field { QUERY_START, QUERY_END, TARGET_START, TARGET_END, MATCHES, MISMATCHES, GAP_OPENINGS,
             GAP_LETTERS, RUNS, FIELDS };

constexpr int SCALE = 16;
constexpr int STOP = 3, DIAGONAL = 2;
static_assert(STOP * 4 + 3 < SCALE, "flags must stay below the values");

__device__ __forceinline__ word clean(word value) {
    return value & (WIDE ? 0xfffffff0u : 0xfff0fff0u);
}
__device__ __forceinline__ word select_bits(word mask, word a, word b) {
    return (a & mask) | (b & ~mask);
}

// Lower half from `a`, upper half from `b`.
__device__ __forceinline__ word merge(word a, word b) {
    return WIDE ? a : __byte_perm(a, b, 0x7610);
}

// Four columns' scores of both halves, from where each half's tile is.
template <typename Source>
__device__ __forceinline__ void four_scores(Source profile, int at_a, int at_b, word (&s)[4]) {
    if (WIDE) {
        const uint4 a = *(const uint4*)((const int*)profile + at_a);
        s[0] = a.x; s[1] = a.y; s[2] = a.z; s[3] = a.w;
    } else {
        const uint2 a = *(const uint2*)((const short*)profile + at_a);
        const uint2 b = *(const uint2*)((const short*)profile + at_b);
        s[0] = __byte_perm(a.x, b.x, 0x5410);
        s[1] = __byte_perm(a.x, b.x, 0x7632);
        s[2] = __byte_perm(a.y, b.y, 0x5410);
        s[3] = __byte_perm(a.y, b.y, 0x7632);
    }
}

// Where a half's path is: its tile, as pointers and numbers.
struct Place {
    const uint4* rowline;          // of the tile's first columns
    const uint2* border;           // of the band's first step
    const unsigned char* letters;  // of the band's first step
    word corner;                   // stored H at the corner of the tile, both halves of the word
    int column;                    // first column of the tile, padded
    int last_step;                 // of the band that is needed
    int row_of_step;               // i of the band's step 0
};

struct Task {
    const uint4* tiles;
    long long stride;   // of a band
    int group, strips, bands, early;
    int rows, padding_a, padding_b;
    int width;
    const unsigned char* letters;  // of the row sequence
};

// Columns of a tile.
__host__ __device__ constexpr int tile_columns(int columns) { return columns / parts_of(columns); }

// The tile of a padded column in a band.
template <int K>
__device__ __forceinline__ void place_at(const Params& p, const Task& task, int column, int band,
                                         Place& place) {
    constexpr int C = tile_columns(K);
    const int overall_lane = column / K;
    const int strip = overall_lane / task.group;
    const int lane = overall_lane - strip * task.group;
    const int part = (column - overall_lane * K) / C;
    const uint4* of_band = task.tiles + ((long long)strip * task.bands + band) * task.stride;
    const int border = K / 2 * task.group;
    place.column = overall_lane * K + part * C;
    place.rowline = of_band + rowline_at(part * (C / 2), lane, task.group);
    place.border = (const uint2*)(of_band + border) + border_at(part, lane, task.group);
    place.letters = task.letters - task.early - lane + band * BAND;
    place.row_of_step = band * BAND - task.early - lane + 1;
    if (band == 0) {
        place.corner = start_value(p, task.group, -lane - task.early, place.column - 1,
                                   task.padding_a, task.padding_b);
    } else {
        place.corner = place.border[(BAND - 1) * border_step(task.group) - 2 * task.stride].x;
    }
}

// Computes the tiles of both halves anew, up to the last step that either needs.
//
// With SEARCH: finds the cells whose H is `wanted` (stored value, per half) and keeps, per half, the
// first of them in the order of ties, in best_row and best_column (padded). Otherwise writes the
// flags, four columns a word: flags[step * K/4 + column/4], bits 4 * (column%4) of each half.
template <int C, bool SEARCH, typename Source>
__device__ __forceinline__ void refill(const Params& p, const Task& task, const Place& a,
                                       const Place& b, Source profile, word transposed,
                                       word* flags, word wanted, unsigned halves, int* best_row,
                                       int* best_column) {
    const int group = task.group;
    const word corner = merge(a.corner, b.corner);
    // stored value -> value of the tile: (value - corner + tile_bias) * SCALE. Rows that only the
    // other half needs may hold anything: no half may spill over into the other.
    const word offset = two(p.tile_bias - half_of(corner, 0),
                            p.tile_bias - (WIDE ? 0 : half_of(corner, 1)));
    const word e_flag = 4u * (both(1) ^ transposed), f_flag = 4u * transposed;  // PREFERRED << 2
    const word e_open = add_lanes(both(-SCALE * p.gap_open), e_flag);
    const word f_minus_e = WIDE ? f_flag - e_flag
        : two((int)(f_flag & 0xffffu) - (int)(e_flag & 0xffffu),
              (int)(f_flag >> 16) - (int)(e_flag >> 16));
    const word f_open = add_lanes(both(-SCALE * p.gap_open), f_flag);
    const word minus_extend = both(-SCALE * p.gap_extend);
    word floor = 0;
    if (LOCAL) {
        const int low = max(p.bias + p.tile_bias - half_of(corner, 0), 0) * SCALE + 15;
        const int high = WIDE ? 0 : max(p.bias + p.tile_bias - half_of(corner, 1), 0) * SCALE + 15;
        floor = two(low, high);
    }
    const auto value = [&](word from_a, word from_b) {
        return clean(add_lanes(merge(from_a, from_b), offset) << 4);
    };
    const word wanted_value = SEARCH ? clean(add_lanes(wanted, offset) << 4) : 0;

    word h[C], f[C];
#pragma unroll
    for (int k2 = 0; k2 < C / 2; ++k2) {
        const uint4 x = __ldcg(a.rowline + rowline_at(k2, 0, group));
        const uint4 y = WIDE ? x : __ldcg(b.rowline + rowline_at(k2, 0, group));
        h[2 * k2] = value(x.x, y.x);
        f[2 * k2] = value(x.y, y.y) + f_flag;
        h[2 * k2 + 1] = value(x.z, y.z);
        f[2 * k2 + 1] = value(x.w, y.w) + f_flag;
    }
    word diagonal_in = both(p.tile_bias * SCALE);
    const uint2* border_a = a.border;
    const uint2* border_b = b.border;
    const auto two_steps = [&](const uint2* from) {
        if (BORDER_BY_LANE) return __ldcg((const uint4*)from);
        const uint2 x = __ldcg(from), y = __ldcg(from + group);
        return make_uint4(x.x, x.y, y.x, y.y);
    };
    const int last = WIDE ? a.last_step : max(a.last_step, b.last_step);

    const auto row = [&](int step, int letter_a, int letter_b, word h_in, word e) {
        word diagonal = diagonal_in;
        diagonal_in = h_in;
        const int at_a = letter_a * task.width + a.column;
        const int at_b = letter_b * task.width + b.column + (WIDE ? 0 : p.letters * task.width);
        word row_best = 0, previous = 0;
#pragma unroll
        for (int k4 = 0; k4 < C / 4; ++k4) {
            word s[4], z[4];
            four_scores(profile, at_a + 4 * k4, at_b + 4 * k4, s);
#pragma unroll
            for (int q = 0; q < 4; ++q) {
                const int k = 4 * k4 + q;
                const word t = add_lanes(diagonal, s[q]);  // flagged DIAGONAL by the profile
                diagonal = h[k];
                word full = maximum(t, e, f[k]);
                if (LOCAL) full = maximum(full, floor);
                h[k] = clean(full);
                const word e_extends = e | both(1), f_extends = f[k] | both(2);
                if (LOCAL) {
                    const word opened = add_lanes(h[k], e_open);
                    e = add_maximum(e_extends, minus_extend, opened);
                    f[k] = add_maximum(f_extends, minus_extend, add_lanes(opened, f_minus_e));
                } else {
                    e = add_maximum(h[k], e_open, e_extends);
                    f[k] = add_maximum(h[k], f_open, f_extends);
                }
                if (SEARCH) {
                    if (q & 1) row_best = maximum(row_best, previous, h[k]);
                    else previous = h[k];
                } else {
                    z[q] = select_bits(both(3), select_bits(both(1), e, f[k]), full);
                }
            }
            if (!SEARCH) {
                const word low = select_bits(both(0x000f), z[0], z[1] << 4);
                const word high = select_bits(both(0x000f), z[2], z[3] << 4);
                flags[step * (C / 4) + k4] = select_bits(both(0x00ff), low, high << 8);
            }
        }
        if (SEARCH) {
#pragma unroll
            for (int half = 0; half < PAIRS; ++half) {
                const Place& place = half ? b : a;
                const int i = place.row_of_step + step;
                const int want_half = half_of(wanted_value, half);
                if (!(halves >> half & 1) || i < 1 || i > task.rows ||
                    half_of(row_best, half) != want_half)
                    continue;
                const bool row_first = half_of(transposed, half) != 0;
#pragma unroll
                for (int k = C - 1; k >= 0; --k) {
                    const int column = place.column + k;
                    if (half_of(h[k], half) != want_half) continue;
                    const bool better = row_first
                        ? i < best_row[half] || (i == best_row[half] && column < best_column[half])
                        : column < best_column[half] ||
                              (column == best_column[half] && i < best_row[half]);
                    if (better) {
                        best_row[half] = i;
                        best_column[half] = column;
                    }
                }
            }
        }
    };
    // What comes from the left is loaded two steps ahead: it is a long way to fetch.
    const unsigned char *letters_a = a.letters, *letters_b = b.letters;
    uint4 next_a, next_b;
    int next_letters[4];
    const auto fetch = [&]() {
        next_a = two_steps(border_a);
        next_b = WIDE ? next_a : two_steps(border_b);
        border_a += 2 * border_step(group);
        border_b += 2 * border_step(group);
        next_letters[0] = letters_a[0];
        next_letters[1] = WIDE ? 0 : letters_b[0];
        next_letters[2] = letters_a[1];
        next_letters[3] = WIDE ? 0 : letters_b[1];
        letters_a += 2;
        letters_b += 2;
    };
    fetch();
#pragma unroll 1
    for (int step = 0; step <= last; step += 2) {
        const word h_0 = value(next_a.x, next_b.x), e_0 = value(next_a.y, next_b.y) + e_flag;
        const word h_1 = value(next_a.z, next_b.z), e_1 = value(next_a.w, next_b.w) + e_flag;
        const int a_0 = next_letters[0], b_0 = next_letters[1];
        const int a_1 = next_letters[2], b_1 = next_letters[3];
        if (step + 2 <= last) fetch();
        row(step, a_0, b_0, h_0, e_0);
        row(step + 1, a_1, b_1, h_1, e_1);
    }
}

// What a path does in a cell, and the state that it is in when it comes to the next one.
enum Move { DIAGONALLY = 0, IN_E = 1, IN_F = 2, STOPS = 3 };
static_assert(IN_E == 1 && IN_F == 2, "they are the masks of the flags that continue them");

// A half's path so far.
struct Path {
    int i;        // row letters before the cell to look at, the cell's included
    int column;   // padded column of that cell
    int state;    // Move with which the path came to it
    bool active;
    int operation;  // of the run being collected; 0: none
    int length;
    int diagonals, matches, openings;
    unsigned int* run;  // where the next run goes
};

__device__ __forceinline__ void take(Path& path, int operation, int length, bool want_runs) {
    if (operation != path.operation) {
        if (path.length) {
            if (want_runs) *path.run = (unsigned)path.length << 4 | (unsigned)path.operation;
            ++path.run;
        }
        path.openings += operation <= 2;
        path.operation = operation;
        path.length = 0;
    }
    path.length += length;
}

// Entry [half][letter][column]: the stored score times SCALE, flagged as diagonal.
__device__ __forceinline__ void fill_profile(const Params& p, const int4 item, int width,
                                             int padding_a, int padding_b, void* profile) {
    const int padding_letter = p.letters - 1;
    for (int half = 0; half < PAIRS; ++half) {
        const int padding = half ? padding_b : padding_a;
        const long long start = p.column_starts[item.x + (half < item.w ? half : 0)];
        for (int column = threadIdx.x; column < width; column += blockDim.x) {
            const int at = column - padding;
            const int of_column = at < 0 ? padding_letter : p.column_letters[start + at];
            for (int letter = 0; letter < p.letters; ++letter) {
                const int entry = p.table[letter * LETTERS + of_column] * SCALE + DIAGONAL * 4;
                const int to = (half * p.letters + letter) * width + column;
                if (WIDE) ((int*)profile)[to] = entry;
                else ((short*)profile)[to] = (short)entry;
            }
        }
    }
}

template <int K, bool FAR>
__device__ void traceback(const Params& p) {
    const int4 chunk = p.chunks[blockIdx.x];
    const int4 item = p.items[chunk.x];
    Task task;
    task.group = p.group;
    const int length_a = p.column_lengths[item.x];
    const int length_b = item.w == 2 ? p.column_lengths[item.x + 1] : 0;
    const int strip_columns = p.group * K;
    task.strips = (max(length_a, length_b) + strip_columns - 1) / strip_columns;
    task.width = task.strips * strip_columns;
    task.padding_a = task.width - length_a;
    task.padding_b = task.width - length_b;

    const void* profile;
    if (FAR) {
        profile = p.profiles + p.item_profiles[chunk.x];
    } else {
#if defined(PAIRALIGN_EMULATE)
        void* shared = emulated_shared_memory();
#else
        extern __shared__ uint4 shared[];
#endif
        profile = shared;
        fill_profile(p, item, task.width, task.padding_a, task.padding_b, (void*)shared);
        __syncthreads();
    }

    const int row = chunk.y + threadIdx.x;
    if (row >= chunk.z) return;
    task.rows = p.row_lengths[row];
    task.early = steps_of(task.rows, p.group) - (task.rows + p.group - 1);
    task.bands = bands_of(task.rows, p.group);
    task.stride = band_stride(p.group, K);
    task.tiles = p.tiles + p.item_tiles[chunk.x] +
        (long long)(p.bands_before[row - p.first_row] - p.bands_before[item.y - p.first_row]) *
            task.strips * task.stride;
    task.letters = p.row_letters + p.row_starts[row];
    const bool want_runs = p.want_runs != 0;

    Path path[2];
    int score[2];
    word transposed = 0, wanted = 0;
    unsigned halves = 0;
    int end_row[2], end_column[2];
    int only_band[2] = {-1, -1}, only_lane[2] = {0, 0};  // local: the only tile with the best cell
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        path[half].active = false;
        path[half].operation = path[half].length = 0;
        path[half].diagonals = path[half].matches = path[half].openings = 0;
        path[half].state = DIAGONALLY;
        path[half].i = path[half].column = 0;
        score[half] = 0;
        end_row[half] = end_column[half] = 1 << 30;
        const int column = item.x + half;
        const bool valid = half < PAIRS && half < item.w && (!p.triangular || row < column);
        if (!valid) continue;
        const long long pair = p.pair_of_row[row - p.first_row] + column;
        const int columns = half ? length_b : length_a;
        score[half] = p.score[pair];
        const bool traced = score[half] >= p.min_score && (GLOBAL || score[half] > 0);
        path[half].active = traced;
        if (!traced) {
            for (int field = 0; field < FIELDS; ++field) p.fields[field * p.pairs + pair] = 0;
            continue;
        }
        halves |= 1u << half;
        if (!p.triangular && columns > task.rows) transposed |= two(!half, half);
        path[half].run = p.runs + (row - p.first_row) * p.slots_of_row +
            p.runs_of_column[column - p.first_column];
        if (GLOBAL) {
            end_row[half] = task.rows;
            end_column[half] = task.width - 1;
        }
        if (LOCAL) {
            only_band[half] = p.end_row[pair];
            only_lane[half] = p.end_column[pair];
        }
        if (SEMIGLOBAL) {
            end_row[half] = p.end_row[pair];
            end_column[half] = p.end_column[pair] - 1 + (half ? task.padding_b : task.padding_a);
        }
    }
    if (!halves) return;

    Place place[2];
    constexpr int C = tile_columns(K), PARTS = parts_of(K);
    word flags[BAND * C / 4];
    const auto not_idle = [&](int half) { return halves >> half & 1; };

    if (LOCAL) {
        // Tiles whose best is the pair's score: their cells decide where the alignment ends.
        wanted = two(score[0] + p.bias, score[1] + p.bias);
        const int tiles = task.strips * task.bands * task.group * PARTS;
        int next[2] = {0, 0}, stop[2] = {tiles, tiles};
#pragma unroll
        for (int half = 0; half < PAIRS; ++half) {
            if (!not_idle(half) || only_band[half] < 0) continue;
            next[half] = (only_band[half] * task.group + only_lane[half]) * PARTS;
            stop[half] = next[half] + PARTS;
        }
        for (;;) {
            bool found[2] = {false, false};
#pragma unroll
            for (int half = 0; half < PAIRS; ++half) {
                if (!not_idle(half)) continue;
                for (; next[half] < stop[half] && !found[half]; ++next[half]) {
                    const int at = next[half] / PARTS, part = next[half] % PARTS;
                    const int overall_band = at / task.group, lane = at - overall_band * task.group;
                    const word best = ((const word*)(task.tiles + overall_band * task.stride +
                        (K / 2 + PARTS * BAND / 2) * task.group))[lane];
                    if (half_of(best, half) != half_of(wanted, half)) continue;
                    const int strip = overall_band / task.bands;
                    const int band = overall_band - strip * task.bands;
                    const int column = (strip * task.group + lane) * K + part * C;
                    if (!half_of(transposed, half) && column > end_column[half]) continue;
                    place_at<K>(p, task, column, band, place[half]);
                    place[half].last_step =
                        min(BAND - 1, steps_of(task.rows, task.group) - 1 - band * BAND);
                    found[half] = true;
                }
            }
            if (!found[0] && !found[1]) break;
            if (!found[0]) place[0] = place[1];
            if (!found[1]) place[1] = place[0];
            refill<C, true>(p, task, place[0], place[1], profile, transposed, flags, wanted,
                            (found[0] ? 1u : 0u) | (found[1] ? 2u : 0u), end_row, end_column);
        }
    }

#pragma unroll
    for (int half = 0; half < PAIRS; ++half) {
        if (!path[half].active) continue;
        path[half].i = end_row[half];
        path[half].column = end_column[half];
    }

    bool first = true;
    while (path[0].active || path[1].active) {
#pragma unroll
        for (int half = 0; half < PAIRS; ++half) {
            if (!path[half].active) {
                place[half].last_step = 0;
                continue;
            }
            const int lane = path[half].column / K % task.group;
            const int step = path[half].i - 1 + task.early + lane;
            place_at<K>(p, task, path[half].column, step / BAND, place[half]);
            place[half].last_step = step % BAND;
        }
        if (first) {  // a half without a path computes along with the other
            if (!path[0].active) place[0] = place[1];
            if (!path[1].active) place[1] = place[0];
            first = false;
        }
        refill<C, false>(p, task, place[0], place[1], profile, transposed, flags, 0, 0, end_row,
                         end_column);
#pragma unroll
        for (int half = 0; half < PAIRS; ++half) {
            Path& walker = path[half];
            if (!walker.active) continue;
            const int padding = half ? task.padding_b : task.padding_a;
            const bool row_is_query =
                !p.triangular || p.row_order[row] < p.column_order[item.x + half];
            const int e_operation = row_is_query ? 2 : 1, f_operation = row_is_query ? 1 : 2;
            const bool swapped = half_of(transposed, half) != 0;
            const unsigned char* column_letters =
                p.column_letters + p.column_starts[item.x + half] - padding;
            // The move that each origin of H means, two bits each, by the flag's value.
            const int moves = swapped ? STOPS << 6 | DIAGONALLY << 4 | IN_F << 2 | IN_E
                                      : STOPS << 6 | DIAGONALLY << 4 | IN_E << 2 | IN_F;
            int k = walker.column - place[half].column, step = place[half].last_step;
            for (;;) {
                const word of_four = flags[step * (C / 4) + (k >> 2)];
                const int cell = half_of(of_four, half) >> (4 * (k & 3)) & 15;
                const int move = cell & walker.state ? walker.state : moves >> (cell >> 2) * 2 & 3;
                if (LOCAL && move == STOPS) {
                    walker.active = false;
                    break;
                }
                int operation = move == IN_E ? e_operation : f_operation;
                if (move == DIAGONALLY) {
                    const int of_row = task.letters[walker.i - 1];
                    const int of_column = column_letters[walker.column];
                    const bool match = of_row == of_column && of_row < p.definite;
                    operation = match ? 7 : 8;
                    walker.matches += match;
                    ++walker.diagonals;
                }
                take(walker, operation, 1, want_runs);
                walker.state = move;
                if (move != IN_F) {
                    --walker.column;
                    --k;
                }
                if (move != IN_E) {
                    --walker.i;
                    --step;
                }
                if ((k | step) < 0 || walker.i == 0 || walker.column < padding) break;
            }
            if (walker.i == 0 || walker.column < padding) walker.active = false;
            if (walker.active) continue;
            int columns_before = walker.column - padding + 1;
            if (GLOBAL) {
                if (walker.i > 0) take(walker, f_operation, walker.i, want_runs);
                if (columns_before > 0) take(walker, e_operation, columns_before, want_runs);
                walker.i = columns_before = 0;
            }
            take(walker, 0, 0, want_runs);  // ends the last run
            const long long pair = p.pair_of_row[row - p.first_row] + item.x + half;
            int* fields = p.fields + pair;
            const int column_end = end_column[half] - padding + 1;
            const unsigned int* first_run = p.runs + (row - p.first_row) * p.slots_of_row +
                p.runs_of_column[item.x + half - p.first_column];
            fields[QUERY_START * p.pairs] = row_is_query ? walker.i : columns_before;
            fields[QUERY_END * p.pairs] = row_is_query ? end_row[half] : column_end;
            fields[TARGET_START * p.pairs] = row_is_query ? columns_before : walker.i;
            fields[TARGET_END * p.pairs] = row_is_query ? column_end : end_row[half];
            fields[MATCHES * p.pairs] = walker.matches;
            fields[MISMATCHES * p.pairs] = walker.diagonals - walker.matches;
            fields[GAP_OPENINGS * p.pairs] = walker.openings - 1;  // taking 0 counted as one
            fields[GAP_LETTERS * p.pairs] = end_row[half] - walker.i + column_end -
                                            columns_before - 2 * walker.diagonals;
            fields[RUNS * p.pairs] = (int)(walker.run - first_run);
        }
    }
}

}  // namespace

// Profiles of items that are too wide for shared memory, in global memory: a block an item.
extern "C" __global__ void __launch_bounds__(256) build_far_profiles(const Params p) {
    const int4 item = p.items[blockIdx.x];
    const int length_a = p.column_lengths[item.x];
    const int length_b = item.w == 2 ? p.column_lengths[item.x + 1] : 0;
    const int strip_columns = p.group * 32;
    const int width = (max(length_a, length_b) + strip_columns - 1) / strip_columns * strip_columns;
    fill_profile(p, item, width, width - length_a, width - length_b,
                 (void*)(p.profiles + p.item_profiles[blockIdx.x]));
}

// CIGAR runs of the batch's pairs, one after the other and first run first: a block a row.
//
// In         fields, runs as traceback leaves them; run_offsets[pairs].
// Out        gathered[total].
extern "C" __global__ void __launch_bounds__(256)
gather_runs(const Params p, const long long* run_offsets, unsigned int* gathered) {
    const int row = p.first_row + blockIdx.x;
    for (int n = threadIdx.x / 32; n < p.columns; n += blockDim.x / 32) {
        const int column = p.first_column + n;
        if (p.triangular && row >= column) continue;
        const long long pair = p.pair_of_row[blockIdx.x] + column;
        const int runs = p.fields[RUNS * p.pairs + pair];
        const unsigned int* from = p.runs + blockIdx.x * p.slots_of_row + p.runs_of_column[n];
        unsigned int* to = gathered + run_offsets[pair];
        for (int at = threadIdx.x % 32; at < runs; at += 32) to[at] = from[runs - 1 - at];
    }
}

#define ENTRY extern "C" __global__ void __launch_bounds__

ENTRY(256, 2) traceback_k8(const Params p) { traceback<8, false>(p); }
ENTRY(256, 2) traceback_k16(const Params p) { traceback<16, false>(p); }
ENTRY(128, 3) traceback_k20(const Params p) { traceback<20, false>(p); }
ENTRY(256, 2) traceback_k24(const Params p) { traceback<24, false>(p); }
ENTRY(128, 3) traceback_k28(const Params p) { traceback<28, false>(p); }
ENTRY(256, 2) traceback_k32(const Params p) { traceback<32, false>(p); }
ENTRY(256, 2) traceback_far_k32(const Params p) { traceback<32, true>(p); }
