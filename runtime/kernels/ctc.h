/* Connectionist temporal classification (Graves et al., 2006): the sum over all alignments of
 * labels with the frames of a sequence, and its gradient.
 *
 * Operands are as in the operator table. A length or label that is out of range is
 * RML_FAULT_INDEX, with the number and its bound.
 */
#ifndef RML_KERNELS_CTC_H
#define RML_KERNELS_CTC_H

#include "runtime/kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

rml_kernel rml_ctc;          /* (log_probs, targets, input_lengths, target_lengths; blank) -> [batch] */
rml_kernel rml_ctc_gradient; /* (adjoint, log_probs, …; blank) -> the shape of log_probs */
int64_t rml_ctc_bytes(int64_t time, int64_t longest); /* bytes of scratch for both kernels */

#ifdef __cplusplus
}
#endif
#endif
