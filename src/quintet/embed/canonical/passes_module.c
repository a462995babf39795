/* The Python module `_passes`: checks the sizes of buffers, then calls passes.c without the interpreter lock. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "passes.h"

#define MAX_BUFFERS 12

/* Buffers in the order of the arguments, all released together. */
typedef struct {
    Py_buffer view[MAX_BUFFERS];
    int count;
} Buffers;

static void release(Buffers *buffers) {
    while (buffers->count)
        PyBuffer_Release(&buffers->view[--buffers->count]);
}

/* Read `arguments`: `r` a buffer to read, `w` one to write, `d` a float into the next of `numbers`. */
static int read_arguments(PyObject *const *arguments, Py_ssize_t given, const char *kinds, Buffers *buffers,
                          double *numbers) {
    buffers->count = 0;
    if (given != (Py_ssize_t)strlen(kinds)) {
        PyErr_Format(PyExc_TypeError, "expected %zd arguments, got %zd", (Py_ssize_t)strlen(kinds), given);
        return 0;
    }
    for (Py_ssize_t at = 0; at < given; at++) {
        if (kinds[at] == 'd') {
            *numbers = PyFloat_AsDouble(arguments[at]);
            if (*numbers++ == -1.0 && PyErr_Occurred())
                break;
            continue;
        }
        int flags = kinds[at] == 'w' ? PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS : PyBUF_C_CONTIGUOUS;
        if (PyObject_GetBuffer(arguments[at], &buffers->view[buffers->count], flags) < 0)
            break;
        buffers->count++;
    }
    if (!PyErr_Occurred())
        return 1;
    release(buffers);
    return 0;
}

static Py_ssize_t size(const Buffers *buffers, int at, Py_ssize_t item) {
    Py_ssize_t bytes = buffers->view[at].len;
    return bytes % item ? -1 : bytes / item;
}

#define FLOATS(at) size(&b, at, sizeof(float))
#define DATA(at) b.view[at].buf

/* Are `special` rows of this block, in order? */
static int in_order(const int64_t *special, Py_ssize_t count, Py_ssize_t rows) {
    for (Py_ssize_t at = 0; at < count; at++)
        if (special[at] < 0 || special[at] >= rows || (at && special[at] <= special[at - 1]))
            return 0;
    return 1;
}

/* The product in the five buffers sums, special, factors, scale, bias; its sums may be wider than `scale`. */
static int read_product(const Buffers *buffers, Product *p) {
    Buffers b = *buffers;
    p->rows = FLOATS(2), p->width = FLOATS(3), p->specials = size(&b, 1, sizeof(int64_t));
    Py_ssize_t sums = size(&b, 0, sizeof(int32_t)), all = p->rows + p->specials;
    p->stride = all > 0 && b.view[0].ndim == 2 ? b.view[0].shape[1] : 0;
    p->sums = DATA(0), p->special = DATA(1), p->factors = DATA(2), p->scale = DATA(3), p->bias = DATA(4);
    return p->rows > 0 && p->width > 0 && p->specials >= 0 && p->stride >= p->width && sums >= all * p->stride &&
           FLOATS(4) == p->width && in_order(p->special, p->specials, p->rows);
}

static PyObject *finished(Buffers *buffers, float *space, int fits, int exact) {
    PyMem_RawFree(space);
    release(buffers);
    if (!fits)
        PyErr_SetString(PyExc_ValueError, "the sizes of the buffers do not fit together");
    else if (!exact)
        PyErr_SetString(PyExc_ArithmeticError, "an activation left the range in which layer norm is exact");
    else
        Py_RETURN_NONE;
    return NULL;
}

static float *space_for(Py_ssize_t floats) { return PyMem_RawMalloc((size_t)floats * sizeof(float)); }

#define ARGUMENTS PyObject *module, PyObject *const *arguments, Py_ssize_t given
#define READ(kinds)                                                                                            \
    Buffers b;                                                                                                 \
    double numbers[4];                                                                                         \
    float *space = NULL;                                                                                       \
    int exact = 1;                                                                                             \
    (void)module;                                                                                              \
    if (!read_arguments(arguments, given, kinds, &b, numbers))                                                 \
        return NULL;

/* normalise(x, weight, bias, epsilon) */
static PyObject *normalise(ARGUMENTS) {
    READ("wrrd")
    Py_ssize_t width = FLOATS(1), all = FLOATS(0);
    int fits = width > 0 && width % EIGHT == 0 && FLOATS(2) == width && all >= 0 && all % width == 0;
    Norm norm = {DATA(1), DATA(2), numbers[0]};
    if (fits) {
        Py_BEGIN_ALLOW_THREADS
        exact = quintet_normalise(DATA(0), all / width, width, &norm);
        Py_END_ALLOW_THREADS
    }
    return finished(&b, space, fits, exact);
}

/* quantise(x, special, levels, shrink, unit, rows, factors) */
static PyObject *quantise(ARGUMENTS) {
    READ("rrrrdww")
    Py_ssize_t width = FLOATS(2), rows = FLOATS(5), specials = size(&b, 1, sizeof(int64_t));
    int fits = width > 0 && rows > 0 && specials >= 0 && FLOATS(0) == rows * width && FLOATS(3) == width &&
               b.view[4].len >= (rows + specials) * width && in_order(DATA(1), specials, rows) &&
               (space = space_for(width));
    Ranges ranges = {rows, width, specials, DATA(1), DATA(2), DATA(3), (float)numbers[0]};
    if (fits) {
        Py_BEGIN_ALLOW_THREADS
        quintet_quantise(DATA(0), &ranges, DATA(4), DATA(5), space);
        Py_END_ALLOW_THREADS
    }
    return finished(&b, space, fits, exact);
}

/* project(sums, special, factors, scale, bias, score_levels, value_levels, out) */
static PyObject *project(ARGUMENTS) {
    READ("rrrrrddw")
    Product p;
    int fits = read_product(&b, &p) && p.width % 3 == 0 && size(&b, 5, sizeof(int16_t)) == p.rows * p.width &&
               (space = space_for(p.width));
    if (fits) {
        Py_BEGIN_ALLOW_THREADS
        quintet_project(&p, (float)numbers[0], (float)numbers[1], DATA(5), space);
        Py_END_ALLOW_THREADS
    }
    return finished(&b, space, fits, exact);
}

/* add(sums, special, factors, scale, bias, residual, weight, norm_bias, epsilon, out) */
static PyObject *add(ARGUMENTS) {
    READ("rrrrrrrrdw")
    Product p;
    int fits = read_product(&b, &p) && p.width % EIGHT == 0 && FLOATS(5) == p.rows * p.width &&
               FLOATS(6) == p.width && FLOATS(7) == p.width && FLOATS(8) == p.rows * p.width;
    Norm norm = {DATA(6), DATA(7), numbers[0]};
    if (fits) {
        Py_BEGIN_ALLOW_THREADS
        exact = quintet_add(&p, DATA(5), &norm, DATA(8));
        Py_END_ALLOW_THREADS
    }
    return finished(&b, space, fits, exact);
}

/* activate(sums, special, factors, scale, bias, table, zero, steps, shrink, rows, factors) */
static PyObject *activate(ARGUMENTS) {
    READ("rrrrrrddrww")
    Product p;
    int fits = read_product(&b, &p) && FLOATS(5) > 0 && FLOATS(6) == p.width && FLOATS(8) == p.rows &&
               b.view[7].len >= (p.rows + p.specials) * p.width &&
               (space = space_for(ACTIVATE_ROWS * p.width));
    Gelu gelu = {DATA(5), FLOATS(5), (float)numbers[0], (float)numbers[1]};
    if (fits) {
        Py_BEGIN_ALLOW_THREADS
        quintet_activate(&p, &gelu, DATA(6), DATA(7), DATA(8), space);
        Py_END_ALLOW_THREADS
    }
    return finished(&b, space, fits, exact);
}

/* attend(projected, sharpness, value_unit, table, out): as many first queries as `out` has rows */
static PyObject *attend(ARGUMENTS) {
    READ("rrrrw")
    Py_ssize_t heads = FLOATS(1), width = heads * HEAD, rows = size(&b, 0, 3 * sizeof(int16_t));
    Py_ssize_t length = width > 0 ? rows / width : 0, queries = width > 0 ? FLOATS(4) / width : 0;
    int fits = length > 0 && length * width == rows && queries > 0 && queries <= length &&
               queries * width == FLOATS(4) && FLOATS(2) == heads && size(&b, 3, sizeof(int32_t)) > 0;
    Py_ssize_t padded = (length + PAD - 1) / PAD * PAD;
    fits = fits && (space = space_for(SPACE(padded)));
    Heads a = {DATA(0), length, padded, heads, queries, DATA(1), DATA(2), DATA(3), size(&b, 3, sizeof(int32_t))};
    if (fits) {
        Py_BEGIN_ALLOW_THREADS
        quintet_attend(&a, DATA(4), space);
        Py_END_ALLOW_THREADS
    }
    return finished(&b, space, fits, exact);
}

/* has_vnni(): can this processor run `dots`? */
static PyObject *has_vnni(ARGUMENTS) {
    (void)module, (void)arguments, (void)given;
    return PyBool_FromLong(quintet_has_vnni());
}

/* dots(rows, packed, start, out) */
static PyObject *dots(ARGUMENTS) {
    READ("rrrw")
    Py_ssize_t outputs = size(&b, 2, sizeof(int32_t)), all = b.view[0].len, weights = b.view[1].len;
    Py_ssize_t depth = outputs > 0 ? weights / outputs : 0, count = depth > 0 ? all / depth : 0;
    int fits = quintet_has_vnni() && count > 0 && outputs % BLOCK == 0 && depth % 4 == 0 &&
               depth * outputs == weights && count * depth == all &&
               size(&b, 3, sizeof(int32_t)) == count * outputs && (space = PyMem_RawMalloc((size_t)all));
    if (fits) {
        Py_BEGIN_ALLOW_THREADS
        quintet_dots(DATA(0), count, depth, DATA(1), DATA(2), outputs, DATA(3), (uint8_t *)space);
        Py_END_ALLOW_THREADS
    }
    return finished(&b, space, fits, exact);
}

#define FUNCTION(name) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, NULL}
static PyMethodDef functions[] = {FUNCTION(normalise), FUNCTION(quantise), FUNCTION(project), FUNCTION(add),
                                  FUNCTION(activate),  FUNCTION(attend),   FUNCTION(dots),
                                  FUNCTION(has_vnni),  {0}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_passes", NULL, 0, functions, 0, 0, 0, 0};

PyMODINIT_FUNC PyInit__passes(void) { return PyModuleDef_Init(&definition); }
