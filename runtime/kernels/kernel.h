/* The calling convention of kernels. A kernel is a C function that implements an operator, for the
 * reference engine and for compiled programs.
 *
 * A kernel reads its operands and attributes, and writes every element of its result. All shapes
 * are known when the program is compiled, and the operator's shape rule has accepted them. Tensors
 * are dense and in row-major order, and do not overlap with the result or the scratch memory. A
 * kernel allocates nothing: the operator table contains the size of the scratch memory for given
 * shapes.
 */
#ifndef RML_KERNELS_KERNEL_H
#define RML_KERNELS_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rml_array {
  void* data;             /* elements, of type dtype */
  const int64_t* extents; /* extents of the axes, `rank` numbers */
  uint32_t rank;          /* number of axes; 0: scalar */
  uint32_t dtype;         /* RML_F32, … of rmlrt.h */
} rml_array;

/* The value of a static attribute. */
typedef struct rml_attribute {
  const int64_t* integers; /* the elements of a list, or the characters of a text */
  int64_t count;           /* number of integers; -1: the attribute is omitted, which means "all" */
  double number;           /* the value of an attribute that is a number */
} rml_attribute;

typedef struct rml_kernel_call {
  const rml_array* operands; /* in the order of the operator table; variadic ones are expanded */
  const rml_array* result;
  const rml_attribute* attributes; /* in the order of the operator table */
  void* scratch;                   /* scratch memory, aligned to 64 bytes */
  int64_t value, bound;            /* set by a kernel that fails; used in the message */
  uint32_t n_operands, n_attributes;
} rml_kernel_call;

/* Returns RML_OK, or an RML_FAULT_… of rmlrt.h. A fault stops the run; the message contains the
 * place of the operator in the source. */
typedef int32_t rml_kernel(rml_kernel_call*);

#ifdef __cplusplus
}
#endif
#endif
