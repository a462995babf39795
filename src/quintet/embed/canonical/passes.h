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

/* Space for the keys and values of one head, and for the scores and shares of GROUP queries. */
typedef struct {
    void *keys, *values;
    float *shares;
    int32_t *scores;
} Room;

/* The products of attention: they lay out keys and values, compare queries with keys, and add up values. */
typedef struct {
    void (*pack)(const Heads *a, ptrdiff_t head, const Room *room);
    void (*score)(const int16_t *const *queries, ptrdiff_t padded, const Room *room);
    void (*mix)(ptrdiff_t length, ptrdiff_t padded, const Room *room, int32_t mixed[GROUP][HEAD]);
} Attender;

/* Where a row of floats becomes int8: RangedAffine's numbers. */
typedef struct {
    ptrdiff_t rows, width, specials;
    const int64_t *special;
    const float *levels, *shrink;
    float unit;
} Ranges;

/* Those that return an int return 0 if an activation left the range in which layer norm is exact. `y` is
   space for one row; that of `activate` is for ACTIVATE_ROWS, that of `attend` for SPACE(padded) floats. */
#define ACTIVATE_ROWS 3
#define SPACE(padded) ((2 * HEAD + 2 * GROUP) * (padded))
int quintet_normalise(float *x, ptrdiff_t rows, ptrdiff_t width, const Norm *norm);
void quintet_quantise(const float *x, const Ranges *ranges, int8_t *out, float *factors, float *y);
void quintet_project(const Product *p, float score_levels, float value_levels, int16_t *out, float *y);
int quintet_add(const Product *p, const float *residual, const Norm *norm, float *out);
void quintet_activate(const Product *p, const Gelu *gelu, const float *shrink, int8_t *out, float *factors,
                      float *space);
void quintet_attend(const Heads *a, float *out, float *space);

/* vnni.c: `outputs` is a multiple of BLOCK, `depth` of 4, and `packed` holds for each BLOCK and each four
   inputs BLOCK times four weights. `space` has the size of `rows`. */
int quintet_has_vnni(void);
extern const Attender quintet_vnni_attender;
void quintet_dots(const int8_t *rows, ptrdiff_t count, ptrdiff_t depth, const int8_t *packed, const int32_t *start,
                  ptrdiff_t outputs, int32_t *out, uint8_t *space);

#endif
