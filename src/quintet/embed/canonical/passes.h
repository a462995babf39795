/* What passes.c computes; passes_module.c makes it callable from Python. */

#ifndef QUINTET_PASSES_H
#define QUINTET_PASSES_H

#include <stddef.h>
#include <stdint.h>

#define HEAD 32 /* channels of a head */
#define GROUP 4 /* queries at a time */
#define PAD 32  /* keys at a time */
#define BLOCK 64 /* outputs of a product at a time */
#define EIGHT 8 /* the width of a row that is normalised is a multiple */

/* The sums of an int8 product. Rows named in `special`, in order, have two limbs: the low ones follow all rows.
   The results are sum * factor * scale + bias. */
typedef struct {
    const int32_t *sums;
    ptrdiff_t stride, rows, width, specials;
    const int64_t *special;
    const float *factors, *scale, *bias;
} Product;

typedef struct {
    const float *weight, *bias;
    double epsilon;
} Norm;

/* From a table at the result as index; from `zero` on in `steps` beyond its end. */
typedef struct {
    const float *table;
    ptrdiff_t entries;
    float zero, steps;
} Gelu;

/* The queries, keys and values of one sequence, and the tables of a layer's heads. */
typedef struct {
    const int16_t *projected;
    ptrdiff_t length, padded, heads, queries;
    const float *sharpness, *value_unit;
    const int32_t *table;
    ptrdiff_t entries;
} Heads;

/* Where a row of floats becomes int8: RangedAffine's numbers. */
typedef struct {
    ptrdiff_t rows, width, specials;
    const int64_t *special;
    const float *levels, *shrink;
    float unit;
} Ranges;

/* Those that return an int return 0 if an activation left the range in which layer norm is exact. `y` is
   space for one row, `space` for SPACE(padded) floats. */
#define SPACE(padded) ((2 * HEAD + 2 * GROUP) * (padded))
int quintet_normalise(float *x, ptrdiff_t rows, ptrdiff_t width, const Norm *norm);
void quintet_quantise(const float *x, const Ranges *ranges, int8_t *out, float *factors, float *y);
void quintet_project(const Product *p, float score_levels, float value_levels, int16_t *out, float *y);
int quintet_add(const Product *p, const float *residual, const Norm *norm, float *out);
void quintet_activate(const Product *p, const Gelu *gelu, const float *shrink, int8_t *out, float *factors,
                      float *y);
void quintet_attend(const Heads *a, float *out, float *space);

/* products.c: `outputs` is a multiple of BLOCK, `depth` of 4, and `packed` holds for each BLOCK and each four
   inputs BLOCK times four weights. `space` has the size of `rows`. */
int quintet_has_vnni(void);
void quintet_dots(const int8_t *rows, ptrdiff_t count, ptrdiff_t depth, const int8_t *packed, const int32_t *start,
                  ptrdiff_t outputs, int32_t *out, uint8_t *space);

#endif
