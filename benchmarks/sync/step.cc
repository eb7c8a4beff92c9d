/* A driver's loop around NODE_step, its state a local variable as in the hand-written versions. The driver is
 * part of this unit: RUN, its loop, is defined anew, with a function that hides the one it declares.
 *
 *   cc -fno-exceptions -DBK_EXT -DDRIVER='"p3_drv.c"' -DPROGRAM=3 -DNODE=pid_f32 -include pid_f32.h step.cc pid_f32.o
 */
#include "drv.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define CALL(what) JOIN(NODE, what)
#define INLINE __attribute__((always_inline))

#if PROGRAM == 1
#define STEP_FUNCTION                               \
  auto p1_step = [&](int rst, int32_t inc) INLINE { \
    int32_t n;                                      \
    CALL(_step)(&state, (uint8_t)rst, inc, &n);     \
    return n;                                       \
  }
#elif PROGRAM == 2
#define STEP_FUNCTION                 \
  auto p2_step = [&](real x) INLINE { \
    real y;                           \
    CALL(_step)(&state, x, &y);       \
    return y;                         \
  }
#elif PROGRAM == 3
#define STEP_FUNCTION                           \
  auto p3_step = [&](real sp, real pv) INLINE { \
    real u;                                     \
    CALL(_step)(&state, sp, pv, &u);            \
    return u;                                   \
  }
#elif PROGRAM == 4
#define STEP_FUNCTION                                                                               \
  auto p4_step = [&](int stst, int rst, int tick, p4_out* o) INLINE {                               \
    uint8_t run, frozen;                                                                            \
    CALL(_step)(&state, (uint8_t)stst, (uint8_t)rst, (uint8_t)tick, &o->dm, &o->ds, &run, &frozen); \
    o->run = run;                                                                                   \
    o->frozen = frozen;                                                                             \
  }
#elif PROGRAM == 5
#define STEP_FUNCTION                                     \
  auto p5_step = [&](real z0, real z1, real r, p5_out* o) \
                     INLINE { CALL(_step)(&state, z0, z1, r, &o->x0, &o->x1, &o->x2, &o->x3); }
#elif PROGRAM == 6
#define STEP_FUNCTION                              \
  auto p6_step = [&](real x, int32_t sel) INLINE { \
    real y;                                        \
    CALL(_step)(&state, x, sel, &y);               \
    return y;                                      \
  }
#endif

#undef RUN
#define RUN(...)                                                         \
  do {                                                                   \
    CALL(_state) state;                                                  \
    CALL(_init)(&state);                                                 \
    STEP_FUNCTION;                                                       \
    uint32_t s = SEED;                                                   \
    uint64_t h = 0xcbf29ce484222325u;                                    \
    double t0 = cpu_ns();                                                \
    for (uint32_t i = 0; i < CYCLES; i++) {                              \
      __VA_ARGS__                                                        \
    }                                                                    \
    double t1 = cpu_ns();                                                \
    printf("%016llx %.3f\n", (unsigned long long)h, (t1 - t0) / CYCLES); \
  } while (0)

#include DRIVER

void JOIN(JOIN(p, PROGRAM), _reset)(void) {}
