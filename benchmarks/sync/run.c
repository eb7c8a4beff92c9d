/* The drivers' inputs and checksums with NODE_run: inputs are drawn into arrays, a block of
 * cycles at a time, and one call computes the block. Same output as a driver's.
 *
 *   cc -DPROGRAM=3 -DNODE=pid_f32 -include pid_f32.h run.c pid_f32.o
 */
#include "drv.h"

#ifndef BLOCK
#define BLOCK 500u /* divides CYCLES; what a block reads and writes stays in the first cache */
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define CALL(what) JOIN(NODE, what)

static uint8_t b0[BLOCK], b1[BLOCK], b2[BLOCK], c0[BLOCK], c1[BLOCK];
static int32_t i0[BLOCK], n0[BLOCK], n1[BLOCK];
static real x0[BLOCK], x1[BLOCK], x2[BLOCK], y0[BLOCK], y1[BLOCK], y2[BLOCK], y3[BLOCK];
#define UNUSED (void)b0, (void)b1, (void)b2, (void)c0, (void)c1, (void)i0, (void)n0, (void)n1, (void)x0, (void)x1, (void)x2, (void)y0, (void)y1, (void)y2, (void)y3

static uint32_t draws;
static inline uint32_t draw(void) { return lcg(&draws); }

/* DRAW: inputs of cycle k of the block that begins at `at`. PORTS: what NODE_run takes. */
#if PROGRAM == 1
#define DRAW { uint32_t v = draw(); b0[k] = (v >> 28) == 0; i0[k] = (int32_t)((v >> 20) & 7); }
#define PORTS b0, i0, n0
#define MIX mix_int(&h, n0[k])
#elif PROGRAM == 2
#define DRAW x0[k] = to_real(draw());
#define PORTS x0, y0
#define MIX mix_real(&h, y0[k])
#elif PROGRAM == 3
#define DRAW { x0[k] = to_real(draw()); x1[k] = to_real(draw()); }
#define PORTS x0, x1, y0
#define MIX mix_real(&h, y0[k])
#elif PROGRAM == 4
#define DRAW { uint32_t v = draw(); b0[k] = (v >> 26) == 0; b1[k] = ((v >> 20) & 63) == 0; b2[k] = ((v >> 16) & 3) != 0; }
#define PORTS b0, b1, b2, n0, n1, c0, c1
#define MIX (mix_int(&h, n0[k]), mix_int(&h, n1[k]), mix_int(&h, c0[k] + 2 * c1[k]))
#elif PROGRAM == 5
#define DRAW { x0[k] = to_real(draw()); x1[k] = to_real(draw()); real half = (real)0.5 * to_real(draw()); x2[k] = (real)1 + half; }
#define PORTS x0, x1, x2, y0, y1, y2, y3
#define MIX (mix_real(&h, y0[k]), mix_real(&h, y1[k]), mix_real(&h, y2[k]), mix_real(&h, y3[k]))
#elif PROGRAM == 6
#ifdef HOLD64
#define HELD 63u
#else
#define HELD 0u
#endif
static int32_t sel;
#define DRAW { x0[k] = to_real(draw()); uint32_t v = draw(); if (((at + k) & HELD) == 0) sel = (int32_t)((v >> 16) % 3); i0[k] = sel; }
#define PORTS x0, i0, y0
#define MIX mix_real(&h, y0[k])
#endif

int main(void) {
  CALL(_state) state;
  CALL(_init)(&state);
  UNUSED;
  draws = SEED;
  uint64_t h = 0xcbf29ce484222325u;
  double begin = cpu_ns();
  for (uint32_t at = 0; at < CYCLES; at += BLOCK) {
    for (uint32_t k = 0; k < BLOCK; k++) DRAW
    CALL(_run)(&state, BLOCK, PORTS);
    for (uint32_t k = 0; k < BLOCK; k++) MIX;
  }
  double end = cpu_ns();
  printf("%016llx %.3f\n", (unsigned long long)h, (end - begin) / CYCLES);
}
