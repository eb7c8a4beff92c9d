// Instance.step and Keyed._step, as builtins that take their arguments as a vector.
//
// Two caches make a call cheap. The tuple of names is the same object in every execution of one
// call in the source, so the inputs of its values are looked up only once. And a tensor of the
// returned row is the same array in every cycle.
#include <algorithm>
#include <cstring>

#include <nanobind/stl/string.h>

#include "python/src/stepper.h"

namespace rml::python {

StepPorts::StepPorts(const rml_program& program, nb::object row)
    : program_(program), row_(std::move(row)), views_(program.n_outputs) {
  for (std::uint32_t k = 0; k < program.n_inputs; ++k)
    names_.push_back(nb::steal(PyUnicode_InternFromString(program.inputs[k].name)));
}

std::size_t StepPorts::input_of(PyObject* name) const {
  for (std::size_t k = 0; k < names_.size(); ++k)
    if (names_[k].ptr() == name) return k;
  for (std::size_t k = 0; k < names_.size(); ++k)
    if (PyUnicode_Compare(names_[k].ptr(), name) == 0) return k;
  std::string known;
  for (const nb::object& n : names_) known += (known.empty() ? "" : ", ") + nb::cast<std::string>(n);
  // Write the name in ASCII as Python does, because it need not be valid UTF-8.
  const std::string shown = nb::cast<std::string>(nb::steal(PyObject_ASCII(name)));
  throw nb::type_error(("no input " + shown + "; the inputs are: " + known).c_str());
}

void StepPorts::find_inputs(PyObject* names, Py_ssize_t by_position) {
  last_by_position_ = -1;
  if (static_cast<std::size_t>(by_position) > names_.size())
    throw nb::type_error(("inputs: expected at most " + std::to_string(names_.size()) + ", one for each input, got " +
                          std::to_string(by_position))
                             .c_str());
  const Py_ssize_t by_name = names == nullptr ? 0 : PyTuple_Size(names);
  std::vector<std::size_t> inputs;
  std::vector<bool> given(names_.size());
  const auto add = [&](std::size_t k) {
    if (given[k])
      throw nb::type_error(
          (std::string(program_.inputs[k].name) + ": given twice, by position and by name; remove one of the two")
              .c_str());
    given[k] = true;
    inputs.push_back(k);
  };
  for (Py_ssize_t i = 0; i < by_position; ++i) add(static_cast<std::size_t>(i));
  for (Py_ssize_t i = 0; i < by_name; ++i) add(input_of(PyTuple_GetItem(names, i)));
  for (std::size_t k = 0; k < names_.size(); ++k)
    if (!given[k] && program_.inputs[k].always != 0)
      throw nb::type_error(
          (std::string(program_.inputs[k].name) + ": missing; this input is present in every cycle, so give its value")
              .c_str());
  by_value_ = inputs;
  last_names_ = names == nullptr ? nb::object() : nb::borrow(names);
  last_by_position_ = by_position;
}

void StepPorts::read(PyObject* const* values, Py_ssize_t by_position, PyObject* names, rt::Row& to) {
  if (by_position != last_by_position_ || names != last_names_.ptr()) find_inputs(names, by_position);
  if (by_value_.size() != names_.size())
    for (std::uint32_t k = 0; k < to.size(); ++k) to.set_present(k, false);
  for (std::size_t i = 0; i < by_value_.size(); ++i) {
    const auto k = static_cast<std::uint32_t>(by_value_[i]);
    const rml_port& port = program_.inputs[k];
    const bool there = port.always != 0 || values[i] != Py_None;
    to.set_present(k, there);
    if (there && (port.rank > 0 || !set_scalar(port.dtype, to.data(k), values[i])))
      read_argument(values[i], port, to.data(k));
  }
}

Stepper::Stepper(std::shared_ptr<const Node> node, std::uint64_t seed, std::int64_t horizon, nb::object row)
    : Instance(std::move(node), seed, horizon), ports_(table(), std::move(row)) {}

PyObject* Stepper::step(PyObject* const* values, Py_ssize_t by_position, PyObject* names) {
  const Use use(*this);
  const auto keeper = [this] { return row_keeper(); };
  ports_.read(values, by_position, names, in());
  push();
  if (node().immediate()) {
    take();
    return ports_.row(out(), false, keeper).release().ptr();
  }
  nb::list rows;
  while (take()) rows.append(ports_.row(out(), true, keeper));
  return rows.release().ptr();
}

KeyedStepper::KeyedStepper(std::shared_ptr<const Node> node, std::uint64_t seed, std::int64_t horizon,
                           const std::vector<std::string>& shared, nb::object row)
    : Keyed(std::move(node), seed, horizon, shared), ports_(table(), std::move(row)) {}

PyObject* KeyedStepper::step(PyObject* const* values, Py_ssize_t by_position, PyObject* names) {
  const UseOfKeyed use(*this);
  if (by_position < 1) throw nb::type_error("the key is missing");
  const std::string key = nb::cast<std::string>(nb::handle(values[0]));
  const auto keeper = [] { return std::shared_ptr<const void>(); };
  ports_.read(values + 1, by_position - 1, names, in());
  push(key);
  if (node().immediate()) {
    row();
    return ports_.row(out(), true, keeper).release().ptr();
  }
  nb::list rows;
  while (row()) rows.append(ports_.row(out(), true, keeper));
  return rows.release().ptr();
}

namespace {

template <class Self>
PyObject* step(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  try {
    if (!nb::inst_ready(self))
      throw nb::type_error("this instance is not initialised; create instances by Node.start()");
    return nb::inst_ptr<Self>(self)->step(values, count, names);
  } catch (...) {
    set_error_of_exception();
    return nullptr;
  }
}

template <class Self>
PyCFunction step_function() {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(step<Self>));
}

}  // namespace

PyMethodDef step_methods[] = {
    {"step", step_function<Stepper>(), METH_FASTCALL | METH_KEYWORDS,
     "step(**inputs)\n--\n\n"
     "Computes one cycle. Inputs are given by name, or in the order of the node. None is an absent input.\n\n"
     "If each cycle of the node returns its own row, the result is this row: the value of the only output, or a tuple\n"
     "with a field for each output. Tensors in it are views, which the next step overwrites. For any other node, the\n"
     "result is the list of the rows that this cycle made known. Tensors in these rows are copies."},
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef keyed_step_methods[] = {
    {"_step", step_function<KeyedStepper>(), METH_FASTCALL | METH_KEYWORDS,
     "_step(key, /, **inputs)\n--\n\n"
     "Computes one cycle of the key whose text is given, like `Instance.step`. Tensors are copies."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace rml::python
