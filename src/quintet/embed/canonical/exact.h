/* How passes.c and attention.c are compiled: exactly, and for several generations of processors. */

#ifndef QUINTET_EXACT_H
#define QUINTET_EXACT_H

#include <float.h>

#if defined(__FAST_MATH__) || FLT_EVAL_METHOD != 0
#error "float arithmetic must be IEEE's, operation by operation"
#endif
#if !defined(__GNUC__)
#error "needs the vector types of GCC or Clang"
#endif
#ifndef CLONES /* a test builds each of them alone */
#if defined(__x86_64__) && defined(__gnu_linux__) && __GNUC__ >= 12 && !defined(__clang__)
#define CLONES __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#elif defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__)
#define CLONES __attribute__((target_clones("default", "avx2")))
#else
#define CLONES
#endif
#endif
#define INLINE static inline __attribute__((always_inline))

/* To the nearest integer, ties to even, for magnitudes up to 2^22: the same on every instruction set. */
INLINE float nearest(float x) { return (x + 12582912.0f) - 12582912.0f; }

#endif
