/* What lies between the int8 products of a forward pass: the same bits as the numpy code of int8_products.py,
   layer_norm.py, attention.py and int8_encoder.py, in one pass over memory instead of many.

   Sums are exact integers, so their order does not matter. Everything else is one IEEE operation after the
   other, in numpy's order: the compiler may neither contract nor reorder them. */

#include "passes.h"
#include "exact.h"

#include <math.h>
#include <string.h>

#define LEVELS 127.0f    /* int8_matrix.LEVELS */
#define LIMB 64          /* int8_products.LIMB */
#define TWO_LIMBS 8128.0f
#define SMALLEST 1e-20f  /* products.SMALLEST */
#define FIXED 4096.0f    /* layer_norm.FIXED */
#define MIN_SPREAD (1.0 / 64)
#define EXACT_64 4503599627370496.0 /* 2^52 */

typedef float f8 __attribute__((vector_size(32)));
typedef double d8 __attribute__((vector_size(64)));

INLINE void finish(const Product *p, ptrdiff_t row, const int32_t *low, float *restrict out) {
    const int32_t *restrict sum = p->sums + row * p->stride;
    const float *restrict scale = p->scale, *restrict bias = p->bias;
    float factor = p->factors[row];
    if (low) {
        for (ptrdiff_t c = 0; c < p->width; c++)
            out[c] = (float)(sum[c] * LIMB + low[c]) * factor * scale[c] + bias[c];
    } else {
        for (ptrdiff_t c = 0; c < p->width; c++)
            out[c] = (float)sum[c] * factor * scale[c] + bias[c];
    }
}

/* The low limb's sums if this row is the next special one, else nothing. */
INLINE const int32_t *low_sums(const Product *p, ptrdiff_t row, ptrdiff_t *next) {
    if (*next >= p->specials || p->special[*next] != row)
        return NULL;
    return p->sums + (p->rows + (*next)++) * p->stride;
}

INLINE float largest_magnitude(const float *restrict x, ptrdiff_t width) {
    int32_t largest = 0; /* floats without a sign are ordered as their bits are */
    for (ptrdiff_t c = 0; c < width; c++) {
        int32_t bits;
        memcpy(&bits, x + c, sizeof bits);
        bits &= INT32_MAX;
        largest = bits > largest ? bits : largest;
    }
    float value;
    memcpy(&value, &largest, sizeof value);
    return value > SMALLEST ? value : SMALLEST;
}

/* Two int8 limbs of a row that was already shrunk; returns its unit. */
INLINE float limbs(const float *restrict y, ptrdiff_t width, int8_t *restrict high, int8_t *restrict low) {
    float largest = largest_magnitude(y, width), times = TWO_LIMBS / largest;
    for (ptrdiff_t c = 0; c < width; c++) {
        float value = nearest(y[c] * times), upper = nearest(value / LIMB);
        high[c] = (int8_t)(int32_t)upper;
        low[c] = (int8_t)(int32_t)(value - upper * LIMB);
    }
    return largest / TWO_LIMBS;
}

/* Layer norm of a row, in place; 0 if an activation left the range in which it is exact. */
INLINE int normalise(float *restrict y, ptrdiff_t width, const Norm *norm) {
    const d8 magic = (d8){0} + 6755399441055744.0; /* rounds magnitudes up to 2^51 to the nearest integer */
    d8 sums = {0}, squares = {0};
    double sum = 0, square = 0;
    for (ptrdiff_t c = 0; c < width; c += 8) {
        f8 part;
        memcpy(&part, y + c, sizeof part);
        d8 fixed = (__builtin_convertvector(part * FIXED, d8) + magic) - magic;
        sums += fixed;
        squares += fixed * fixed;
    }
    for (int lane = 0; lane < 8; lane++)
        sum += sums[lane], square += squares[lane];
    if (!(square < EXACT_64))
        return 0;
    double mean = sum / (double)width;
    double variance = (square / (double)width - mean * mean) / ((double)FIXED * FIXED);
    double spread = sqrt((variance > MIN_SPREAD * MIN_SPREAD ? variance : MIN_SPREAD * MIN_SPREAD) + norm->epsilon);
    float centre = (float)(mean / FIXED), times = (float)(1.0 / spread);
    const float *restrict weight = norm->weight, *restrict bias = norm->bias;
    for (ptrdiff_t c = 0; c < width; c++)
        y[c] = (y[c] - centre) * times * weight[c] + bias[c];
    return 1;
}

CLONES int quintet_normalise(float *x, ptrdiff_t rows, ptrdiff_t width, const Norm *norm) {
    for (ptrdiff_t row = 0; row < rows; row++)
        if (!normalise(x + row * width, width, norm))
            return 0;
    return 1;
}

/* RangedAffine before its product. `y` holds one row. */
CLONES void quintet_quantise(const float *x, const Ranges *ranges, int8_t *out, float *factors,
                             float *restrict y) {
    ptrdiff_t next = 0, width = ranges->width;
    const float *restrict levels = ranges->levels, *restrict shrink = ranges->shrink;
    for (ptrdiff_t row = 0; row < ranges->rows; row++) {
        const float *restrict from = x + row * width;
        int8_t *restrict to = out + row * width;
        if (next < ranges->specials && ranges->special[next] == row) {
            for (ptrdiff_t c = 0; c < width; c++)
                y[c] = from[c] * shrink[c];
            factors[row] = limbs(y, width, to, out + (ranges->rows + next++) * width) / ranges->unit;
            continue;
        }
        for (ptrdiff_t c = 0; c < width; c++) {
            float value = from[c] * levels[c];
            value = value < LEVELS ? value : LEVELS;
            value = value > -LEVELS ? value : -LEVELS;
            to[c] = (int8_t)(int32_t)nearest(value);
        }
        factors[row] = 1.0f;
    }
}

/* Queries, keys and values as integers within their bounds. `y` holds one row. */
CLONES void quintet_project(const Product *p, float score_levels, float value_levels, int16_t *out, float *y) {
    ptrdiff_t next = 0, scores = p->width / 3 * 2;
    for (ptrdiff_t row = 0; row < p->rows; row++) {
        finish(p, row, low_sums(p, row, &next), y);
        int16_t *restrict to = out + row * p->width;
        for (ptrdiff_t c = 0; c < p->width; c++) {
            float bound = c < scores ? score_levels : value_levels, value = y[c];
            value = value < bound ? value : bound;
            value = value > -bound ? value : -bound;
            to[c] = (int16_t)(int32_t)nearest(value);
        }
    }
}

/* The layer norm of a product plus `residual`. */
CLONES int quintet_add(const Product *p, const float *residual, const Norm *norm, float *out) {
    ptrdiff_t next = 0;
    for (ptrdiff_t row = 0; row < p->rows; row++) {
        float *restrict to = out + row * p->width;
        const float *restrict from = residual + row * p->width;
        finish(p, row, low_sums(p, row, &next), to);
        for (ptrdiff_t c = 0; c < p->width; c++)
            to[c] += from[c];
        if (!normalise(to, p->width, norm))
            return 0;
    }
    return 1;
}

/* Compiled for the oldest processor on purpose: one load after the other is faster than AVX's gather. */
static __attribute__((noinline)) void look_up(const float *restrict table, const int32_t *restrict places,
                                              ptrdiff_t count, float *restrict out) {
    for (ptrdiff_t at = 0; at < count; at++)
        out[at] = table[places[at]];
}

/* GELU of a row. Beyond the table it is its argument, but only special rows reach so far. */
INLINE void gelu_row(const Gelu *gelu, int special, ptrdiff_t width, float *restrict y, float *restrict activated,
                     int32_t *restrict places) {
    float end = (float)(gelu->entries - 1);
    for (ptrdiff_t c = 0; c < width; c++) {
        float place = y[c] > 0.0f ? y[c] : 0.0f;
        place = place < end ? place : end;
        places[c] = (int32_t)place;
    }
    look_up(gelu->table, places, width, activated);
    for (ptrdiff_t c = 0; special && c < width; c++)
        if (!(y[c] < (float)gelu->entries))
            activated[c] = (y[c] - gelu->zero) / gelu->steps;
}

/* GELU of a product, then RowAffine before its own. `space` holds three rows. */
CLONES void quintet_activate(const Product *p, const Gelu *gelu, const float *restrict shrink, int8_t *out,
                             float *factors, float *space) {
    ptrdiff_t next = 0;
    float *restrict sums = space, *restrict y = space + p->width;
    for (ptrdiff_t row = 0; row < p->rows; row++) {
        const int32_t *low = low_sums(p, row, &next);
        finish(p, row, low, sums);
        gelu_row(gelu, low != NULL, p->width, sums, y, (int32_t *)(y + p->width));
        for (ptrdiff_t c = 0; c < p->width; c++)
            y[c] *= shrink[c];
        int8_t *restrict to = out + row * p->width;
        if (low) {
            factors[row] = limbs(y, p->width, to, out + (p->rows + next - 1) * p->width);
            continue;
        }
        float largest = largest_magnitude(y, p->width), times = LEVELS / largest;
        for (ptrdiff_t c = 0; c < p->width; c++)
            to[c] = (int8_t)(int32_t)nearest(y[c] * times);
        factors[row] = largest / LEVELS;
    }
}
