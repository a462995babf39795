/* Products with exact int32 sums for x86 processors with AVX-512 VNNI: of int8 matrices, and those of attention.
   Everywhere else numkong multiplies matrices. Its kernels are exact too, but on these processors a third slower
   for our shapes. */

#include "passes.h"

#include <string.h>

#if defined(__x86_64__) && !defined(NO_VNNI) /* a test builds it without */
#include <immintrin.h>

#define VNNI __attribute__((target("avx512f,avx512bw,avx512vnni")))
#define ROWS 6    /* of activations at a time: 24 sums, 4 weights and an activation fill the 32 registers */
#define VECTORS 4 /* of 16 outputs each */

int quintet_has_vnni(void) {
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni");
}

/* `count` rows by BLOCK outputs. The instruction multiplies unsigned by signed: 128 is added to each activation,
   and the sums begin at -128 times the sum of the weights. */
static inline __attribute__((always_inline)) VNNI void tile(const uint8_t *rows, ptrdiff_t depth, const int8_t *weight,
                                                            const int32_t *start, int32_t *out, ptrdiff_t stride,
                                                            int count) {
    __m512i sums[ROWS][VECTORS];
    for (int row = 0; row < count; row++)
        for (int v = 0; v < VECTORS; v++)
            sums[row][v] = _mm512_loadu_si512(start + 16 * v);
    for (ptrdiff_t d = 0; d < depth; d += 4, weight += 4 * BLOCK) {
        __m512i four[VECTORS];
        for (int v = 0; v < VECTORS; v++)
            four[v] = _mm512_loadu_si512(weight + 64 * v);
        for (int row = 0; row < count; row++) {
            int32_t bytes;
            memcpy(&bytes, rows + row * depth + d, sizeof bytes);
            __m512i activation = _mm512_set1_epi32(bytes);
            for (int v = 0; v < VECTORS; v++)
                sums[row][v] = _mm512_dpbusd_epi32(sums[row][v], activation, four[v]);
        }
    }
    for (int row = 0; row < count; row++)
        for (int v = 0; v < VECTORS; v++)
            _mm512_storeu_si512(out + row * stride + 16 * v, sums[row][v]);
}

VNNI void quintet_dots(const int8_t *rows, ptrdiff_t count, ptrdiff_t depth, const int8_t *packed, const int32_t *start,
                       ptrdiff_t outputs, int32_t *out, uint8_t *space) {
    for (ptrdiff_t at = 0; at < count * depth; at++)
        space[at] = (uint8_t)rows[at] ^ 128;
    for (ptrdiff_t block = 0; block < outputs; block += BLOCK) {
        const int8_t *weight = packed + block * depth;
        for (ptrdiff_t row = 0; row < count; row += ROWS) {
            const uint8_t *from = space + row * depth;
            int32_t *to = out + row * outputs + block;
            switch (count - row) {
            case 1: tile(from, depth, weight, start + block, to, outputs, 1); break;
            case 2: tile(from, depth, weight, start + block, to, outputs, 2); break;
            case 3: tile(from, depth, weight, start + block, to, outputs, 3); break;
            case 4: tile(from, depth, weight, start + block, to, outputs, 4); break;
            case 5: tile(from, depth, weight, start + block, to, outputs, 5); break;
            default: tile(from, depth, weight, start + block, to, outputs, 6);
            }
        }
    }
}

/* Keys become pairs of channels x keys, values pairs of keys x channels, padded with zeros. */
VNNI static void pack(const Heads *a, ptrdiff_t head, const Room *room) {
    ptrdiff_t width = a->heads * HEAD, padded = a->padded;
    int32_t *keys = room->keys;
    int16_t *values = room->values;
    for (ptrdiff_t j = 0; j < padded; j++) {
        const int16_t *key = a->projected + j * 3 * width + width + head * HEAD, *value = key + width;
        for (int pair = 0; pair < HEAD / 2; pair++) {
            int32_t both = 0;
            if (j < a->length)
                memcpy(&both, key + 2 * pair, sizeof both);
            keys[pair * padded + j] = both;
        }
        for (int d = 0; d < HEAD; d++)
            values[(j / 2 * HEAD + d) * 2 + j % 2] = j < a->length ? value[d] : 0;
    }
}

VNNI static void score(const int16_t *const *queries, ptrdiff_t padded, const Room *room) {
    const int32_t *keys = room->keys;
    for (ptrdiff_t j = 0; j < padded; j += 32) {
        __m512i sums[GROUP][2] = {0};
        for (int pair = 0; pair < HEAD / 2; pair++) {
            __m512i one = _mm512_loadu_si512(keys + pair * padded + j);
            __m512i two = _mm512_loadu_si512(keys + pair * padded + j + 16);
            for (int q = 0; q < GROUP; q++) {
                int32_t both;
                memcpy(&both, queries[q] + 2 * pair, sizeof both);
                __m512i query = _mm512_set1_epi32(both);
                sums[q][0] = _mm512_dpwssd_epi32(sums[q][0], query, one);
                sums[q][1] = _mm512_dpwssd_epi32(sums[q][1], query, two);
            }
        }
        for (int q = 0; q < GROUP; q++)
            for (int half = 0; half < 2; half++)
                _mm512_storeu_si512(room->scores + q * padded + j + 16 * half, sums[q][half]);
    }
}

VNNI static void mix(ptrdiff_t length, ptrdiff_t padded, const Room *room, int32_t mixed[GROUP][HEAD]) {
    const int16_t *values = room->values;
    int16_t *shares = (int16_t *)room->scores; /* no longer needed */
    for (int q = 0; q < GROUP; q++) {
        const float *restrict from = room->shares + q * padded;
        int16_t *restrict to = shares + q * padded;
        for (ptrdiff_t j = 0; j < length; j++)
            to[j] = (int16_t)(int32_t)from[j];
        if (length % 2)
            to[length] = 0; /* there is room: padded is even */
    }
    __m512i sums[GROUP][2] = {0};
    for (ptrdiff_t j = 0; j < length; j += 2) {
        __m512i one = _mm512_loadu_si512(values + j * HEAD), two = _mm512_loadu_si512(values + j * HEAD + HEAD);
        for (int q = 0; q < GROUP; q++) {
            int32_t both;
            memcpy(&both, shares + q * padded + j, sizeof both);
            __m512i share = _mm512_set1_epi32(both);
            sums[q][0] = _mm512_dpwssd_epi32(sums[q][0], share, one);
            sums[q][1] = _mm512_dpwssd_epi32(sums[q][1], share, two);
        }
    }
    for (int q = 0; q < GROUP; q++)
        for (int half = 0; half < 2; half++)
            _mm512_storeu_si512(mixed[q] + 16 * half, sums[q][half]);
}

const Attender quintet_vnni_attender = {pack, score, mix};

#else
const Attender quintet_vnni_attender = {0};
int quintet_has_vnni(void) { return 0; }
void quintet_dots(const int8_t *rows, ptrdiff_t count, ptrdiff_t depth, const int8_t *packed, const int32_t *start,
                  ptrdiff_t outputs, int32_t *out, uint8_t *space) {
    (void)rows, (void)count, (void)depth, (void)packed, (void)start, (void)outputs, (void)out, (void)space;
}
#endif
