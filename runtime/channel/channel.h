/* Channels between threads, for C. They behave like the channels of typed_channel.h: as in Go,
 * except that elements are moved.
 *
 *     rml_channel* c;
 *     rml_channel_make(&(rml_element){.size = sizeof(double)}, 4, "samples", &c);
 *     double x = 0.5;
 *     rml_channel_send(c, &x, RML_CHANNEL_FOREVER, NULL);
 *     while (rml_channel_recv(c, &x, RML_CHANNEL_FOREVER, NULL) == RML_CHANNEL_OK) …
 *
 * References are counted; each thread has a reference of its own. When the last one is released,
 * the channel is closed, and its remaining elements are destroyed. Calls that wait in the channel
 * return as after a close, before the release returns. A null channel is nil: its sends and
 * receives wait forever, and a select never chooses them.
 */
#ifndef RML_CHANNEL_H
#define RML_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rml_channel rml_channel;
typedef struct rml_stop rml_stop;

typedef enum rml_channel_status {
  RML_CHANNEL_OK = 0,
  RML_CHANNEL_CLOSED,    /* the channel is closed; for a receive, it is also empty */
  RML_CHANNEL_NOT_READY, /* RML_CHANNEL_TRY was given, and the call would have to wait */
  RML_CHANNEL_TIMED_OUT,
  RML_CHANNEL_STOPPED,  /* rml_stop_request was called */
  RML_CHANNEL_DEADLOCK, /* all threads of the C++ group of this thread wait */
  RML_CHANNEL_NIL,      /* a null channel cannot be closed */
  RML_CHANNEL_NO_MEMORY
} rml_channel_status;

/* The type of the elements. Callbacks must not throw, and must not use the channel. */
typedef struct rml_element {
  size_t size;
  size_t align; /* alignment of an element, a power of 2; 0: the alignment of malloc */
  /* Makes an element at `to` from the element at `from`. Afterwards the owner of `from` still has
   * to destroy it: the channel if it is in the channel, otherwise the caller. Null: the bytes are
   * copied, and `from` is no longer an element, for the sender too if the send succeeds. */
  void (*move)(void* to, void* from);
  void (*destroy)(void* element); /* null: elements need no destruction */
} rml_element;

/* Values of `patience`, which is otherwise a time limit in nanoseconds: no limit, or no wait. */
#define RML_CHANNEL_FOREVER INT64_C(-1)
#define RML_CHANNEL_TRY INT64_C(0)

/* name: name of the channel in reports; may be null. Returns OK or NO_MEMORY. */
rml_channel_status rml_channel_make(const rml_element* element, size_t capacity, const char* name,
                                    rml_channel** channel);
void rml_channel_retain(rml_channel* channel);
void rml_channel_release(rml_channel* channel);

/* Moves an element from `value` into the channel. Unless it returns OK, `value` is unchanged. */
rml_channel_status rml_channel_send(rml_channel* channel, void* value, int64_t patience, const rml_stop* stop);
/* Moves the next element to `value`. If the channel is closed and empty, the bytes are zero. */
rml_channel_status rml_channel_recv(rml_channel* channel, void* value, int64_t patience, const rml_stop* stop);
/* Returns OK; CLOSED if the channel was closed before; NIL if it is null. */
rml_channel_status rml_channel_close(rml_channel* channel);

size_t rml_channel_len(const rml_channel* channel);
size_t rml_channel_cap(const rml_channel* channel);
size_t rml_channel_waiting(const rml_channel* channel); /* number of waiting calls */
const char* rml_channel_name(const rml_channel* channel);

typedef struct rml_channel_case {
  rml_channel* channel;
  int sends;   /* 1: send; 0: receive */
  void* value; /* the element to send, or the place for the received one */
} rml_channel_case;

/* Executes one of the ready cases, chosen at random with equal probabilities. If none is ready, it
 * waits. If the result is OK or CLOSED, `chosen` is the number of the case. NO_MEMORY: there is no
 * memory for the wait. */
rml_channel_status rml_channel_select(const rml_channel_case* cases, size_t count, int64_t patience,
                                      const rml_stop* stop, size_t* chosen);

/* A stop can be given to any number of calls. After rml_stop_request, all of these calls return
 * STOPPED instead of waiting, and so do later ones. rml_stop_make returns null if there is no
 * memory. */
rml_stop* rml_stop_make(void);
void rml_stop_request(rml_stop* stop);
void rml_stop_free(rml_stop* stop);

#ifdef __cplusplus
}
#endif
#endif
