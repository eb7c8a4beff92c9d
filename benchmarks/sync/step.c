/* The functions that a driver compiled with -DBK_EXT calls, as one call of NODE_step each. The
 * driver is part of this unit, so they are inlined and the loop calls NODE_step itself:
 *
 *   cc -DBK_EXT -DDRIVER='"p3_drv.c"' -DPROGRAM=3 -DNODE=pid_f32 -include pid_f32.h step.c pid_f32.o
 */
#include DRIVER

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define CALL(what) JOIN(NODE, what)
#define INLINE __attribute__((always_inline)) inline

static CALL(_state) state;

#if PROGRAM == 1
INLINE void p1_reset(void) { CALL(_init)(&state); }
INLINE int32_t p1_step(int rst, int32_t inc) {
  int32_t n;
  CALL(_step)(&state, (uint8_t)rst, inc, &n);
  return n;
}
#elif PROGRAM == 2
INLINE void p2_reset(void) { CALL(_init)(&state); }
INLINE real p2_step(real x) {
  real y;
  CALL(_step)(&state, x, &y);
  return y;
}
#elif PROGRAM == 3
INLINE void p3_reset(void) { CALL(_init)(&state); }
INLINE real p3_step(real sp, real pv) {
  real u;
  CALL(_step)(&state, sp, pv, &u);
  return u;
}
#elif PROGRAM == 4
INLINE void p4_reset(void) { CALL(_init)(&state); }
INLINE void p4_step(int stst, int rst, int tick, p4_out *o) {
  uint8_t run, frozen;
  CALL(_step)(&state, (uint8_t)stst, (uint8_t)rst, (uint8_t)tick, &o->dm, &o->ds, &run, &frozen);
  o->run = run;
  o->frozen = frozen;
}
#elif PROGRAM == 5
INLINE void p5_reset(void) { CALL(_init)(&state); }
INLINE void p5_step(real z0, real z1, real r, p5_out *o) {
  CALL(_step)(&state, z0, z1, r, &o->x0, &o->x1, &o->x2, &o->x3);
}
#elif PROGRAM == 6
INLINE void p6_reset(void) { CALL(_init)(&state); }
INLINE real p6_step(real x, int32_t sel) {
  real y;
  CALL(_step)(&state, x, sel, &y);
  return y;
}
#endif
