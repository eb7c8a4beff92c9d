/* Reverses the elements and returns whether that changed anything. */
#include <stdint.h>

void reverse3(const double* v, double* o, uint8_t* changed) {
  *changed = 0;
  for (int i = 0; i < 3; ++i) {
    o[i] = v[2 - i];
    if (o[i] != v[i]) *changed = 1;
  }
}
