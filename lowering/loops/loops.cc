// Derives the dtype of each element of a nest.
#include "lowering/loops/loops.h"

#include "lowering/loops/operations.h"
#include "semantics/values/overloaded.h"

namespace rml::loops {

std::vector<DType> dtypes(const Program& p, const Nest& nest) {
  std::vector<DType> all;
  for (const Element& e : nest.body)
    all.push_back(
        std::visit(Overloaded{[](const Number& x) { return x.value.dtype(); }, [](const Index&) { return DType::i64; },
                              [&](const Load& x) { return p.buffers[x.from.buffer.index].dtype; },
                              [](const Operation& x) { return dtype_of(x.op, x.dtype); },
                              [](const Convert& x) { return x.to; }, [](const LibraryCall& x) { return x.dtype; },
                              [](const IsNan&) { return DType::boolean; }, [](const Store&) { return DType::boolean; },
                              [](const Sum&) { return DType::boolean; }, [](const Check&) { return DType::boolean; }},
                   e));
  return all;
}

}  // namespace rml::loops
