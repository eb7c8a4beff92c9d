#include "python/src/python_types.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/base/failure.h"
#include "runtime/kernels/half_float.h"

namespace rml::python {

// Python objects may outlive this library, so the helpers are never destroyed.
Helpers& helpers() {
  static auto* const all = new Helpers;
  return *all;
}

nb::dlpack::dtype array_type(std::uint8_t dtype) {
  switch (dtype) {
    case RML_BOOL:
      return nb::dtype<bool>();
    case RML_I8:
      return nb::dtype<std::int8_t>();
    case RML_U8:
      return nb::dtype<std::uint8_t>();
    case RML_I16:
      return nb::dtype<std::int16_t>();
    case RML_I32:
      return nb::dtype<std::int32_t>();
    case RML_I64:
      return nb::dtype<std::int64_t>();
    case RML_F16:
      return {static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float), 16, 1};
    case RML_F32:
      return nb::dtype<float>();
    case RML_F64:
      return nb::dtype<double>();
    case RML_U32:
      return nb::dtype<std::uint32_t>();
    case RML_U64:
      return nb::dtype<std::uint64_t>();
    case RML_BF16:
    case RML_U16:
    default:
      return nb::dtype<std::uint16_t>();
  }
}

nb::object array_over(const void* elements, const rml_port& port, std::int64_t rows, nb::handle owner, bool writable) {
  std::vector<std::size_t> shape;
  if (rows >= 0) shape.push_back(static_cast<std::size_t>(rows));
  shape.insert(shape.end(), port.dims, port.dims + port.rank);
  if (writable) {
    return nb::cast(nb::ndarray<nb::numpy>(const_cast<void*>(elements), shape.size(), shape.data(), owner, nullptr,
                                           array_type(port.dtype)),
                    nb::rv_policy::reference);
  }
  return nb::cast(
      nb::ndarray<nb::numpy, nb::ro>(elements, shape.size(), shape.data(), owner, nullptr, array_type(port.dtype)),
      nb::rv_policy::reference);
}

nb::capsule owner_of(std::shared_ptr<const void> keeper) {
  using Keeper = std::shared_ptr<const void>;
  return nb::capsule(new Keeper(std::move(keeper)), [](void* p) noexcept { delete static_cast<Keeper*>(p); });
}

nb::object copy_of(const void* elements, const rml_port& port) {
  const std::size_t bytes = port.elements * rt::dtype_bytes(port.dtype);
  const std::shared_ptr<char[]> copy(new char[bytes + 1]);
  std::memcpy(copy.get(), elements, bytes);
  return array_over(copy.get(), port, -1, owner_of(copy), true);
}

namespace {

template <class T>
T load(const void* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

template <class T>
bool store_integer(void* element, PyObject* value) {
  if (!PyLong_CheckExact(value)) return false;
  int overflow = 0;
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    const unsigned long long wide = PyLong_AsUnsignedLongLong(value);
    if (wide == static_cast<unsigned long long>(-1) && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return false;
    }
    std::memcpy(element, &wide, sizeof wide);
    return true;
  } else {
    const long long wide = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0 || wide < static_cast<long long>(std::numeric_limits<T>::min()) ||
        wide > static_cast<long long>(std::numeric_limits<T>::max()))
      return false;
    const T narrow = static_cast<T>(wide);
    std::memcpy(element, &narrow, sizeof narrow);
    return true;
  }
}

}  // namespace

PyObject* scalar_of(std::uint8_t dtype, const void* element) {
  switch (dtype) {
    case RML_BOOL:
      return PyBool_FromLong(load<std::uint8_t>(element));
    case RML_I8:
      return PyLong_FromLong(load<std::int8_t>(element));
    case RML_U8:
      return PyLong_FromLong(load<std::uint8_t>(element));
    case RML_I16:
      return PyLong_FromLong(load<std::int16_t>(element));
    case RML_U16:
      return PyLong_FromLong(load<std::uint16_t>(element));
    case RML_I32:
      return PyLong_FromLong(load<std::int32_t>(element));
    case RML_U32:
      return PyLong_FromUnsignedLong(load<std::uint32_t>(element));
    case RML_I64:
      return PyLong_FromLongLong(load<std::int64_t>(element));
    case RML_U64:
      return PyLong_FromUnsignedLongLong(load<std::uint64_t>(element));
    case RML_F16:
      return PyFloat_FromDouble(rt::float_from_f16(load<std::uint16_t>(element)));
    case RML_BF16:
      return PyFloat_FromDouble(rt::float_from_bf16(load<std::uint16_t>(element)));
    case RML_F32:
      return PyFloat_FromDouble(load<float>(element));
    default:
      return PyFloat_FromDouble(load<double>(element));
  }
}

bool set_scalar(std::uint8_t dtype, void* element, PyObject* value) {
  const auto number = [&](double& to) {
    if (PyFloat_CheckExact(value)) {
      to = PyFloat_AsDouble(value);
      return true;
    }
    if (!PyLong_CheckExact(value)) return false;
    to = PyLong_AsDouble(value);
    if (to != -1.0 || PyErr_Occurred() == nullptr) return true;
    PyErr_Clear();
    return false;
  };
  double wide = 0;
  switch (dtype) {
    case RML_BOOL: {
      if (value != Py_True && value != Py_False) return false;
      const std::uint8_t truth = value == Py_True ? 1 : 0;
      std::memcpy(element, &truth, 1);
      return true;
    }
    case RML_I8:
      return store_integer<std::int8_t>(element, value);
    case RML_U8:
      return store_integer<std::uint8_t>(element, value);
    case RML_I16:
      return store_integer<std::int16_t>(element, value);
    case RML_U16:
      return store_integer<std::uint16_t>(element, value);
    case RML_I32:
      return store_integer<std::int32_t>(element, value);
    case RML_U32:
      return store_integer<std::uint32_t>(element, value);
    case RML_I64:
      return store_integer<std::int64_t>(element, value);
    case RML_U64:
      return store_integer<std::uint64_t>(element, value);
    default:
      break;
  }
  if (!number(wide)) return false;
  // If only rounding makes the number infinite, `convert` is called, which raises the error.
  const auto fits = [&](float narrow) { return !std::isinf(narrow) || std::isinf(wide); };
  if (dtype == RML_F64) {
    std::memcpy(element, &wide, sizeof wide);
  } else if (dtype == RML_F32) {
    const auto narrow = static_cast<float>(wide);
    if (!fits(narrow)) return false;
    std::memcpy(element, &narrow, sizeof narrow);
  } else {
    const bool half = dtype == RML_F16;
    const float odd = rt::float_to_odd(wide);
    const std::uint16_t bits = half ? rt::f16_from_float(odd) : rt::bf16_from_float(odd);
    if (!fits(half ? rt::float_from_f16(bits) : rt::float_from_bf16(bits))) return false;
    std::memcpy(element, &bits, sizeof bits);
  }
  return true;
}

const void* elements_of(nb::handle array, const rml_port& port, std::int64_t rows) {
  nb::ndarray<nb::ro> view;
  if (array.type().ptr() != helpers().array.ptr() || !nb::try_cast(array, view, false)) return nullptr;
  const std::size_t first = rows < 0 ? 0 : 1;
  if (view.device_type() != nb::device::cpu::value || view.dtype() != array_type(port.dtype)) return nullptr;
  if (view.ndim() != first + port.rank || (first == 1 && view.shape(0) != static_cast<std::size_t>(rows)))
    return nullptr;
  std::int64_t distance = 1;
  for (std::size_t axis = view.ndim(); axis-- > 0;) {
    if (axis >= first && view.shape(axis) != port.dims[axis - first]) return nullptr;
    if (view.size() > 0 && view.shape(axis) > 1 && view.stride(axis) != distance) return nullptr;
    distance *= static_cast<std::int64_t>(view.shape(axis));
  }
  if (port.dtype == RML_BOOL) {  // stores 0 or 1, because compiled code reads only one bit of the byte
    const auto* const bytes = static_cast<const std::uint8_t*>(view.data());
    if (std::any_of(bytes, bytes + view.size(), [](std::uint8_t byte) { return byte > 1; })) return nullptr;
  }
  static constexpr std::uint64_t nothing = 0;  // address for an empty array, whose own address may be null
  return view.size() > 0 ? view.data() : &nothing;
}

void read_argument(nb::handle value, const rml_port& port, void* to) {
  const auto read = [&](nb::handle from) {
    if (port.rank == 0) return set_scalar(port.dtype, to, from.ptr());
    const void* const elements = elements_of(from, port, -1);
    if (elements == nullptr) return false;
    std::memcpy(to, elements, port.elements * rt::dtype_bytes(port.dtype));
    return true;
  };
  if (read(value)) return;
  nb::list shape;
  for (std::uint32_t axis = 0; axis < port.rank; ++axis) shape.append(port.dims[axis]);
  const nb::object converted =
      helpers().convert(value, port.name, std::string(rt::dtype_name(port.dtype)), nb::tuple(shape));
  if (!read(converted)) throw nb::type_error((std::string(port.name) + ": not a value of its type").c_str());
}

namespace {

void raise_run_fault(const RunFault& fault) {
  const nb::object error =
      helpers().run_error(fault.what(), fault.cycle, fault.file, fault.line, fault.column, fault.equation);
  PyErr_SetObject(helpers().run_error.ptr(), error.ptr());
}

}  // namespace

void set_error_of_exception() {
  try {
    throw;
  } catch (const RunFault& fault) {
    raise_run_fault(fault);
  } catch (const rt::Failure& failure) {
    const nb::object error = helpers().run_error(failure.what(), nb::none(), "", 0, 0, "");
    PyErr_SetObject(helpers().run_error.ptr(), error.ptr());
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const nb::builtin_exception& error) {
    PyErr_SetString(error.type() == nb::exception_type::type_error ? PyExc_TypeError : PyExc_ValueError, error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

}  // namespace rml::python
