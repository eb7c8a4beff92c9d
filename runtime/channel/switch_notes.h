// Notifies the sanitizers when a thread switches to another stack. Does nothing in other builds.
#ifndef RML_RUNTIME_CHANNEL_SWITCH_NOTES_H
#define RML_RUNTIME_CHANNEL_SWITCH_NOTES_H

#include <pthread.h>

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RML_NOTES_FOR_ADDRESS_SANITIZER
#endif
#if __has_feature(thread_sanitizer)
#define RML_NOTES_FOR_THREAD_SANITIZER
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define RML_NOTES_FOR_ADDRESS_SANITIZER
#endif
#ifdef __SANITIZE_THREAD__
#define RML_NOTES_FOR_THREAD_SANITIZER
#endif

#ifdef RML_NOTES_FOR_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef RML_NOTES_FOR_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace rml {

// The notes for one stack: that of the thread, or one prepared by begin.
class SwitchNotes {
 public:
  SwitchNotes() {
#ifdef RML_NOTES_FOR_ADDRESS_SANITIZER
    pthread_attr_t attributes;
    pthread_getattr_np(pthread_self(), &attributes);
    void* lowest = nullptr;
    pthread_attr_getstack(&attributes, &lowest, &bytes_);
    pthread_attr_destroy(&attributes);
    lowest_ = lowest;
#endif
#ifdef RML_NOTES_FOR_THREAD_SANITIZER
    fiber_ = __tsan_get_current_fiber();
#endif
  }
  SwitchNotes(const SwitchNotes&) = delete;
  SwitchNotes& operator=(const SwitchNotes&) = delete;
  ~SwitchNotes() {
#ifdef RML_NOTES_FOR_THREAD_SANITIZER
    if (own_) __tsan_destroy_fiber(fiber_);
#endif
  }

  // Called before code runs on a new stack. `top` is one past its last byte.
  void begin([[maybe_unused]] void* top, [[maybe_unused]] std::size_t bytes) {
#ifdef RML_NOTES_FOR_ADDRESS_SANITIZER
    lowest_ = static_cast<char*>(top) - bytes;
    bytes_ = bytes;
#endif
#ifdef RML_NOTES_FOR_THREAD_SANITIZER
    fiber_ = __tsan_create_fiber(0);
    own_ = true;
#endif
  }

  // leave is called on this stack before the thread switches to the other one, arrive after it
  // has switched back.
  void leave([[maybe_unused]] const SwitchNotes& to) {
#ifdef RML_NOTES_FOR_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(&fake_stack_, to.lowest_, to.bytes_);
#endif
#ifdef RML_NOTES_FOR_THREAD_SANITIZER
    __tsan_switch_to_fiber(to.fiber_, 0);
#endif
  }
  void arrive() {
#ifdef RML_NOTES_FOR_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(fake_stack_, nullptr, nullptr);
#endif
  }
  // Called before the thread leaves this stack for ever.
  void end([[maybe_unused]] const SwitchNotes& to) {
#ifdef RML_NOTES_FOR_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(nullptr, to.lowest_, to.bytes_);
#endif
#ifdef RML_NOTES_FOR_THREAD_SANITIZER
    __tsan_switch_to_fiber(to.fiber_, 0);
#endif
  }

#ifdef RML_NOTES_FOR_ADDRESS_SANITIZER
 private:
  const void* lowest_ = nullptr;
  std::size_t bytes_ = 0;
  void* fake_stack_ = nullptr;
#endif
#ifdef RML_NOTES_FOR_THREAD_SANITIZER
 private:
  void* fiber_ = nullptr;
  bool own_ = false;
#endif
};

}  // namespace rml

#endif
