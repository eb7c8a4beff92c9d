/* use_library FILE.so N: prints steps of `rows`. The process must have N threads before unloading, and one after. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "rows.h"

static int threads_now(void) {
  int count = 0;
  DIR* tasks = opendir("/proc/self/task");
  for (struct dirent* entry; (entry = readdir(tasks)) != NULL;) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

int main(int argc, char** argv) {
  void* library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (library == NULL) return 2;
  void (*init)(rows_state*) = (void (*)(rows_state*))dlsym(library, "rows_init");
  void (*step)(rows_state*, float*) = (void (*)(rows_state*, float*))dlsym(library, "rows_step");
  rows_state* state = aligned_alloc(64, (sizeof *state + 63) / 64 * 64);
  init(state);
  for (int k = 0; k < 4; ++k) {
    float y;
    step(state, &y);
    printf("%.9g\n", y);
  }
  if (threads_now() != atoi(argv[2])) return 3;
  dlclose(library);
  if (threads_now() != 1) return 4;
  free(state);
  return 0;
}
