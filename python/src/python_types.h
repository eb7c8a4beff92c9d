// What the parts of the extension know of Python: how elements are numbers, arrays and errors there.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "python/src/instance.h"

namespace rml::python {

namespace nb = nanobind;

// What Python has given for the work that it does better: errors, and what is no number or array of the right kind.
struct Helpers {
  nb::object run_error;  // RunError(text, cycle, file, line, column, equation)
  nb::object array;      // numpy.ndarray, once there is one: what is derived of it may mean something else
  nb::object convert;    // convert(value, name, dtype, shape): a bool, int or float, or an array; raises what is wrong
};
Helpers& helpers();

// The element type of an array; that of bf16 is the integer of its bits.
nb::dlpack::dtype array_type(std::uint8_t dtype);

// An array over elements that `owner` keeps alive. rows: of so many values of the port; less than 0: of one, without
// that axis.
nb::object array_over(const void* elements, const rml_port& port, std::int64_t rows, nb::handle owner, bool writable);

// What keeps the elements of an array.
nb::capsule owner_of(std::shared_ptr<const void> keeper);
// An array of one value with elements of its own.
nb::object copy_of(const void* elements, const rml_port& port);

// A bool, int or float.
PyObject* scalar_of(std::uint8_t dtype, const void* element);
// False: it is not of the type itself, or out of its range; no error is set.
bool set_scalar(std::uint8_t dtype, void* element, PyObject* value);
// The elements of an array that is as the port has them, over so many values; null: it is not. It must live meanwhile.
const void* elements_of(nb::handle array, const rml_port& port, std::int64_t rows);

// Reads an argument of one cycle into `to`, converted if need be. Throws what Python has raised.
void read_argument(nb::handle value, const rml_port& port, void* to);

// What is being handled as Python's error.
void set_error_of_exception();

// Instance.step and Keyed._step, builtins for their speed.
extern PyMethodDef step_methods[], keyed_step_methods[];

}  // namespace rml::python
