/* The table of equations of a program without a static schedule. The runtime evaluates an equation
 * at an instant when another equation, a row or a memory needs its value there (evaluator.h).
 *
 * An equation is identified by the number of its value. Operators are compiled into functions,
 * called bodies. Control (when, merge, fby, post) is not compiled: it is described by rows of this
 * table, which the runtime interprets.
 */
#ifndef RML_DEMAND_TABLE_H
#define RML_DEMAND_TABLE_H

#include "runtime/base/rmlrt.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  RML_EQ_NOTHING,  /* an equation that is never requested */
  RML_EQ_CONSTANT, /* the value `constant` */
  RML_EQ_INPUT,    /* an input; a: its number */
  RML_EQ_BODY,     /* computed by a body; a: the number of the body */
  RML_EQ_RESULT,   /* computed together with another equation; a: the equation whose body computes both */
  RML_EQ_SAMPLE,   /* the value of a, where the clock is present */
  RML_EQ_MERGE,    /* a: the condition; the value of b where it is true, otherwise of c */
  RML_EQ_FBY,      /* a at the first instant of the clock, then b of the previous instant */
  RML_EQ_POST,     /* the value of a at the next instant */
  RML_EQ_PARAMETER /* the value that the host gives in row b of rml_demand::slots, otherwise a */
};

typedef struct rml_equation {
  uint32_t kind;
  uint32_t clock;   /* number of its clock; of no meaning for constants that are not outputs */
  uint32_t a, b, c; /* see RML_EQ_… */
  /* Index in rml_program::sites, if the value may depend on itself; otherwise UINT32_MAX. */
  uint32_t site;
  /* For samples: index in rml_program::cuts of the condition that ends the wait for this value;
   * UINT32_MAX: no condition to report. */
  uint32_t cut;
  /* If several equations depend on each other, the one with the least rank is reported. */
  uint32_t rank;
  uint64_t bytes;       /* size of the elements of a value */
  const void* constant; /* elements of a constant; otherwise null */
} rml_equation;

/* A clock. Clock 0 is present at every cycle, and clock 1 never. Any other clock is present where
 * its parent is present and the condition has the value `positive`. */
typedef struct rml_sampled {
  uint32_t parent, condition, positive;
  uint32_t cut; /* index in rml_program::cuts of this condition; UINT32_MAX: none to report */
} rml_sampled;

/* A compiled function that computes the results from the operands of the same instant. `run` gets
 * the addresses of their elements, and returns RML_OK or the fault. */
typedef struct rml_body {
  int32_t (*run)(void* scratch, rml_header*, int64_t cycle, const void* const* operands, void* const* results);
  /* 1: the body may have effects besides its results, so it runs exactly once for each instant of
   * its clock, in order. */
  uint32_t effect;
  uint32_t n_operands, n_results;
  const uint32_t* operands; /* operands of the equation, as numbers of equations */
  const uint32_t* results;
} rml_body;

/* A check or value that is evaluated at every cycle, in addition to rows and memories. */
enum {
  RML_ROOT_INPUT,  /* checks that an input is present exactly where its clock is */
  RML_ROOT_ASSERT, /* checks that a condition holds */
  RML_ROOT_VALUE   /* computes a value that may stop the run or have an effect */
};
typedef struct rml_root {
  uint32_t kind, value; /* value: number of the equation */
  uint32_t number;      /* number of the input or of the assert */
  uint32_t site;        /* index in rml_program::sites; UINT32_MAX: none */
} rml_root;

typedef struct rml_demand {
  uint32_t n_equations, n_clocks, n_bodies, n_roots, n_inputs, n_outputs, n_memories, n_slots;
  const rml_equation* equations;
  const rml_sampled* clocks;
  const rml_body* bodies;
  const rml_root* roots;
  /* inputs, as numbers of equations */
  const uint32_t* inputs;
  const uint32_t* outputs;
  const uint32_t* memories; /* each fby that a later instant may read */
  /* offsets in the state */
  const uint64_t* slots; /* offsets of the slots of rml_parameter */
  uint64_t evaluator;    /* offset of a pointer that the runtime uses */
  uint64_t scratch;      /* offset of the scratch memory of the bodies */
} rml_demand;

/* The functions of rml_program for a program with such a table call these functions. */
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
