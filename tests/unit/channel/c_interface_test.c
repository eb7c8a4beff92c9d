/* Tests the C interface of channels from C. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/channel/channel.h"

static int failures = 0;
#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      ++failures;                                                             \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                         \
  } while (0)

static rml_channel* channel_of_ints(size_t capacity, const char* name) {
  const rml_element element = {sizeof(int), 0, NULL, NULL};
  rml_channel* channel = NULL;
  EXPECT(rml_channel_make(&element, capacity, name, &channel) == RML_CHANNEL_OK);
  return channel;
}

static rml_channel_status send(rml_channel* c, int value) {
  return rml_channel_send(c, &value, RML_CHANNEL_FOREVER, NULL);
}
static rml_channel_status recv(rml_channel* c, int* value) {
  return rml_channel_recv(c, value, RML_CHANNEL_FOREVER, NULL);
}

static void test_states(void) {
  rml_channel* c = channel_of_ints(2, "c");
  int value = 1;
  EXPECT(rml_channel_cap(c) == 2 && rml_channel_len(c) == 0 && strcmp(rml_channel_name(c), "c") == 0);
  EXPECT(send(c, 1) == RML_CHANNEL_OK && send(c, 2) == RML_CHANNEL_OK && rml_channel_len(c) == 2);
  EXPECT(rml_channel_send(c, &value, RML_CHANNEL_TRY, NULL) == RML_CHANNEL_NOT_READY);
  EXPECT(rml_channel_send(c, &value, 1000, NULL) == RML_CHANNEL_TIMED_OUT);
  EXPECT(rml_channel_close(c) == RML_CHANNEL_OK && rml_channel_close(c) == RML_CHANNEL_CLOSED);
  EXPECT(send(c, 3) == RML_CHANNEL_CLOSED);
  EXPECT(recv(c, &value) == RML_CHANNEL_OK && value == 1 && recv(c, &value) == RML_CHANNEL_OK && value == 2);
  EXPECT(recv(c, &value) == RML_CHANNEL_CLOSED && value == 0);
  rml_channel_release(c);
}

static void test_nil(void) {
  int value = 5;
  EXPECT(rml_channel_close(NULL) == RML_CHANNEL_NIL && rml_channel_len(NULL) == 0 && rml_channel_cap(NULL) == 0);
  EXPECT(rml_channel_send(NULL, &value, RML_CHANNEL_TRY, NULL) == RML_CHANNEL_NOT_READY);
  EXPECT(rml_channel_recv(NULL, &value, 1000, NULL) == RML_CHANNEL_TIMED_OUT);
  rml_stop* stop = rml_stop_make();
  rml_stop_request(stop);
  EXPECT(rml_channel_recv(NULL, &value, RML_CHANNEL_FOREVER, stop) == RML_CHANNEL_STOPPED && value == 5);
  rml_stop_free(stop);
  rml_channel* none = NULL;
  EXPECT(rml_channel_make(&(rml_element){8, 0, NULL, NULL}, SIZE_MAX, NULL, &none) == RML_CHANNEL_NO_MEMORY);
}

static void* produce(void* argument) {
  rml_channel* c = argument;
  for (int k = 0; k < 1000; ++k) EXPECT(send(c, k) == RML_CHANNEL_OK);
  EXPECT(rml_channel_close(c) == RML_CHANNEL_OK);
  rml_channel_release(c);
  return NULL;
}

static void test_threads(size_t capacity) {
  rml_channel* c = channel_of_ints(capacity, NULL);
  pthread_t thread;
  rml_channel_retain(c);
  EXPECT(pthread_create(&thread, NULL, produce, c) == 0);
  int expected = 0, value = 0;
  for (; recv(c, &value) == RML_CHANNEL_OK; ++expected) EXPECT(value == expected);
  EXPECT(expected == 1000);
  EXPECT(pthread_join(thread, NULL) == 0);
  rml_channel_release(c);
}

/* The thread has no reference of its own, so the release waits for it. */
static void* wait_in(void* c) {
  int value = 3;
  EXPECT(recv(c, &value) == RML_CHANNEL_CLOSED && value == 0);
  return NULL;
}

static void* wait_to_send(void* c) {
  EXPECT(send(c, 1) == RML_CHANNEL_CLOSED);
  return NULL;
}
static void* wait_in_select(void* c) {
  int x = 3;
  size_t chosen = 9;
  const rml_channel_case cases[] = {{NULL, 1, NULL}, {c, 0, &x}, {c, 0, &x}};
  EXPECT(rml_channel_select(cases, 3, RML_CHANNEL_FOREVER, NULL, &chosen) == RML_CHANNEL_CLOSED && chosen > 0 && x == 0);
  return NULL;
}

static void test_release_wakes(void) {
  for (int senders = 0; senders < 2; ++senders) {
    rml_channel* c = channel_of_ints(0, "last");
    pthread_t threads[3];
    for (int k = 0; k < 3; ++k) {
      void* (*const waits)(void*) = senders ? wait_to_send : k == 2 ? wait_in_select : wait_in;
      EXPECT(pthread_create(&threads[k], NULL, waits, c) == 0);
    }
    while (rml_channel_waiting(c) < (senders ? 3 : 4)) sched_yield();
    rml_channel_release(c);
    for (int k = 0; k < 3; ++k) EXPECT(pthread_join(threads[k], NULL) == 0);
  }
}

static void test_select(void) {
  rml_channel *a = channel_of_ints(1, "a"), *b = channel_of_ints(1, "b"), *never = channel_of_ints(0, NULL);
  int x = 1, y = 2, taken[3] = {0, 0, 0};
  const rml_channel_case cases[] = {{a, 0, &x}, {b, 1, &y}, {NULL, 0, NULL}, {never, 0, &x}};
  size_t chosen = 9;
  for (int k = 0; k < 1000; ++k) {
    int seven = 7;
    rml_channel_send(a, &seven, RML_CHANNEL_TRY, NULL);
    rml_channel_recv(b, &seven, RML_CHANNEL_TRY, NULL);
    EXPECT(rml_channel_select(cases, 4, RML_CHANNEL_FOREVER, NULL, &chosen) == RML_CHANNEL_OK && chosen < 2);
    ++taken[chosen];
  }
  EXPECT(taken[0] > 400 && taken[1] > 400);
  int ready = 0;
  rml_channel_recv(a, &ready, RML_CHANNEL_TRY, NULL);
  rml_channel_send(b, &ready, RML_CHANNEL_TRY, NULL);
  EXPECT(rml_channel_select(cases, 4, RML_CHANNEL_TRY, NULL, &chosen) == RML_CHANNEL_NOT_READY);
  EXPECT(rml_channel_select(cases, 4, 1000, NULL, &chosen) == RML_CHANNEL_TIMED_OUT);
  EXPECT(rml_channel_select(NULL, 0, 1000, NULL, &chosen) == RML_CHANNEL_TIMED_OUT);
  rml_channel_close(never);
  x = 4;
  EXPECT(rml_channel_select(cases, 4, RML_CHANNEL_FOREVER, NULL, &chosen) == RML_CHANNEL_CLOSED && chosen == 3 &&
         x == 0);
  rml_channel_release(a);
  rml_channel_release(b);
  rml_channel_release(never);
}

static void test_select_sends_stops_and_closes(void) {
  rml_channel *full = channel_of_ints(1, NULL), *never = channel_of_ints(0, "");
  int x = 1, y = 5;
  EXPECT(strcmp(rml_channel_name(full), "") == 0 && strcmp(rml_channel_name(NULL), "nil") == 0);
  EXPECT(send(full, 0) == RML_CHANNEL_OK);
  const rml_channel_case cases[] = {{never, 0, &x}, {full, 1, &y}};
  size_t chosen = 9;
  rml_stop* stop = rml_stop_make();
  rml_stop_request(stop);
  EXPECT(rml_channel_select(cases, 2, RML_CHANNEL_FOREVER, stop, &chosen) == RML_CHANNEL_STOPPED && chosen == 9);
  EXPECT(rml_channel_send(full, &y, RML_CHANNEL_FOREVER, stop) == RML_CHANNEL_STOPPED && y == 5);
  EXPECT(rml_channel_recv(never, &x, INT64_C(3600000000000), stop) == RML_CHANNEL_STOPPED && x == 1);
  rml_stop_free(stop);
  rml_channel_close(full);
  EXPECT(rml_channel_select(cases, 2, RML_CHANNEL_FOREVER, NULL, &chosen) == RML_CHANNEL_CLOSED && chosen == 1 &&
         y == 5);
  EXPECT(rml_channel_send(full, &y, RML_CHANNEL_TRY, NULL) == RML_CHANNEL_CLOSED);
  EXPECT(rml_channel_recv(full, &x, 1000, NULL) == RML_CHANNEL_OK && x == 0);
  EXPECT(rml_channel_recv(full, &x, RML_CHANNEL_TRY, NULL) == RML_CHANNEL_CLOSED);
  rml_channel_release(full);
  rml_channel_release(never);
}

/* Elements without bytes, which are only counted; elements with a larger alignment than malloc's. */
static void test_sizes(void) {
  const rml_element nothing = {0, 1, NULL, NULL}, wide = {128, 128, NULL, NULL};
  rml_channel* c = NULL;
  int untouched = 3;
  EXPECT(rml_channel_make(&nothing, 2, NULL, &c) == RML_CHANNEL_OK);
  EXPECT(rml_channel_send(c, NULL, RML_CHANNEL_TRY, NULL) == RML_CHANNEL_OK);
  EXPECT(rml_channel_send(c, &untouched, RML_CHANNEL_TRY, NULL) == RML_CHANNEL_OK);
  EXPECT(rml_channel_send(c, NULL, RML_CHANNEL_TRY, NULL) == RML_CHANNEL_NOT_READY && rml_channel_len(c) == 2);
  EXPECT(rml_channel_recv(c, &untouched, RML_CHANNEL_TRY, NULL) == RML_CHANNEL_OK && untouched == 3);
  rml_channel_release(c);
  EXPECT(rml_channel_make(&wide, 3, NULL, &c) == RML_CHANNEL_OK);
  char in[128], out[128];
  for (int k = 0; k < 10; ++k) {
    memset(in, k, sizeof in);
    EXPECT(rml_channel_send(c, in, RML_CHANNEL_TRY, NULL) == RML_CHANNEL_OK);
    EXPECT(rml_channel_recv(c, out, RML_CHANNEL_TRY, NULL) == RML_CHANNEL_OK && memcmp(in, out, sizeof in) == 0);
  }
  rml_channel_release(c);
}

/* A channel is sent through a channel, which owns a reference to it meanwhile. */
static void release_element(void* element) { rml_channel_release(*(rml_channel**)element); }

static void test_channel_of_channels(void) {
  const rml_element reference = {sizeof(rml_channel*), 0, NULL, release_element};
  rml_channel *channels = NULL, *received = NULL;
  EXPECT(rml_channel_make(&reference, 2, NULL, &channels) == RML_CHANNEL_OK);
  rml_channel *first = channel_of_ints(1, "first"), *left = channel_of_ints(1, "left in it");
  EXPECT(send(first, 12) == RML_CHANNEL_OK);
  EXPECT(rml_channel_send(channels, &first, RML_CHANNEL_TRY, NULL) == RML_CHANNEL_OK);
  EXPECT(rml_channel_send(channels, &left, RML_CHANNEL_TRY, NULL) == RML_CHANNEL_OK);
  EXPECT(rml_channel_recv(channels, &received, RML_CHANNEL_TRY, NULL) == RML_CHANNEL_OK);
  int value = 0;
  EXPECT(strcmp(rml_channel_name(received), "first") == 0);
  EXPECT(recv(received, &value) == RML_CHANNEL_OK && value == 12);
  rml_channel_release(received);
  rml_channel_release(channels); /* with the remaining elements */
}

/* Elements that own memory: text, made with malloc. */
static int alive = 0;
static void destroy_text(void* element) {
  char** text = element;
  if (*text != NULL) --alive;
  free(*text);
}
static void move_text(void* to, void* from) {
  *(char**)to = *(char**)from;
  *(char**)from = NULL;
}
static char* new_text(const char* from) {
  char* text = malloc(strlen(from) + 1);
  strcpy(text, from);
  ++alive;
  return text;
}

static void test_owned(int with_move) {
  const rml_element element = {sizeof(char*), sizeof(char*), with_move ? move_text : NULL, destroy_text};
  rml_channel* c = NULL;
  EXPECT(rml_channel_make(&element, 3, NULL, &c) == RML_CHANNEL_OK);
  for (int k = 0; k < 3; ++k) {
    char* text = new_text("some text");
    EXPECT(rml_channel_send(c, &text, RML_CHANNEL_TRY, NULL) == RML_CHANNEL_OK);
    if (with_move) EXPECT(text == NULL);
  }
  char* text = new_text("kept");
  EXPECT(rml_channel_send(c, &text, RML_CHANNEL_TRY, NULL) == RML_CHANNEL_NOT_READY && strcmp(text, "kept") == 0);
  destroy_text(&text);
  EXPECT(rml_channel_recv(c, &text, RML_CHANNEL_TRY, NULL) == RML_CHANNEL_OK && strcmp(text, "some text") == 0);
  destroy_text(&text);
  EXPECT(alive == 2);
  rml_channel_release(c);
  EXPECT(alive == 0);
}

int main(void) {
  test_states();
  test_nil();
  test_threads(0);
  test_threads(1);
  test_threads(100);
  test_release_wakes();
  test_select();
  test_select_sends_stops_and_closes();
  test_sizes();
  test_channel_of_channels();
  test_owned(0);
  test_owned(1);
  return failures == 0 ? 0 : 1;
}
