/* The calling convention of kernels: operators that are a C function, in the reference engine and in
 * compiled programs alike.
 *
 * A kernel reads its operands and attributes and writes every element of its result. All shapes are
 * known when the program is compiled, and the operator's shape rule has accepted them; tensors are
 * dense, in row-major order, and none overlaps with the result or the scratch memory. Nothing is allocated:
 * the operator's row says how many bytes of scratch its shapes need.
 */
#ifndef RML_KERNELS_KERNEL_H
#define RML_KERNELS_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rml_array {
  void* data;             /* elements of dtype */
  const int64_t* extents; /* rank of them */
  uint32_t rank;          /* 0: scalar */
  uint32_t dtype;         /* RML_F32, … of rmlrt.h */
} rml_array;

/* A static attribute; of a list its elements, of a text its characters, of a number `number`. Not given (its default is
 * "all"): count is -1. */
typedef struct rml_attribute {
  const int64_t* integers;
  int64_t count;
  double number;
} rml_attribute;

typedef struct rml_kernel_call {
  const rml_array* operands; /* in the order of the row, variadic ones expanded */
  const rml_array* result;
  const rml_attribute* attributes; /* in the order of the row */
  void* scratch;                   /* aligned to 64 */
  int64_t value, bound;            /* set by a kernel that fails, for the message */
  uint32_t n_operands, n_attributes;
} rml_kernel_call;

/* The result is RML_OK or an RML_FAULT_… of rmlrt.h, which stops the run at the operator's place. */
typedef int32_t rml_kernel(rml_kernel_call*);

#ifdef __cplusplus
}
#endif
#endif
