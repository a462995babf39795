/* Products of int8 matrices with exact int32 sums, for x86 processors with AVX-512 VNNI. Everywhere else numkong
   multiplies: its kernels are exact too, but on these processors a third slower for our shapes. */

#include "passes.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
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

#else
int quintet_has_vnni(void) { return 0; }
void quintet_dots(const int8_t *rows, ptrdiff_t count, ptrdiff_t depth, const int8_t *packed, const int32_t *start,
                  ptrdiff_t outputs, int32_t *out, uint8_t *space) {
    (void)rows, (void)count, (void)depth, (void)packed, (void)start, (void)outputs, (void)out, (void)space;
}
#endif
