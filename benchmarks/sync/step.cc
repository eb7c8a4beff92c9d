/* A driver's loop around NODE_advance, its state a local variable as in the hand-written versions. The driver is
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
    CALL(_advance)(&state, (uint8_t)rst, inc);      \
    return CALL(_get_n)(&state);                    \
  }
#elif PROGRAM == 2
#define STEP_FUNCTION                 \
  auto p2_step = [&](real x) INLINE { \
    CALL(_advance)(&state, x);        \
    return CALL(_get_y)(&state);      \
  }
#elif PROGRAM == 3
#define STEP_FUNCTION                           \
  auto p3_step = [&](real sp, real pv) INLINE { \
    CALL(_advance)(&state, sp, pv);             \
    return CALL(_get_u)(&state);                \
  }
#elif PROGRAM == 4
#define STEP_FUNCTION                                                       \
  auto p4_step = [&](int stst, int rst, int tick, p4_out* o) INLINE {       \
    CALL(_advance)(&state, (uint8_t)stst, (uint8_t)rst, (uint8_t)tick);     \
    o->dm = CALL(_get_dm)(&state), o->ds = CALL(_get_ds)(&state);           \
    o->run = CALL(_get_run)(&state), o->frozen = CALL(_get_frozen)(&state); \
  }
#elif PROGRAM == 5
#define STEP_FUNCTION                                              \
  auto p5_step = [&](real z0, real z1, real r, p5_out* o) INLINE { \
    CALL(_advance)(&state, z0, z1, r);                             \
    o->x0 = CALL(_get_x0)(&state), o->x1 = CALL(_get_x1)(&state);  \
    o->x2 = CALL(_get_x2)(&state), o->x3 = CALL(_get_x3)(&state);  \
  }
#elif PROGRAM == 6
#define STEP_FUNCTION                              \
  auto p6_step = [&](real x, int32_t sel) INLINE { \
    CALL(_advance)(&state, x, sel);                \
    return CALL(_get_y)(&state);                   \
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
