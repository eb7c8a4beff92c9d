// Instances with a fast call for a single cycle, as the base classes of the Python classes.
#pragma once

#include "python/src/keyed.h"
#include "python/src/python_types.h"

namespace rml::python {

// Reads the arguments of a call for one cycle, and builds the row that it returns.
class StepPorts {
 public:
  // Prepares the conversion of ports. `row` is the named tuple class that combines the values of
  // several outputs.
  StepPorts(const rml_program& program, nb::object row);

  // Reads the values by position, and then those by the names in `names`. Throws the error that
  // Python raised.
  void read(PyObject* const* values, Py_ssize_t by_position, PyObject* names, rt::Row& to);
  // Returns a row. owned: copy its tensors, because the next row may come before Python reads
  // this one. Otherwise tensors are views, and keeper() returns an owner of the row.
  template <class Keeper>
  nb::object row(const rt::Row& out, bool owned, const Keeper& keeper) {
    if (program_.n_outputs == 1) return value(out, 0, owned, keeper);
    const nb::object values = nb::steal(PyTuple_New(program_.n_outputs));
    for (std::uint32_t k = 0; k < program_.n_outputs; ++k)
      PyTuple_SetItem(values.ptr(), k, value(out, k, owned, keeper).release().ptr());
    return nb::steal(PyObject_CallObject(row_.ptr(), values.ptr()));
  }

 private:
  template <class Keeper>
  nb::object value(const rt::Row& out, std::uint32_t k, bool owned, const Keeper& keeper) {
    const rml_port& port = program_.outputs[k];
    if (port.always == 0 && !out.is_present(k)) return nb::none();
    if (port.rank == 0) return nb::steal(scalar_of(port.dtype, out.data(k)));
    if (owned) return copy_of(out.data(k), port);
    if (!views_[k].is_valid()) views_[k] = array_over(out.data(k), port, -1, owner_of(keeper()), false);
    return views_[k];
  }
  void find_inputs(PyObject* names, Py_ssize_t by_position);
  std::size_t input_of(PyObject* name) const;

  const rml_program& program_;
  nb::object row_;
  std::vector<nb::object> names_;      // the names of the inputs, interned
  nb::object last_names_;              // the names in the previous call
  std::vector<std::size_t> by_value_;  // the inputs to which the values of the previous call belong
  Py_ssize_t last_by_position_ = -1;   // the number of values by position in the previous call
  std::vector<nb::object> views_;      // the views of the outputs that are tensors
};

class Stepper : public Instance {
 public:
  Stepper(std::shared_ptr<const Node> node, std::uint64_t seed, std::int64_t horizon, nb::object row);

  // Implements a call step(…). Returns null if a Python error is set.
  PyObject* step(PyObject* const* values, Py_ssize_t by_position, PyObject* names);

 private:
  StepPorts ports_;
};

class KeyedStepper : public Keyed {
 public:
  KeyedStepper(std::shared_ptr<const Node> node, std::uint64_t seed, std::int64_t horizon,
               const std::vector<std::string>& shared, nb::object row);

  // The first value is the text of the key.
  PyObject* step(PyObject* const* values, Py_ssize_t by_position, PyObject* names);

 private:
  StepPorts ports_;
};

// Marks a Keyed as in use during its lifetime. Throws Busy if it is in use already.
class UseOfKeyed {
 public:
  explicit UseOfKeyed(Keyed& keyed) : keyed_(keyed) {
    if (keyed.busy().exchange(true, std::memory_order_acquire)) throw Busy();
  }
  ~UseOfKeyed() { keyed_.busy().store(false, std::memory_order_release); }
  UseOfKeyed(const UseOfKeyed&) = delete;
  UseOfKeyed& operator=(const UseOfKeyed&) = delete;

 private:
  Keyed& keyed_;
};

}  // namespace rml::python
