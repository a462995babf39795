/* Attention over integers, with the bits of attention.py. All sums are exact integers: in float32, where they
   stay below 2^24, or in int32, where AVX-512 VNNI multiplies twice as many at a time. */

#include "passes.h"
#include "exact.h"

#include <string.h>

#define PROBABILITY 8192.0f /* attention.PROBABILITY */
#define LANES 16

typedef float f16 __attribute__((vector_size(64)));
typedef int32_t i16 __attribute__((vector_size(64)));

/* Keys become channels x keys, padded with zeros; values stay keys x channels. */
CLONES static void pack(const Heads *a, ptrdiff_t head, const Room *room) {
    ptrdiff_t width = a->heads * HEAD, padded = a->padded;
    float *restrict keys = room->keys, *restrict values = room->values;
    for (ptrdiff_t j = 0; j < padded; j++) {
        const int16_t *key = a->projected + j * 3 * width + width + head * HEAD, *value = key + width;
        for (int d = 0; d < HEAD; d++)
            keys[d * padded + j] = j < a->length ? key[d] : 0;
        for (int d = 0; d < HEAD && j < a->length; d++)
            values[j * HEAD + d] = value[d];
    }
}

CLONES static void score(const int16_t *const *queries, ptrdiff_t padded, const Room *room) {
    const float *keys = room->keys;
    float query[GROUP][HEAD];
    for (int q = 0; q < GROUP; q++)
        for (int d = 0; d < HEAD; d++)
            query[q][d] = queries[q][d];
    for (ptrdiff_t j = 0; j < padded; j += 2 * LANES) {
        f16 sums[GROUP][2] = {0};
        for (int d = 0; d < HEAD; d++) {
            f16 one, two;
            memcpy(&one, keys + d * padded + j, sizeof one);
            memcpy(&two, keys + d * padded + j + LANES, sizeof two);
            for (int q = 0; q < GROUP; q++) {
                sums[q][0] += query[q][d] * one;
                sums[q][1] += query[q][d] * two;
            }
        }
        for (int q = 0; q < GROUP; q++)
            for (int half = 0; half < 2; half++) {
                i16 whole = __builtin_convertvector(sums[q][half], i16);
                memcpy(room->scores + q * padded + j + half * LANES, &whole, sizeof whole);
            }
    }
}

CLONES static void mix(ptrdiff_t length, ptrdiff_t padded, const Room *room, int32_t mixed[GROUP][HEAD]) {
    const float *values = room->values, *shares = room->shares;
    f16 sums[GROUP][2] = {0};
    for (ptrdiff_t j = 0; j < length; j++) {
        f16 one, two;
        memcpy(&one, values + j * HEAD, sizeof one);
        memcpy(&two, values + j * HEAD + LANES, sizeof two);
        for (int q = 0; q < GROUP; q++) {
            sums[q][0] += shares[q * padded + j] * one;
            sums[q][1] += shares[q * padded + j] * two;
        }
    }
    for (int q = 0; q < GROUP; q++)
        for (int half = 0; half < 2; half++) {
            i16 whole = __builtin_convertvector(sums[q][half], i16);
            memcpy(mixed[q] + half * LANES, &whole, sizeof whole);
        }
}

/* Compiled for the oldest processor on purpose: one load after the other is faster than AVX's gather. */
static __attribute__((noinline)) int32_t look_up(int32_t *restrict places, ptrdiff_t count,
                                                 const int32_t *restrict table) {
    int32_t total = 0;
    for (ptrdiff_t at = 0; at < count; at++)
        total += places[at] = table[places[at]];
    return total;
}

/* Softmax in integers over one row of scores, which is overwritten. */
CLONES static void softmax(int32_t *restrict scores, float *restrict shares, const Heads *a, float sharpness) {
    ptrdiff_t length = a->length;
    float end = (float)(a->entries - 1);
    int32_t most = INT32_MIN;
    for (ptrdiff_t j = 0; j < length; j++)
        most = scores[j] > most ? scores[j] : most;
    for (ptrdiff_t j = 0; j < length; j++) {
        float place = (float)(most - scores[j]) * sharpness;
        place = place < end ? place : end;
        scores[j] = (int32_t)place;
    }
    float times = PROBABILITY / (float)look_up(scores, length, a->table);
    for (ptrdiff_t j = 0; j < length; j++)
        shares[j] = nearest((float)scores[j] * times);
}

static const Attender floats = {pack, score, mix};

void quintet_attend(const Heads *a, float *out, float *space) {
    const Attender *by = quintet_has_vnni() ? &quintet_vnni_attender : &floats;
    ptrdiff_t width = a->heads * HEAD, padded = a->padded;
    float *values = space + HEAD * padded, *shares = values + HEAD * padded;
    Room room = {space, values, shares, (int32_t *)(shares + GROUP * padded)};
    for (ptrdiff_t head = 0; head < a->heads; head++) {
        by->pack(a, head, &room);
        for (ptrdiff_t i = 0; i < a->queries; i += GROUP) {
            const int16_t *queries[GROUP];
            for (int q = 0; q < GROUP; q++) { /* past the end, the last query once more */
                ptrdiff_t row = i + q < a->queries ? i + q : a->queries - 1;
                queries[q] = a->projected + row * 3 * width + head * HEAD;
            }
            by->score(queries, padded, &room);
            for (int q = 0; q < GROUP; q++)
                softmax(room.scores + q * padded, room.shares + q * padded, a, a->sharpness[head]);
            int32_t mixed[GROUP][HEAD];
            by->mix(a->length, padded, &room, mixed);
            for (int q = 0; q < GROUP && i + q < a->queries; q++)
                for (int d = 0; d < HEAD; d++)
                    out[(i + q) * width + head * HEAD + d] = (float)mixed[q][d] * a->value_unit[head];
        }
    }
}
