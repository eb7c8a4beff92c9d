// Conversions between the elements of ports and Python's numbers and arrays, and from C++
// exceptions to Python errors.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "python/src/instance.h"

namespace rml::python {

namespace nb = nanobind;

// Objects of the Python part of the package: the error class, and a conversion for values that
// are not yet of the right type.
struct Helpers {
  nb::object run_error;  // RunError(text, cycle, file, line, column, equation)
  nb::object array;      // numpy.ndarray, once NumPy is imported; only this exact class is read directly
  nb::object convert;    // convert(value, name, dtype, shape) returns a bool, int, float or array, or raises an error
};
Helpers& helpers();

// The element type of an array for values of `dtype`. For bf16 it is the integer type of the
// bits.
nb::dlpack::dtype array_type(std::uint8_t dtype);

// Returns an array that is a view of elements, which `owner` keeps alive. rows: the number of
// values, as the first axis; if negative, there is a single value and no such axis.
nb::object array_over(const void* elements, const rml_port& port, std::int64_t rows, nb::handle owner, bool writable);

// Returns an owner for an array that keeps `keeper` alive.
nb::capsule owner_of(std::shared_ptr<const void> keeper);
// Returns an array with a copy of one value.
nb::object copy_of(const void* elements, const rml_port& port);

// Returns an element as a Python bool, int or float.
PyObject* scalar_of(std::uint8_t dtype, const void* element);
// Stores a Python number as an element. Returns false, without a Python error, if it has another
// type or is out of range.
bool set_scalar(std::uint8_t dtype, void* element, PyObject* value);
// Returns the elements of an array with `rows` values of the port's type, or null if the type or
// layout differs. The array must stay alive while they are used.
const void* elements_of(nb::handle array, const rml_port& port, std::int64_t rows);

// Reads an argument of one cycle into `to`, and converts it if needed. Throws the error that
// Python raised.
void read_argument(nb::handle value, const rml_port& port, void* to);

// Sets the Python error for the C++ exception that is being handled.
void set_error_of_exception();

// Instance.step and Keyed._step. They are builtins, because calls of these are faster.
extern PyMethodDef step_methods[], keyed_step_methods[];

}  // namespace rml::python
