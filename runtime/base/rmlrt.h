/* The C ABI between a compiled R(ML)2 program and the runtime that feeds it.
 *
 * A program is described by one rml_program. The host owns the state: it allocates
 * state_bytes (aligned to state_align), fills the host fields of its rml_header, calls
 * init, and then for every cycle push and as many pop as there are rows; at the end of
 * the input finish, then pop again. Rows come out in cycle order. The reference engine
 * is driven through the same table. Plain C99. Memory is asked for through the host's grow;
 * only a program on demand has some of its own besides, which it gives back in destroy.
 */
#ifndef RMLRT_H
#define RMLRT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RML_ABI 16u

/* dtype codes; the order is that of rml::DType. Booleans are one byte, 0 or 1. */
enum {
  RML_BOOL,
  RML_I8,
  RML_U8,
  RML_I16,
  RML_I32,
  RML_I64,
  RML_F16,
  RML_BF16,
  RML_F32,
  RML_F64,
  RML_U16,
  RML_U32,
  RML_U64
};

typedef struct rml_port {
  const char* name;
  const char* clock; /* for people: "base", "base on c", "base on not c" */
  uint8_t dtype;
  uint8_t always; /* 1: present at every cycle; its presence flag is not looked at */
  uint8_t late;   /* 1: an output that may be known before the inputs of its cycle, but leaves after them */
  uint32_t rank;  /* 0: scalar */
  const uint64_t* dims;
  uint64_t elements; /* product of dims */
} rml_port;

/* A place in the source where a run can stop. */
typedef struct rml_site {
  const char* file;
  uint32_t line, column;
  const char* message; /* "division by zero", the text of an assert, …; for RML_FAULT_INDEX
                          the runtime adds value and bound */
} rml_site;

enum {
  RML_OK = 0,
  RML_FAULT_DIVISION = 1, /* integer division or remainder by zero */
  RML_FAULT_INDEX = 2,    /* value is not in [0, bound) */
  RML_FAULT_ASSERT = 3,
  RML_FAULT_PRESENCE = 4, /* input `value` (its index) present where its clock says absent, or the reverse;
                             bound = 1: it was present */
  RML_FAULT_HORIZON = 5,  /* a segment longer than horizon; value = cycle where it began */
  RML_FAULT_MEMORY = 6,   /* grow failed; value = bytes asked for */
  RML_FAULT_NUMERIC = 7,  /* a kernel could not go on (a singular matrix, …) */
  RML_FAULT_SIDE = 8,     /* a value needs itself: no later row is known */
  RML_FAULT_STATE = 9     /* on demand: what is needed is older than all that the state held that was loaded */
};

/* Every state begins with this. */
typedef struct rml_header {
  /* set by the host before init */
  uint64_t seed;
  int64_t horizon; /* longest segment allowed, in cycles; 0: bounded by memory only */
  /* Moves old (may be null) to a block of new_bytes, aligned to 64; null: refused. A null
   * function means fixed capacity: whatever init was given must do. */
  void* (*grow)(void* context, void* old, uint64_t old_bytes, uint64_t new_bytes);
  void* context;
  /* kept by the program */
  int64_t pushed; /* cycles read */
  int64_t popped; /* rows handed out */
  int64_t longest_segment;
  int64_t segments;
  int64_t buffer_bytes; /* held by rings and segments now */
  int32_t fault;        /* RML_FAULT_…, 0: none; a faulted state only pops what was complete */
  uint32_t site;
  int64_t fault_cycle;
  int64_t value, bound;
  int32_t waiting; /* after finish: index of the first cut still waited for, -1: none, -2 - k: sites[k] needs itself */
  int32_t place;   /* k > 0: places[k - 1] is what is computed now, or was last; for watches */
  /* set by the host after init; null: the program is alone */
  struct rml_ranks* ranks;
  /* set by the host before init, and between two cycles as it likes: where the cells of a program lie that has `apart`.
   * They are aligned to 8 bytes. */
  void* cells;
} rml_header;

/* A condition that ends segments: what undetermined rows wait for. */
typedef struct rml_cut {
  const char* condition; /* "batch_end", as in the source */
  rml_site site;
} rml_cut;

/* A part of the state that lives from cycle to cycle; what lies at offset in the state goes by kind. */
enum {
  RML_CELL,   /* the elements */
  RML_QUEUE,  /* {void* data; uint64_t capacity; int64_t pushed, cursors[count];}: a ring, capacity 0 or a
                 power of two; element n lies at n modulo the capacity; in use: min(cursors) … pushed - 1.
                 Of a network: an rml_ring, pushed and every cursor on a cache line of its own */
  RML_UNIT,   /* {int64_t cycle;} and, where count is 1, {int64_t length, capacity, start;} of the segment */
  RML_ARRAY,  /* {void* data; uint64_t bytes;}: an element per instant of the segment of unit `count` */
  RML_WINDOW, /* an rml_window: a cell whose elements begin `at` bytes behind it, the same again all of them further */
  RML_LOOKS_BACK, /* on demand, what a fby looks back at; `offset` is its equation */
  RML_OUTSIDE     /* … what cannot be computed again: an input, the first value of a parameter, what has an effect */
};
typedef struct rml_window {
  int64_t at; /* less than what the elements take */
  char apart[56];
} rml_window;
typedef struct rml_memory {
  const char* name; /* unique in the program; of a parameter its path */
  uint8_t kind;
  uint8_t dtype;
  uint32_t rank; /* of one element of a queue or array */
  const uint64_t* dims;
  uint64_t elements;
  uint64_t offset;
  uint32_t count; /* queues: readers; units: 1 if segmented; arrays: index of the unit in memories */
  uint32_t flags; /* queues: RML_OVERTAKEN, RML_PASSING */
} rml_memory;

enum {
  RML_OVERTAKEN = 1, /* readers may be done with elements that are not there yet, or with all: at 2^62 */
  RML_PASSING = 2    /* there is no ring: each element is taken in the call that brings it */
};

/* How the counts of a state hang together, so that a loader can tell whether such a state can have been saved: units
 * (and pop, which is one more behind the last) take elements from queues, and put elements into others. A clock is told
 * by its number. Of a stream on the clock of its unit an instant takes, or puts, one element; of one below, two streams
 * of one number have as many elements in as many instants. */
enum {
  RML_CLOCK_BASE = 0,
  RML_CLOCK_NEVER = 1,
  RML_CLOCK_UNKNOWN = 0x7fffffff, /* at most one element in an instant */
  RML_BY_HOST = 0x7fffffff,       /* one instant in each cycle */
  RML_BY_NOBODY = 0x7ffffffe
};
typedef struct rml_put { /* one for each queue */
  uint32_t writer;       /* unit, RML_BY_… */
  uint32_t clock;
  uint32_t after_segment; /* 1: the instants of a segment are put when it has ended */
  uint32_t begins;        /* 1: with an element of its own */
} rml_put;
typedef struct rml_take {
  uint32_t queue, reader;
  uint32_t clock;
  uint32_t kind;            /* RML_TAKE_… */
  uint32_t first_condition; /* in `conditions`: where the element is there, then where it has to be there as well */
  uint32_t n_when, n_needed;
} rml_take;
enum {
  RML_TAKE_EACH,
  RML_TAKE_FIRST,  /* only that of the first instant; then the reader is at 2^62 */
  RML_TAKE_FLAGGED /* one for each element of the take before that is true */
};
typedef struct rml_unit {
  uint32_t clock;
  uint32_t first_take, n_takes;
  uint32_t asserts; /* 1: an instant may stop the run, whether a row needs it or not */
} rml_unit;
typedef struct rml_flow {
  uint32_t first_queue, n_queues, first_unit, n_units; /* rows of memories; pop is unit n_units */
  const rml_put* puts;
  const rml_unit* units;
  const rml_take* takes;
  const uint32_t* conditions; /* twice the number of a take of the unit, plus one if it is to be true; UINT32_MAX: what
                                 cannot be told */
} rml_flow;

/* A program as a network: every unit of its schedule is a task, every stream between two of them a ring of bounded
 * capacity. Its runner (runtime/scheduler/network.h) keeps to this:
 *   - one thread at a time runs a task, pushes, or pops;
 *   - before push, step and end there is room in the rings that they write, before pop and step `ready` has said 0;
 *   - before step, the field `pushed` of the task's header is the stamp of the instant: the cycle that made it
 *     possible. The key of an element is the stamp of the instant that made it, times 2^24, plus the number of
 *     its task, from 1; 0 of what the host pushes. */
typedef struct rml_ring {
  void* data; /* elements; before them {int64_t* keys; uint64_t capacity - 1;} of this block. Replaced as a whole: the
                 old block stays as it is while somebody may still look at it */
  uint64_t capacity;
  char apart_[48];
  int64_t pushed;  /* released by the task that writes */
  int64_t slowest; /* the least cursor when it last looked */
  char apart[48];
  /* followed by, for each reader, {int64_t cursor, seen;} and as much room: the elements it is done with, released;
     `pushed` when it last looked */
} rml_ring;

enum { RML_RING_LINE = 64, RML_KEY_BITS = 24 };

/* What `ready` says, if not 0: an element is missing in ring k - 1; or one of these. */
enum {
  RML_WAITS_CYCLE = 0x7fffffff, /* for a further cycle to be pushed */
  RML_WAITS_EVER = 0x7ffffffe,  /* there is no instant */
  RML_WAITS_TASK = -1           /* -k: task k - 1 has not had its first instant */
};

typedef struct rml_queue {
  uint32_t memory; /* its row */
  uint64_t offset; /* of its rml_ring */
  uint64_t element_bytes;
  uint32_t writer;         /* the task; UINT32_MAX: the host */
  const uint32_t* readers; /* tasks; UINT32_MAX: the host; as many as the row says */
  const void* first;       /* the element that is there at the beginning; null: none */
} rml_queue;

typedef struct rml_task {
  const char* name;
  rml_site place;
  uint8_t base;     /* its instants are the cycles */
  uint8_t can_fail; /* in an instant, apart from a want of memory */
  uint32_t n_reads, n_writes, n_ends, n_after;
  const uint32_t* reads;  /* rings */
  const uint32_t* writes; /* rings that an instant writes at most once each */
  const uint32_t* ends;   /* rings that `end` writes, at most once for each instant of the segment */
  const uint32_t* after;  /* tasks whose first instant it waits for */
  uint64_t header;        /* offset of an rml_header: fault, statistics and stamp of this task */
  uint64_t cycle;         /* offset of the number of its instants that are over, released */
  uint64_t length;        /* … of the length of its segment, UINT64_MAX: no segments */
  uint64_t pending;       /* … of a byte: 1, the segment is whole and `end` is due */
  int32_t (*ready)(void* state, int64_t* key); /* key: the greatest of the elements to be read */
  int32_t (*step)(void* state);                /* one instant; returns the fault, which its header has */
  int32_t (*end)(void* state);
} rml_task;

typedef struct rml_network {
  uint32_t n_tasks, n_queues;
  const rml_task* tasks; /* in topological order, but for what comes back a cycle later */
  const rml_queue* queues;
  uint32_t n_inputs, n_outputs;
  const uint32_t* inputs;                      /* rings that push writes, at most once each */
  const uint32_t* outputs;                     /* rings that pop reads */
  int32_t (*ready)(void* state, int64_t* key); /* for the next pop */
} rml_network;

/* A memory by the name that it has in every schedule of the program: a cell, or a queue that begins with its first
 * value and has the last one at its end. A state that begins at a cycle has the memories as of it, and the inputs
 * since. Rows are in an order of the program, not of the schedule. */
typedef struct rml_origin {
  const char* name;     /* of a parameter its path */
  const char* instance; /* path of the one it is in|place of that|place within|number (checkpoint/matching.h) */
  uint32_t memory;      /* its row */
  uint32_t unit;        /* that computes it; UINT32_MAX: there are no units */
  const void* then;     /* its elements from the second cycle on, if they are always the same; else null */
} rml_origin;

/* Where the first value of a parameter is looked at, once in a run. Rows of one path are adjacent. */
typedef struct rml_parameter {
  const char* path;
  uint8_t dtype;
  uint32_t rank;
  const uint64_t* dims;
  uint64_t elements;
  uint64_t slot;   /* offset in the state of a pointer: to itself until the value has been looked at, then null; the
                      host may let it point to elements that take the place of the program's own. UINT64_MAX: the
                      program never looks */
  uint32_t memory; /* index in memories of the cell that holds the parameter; UINT32_MAX: none */
} rml_parameter;

/* A float in sight: an output or a cell, with the equation that computes it. In a network a ring may stand for a cell:
 * its last element, as long as somebody has yet to read it. */
typedef struct rml_watch {
  uint32_t output, memory; /* indices; UINT32_MAX: the other one */
  rml_site equation;       /* message: the equation and, in a node that was called, the instance */
} rml_watch;

/* Where the time of a run goes: an equation whose tensors are large, or all else of a unit or pass. A program that
 * does not tell has none. */
typedef rml_site rml_place;

enum { RML_DEALS_NOTHING = 0xffff }; /* every rank reads all rows */
typedef struct rml_program {
  uint32_t abi;
  uint16_t per_step;  /* micro-batches in a step; 0: the program knows of no ranks */
  uint16_t deal_end;  /* the input that is true in the last row of a micro-batch, or RML_DEALS_NOTHING */
  const char* name;   /* of the node */
  const char* source; /* file */
  uint32_t n_inputs, n_outputs, n_sites, n_cuts;
  const rml_port* inputs;
  const rml_port* outputs;
  const rml_site* sites;
  const rml_cut* cuts;
  uint32_t savable; /* 1: memories are all that a state holds once every complete row has been popped */
  uint32_t n_memories, n_parameters, n_watches, n_places;
  uint32_t n_watched; /* the last so many outputs are none of the node, but variables that are watched */
  uint32_t threads;   /* for how many it was built; 0 is one */
  const rml_memory* memories;
  const rml_parameter* parameters;
  const rml_watch* watches; /* in the order of computation */
  const rml_place* places;
  uint64_t state_bytes, state_align;
  void (*init)(void* state);
  /* One cycle. in[i] points to the elements of input i, row-major; present[i] says whether it
   * is there (ignored where always). Returns the fault. A faulted cycle is not counted. */
  int32_t (*push)(void* state, const void* const* in, const uint8_t* present);
  int32_t (*finish)(void* state);
  /* 1: a row was written to out[i] and present[i]; 0: none is ready. */
  int32_t (*pop)(void* state, void* const* out, uint8_t* present);
  /* Returns every block to grow(context, block, bytes, 0). */
  void (*destroy)(void* state);
  const rml_network* network; /* null: push computes. Otherwise it hands in, and pop hands out, one row each */
  const rml_flow* flow;       /* null: there are cells only, and each cycle hands out its row; or it runs on demand */
  const struct rml_demand* demand; /* demand/table.h; null: it has a schedule */
  const rml_origin* origins;
  uint32_t n_origins;
  uint32_t repeatable; /* 1: inputs may be given again: nothing has effects outside */
  /* Between two cycles: outputs of the next one that are known before its inputs are. known[i]: whether output i is;
   * then out[i] and present[i] are what pop will hand out for that cycle. The state stays as it is. Null: none ever is.
   */
  void (*lead)(void* state, void* const* out, uint8_t* present, uint8_t* known);
  /* As n times push and pop, where every cycle hands out its row: each address is that of n elements, one behind the
   * other, each present one that of n bytes, or null where a port is always present. Returns the fault: header.popped
   * counts the rows before it. Null: there is none, or push and pop are as fast. */
  int32_t (*run)(void* state, int64_t n, const void* const* in, const uint8_t* const* present, void* const* out,
                 uint8_t* const* out_present);
  /* So many bytes of the state from this offset on say that copies of cells are like them. Code that writes to cells
   * between two cycles writes 0 there. */
  uint64_t packs;
  uint32_t n_packs;
  /* So many bytes from RML_CELLS_AT on, cells all, need not lie in the state: the program looks for them where its
   * header says. There is nothing of others among them, and windows are elsewhere. 0: all is in the state. */
  uint32_t apart;
  /* As push and pop of one cycle of each of so many instances, whose cells are apart: rows first to first + lanes - 1
   * of arrays as `run` has them. cells[k]: those of row k, no two the same; before them lie the instance's seed and the
   * number of its cycle, which is counted by the host, 8 bytes each (RML_SEED_BEFORE_CELLS). No parameter is looked at
   * for the first time. 1: nothing but rows was written, for a fault or else; the host computes these one by one.
   * Null: there is none, or it would take longer. */
  uint32_t lanes;
  int32_t (*together)(int64_t first, void* const* cells, const void* const* in, const uint8_t* const* present,
                      void* const* out, uint8_t* const* out_present);
} rml_program;
enum { RML_CELLS_AT = 128, RML_SEED_BEFORE_CELLS = -16, RML_CYCLE_BEFORE_CELLS = -8 };

/* Ranks: processes, or threads, that run one program together (runtime/ranks). Each reads the rows of its own
 * micro-batches; what they compute of them meets in sums. Null stands for a program that is alone: rank 0 of 1.
 * A call that fails leaves zeros, and so do all that follow; the run stops when the cycle is over. */
typedef struct rml_ranks rml_ranks;
uint32_t rml_rank(rml_ranks* ranks);
uint32_t rml_rank_count(rml_ranks* ranks);
/* Of the cycle that runs. micro_batch: the number, among all of the input, of the micro-batch that the row belongs to;
 * `own` is how many this rank has begun before, its number in a run that deals nothing out. row: likewise of the row.
 */
uint64_t rml_micro_batch(rml_ranks* ranks, uint64_t own);
int64_t rml_global_row(rml_ranks* ranks, int64_t cycle);
/* Whether this rank has no micro-batch of the step behind this one. */
uint8_t rml_last_here(rml_ranks* ranks, uint32_t per_step, uint64_t micro_batch);
/* One value per micro-batch, of the sum that the program knows as `site`. per_step is the number of micro-batches in a
 * full step, which the tree is made for; micro_batch counts within the step or from the beginning. Where last_here,
 * `out` gets the sum over all micro-batches of the step: per_step, or as many as the last step has. */
void rml_all_sum(rml_ranks* ranks, uint32_t site, uint8_t dtype, uint64_t count, const void* in, uint32_t per_step,
                 uint64_t micro_batch, uint8_t last_here, void* out);
/* Of steps that are whole: one that the input cuts off ends nowhere, and has no sum. As rml_last_here, and as
 * rml_all_sum, whose `out` is 0 where the step does not end here. */
uint8_t rml_step_ends(rml_ranks* ranks, uint32_t per_step, uint64_t micro_batch);
void rml_step_sum(rml_ranks* ranks, uint32_t site, uint8_t dtype, uint64_t count, const void* in, uint32_t per_step,
                  uint64_t micro_batch, void* out);
/* All ranks that have rows in the step get the value of rank `from`. */
void rml_broadcast(rml_ranks* ranks, uint32_t site, uint8_t dtype, uint64_t count, void* value, uint32_t from);
/* `out` gets what rank 0 has in `in`. */
void rml_from_first(rml_ranks* ranks, uint32_t site, uint8_t dtype, uint64_t count, const void* in, void* out);

/* Runs a program with the options of docs/manual/programs.md; returns the exit status. */
int rml_main(const rml_program* program, int argc, char** argv);

#ifdef __cplusplus
}
#endif
#endif
