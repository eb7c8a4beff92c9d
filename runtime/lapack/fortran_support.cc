// Replaces the functions of the Fortran runtime that LAPACK calls, so that programs need no
// Fortran runtime.
//
// LAPACK's routines concatenate option characters, compute the length of a name without blanks,
// and report arguments out of range, which the kernels never pass. The functions are weak, for
// programs that have a Fortran runtime of their own.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

extern "C" {

[[gnu::weak]] void _gfortran_concat_string(std::size_t size, char* to, std::size_t first_size, const char* first,
                                           std::size_t second_size, const char* second) {
  const std::size_t head = std::min(size, first_size), tail = std::min(size - head, second_size);
  std::copy_n(first, head, to);
  std::copy_n(second, tail, to + head);
  std::fill(to + head + tail, to + size, ' ');
}

[[gnu::weak]] std::size_t _gfortran_string_len_trim(std::size_t size, const char* text) {
  while (size > 0 && text[size - 1] == ' ') --size;
  return size;
}

[[gnu::weak]] void xerbla_(const char* routine, const int* argument, std::size_t size) {
  std::fprintf(stderr, "internal error: argument %d of LAPACK's %.*s\n", *argument, static_cast<int>(size), routine);
  std::abort();
}

}  // extern "C"
