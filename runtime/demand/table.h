/* A program without a static schedule, as its compiled part describes it to the runtime: equations, each evaluated at
 * the instants at which somebody asks for it (evaluator.h says how).
 *
 * An equation is known by its number, which is that of its value. What operators compute is compiled, a body for each;
 * control is not: when, merge, fby and post are rows of this table.
 */
#ifndef RML_DEMAND_TABLE_H
#define RML_DEMAND_TABLE_H

#include "runtime/base/rmlrt.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  RML_EQ_NOTHING,  /* never requested */
  RML_EQ_CONSTANT, /* `constant` */
  RML_EQ_INPUT,    /* a: its number */
  RML_EQ_BODY,     /* a: the body that computes it */
  RML_EQ_RESULT,   /* a: the equation whose body computes this one as well */
  RML_EQ_SAMPLE,   /* a, where the clock holds */
  RML_EQ_MERGE,    /* a: the condition; b where it is true, else c */
  RML_EQ_FBY,      /* a at the first instant of the clock, then b at the instant before */
  RML_EQ_POST,     /* a at the instant after */
  RML_EQ_PARAMETER /* what the host gives for row b of rml_demand::slots, else a */
};

typedef struct rml_equation {
  uint32_t kind;
  uint32_t clock; /* of constants that are not outputs: UINT32_MAX */
  uint32_t a, b, c;
  uint32_t site; /* of what may need itself: where it stands; else UINT32_MAX */
  uint32_t cut;  /* of samples: the condition that makes them superfluous; UINT32_MAX: none to be told */
  uint32_t rank; /* of several that need each other the one of the least rank is told */
  uint64_t bytes;
  const void* constant;
} rml_equation;

/* Clock 0 is present at every cycle, clock 1 at none; the others where their parents are, and there where the condition
 * is as said. */
typedef struct rml_sampled {
  uint32_t parent, condition, positive;
  uint32_t cut; /* the condition that makes it present */
} rml_sampled;

/* Computes the results from the operands, an instant's: addresses of their elements. */
typedef struct rml_body {
  int32_t (*run)(void* scratch, rml_header*, int64_t cycle, const void* const* operands, void* const* results);
  uint32_t effect; /* 1: it may do more than compute: it runs once for each instant of its clock, in their order */
  uint32_t n_operands, n_results;
  const uint32_t* operands;
  const uint32_t* results;
} rml_body;

/* What is asked for at every cycle, besides rows and memories: whether an input is present where its clock is; that a
 * condition holds; what may stop the run, or have an effect. */
enum { RML_ROOT_INPUT, RML_ROOT_ASSERT, RML_ROOT_VALUE };
typedef struct rml_root {
  uint32_t kind, value;
  uint32_t number; /* of the input or the assert */
  uint32_t site;
} rml_root;

typedef struct rml_demand {
  uint32_t n_equations, n_clocks, n_bodies, n_roots, n_inputs, n_outputs, n_memories, n_slots;
  const rml_equation* equations;
  const rml_sampled* clocks;
  const rml_body* bodies;
  const rml_root* roots;
  const uint32_t* inputs; /* equations */
  const uint32_t* outputs;
  const uint32_t* memories; /* every fby that an instant to come may look at */
  const uint64_t* slots;    /* of rml_parameter */
  uint64_t evaluator;       /* offset in the state of a pointer for the runtime's use */
  uint64_t scratch;         /* offset of what the bodies work with */
} rml_demand;

/* What the functions of rml_program do with such a table. */
void rml_demand_init(void* state, const rml_demand*);
int32_t rml_demand_push(void* state, const rml_demand*, const void* const* in, const uint8_t* present);
int32_t rml_demand_finish(void* state, const rml_demand*);
int32_t rml_demand_pop(void* state, const rml_demand*, void* const* out, uint8_t* present);
void rml_demand_lead(void* state, const rml_demand*, void* const* out, uint8_t* present, uint8_t* known);
void rml_demand_destroy(void* state, const rml_demand*);

#ifdef __cplusplus
}
#endif
#endif
