// An Instance as Python has it: with what makes a single cycle cheap.
#pragma once

#include "python/src/python_types.h"

namespace rml::python {

class Stepper : public Instance {
 public:
  // row: makes the row of a cycle of its values where there are several outputs.
  Stepper(std::shared_ptr<const Node> node, std::uint64_t seed, std::int64_t horizon, nb::object row);

  // What a call step(…) gives and gets: values by position, then those of `names`. Null: an error is set.
  PyObject* step(PyObject* const* values, Py_ssize_t by_position, PyObject* names);

 private:
  void find_inputs(PyObject* names, Py_ssize_t by_position);
  std::size_t input_of(PyObject* name) const;
  nb::object row_object(bool owned);

  nb::object row_;
  std::vector<nb::object> names_;      // of inputs, interned
  nb::object last_names_;              // of the call before, to whose values belong
  std::vector<std::size_t> by_value_;  // … these inputs
  Py_ssize_t last_by_position_ = -1;
  std::vector<nb::object> views_;  // of outputs that are tensors: what out() holds
};

}  // namespace rml::python
