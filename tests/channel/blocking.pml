/* The protocol by which threads wait in channels (runtime/channel/core.h), for Spin: rendezvous (CAP 0) and
 * buffers, close, select over two channels with lock, enqueue, look again, sleep.
 *
 * What one atomic instruction does is one step here, and so is what is done under the locks of channels and touches
 * nothing that is used without them. The counters of a buffered channel, its closed bit and the counts of waiters are
 * used without them, so each look at them and each change is a step of its own.
 *
 * Checked: no deadlock (an invalid end state: a lost wake-up is one), FIFO of each channel's elements per producer,
 * nothing lost, nothing doubled, a sleeper gets at most one thing.
 */
#ifndef CAP
#define CAP 1
#endif
#ifndef SENDERS
#define SENDERS 2
#endif
#ifndef RECEIVERS
#define RECEIVERS 1
#endif
#ifndef EACH
#define EACH 2 /* elements of each sender */
#endif
#ifndef CLOSES
#define CLOSES 0 /* a close while senders send; then elements may stay unsent */
#endif
#ifndef LOOKS_AGAIN
#define LOOKS_AGAIN 1 /* after it has queued; 0: the mistake that loses wake-ups */
#endif
#define CHANNELS 2
#define THREADS (SENDERS + RECEIVERS + 1)
#define CELLS 2 /* a power of two, at least the capacity and 2 */

#define SPINNING 0 /* awake or asleep: who waits looks only at this word */
#define RESERVED 1
#define DONE 2

#define GOT 0
#define CLOSED 1
#define NOT_READY 2

bit locked[CHANNELS];
bit is_closed[CHANNELS];
byte tail[CHANNELS], head[CHANNELS];
byte cell[CHANNELS * CELLS]; /* 0: free */

/* Queues of waiting threads, for senders and receivers of each channel. Their lengths are the counts. */
chan senders[CHANNELS] = [SENDERS] of { byte };
chan receivers[CHANNELS] = [RECEIVERS] of { byte };

byte state[THREADS], slot[THREADS], outcome[THREADS], from[THREADS];
byte things[THREADS]; /* how often a wait was ended */

byte last[CHANNELS * SENDERS]; /* received of each sender on each channel */
byte received, sent, ended;

inline lock(c) {
  atomic { !locked[c] -> locked[c] = 1 }
}
inline unlock(c) { locked[c] = 0 }

inline reserve(t, ok) {
  atomic {
    state[t] != RESERVED;
    if
    :: state[t] == DONE -> ok = 0
    :: else -> state[t] = RESERVED; ok = 1
    fi
  }
}
inline finish(t, c, what) {
  atomic {
    assert(state[t] == RESERVED);
    outcome[t] = what;
    from[t] = c;
    things[t]++;
    assert(things[t] == 1);
    state[t] = DONE
  }
}

/* claim_push and claim_pop: the head is read after the tail, or the tail after the head; then compare and swap, then
 * the cell, which another one may be about to use. */
inline push(c, value, what) {
  do
  :: h = tail[c];
     if
     :: is_closed[c] -> what = CLOSED; break
     :: else
     fi;
     if
     :: h - head[c] >= CAP -> what = NOT_READY; break
     :: else
     fi;
     atomic {
       if
       :: tail[c] == h && !is_closed[c] -> tail[c] = h + 1; what = GOT
       :: else -> what = NOT_READY
       fi
     }
     if
     :: what == GOT ->
        cell[c * CELLS + h % CELLS] == 0;
        cell[c * CELLS + h % CELLS] = value;
        break
     :: else /* another one was faster */
     fi
  od
}
inline pop(c, into, what) {
  do
  :: h = head[c];
     atomic { /* one word */
       if
       :: tail[c] == h -> what = (is_closed[c] -> CLOSED : NOT_READY); break
       :: else
       fi
     }
     atomic {
       if
       :: head[c] == h -> head[c] = h + 1; what = GOT
       :: else -> what = NOT_READY
       fi
     }
     if
     :: what == GOT ->
        cell[c * CELLS + h % CELLS] != 0;
        atomic { into = cell[c * CELLS + h % CELLS]; cell[c * CELLS + h % CELLS] = 0 }
        break
     :: else
     fi
  od
}

/* Under the lock of c. */
inline settle(c) {
  do
  :: any = 0;
     do
     :: nempty(receivers[c]) -> receivers[c]?<w>;
        reserve(w, ok);
        if
        :: !ok -> receivers[c]?w
        :: else ->
#if CAP > 0
           pop(c, slot[w], q);
#else
           q = (is_closed[c] -> CLOSED : NOT_READY);
#endif
           if
           :: q == NOT_READY -> state[w] = SPINNING; break
           :: else -> receivers[c]?w; finish(w, c, q); any = 1
           fi
        fi
     :: empty(receivers[c]) -> break
     od;
     do
     :: nempty(senders[c]) -> senders[c]?<w>;
        reserve(w, ok);
        if
        :: !ok -> senders[c]?w
        :: else ->
#if CAP > 0
           push(c, slot[w], q);
#else
           q = (is_closed[c] -> CLOSED : NOT_READY);
#endif
           if
           :: q == NOT_READY -> state[w] = SPINNING; break
           :: else -> senders[c]?w; finish(w, c, q); any = 1
           fi
        fi
     :: empty(senders[c]) -> break
     od;
     if
     :: !any -> break
     :: else
     fi
  od
}

/* One look at a channel under its lock. */
inline poll_send(c, value, what) {
#if CAP > 0
  settle(c);
  if
  :: nempty(senders[c]) -> what = NOT_READY
  :: empty(senders[c]) ->
     push(c, value, what);
     if
     :: what == GOT -> settle(c)
     :: else
     fi
  fi
#else
  what = (is_closed[c] -> CLOSED : NOT_READY);
  do
  :: what == NOT_READY && nempty(receivers[c]) -> receivers[c]?w;
     reserve(w, ok);
     if
     :: ok -> slot[w] = value; finish(w, c, GOT); what = GOT
     :: else
     fi
  :: what != NOT_READY || empty(receivers[c]) -> break
  od
#endif
}
inline poll_recv(c, into, what) {
#if CAP > 0
  settle(c);
  if
  :: nempty(receivers[c]) -> what = NOT_READY
  :: empty(receivers[c]) ->
     pop(c, into, what);
     if
     :: what == GOT -> settle(c)
     :: else
     fi
  fi
#else
  what = (is_closed[c] -> CLOSED : NOT_READY);
  do
  :: what == NOT_READY && nempty(senders[c]) -> senders[c]?w;
     reserve(w, ok);
     if
     :: ok -> into = slot[w]; finish(w, c, GOT); what = GOT
     :: else
     fi
  :: what != NOT_READY || empty(senders[c]) -> break
  od
#endif
}

/* A thread that is done takes what is left of it out of the queues. */
inline forget(queue, c, t) {
  lock(c);
  if
  :: queue??[eval(t)] -> queue??eval(t)
  :: !queue??[eval(t)] -> skip
  fi;
  unlock(c)
}

/* A sender: its elements alternate between sending to one channel, and a select over both. */
proctype Sender(byte me) {
  byte n, w, r, q, h, value, where;
  bit ok, any;
  for (n : 1 .. EACH) {
    value = me * 16 + n;
    r = NOT_READY;
    where = n % CHANNELS;
#if CAP > 0
    /* Without a lock. */
    if
    :: empty(senders[where]) ->
       push(where, value, r);
       if
       :: r == GOT ->
          if
          :: nempty(receivers[where]) -> lock(where); settle(where); unlock(where)
          :: empty(receivers[where]) -> skip
          fi
       :: else
       fi
    :: nempty(senders[where]) -> skip
    fi;
#endif
    if
    :: r == NOT_READY ->
       state[me] = SPINNING;
       things[me] = 0;
       slot[me] = value;
       if
       :: n % 2 == 1 -> /* one channel */
          lock(where);
          poll_send(where, value, r);
          if
          :: r == NOT_READY ->
             senders[where]!me;
#if CAP > 0 && LOOKS_AGAIN
             settle(where);
#endif
          :: else
          fi;
          unlock(where)
       :: else -> /* select */
          lock(0);
          lock(1);
          where = 0;
          poll_send(0, value, r);
          if
          :: r == NOT_READY -> where = 1; poll_send(1, value, r)
          :: else
          fi;
          if
          :: r == NOT_READY ->
             senders[0]!me;
#if CAP > 0 && LOOKS_AGAIN
             settle(0);
#endif
             senders[1]!me;
#if CAP > 0 && LOOKS_AGAIN
             settle(1);
#endif
          :: else
          fi;
          unlock(0);
          unlock(1)
       fi;
       if
       :: r == NOT_READY ->
          state[me] == DONE; /* sleeps: a lost wake-up is an invalid end state here */
          r = outcome[me];
          where = from[me];
          if
          :: n % 2 == 0 -> forget(senders[0], 0, me); forget(senders[1], 1, me)
          :: else
          fi
       :: else
       fi
    :: else
    fi;
    if
    :: r == GOT -> sent++
    :: else -> assert(CLOSES && r == CLOSED); break
    fi
  }
  ended++
}

/* A receiver: selects over both until both are closed and empty. */
proctype Receiver(byte me) {
  byte w, r, q, h, into, where;
  bit ok, any, over[CHANNELS];
  do
  :: over[0] && over[1] -> break
  :: else ->
     r = NOT_READY;
     state[me] = SPINNING;
     things[me] = 0;
     lock(0);
     lock(1);
     if
     :: !over[0] -> where = 0; poll_recv(0, into, r)
     :: else
     fi;
     if
     :: r == NOT_READY && !over[1] -> where = 1; poll_recv(1, into, r)
     :: else
     fi;
     if
     :: r == NOT_READY ->
        if
        :: !over[0] ->
           receivers[0]!me;
#if CAP > 0 && LOOKS_AGAIN
           settle(0);
#endif
        :: else
        fi;
        if
        :: !over[1] ->
           receivers[1]!me;
#if CAP > 0 && LOOKS_AGAIN
           settle(1);
#endif
        :: else
        fi
     :: else
     fi;
     unlock(0);
     unlock(1);
     if
     :: r == NOT_READY ->
        state[me] == DONE;
        r = outcome[me];
        where = from[me];
        into = slot[me];
        forget(receivers[0], 0, me);
        forget(receivers[1], 1, me)
     :: else
     fi;
     if
     :: r == CLOSED -> over[where] = 1
     :: else ->
        atomic {
          received++;
#if RECEIVERS == 1
          assert(into % 16 > last[where * SENDERS + into / 16]);
          last[where * SENDERS + into / 16] = into % 16;
#endif
          into = 0
        }
     fi
  od;
  ended++
}

inline close(c) {
  lock(c);
  is_closed[c] = 1;
  settle(c);
  unlock(c)
}

proctype Closer() {
  byte w, q, h;
  bit ok, any;
  if
  :: CLOSES
  :: !CLOSES -> ended == SENDERS && received == SENDERS * EACH /* without a close to wake receivers */
  fi;
  close(0);
  close(1);
  ended == SENDERS + RECEIVERS;
  assert(sent == received);
  assert(CLOSES || sent == SENDERS * EACH);
  assert(empty(senders[0]) && empty(senders[1]) && empty(receivers[0]) && empty(receivers[1]));
  assert(head[0] == tail[0] && head[1] == tail[1])
}

init {
  byte k;
  atomic {
    for (k : 0 .. SENDERS - 1) { run Sender(k) }
    for (k : SENDERS .. SENDERS + RECEIVERS - 1) { run Receiver(k) }
    run Closer()
  }
}
