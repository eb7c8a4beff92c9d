/* Channels between threads, for C. The semantics are those of typed_channel.h: Go's, but elements are moved.
 *
 *     rml_channel* c;
 *     rml_channel_make(&(rml_element){.size = sizeof(double)}, 4, "samples", &c);
 *     double x = 0.5;
 *     rml_channel_send(c, &x, RML_CHANNEL_FOREVER, NULL);
 *     while (rml_channel_recv(c, &x, RML_CHANNEL_FOREVER, NULL) == RML_CHANNEL_OK) …
 *
 * References are counted: each thread has one of its own. When the last one is released the channel is closed, calls
 * that wait in it return as after a close, and have left it when the release returns; what is left in it is destroyed.
 * A null channel is nil: sends and receives wait forever, and a select never takes them.
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
  RML_CHANNEL_CLOSED,    /* closed (receive: and empty) */
  RML_CHANNEL_NOT_READY, /* it would have had to wait */
  RML_CHANNEL_TIMED_OUT,
  RML_CHANNEL_STOPPED,
  RML_CHANNEL_DEADLOCK, /* all threads of the C++ group that this one belongs to wait */
  RML_CHANNEL_NIL,      /* close of a null channel */
  RML_CHANNEL_NO_MEMORY
} rml_channel_status;

/* How elements are held. Callbacks must not throw nor use the channel. */
typedef struct rml_element {
  size_t size;
  size_t align; /* a power of 2; 0: as of malloc */
  /* Makes an element at `to` out of the one at `from`, which the channel destroys (if it is in the channel) or its
   * owner. Null: the bytes are copied, and `from` is no element any more, for a sender too if the send succeeds. */
  void (*move)(void* to, void* from);
  void (*destroy)(void* element); /* null: nothing to do */
} rml_element;

/* How long a call may wait: nanoseconds, or one of these. */
#define RML_CHANNEL_FOREVER INT64_C(-1)
#define RML_CHANNEL_TRY INT64_C(0)

/* name: for reports, may be null. OK or NO_MEMORY. */
rml_channel_status rml_channel_make(const rml_element* element, size_t capacity, const char* name,
                                    rml_channel** channel);
void rml_channel_retain(rml_channel* channel);
void rml_channel_release(rml_channel* channel);

/* On anything but OK the value is as it was. */
rml_channel_status rml_channel_send(rml_channel* channel, void* value, int64_t patience, const rml_stop* stop);
/* Makes an element at `value`; zero bytes when closed. */
rml_channel_status rml_channel_recv(rml_channel* channel, void* value, int64_t patience, const rml_stop* stop);
rml_channel_status rml_channel_close(rml_channel* channel); /* OK, CLOSED: it was before, NIL */

size_t rml_channel_len(const rml_channel* channel);
size_t rml_channel_cap(const rml_channel* channel);
size_t rml_channel_waiting(const rml_channel* channel); /* sends and receives that wait in it */
const char* rml_channel_name(const rml_channel* channel);

typedef struct rml_channel_case {
  rml_channel* channel;
  int sends;   /* 0: receives */
  void* value; /* as of send and recv */
} rml_channel_case;

/* Does one of the cases that are ready, each with the same probability. Its number goes to `chosen` with OK and
 * CLOSED. NO_MEMORY: it could not begin to wait. */
rml_channel_status rml_channel_select(const rml_channel_case* cases, size_t count, int64_t patience,
                                      const rml_stop* stop, size_t* chosen);

/* Asks all calls it is given to, now and later, to give up. Null if there is no memory. */
rml_stop* rml_stop_make(void);
void rml_stop_request(rml_stop* stop);
void rml_stop_free(rml_stop* stop);

#ifdef __cplusplus
}
#endif
#endif
