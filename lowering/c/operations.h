// Spells operations on elements as expressions of C.
#pragma once

#include "lowering/c/expression.h"
#include "lowering/c/helpers.h"

namespace rml::c99 {

Expression operation(Helpers&, const loops::Operation&, const std::vector<Expression>& x);
Expression conversion(Helpers&, DType to, DType from, const Expression& x);
Expression library_call(const std::string& function, DType, const std::vector<Expression>& x);

}  // namespace rml::c99
