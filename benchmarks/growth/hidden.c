/* A step of ../ml/lstm_infer.rml beside the limits of the machine at that size: reading the weights once, their
 * multiplications and additions, and one exponential for each gate and each new state (the C library's, vectorised).
 * Prints nanoseconds: step, reading, arithmetic, exponentials.
 *
 *   cc -O3 -march=native -ffast-math -DUNITS=128 -include lstm_infer.h hidden.c lstm_infer.o -lm
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { INPUTS = UNITS / 2, ROWS = 4 * UNITS, WEIGHTS = ROWS * (UNITS + INPUTS) };
typedef float vector __attribute__((vector_size(32)));

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static float* numbers(size_t count, float scale) {
  static unsigned seed = 1;
  float* p = aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64);
  for (size_t i = 0; i < count; ++i) p[i] = scale * ((float)((seed = seed * 1664525u + 1013904223u) >> 8) / 8388608.0f - 1.0f);
  return p;
}

static float *kernel, *recurrence, *bias, *x, *h;
static lstm_infer_state* state;

static void step(void) { lstm_infer_step(state, kernel, recurrence, bias, x, h); }

static void read_weights(void) {
  vector sum[8] = {{0}};
  const vector* p = (const vector*)kernel;
  for (size_t i = 0; i < WEIGHTS / 8 / 8 * 8; i += 8)
    for (int k = 0; k < 8; ++k) sum[k] += p[i + (size_t)k];
  for (int k = 0; k < 8; ++k) __asm__ volatile("" : : "x"(sum[k]));
}

/* As many fused multiplications and additions as a step has, in registers. */
static void multiply(void) {
  vector sum[10] = {{0}}, a = {1.0f}, b = {0.5f};
  __asm__ volatile("" : "+x"(a), "+x"(b));
  for (size_t i = 0; i < WEIGHTS / 8; i += 10) {
    for (int k = 0; k < 10; ++k) sum[k] = a * b + sum[k];
    for (int k = 0; k < 10; ++k) __asm__ volatile("" : "+x"(sum[k]));
  }
}

static float *gates, *activated;
static void exponentials(void) {
  for (int i = 0; i < 5 * UNITS; ++i) activated[i] = expf(gates[i]);
  __asm__ volatile("" : : "r"(activated) : "memory");
}

/* The fastest of many repetitions of a millisecond. */
static double fastest(void (*what)(void)) {
  double best = 1e30;
  long n = 1;
  for (double spent = 0; spent < 4e8;) {
    double begin = now();
    for (long i = 0; i < n; ++i) what();
    double took = now() - begin;
    spent += took;
    if (took / (double)n < best) best = took / (double)n;
    if (took < 5e5) n *= 2;
  }
  return best;
}

int main(void) {
  kernel = numbers(WEIGHTS, 0.02f); /* both matrices, so that they can be read as one */
  recurrence = kernel + (size_t)ROWS * INPUTS;
  bias = numbers(ROWS, 0.1f), x = numbers(INPUTS, 1.0f), h = numbers(UNITS, 0.0f);
  gates = numbers(5 * UNITS, 1.0f), activated = numbers(5 * UNITS, 0.0f);
  state = aligned_alloc(64, (sizeof *state + 63) / 64 * 64);
  memset(state, 0, sizeof *state);
  lstm_infer_init(state);
  step();
  printf("%.1f %.1f %.1f %.1f\n", fastest(step), fastest(read_weights), fastest(multiply), fastest(exponentials));
}
