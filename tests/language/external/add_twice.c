/* o = a + 2 b, element by element. */
#include <stdint.h>

void add_twice(int32_t a, int32_t b, int32_t* o) { *o = a + 2 * b; }
