// Selects the generator of an operator over windows.
#include "lowering/llvm/windows/windows.h"

#include "lowering/llvm/windows/convolution.h"
#include "lowering/llvm/windows/pooling.h"

namespace rml::codegen {

bool emit_windows(Function& f, ValueId v, const core::Apply& a) {
  const WindowForm form = operators()[a.op].window;
  if (is_convolution(form)) return emit_convolution(f, v, a);
  return (is_pool(form) || is_pool_gradient(form)) && emit_pooling(f, v, a);
}

}  // namespace rml::codegen
