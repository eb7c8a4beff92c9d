/* The C interface between a compiled R(ML)2 program and its host, the code that runs it.
 *
 * One constant table, an rml_program, describes a program and contains its functions. The
 * reference engine provides the same table. The host owns the state and runs the program so:
 *
 *   1. It allocates state_bytes, aligned to state_align, for the state.
 *   2. It fills the host fields of the rml_header at the beginning of the state, and calls init.
 *   3. For each cycle it calls push, then pop until pop returns 0.
 *   4. At the end of the input it calls finish, then pop until pop returns 0, then destroy.
 *
 * Rows come out in the order of cycles. A program requests further memory only through the
 * host's `grow`. The exception is a program on demand: it also allocates memory itself, which
 * destroy frees. This file is plain C99.
 */
#ifndef RMLRT_H
#define RMLRT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RML_ABI 16u

/* The codes of dtypes, in the order of rml::DType. A Boolean is one byte, 0 or 1. */
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

/* An input or output of the program. */
typedef struct rml_port {
  const char* name;
  const char* clock; /* text for messages: "base", "base on c", "base on not c" */
  uint8_t dtype;
  uint8_t always; /* 1: present at every cycle, so its presence flag is ignored */
  /* 1: an output that may be known before the inputs of its cycle, but is only handed out after
   * they were pushed */
  uint8_t late;
  uint32_t rank; /* 0: scalar */
  const uint64_t* dims;
  uint64_t elements; /* product of dims */
} rml_port;

/* A place in the source where a run can stop. */
typedef struct rml_site {
  const char* file;
  uint32_t line, column;
  /* "division by zero", the text of an assert, …; for RML_FAULT_INDEX the runtime appends value
   * and bound */
  const char* message;
} rml_site;

enum {
  RML_OK = 0,
  RML_FAULT_DIVISION = 1, /* integer division or remainder by zero */
  RML_FAULT_INDEX = 2,    /* value is not in [0, bound) */
  RML_FAULT_ASSERT = 3,
  /* An input is present although its clock says absent (bound = 1), or the reverse (bound = 0);
   * value = index of the input */
  RML_FAULT_PRESENCE = 4,
  RML_FAULT_HORIZON = 5, /* a segment is longer than horizon; value = cycle where it began */
  RML_FAULT_MEMORY = 6,  /* grow failed; value = number of bytes requested */
  RML_FAULT_NUMERIC = 7, /* a kernel could not compute its result (a singular matrix, …) */
  RML_FAULT_SIDE = 8,    /* a value depends on itself: no later row can be computed */
  RML_FAULT_STATE = 9    /* on demand: a needed value is older than the loaded state */
};

/* The first part of every state. */
typedef struct rml_header {
  /* seed of random numbers; set by the host before init */
  uint64_t seed;
  int64_t horizon; /* longest segment allowed, in cycles; 0: limited only by memory */
  /* Moves the block `old` (null: none) to a block of new_bytes, aligned to 64. Returns null if
   * the host refuses. If `grow` itself is null, the program has only the memory given to init. */
  void* (*grow)(void* context, void* old, uint64_t old_bytes, uint64_t new_bytes);
  void* context;
  /* updated by the program */
  int64_t pushed;          /* number of cycles read */
  int64_t popped;          /* number of rows handed out */
  int64_t longest_segment; /* length of the longest segment so far, in cycles */
  int64_t segments;        /* number of complete segments */
  int64_t buffer_bytes;    /* current size of all rings and segments */
  int32_t fault;           /* RML_FAULT_…; a state with a fault only hands out earlier rows */
  uint32_t site;           /* index in sites of the place of the fault */
  int64_t fault_cycle;
  int64_t value, bound; /* details of the fault: see RML_FAULT_… */
  /* after finish: index of the first cut that rows still wait for; -1: none; -2 - k: the value at
   * sites[k] depends on itself */
  int32_t waiting;
  int32_t place; /* k > 0: places[k - 1] is computed now, or was computed last (--profile) */
  /* set by the host after init; null: the program runs alone */
  struct rml_ranks* ranks;
  /* Set by the host before init, and changed between two cycles if the host wants to: the address
   * of the cells that may be outside the state (rml_program::apart), aligned to 8 bytes. */
  void* cells;
} rml_header;

/* A condition that ends segments. Rows that are not known yet wait until it is true. */
typedef struct rml_cut {
  const char* condition; /* "batch_end", as in the source */
  rml_site site;
} rml_cut;

/* The kinds of memories. A memory is a part of the state that lives from cycle to cycle. The kind
 * determines the data at its offset in the state. */
enum {
  /* a cell: its elements */
  RML_CELL,
  /* {void* data; uint64_t capacity; int64_t pushed, cursors[count];}: a ring. The capacity is 0 or
   * a power of two. Element n is at index n modulo the capacity. Elements min(cursors) to
   * pushed - 1 are in use. In a network: an rml_ring. */
  RML_QUEUE,
  /* {int64_t cycle;}: the number of instants of the unit so far. If count is 1,
   * {int64_t length, capacity, start;} of the open segment follow. */
  RML_UNIT,
  /* {void* data; uint64_t bytes;}: one element per instant of the segment of unit memories[count] */
  RML_ARRAY,
  /* an rml_window, followed by space for two copies of the elements */
  RML_WINDOW,
  /* on demand: the values that a fby may still read; `offset` is the number of its equation */
  RML_LOOKS_BACK,
  /* on demand: values that cannot be computed again, which are inputs, the first value of a
   * parameter, and results of calls with effects; `offset` is the number of the equation */
  RML_OUTSIDE
};
/* A cell whose next value is its old value, shifted by a few rows. Instead of moving rows, the
 * program moves the place where the elements begin, and writes each new row twice. The elements
 * are contiguous and begin `at` bytes after this struct. */
typedef struct rml_window {
  int64_t at;     /* less than the size of the elements in bytes */
  char apart[56]; /* padding */
} rml_window;
typedef struct rml_memory {
  const char* name; /* unique in the program; for a parameter, its path */
  uint8_t kind;
  uint8_t dtype;
  uint32_t rank; /* rank, dims and elements describe one element of a queue or array */
  const uint64_t* dims;
  uint64_t elements; /* number of elements: the product of dims */
  uint64_t offset;   /* bytes from the beginning of the state */
  uint32_t count;    /* queue: its readers; unit: 1 if segmented; array: index of the unit */
  uint32_t flags;    /* queue: RML_OVERTAKEN, RML_PASSING */
} rml_memory;

enum {
  /* A reader may have skipped elements that do not exist yet. A reader that skips all has its
   * cursor at 2^62. */
  RML_OVERTAKEN = 1,
  RML_PASSING = 2 /* there is no ring: each element is read during the call that supplies it */
};

/* The relations between the counts of a state. Code that loads a state uses them to check that the
 * program can have saved it (runtime/checkpoint/check_counts.h).
 *
 * Units take elements from queues and put elements into queues; pop counts as one more unit, after
 * the last. Clocks are identified by numbers. A unit takes, or puts, one element per instant of a
 * stream on its own clock. Two streams on the same slower clock have equally many elements in
 * equally many instants. */
enum {
  RML_CLOCK_BASE = 0,
  RML_CLOCK_NEVER = 1,
  RML_CLOCK_UNKNOWN = 0x7fffffff, /* at most one element per instant */
  RML_BY_HOST = 0x7fffffff,       /* the host puts elements; it has one instant per cycle */
  RML_BY_NOBODY = 0x7ffffffe      /* no unit puts elements into the queue */
};
/* How elements get into a queue; one for each queue. */
typedef struct rml_put {
  uint32_t writer; /* number of the unit, or RML_BY_… */
  uint32_t clock;
  uint32_t after_segment; /* 1: the elements of a segment are put when the segment has ended */
  uint32_t begins;        /* 1: the queue begins with an initial element */
} rml_put;
/* How a unit reads a queue. */
typedef struct rml_take {
  uint32_t queue, reader;
  uint32_t clock;
  uint32_t kind; /* RML_TAKE_… */
  /* Index in `conditions`. The first n_when conditions hold where the element is present; the
   * following n_needed must also hold for the unit to need it. */
  uint32_t first_condition;
  uint32_t n_when, n_needed;
} rml_take;
enum {
  RML_TAKE_EACH,   /* one element for each instant of `clock` */
  RML_TAKE_FIRST,  /* only the element of the first instant; afterwards the cursor is at 2^62 */
  RML_TAKE_FLAGGED /* one element for each true element of the take before this one */
};
typedef struct rml_unit {
  uint32_t clock;
  uint32_t first_take, n_takes;
  uint32_t asserts; /* 1: an instant may stop the run even if no row needs it */
} rml_unit;
typedef struct rml_flow {
  /* indices of rows of `memories`, and their numbers; pop is unit n_units */
  uint32_t first_queue, n_queues, first_unit, n_units;
  const rml_put* puts;
  const rml_unit* units;
  const rml_take* takes;
  /* Twice the number of a take of the unit, plus 1 if its element must be true, plus 0 if it must
   * be false. UINT32_MAX: the queues do not determine the condition. */
  const uint32_t* conditions;
} rml_flow;

/* A program as a network: each unit of its schedule is a task, and each stream between two tasks is
 * a ring of bounded capacity. The runner (runtime/scheduler/network.h) follows these rules:
 *   - A task is run by one thread at a time; push and pop are each called by one thread at a time.
 *   - Before push, step and end, there is room in the rings that they write. Before pop and step,
 *     `ready` has returned 0.
 *   - Before step, `pushed` in the task's header is the stamp of the instant: the number of the
 *     cycle that made the instant possible.
 * The key of an element is the stamp of the instant that wrote it, times 2^24, plus the number of
 * the task, counted from 1; the host has the number 0. */
typedef struct rml_ring {
  /* The elements; {int64_t* keys; uint64_t capacity - 1;} are stored just before them. The writer
   * replaces the whole block; the old one remains unchanged while readers may use it. */
  void* data;
  uint64_t capacity; /* number of elements that fit */
  char apart_[48];   /* padding */
  int64_t pushed;    /* elements written; the writer stores it with release order */
  int64_t slowest;   /* for the writer: the smallest cursor when it last read the cursors */
  char apart[48];    /* padding */
  /* For each reader, {int64_t cursor, seen;} follow, on a cache line of their own. cursor: number
   * of elements read, stored with release order. seen: `pushed` when the reader last read it. */
} rml_ring;

enum { RML_RING_LINE = 64 /* bytes */, RML_KEY_BITS = 24 };

/* Results of `ready` other than 0. k > 0: an element is missing in ring k - 1, except: */
enum {
  RML_WAITS_CYCLE = 0x7fffffff, /* the next cycle has not been pushed */
  RML_WAITS_EVER = 0x7ffffffe,  /* the task never has an instant */
  RML_WAITS_TASK = -1           /* -k: task k - 1 has not had its first instant */
};

typedef struct rml_queue {
  uint32_t memory;         /* index of the queue in memories */
  uint64_t offset;         /* offset of its rml_ring in the state */
  uint64_t element_bytes;  /* size of an element */
  uint32_t writer;         /* number of the task; UINT32_MAX: the host */
  const uint32_t* readers; /* numbers of the reading tasks; UINT32_MAX: the host */
  const void* first;       /* the initial element; null: none */
} rml_queue;

typedef struct rml_task {
  const char* name;
  rml_site place;
  uint8_t base;     /* 1: the task has one instant per cycle */
  uint8_t can_fail; /* 1: an instant can fail for reasons other than missing memory */
  uint32_t n_reads, n_writes, n_ends, n_after;
  const uint32_t* reads;  /* rings that the task reads */
  const uint32_t* writes; /* rings that an instant writes, at most one element each */
  const uint32_t* ends;   /* rings that `end` writes, at most one element per instant */
  const uint32_t* after;  /* tasks that must have had their first instant before this one starts */
  /* Offsets in the state. */
  uint64_t header;  /* an rml_header: fault, statistics and stamp of this task */
  uint64_t cycle;   /* number of its completed instants, stored with release order */
  uint64_t length;  /* length of its segment; UINT64_MAX: it has no segments */
  uint64_t pending; /* a byte; 1: the segment is complete, and `end` must be called next */
  /* `ready` sets key to the greatest key of the operands. `step` runs one instant, and `end` runs
   * the sweeps of a complete segment. Both return the fault, which is also in the task's header. */
  int32_t (*ready)(void* state, int64_t* key);
  int32_t (*step)(void* state);
  int32_t (*end)(void* state);
} rml_task;

typedef struct rml_network {
  uint32_t n_tasks, n_queues;
  const rml_task* tasks; /* in topological order, not counting streams delayed by a cycle */
  const rml_queue* queues;
  uint32_t n_inputs, n_outputs;
  const uint32_t* inputs;  /* rings that push writes, at most one element each */
  const uint32_t* outputs; /* rings that pop reads */
  /* Returns 0 if pop can hand out a row; see rml_task::ready. */
  int32_t (*ready)(void* state, int64_t* key);
} rml_network;

/* A memory under a name that is the same in every schedule of the program. It is a cell, or a queue
 * that begins with the first value of the memory and ends with its latest value. A saved state
 * begins at some cycle: it contains the memories as of this cycle, and the inputs since then. The
 * order of the origins depends on the program only, not on its schedule. */
typedef struct rml_origin {
  const char* name; /* name of the cell; for a parameter, its path */
  /* "P|Q|R|N", with the path P and the place Q of its instance, its place R within the instance,
   * and numbers N for the value that it computes (checkpoint/matching.h) */
  const char* instance;
  uint32_t memory;  /* index of the cell in memories */
  uint32_t unit;    /* the unit that computes it; UINT32_MAX: the program has no units */
  const void* then; /* its constant elements from the second cycle on; null: they vary */
} rml_origin;

/* An operator that reads the first value of a parameter, once in a run. Rows with the same path are
 * adjacent. */
typedef struct rml_parameter {
  const char* path;
  uint8_t dtype;
  uint32_t rank;
  const uint64_t* dims;
  uint64_t elements; /* number of elements: the product of dims */
  /* Offset in the state of a pointer. The pointer points to itself until the program has read the
   * value, and is null afterwards. Before that, the host may let it point to elements that replace
   * the program's own first value. UINT64_MAX: the program never reads it. */
  uint64_t slot;
  uint32_t memory; /* index in memories of the cell that holds the parameter; UINT32_MAX: none */
} rml_parameter;

/* A float that --on-nan checks: an output or a cell, with the equation that computes it. In a
 * network, the last element of a ring may take the place of a cell; it is only checked until all
 * readers have read it. */
typedef struct rml_watch {
  uint32_t output, memory; /* index of the output or of the memory; the other one is UINT32_MAX */
  rml_site equation;       /* message: the equation, and the instance unless it is the entry node */
} rml_watch;

/* A part of the computation whose time --profile measures: an equation with large tensors, or the
 * remaining equations of a unit or pass. A program that is compiled without them has none. */
typedef rml_site rml_place;

enum { RML_DEALS_NOTHING = 0xffff /* every rank reads all rows */ };
typedef struct rml_program {
  uint32_t abi;       /* RML_ABI */
  uint16_t per_step;  /* number of micro-batches in a step; 0: the program does not use ranks */
  uint16_t deal_end;  /* index of the input that ends a micro-batch, or RML_DEALS_NOTHING */
  const char* name;   /* name of the node */
  const char* source; /* path of the source file */
  uint32_t n_inputs, n_outputs, n_sites, n_cuts;
  const rml_port* inputs;
  const rml_port* outputs;
  const rml_site* sites;
  const rml_cut* cuts;
  uint32_t savable; /* 1: once all complete rows were popped, the memories are the whole state */
  uint32_t n_memories, n_parameters, n_watches, n_places;
  uint32_t n_watched; /* number of watched variables, which are the last outputs */
  uint32_t threads;   /* number of threads that it was built for; 0 means 1 */
  const rml_memory* memories;
  const rml_parameter* parameters;
  const rml_watch* watches; /* watched values, in the order of computation */
  const rml_place* places;
  uint64_t state_bytes, state_align;
  void (*init)(void* state); /* makes the state before the first cycle */
  /* Reads one cycle. in[i] points to the elements of input i, in row-major order; present[i] says
   * whether the input is present, and is ignored for inputs that always are. Returns the fault. A
   * cycle with a fault is not counted. */
  int32_t (*push)(void* state, const void* const* in, const uint8_t* present);
  /* Ends the input, and stores in header.waiting why rows are missing. Returns the fault. */
  int32_t (*finish)(void* state);
  /* Returns 1 if it has written a row to out[i] and present[i], and 0 if no row is complete. */
  int32_t (*pop)(void* state, void* const* out, uint8_t* present);
  /* Returns every block to grow(context, block, bytes, 0). */
  void (*destroy)(void* state);
  /* Null: push computes. Otherwise push only hands a row to the tasks, and pop hands out a row. */
  const rml_network* network;
  /* Null: the program has only cells and completes a row in each cycle, or it runs on demand. */
  const rml_flow* flow;
  const struct rml_demand* demand; /* table of equations (demand/table.h); null: the program has a schedule */
  const rml_origin* origins;
  uint32_t n_origins;
  uint32_t repeatable; /* 1: computing inputs again has no effects outside the state */
  /* Computes, between two cycles, the outputs of the next cycle that do not depend on its inputs.
   * known[i] says whether output i is such an output; then out[i] and present[i] are what pop will
   * hand out for that cycle. The state does not change. Null: no output is ever known early. */
  void (*lead)(void* state, void* const* out, uint8_t* present, uint8_t* known);
  /* Is equivalent to n times push and pop, for a program that completes a row in each cycle. The
   * values of a port are stored one after the other for n cycles, and so are its n presence bytes,
   * whose address is null if the port is always present. Returns the fault; header.popped then
   * counts the rows before the fault. Null: there is no such function, or it would not be faster
   * than push and pop. */
  int32_t (*run)(void* state, int64_t n, const void* const* in, const uint8_t* const* present, void* const* out,
                 uint8_t* const* out_present);
  /* The state contains n_packs flags, one byte each, from the offset `packs` on. A flag is 0 unless
   * a rearranged copy of a cell is equal to the cell. Code that writes to cells between two cycles
   * sets all flags to 0. */
  uint64_t packs;
  uint32_t n_packs;
  /* The `apart` bytes from offset RML_CELLS_AT on contain only cells, and no windows. They may be
   * stored outside the state: the program finds them at header.cells. 0: all cells are in the
   * state. */
  uint32_t apart;
  /* `together` computes one cycle of each of `lanes` instances, like push and pop. The cells of the
   * instances are outside the state. The inputs and outputs are rows first to first + lanes - 1 of
   * arrays as in `run`. cells[k] is the address of the cells of row k; no two are equal.
   * The instance's seed and the number of its cycle precede the cells, 8 bytes each, at the offsets
   * RML_SEED_BEFORE_CELLS and RML_CYCLE_BEFORE_CELLS; the host counts the cycles. All first values
   * of parameters must have been read before. Returns 1 if there was a fault, or another reason to
   * stop; then it has changed nothing except outputs, and the host computes these cycles one by
   * one. Null: there is no such function, or it would be slower. */
  uint32_t lanes;
  int32_t (*together)(int64_t first, void* const* cells, const void* const* in, const uint8_t* const* present,
                      void* const* out, uint8_t* const* out_present);
} rml_program;
enum { RML_CELLS_AT = 128, RML_SEED_BEFORE_CELLS = -16, RML_CYCLE_BEFORE_CELLS = -8 };

/* Ranks: processes or threads that run one program together (runtime/ranks). Each rank reads the
 * rows of its own micro-batches, and the results of all ranks are combined in sums. Null means a
 * program that runs alone: rank 0 of 1. If a call fails, it writes zeros, and so do all later
 * calls; the run stops at the end of the cycle. */
typedef struct rml_ranks rml_ranks;
uint32_t rml_rank(rml_ranks* ranks);
uint32_t rml_rank_count(rml_ranks* ranks);
/* The number of the current row's micro-batch, and the number of the row, both counted over the
 * rows of all ranks. `own` and `cycle` are the numbers as this rank counts them; the functions
 * return these if the run does not deal out rows. */
uint64_t rml_micro_batch(rml_ranks* ranks, uint64_t own);
int64_t rml_global_row(rml_ranks* ranks, int64_t cycle);
/* Returns 1 if this rank has no later micro-batch in the step of this one. */
uint8_t rml_last_here(rml_ranks* ranks, uint32_t per_step, uint64_t micro_batch);
/* Adds up one value per micro-batch over a step and over all ranks.
 *   site         identifies the sum within the program
 *   per_step     number of micro-batches in a full step, which determines the order of additions
 *   micro_batch  number of the micro-batch, counted within the step or from the beginning
 * If last_here is 1, `out` gets the sum over all micro-batches of the step: per_step of them, or
 * fewer in the last step of the input. */
void rml_all_sum(rml_ranks* ranks, uint32_t site, uint8_t dtype, uint64_t count, const void* in, uint32_t per_step,
                 uint64_t micro_batch, uint8_t last_here, void* out);
/* Like rml_last_here and rml_all_sum, but for complete steps only: a step that is cut off by the
 * end of the input does not end, and has no sum. `out` is 0 unless the step ends here. */
uint8_t rml_step_ends(rml_ranks* ranks, uint32_t per_step, uint64_t micro_batch);
void rml_step_sum(rml_ranks* ranks, uint32_t site, uint8_t dtype, uint64_t count, const void* in, uint32_t per_step,
                  uint64_t micro_batch, void* out);
/* Sets `value` to the value of rank `from`, in all ranks that have rows in the step. */
void rml_broadcast(rml_ranks* ranks, uint32_t site, uint8_t dtype, uint64_t count, void* value, uint32_t from);
/* Sets `out` to the value that `in` has in rank 0. */
void rml_from_first(rml_ranks* ranks, uint32_t site, uint8_t dtype, uint64_t count, const void* in, void* out);

/* Runs a program with the options of docs/manual/programs.md; returns the exit status. */
int rml_main(const rml_program* program, int argc, char** argv);

#ifdef __cplusplus
}
#endif
#endif
