// The extension module rmlc._core: the compiler, and compiled programs in memory. It defines the
// base classes and functions from which rmlc/*.py builds the public interface.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <csignal>
#include <cstring>
#include <utility>

#include "driver/base/installation.h"
#include "driver/commands/commands.h"
#include "python/src/stepper.h"
#include "runtime/base/failure.h"
#include "runtime/base/key_table.h"

namespace rml::python {
namespace {

nb::tuple port_tuple(const rml_port& port) {
  nb::list shape;
  for (std::uint32_t axis = 0; axis < port.rank; ++axis) shape.append(port.dims[axis]);
  return nb::make_tuple(port.name, std::string(rt::dtype_name(port.dtype)), nb::tuple(shape), port.clock,
                        port.always != 0);
}

nb::list ports(const rml_port* first, std::uint32_t count) {
  nb::list all;
  for (std::uint32_t k = 0; k < count; ++k) all.append(port_tuple(first[k]));
  return all;
}

rml_port port_of(const rml_parameter& p) {
  rml_port port{};
  port.name = p.path;
  port.clock = "base";
  port.always = 1;
  port.dtype = p.dtype;
  port.rank = p.rank;
  port.dims = p.dims;
  port.elements = p.elements;
  return port;
}

rml_port port_of(const rml_memory& m) {
  rml_port port{};
  port.name = m.name;
  port.dtype = m.dtype;
  port.rank = m.rank;
  port.dims = m.dims;
  port.elements = m.elements;
  return port;
}

// Returns the parameters, with each path once.
nb::list parameters(const Node& node) {
  const rml_program& p = node.table();
  nb::list all;
  for (std::uint32_t k = 0; k < p.n_parameters; ++k)
    if (k == 0 || std::strcmp(p.parameters[k].path, p.parameters[k - 1].path) != 0)
      all.append(port_tuple(port_of(p.parameters[k])));
  return all;
}

nb::list conditions(const Node& node) {
  nb::list all;
  for (std::uint32_t k = 0; k < node.table().n_cuts; ++k) all.append(node.table().cuts[k].condition);
  return all;
}

nb::object compile(CompileRequest& request, SourceOnce* checked) {
  Compilation made;
  {
    std::shared_ptr<Source> source = checked == nullptr ? nullptr : checked->take(request);
    const nb::gil_scoped_release others;
    made = compile_node(request, std::move(source));
  }
  return nb::make_tuple(made.node ? nb::cast(made.node) : nb::none(), made.text, made.json, made.told, made.files,
                        made.nodes, made.source ? nb::cast(SourceOnce{std::move(made.source)}) : nb::none());
}

const rml_parameter& parameter(const Instance& s, const std::string& path) {
  const rml_program& p = s.table();
  for (std::uint32_t k = 0; k < p.n_parameters; ++k)
    if (path == p.parameters[k].path) return p.parameters[k];
  throw nb::key_error(path.c_str());
}

// Returns a view of a memory that is a cell, and None for any other memory.
nb::object memory_view(Stepper& s, const rml_memory& m) {
  if (m.kind != RML_CELL) return nb::none();
  s.written_outside();
  return array_over(static_cast<char*>(s.block()) + m.offset, port_of(m), -1, owner_of(s.state_keeper()), true);
}

nb::object get_parameter(Stepper& s, const std::string& path) {
  const Instance::Use use(s);
  const rml_parameter& p = parameter(s, path);
  if (const void* const given = s.given(p)) return copy_of(given, port_of(p));
  if (!s.looked_at(p) || p.memory == UINT32_MAX) return nb::none();
  return memory_view(s, s.table().memories[p.memory]);
}

// Sets a parameter: its initial value if the program has not read that yet, otherwise its cell.
// Returns false if it has no cell.
bool set_parameter(Stepper& s, const std::string& path, nb::handle elements) {
  const Instance::Use use(s);
  const rml_parameter& p = parameter(s, path);
  const void* const from = elements_of(elements, port_of(p), -1);
  if (from == nullptr) throw nb::type_error((path + ": expected an array of the parameter's type and shape").c_str());
  if (!s.looked_at(p)) {
    s.give(p, from);
    return true;
  }
  if (p.memory == UINT32_MAX || s.table().memories[p.memory].kind != RML_CELL) return false;
  std::memcpy(static_cast<char*>(s.block()) + s.table().memories[p.memory].offset, from,
              p.elements * rt::dtype_bytes(p.dtype));
  s.written_outside();
  return true;
}

nb::dict cells(Stepper& s) {
  const Instance::Use use(s);
  nb::dict all;
  for (std::uint32_t k = 0; k < s.table().n_memories; ++k) {
    const rml_memory& m = s.table().memories[k];
    if (m.kind == RML_CELL) all[m.name] = memory_view(s, m);
  }
  return all;
}

// Returns the tuple (first row, number of rows, for each output (values, cycles or None)).
nb::tuple taken(Rows& rows) {
  nb::list columns;
  for (Column& column : rows.columns) {
    column.reserve(1);
    const auto n = static_cast<std::int64_t>(column.size);
    if (column.size < column.capacity && column.size > 0) {
      if (void* const less = std::realloc(column.elements.get(), column.size * column.value_bytes() + 1)) {
        static_cast<void>(column.elements.release());
        column.elements.reset(static_cast<char*>(less));
      }
    }
    char* const block = column.elements.release();
    const nb::capsule owner(block, [](void* p) noexcept { std::free(p); });
    const nb::object values = array_over(block, *column.port, n, owner, true);
    nb::object at = nb::none();
    if (column.port->always == 0) {
      auto* const cycles = new std::vector<std::int64_t>(std::move(column.at));
      const nb::capsule keeper(cycles, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
      const std::size_t count = cycles->size();
      at = nb::cast(nb::ndarray<nb::numpy, std::int64_t>(cycles->data(), 1, &count, keeper), nb::rv_policy::reference);
    }
    columns.append(nb::make_tuple(values, at));
  }
  return nb::make_tuple(rows.first, rows.count, columns);
}

const std::uint8_t* flags_of(nb::handle array, std::int64_t count) {
  rml_port port{};
  port.name = "present";
  port.dtype = RML_BOOL;
  return static_cast<const std::uint8_t*>(elements_of(array, port, count));
}

// Returns the inputs of a run. everywhere: storage for the flags of an input that is present in
// every given cycle.
Cycles cycles_of(const rml_program& program, const nb::list& inputs, const nb::list& present, std::int64_t count,
                 std::vector<std::uint8_t>& everywhere) {
  Cycles cycles;
  cycles.count = count;
  for (std::uint32_t k = 0; k < program.n_inputs; ++k) {
    const rml_port& port = program.inputs[k];
    cycles.elements.push_back(elements_of(inputs[k], port, count));
    if (port.always == 0 && present[k].is_none()) everywhere.resize(static_cast<std::size_t>(count), 1);
    const bool flags = port.always == 0 && !present[k].is_none();
    cycles.present.push_back(flags ? flags_of(present[k], count) : nullptr);
    if (cycles.elements.back() == nullptr || (flags && cycles.present.back() == nullptr))
      throw nb::type_error((std::string(port.name) + ": expected an array of the input's type and shape").c_str());
  }
  for (std::uint32_t k = 0; k < program.n_inputs; ++k)
    if (program.inputs[k].always == 0 && cycles.present[k] == nullptr) cycles.present[k] = everywhere.data();
  return cycles;
}

bool interrupted() {
  const nb::gil_scoped_acquire here;
  return PyErr_CheckSignals() != 0;
}

// Returns the number of cycles that `compute` has read, and the error that ended it, or None.
template <class F>
std::pair<std::int64_t, nb::object> computed(const F& compute) {
  std::int64_t read = 0;
  nb::object error = nb::none();
  try {
    const nb::gil_scoped_release others;
    read = compute();
  } catch (const RunFault& fault) {
    error = helpers().run_error(fault.what(), fault.cycle, fault.file, fault.line, fault.column, fault.equation);
  }
  if (PyErr_Occurred() != nullptr) {
    nb::python_error signal;
    error = nb::borrow(signal.value());
  }
  return {read, error};
}

// Returns the tuple (cycles read, rows, the error that ended the run or None).
nb::tuple run(Stepper& s, const nb::list& inputs, const nb::list& present, std::int64_t count) {
  const Instance::Use use(s);
  std::vector<std::uint8_t> everywhere;
  const Cycles cycles = cycles_of(s.table(), inputs, present, count, everywhere);
  Rows rows = s.no_rows();
  const auto [read, error] = computed([&] { return s.run(cycles, rows, interrupted); });
  return nb::make_tuple(read, taken(rows), error);
}

// Returns the tuple (rows, numbers of their keys).
nb::tuple taken(KeyedRows& rows) {
  auto* const numbers = new std::vector<std::int64_t>(std::move(rows.keys));
  const nb::capsule keeper(numbers, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
  const std::size_t count = numbers->size();
  const nb::object keys =
      nb::cast(nb::ndarray<nb::numpy, std::int64_t>(numbers->data(), 1, &count, keeper), nb::rv_policy::reference);
  return nb::make_tuple(taken(rows.rows), keys);
}

// texts: the texts of the keys. key_of: for each cycle the position of its key among them.
nb::tuple run_keyed(KeyedStepper& s, const nb::list& inputs, const nb::list& present,
                    const std::vector<std::string>& texts, nb::handle key_of, std::int64_t count) {
  const UseOfKeyed use(s);
  std::vector<std::uint8_t> everywhere;
  const Cycles cycles = cycles_of(s.table(), inputs, present, count, everywhere);
  rml_port places{};
  places.name = "keys";
  places.dtype = RML_I64;
  places.elements = 1;
  const auto* const numbers = static_cast<const std::int64_t*>(elements_of(key_of, places, count));
  if (numbers == nullptr) throw nb::type_error("keys: expected an array of int64");
  for (std::int64_t i = 0; i < count; ++i)
    if (numbers[i] < 0 || numbers[i] >= std::ssize(texts)) throw nb::index_error("keys");
  KeyedRows rows = s.no_rows();
  const auto [read, error] = computed([&] { return s.run(cycles, texts, numbers, rows, interrupted); });
  return nb::make_tuple(read, taken(rows), error);
}

nb::tuple finish_keyed(KeyedStepper& s) {
  const UseOfKeyed use(s);
  KeyedRows rows = s.no_rows();
  std::string why;
  const std::int64_t unknown = s.finish(rows, why);
  return nb::make_tuple(taken(rows), unknown, why);
}

nb::tuple finish(Stepper& s) {
  const Instance::Use use(s);
  Rows rows = s.no_rows();
  std::string why;
  const std::int64_t unknown = s.finish(rows, why);
  return nb::make_tuple(taken(rows), unknown, why);
}

nb::bytes save(Stepper& s, bool at_anchor) {
  const Instance::Use use(s);
  const std::string bytes = s.save(at_anchor);
  return nb::bytes(bytes.data(), bytes.size());
}

void load(Stepper& s, const std::string& name, const nb::bytes& bytes, const std::vector<std::string>& map) {
  const Instance::Use use(s);
  s.load(name, std::string(bytes.c_str(), bytes.size()), map);
}

nb::bytes save_keyed(KeyedStepper& s) {
  const UseOfKeyed use(s);
  const std::string bytes = s.save();
  return nb::bytes(bytes.data(), bytes.size());
}

void load_keyed(KeyedStepper& s, const std::string& name, const nb::bytes& bytes, const std::vector<std::string>& map) {
  const UseOfKeyed use(s);
  s.load(name, std::string(bytes.c_str(), bytes.size()), map);
}

// Runs the command rmlc with all its effects on the process: it writes output, handles signals,
// and may exit.
int command(const std::vector<std::string>& arguments) {
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
  std::vector<std::string> texts = arguments;
  std::vector<char*> argv;
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  const nb::gil_scoped_release others;
  return command_line(static_cast<int>(texts.size()), argv.data());
}

void translate(const std::exception_ptr& p, void*) {
  try {
    std::rethrow_exception(p);
  } catch (const RunFault&) {
    set_error_of_exception();
  } catch (const rt::Failure&) {
    set_error_of_exception();
  }
}

void bind_request(nb::module_& m) {
  nb::class_<CompileRequest>(m, "CompileRequest")
      .def(nb::init<>())
      .def_rw("file", &CompileRequest::file)
      .def_rw("text", &CompileRequest::text)
      .def_rw("node", &CompileRequest::node)
      .def_rw("definitions", &CompileRequest::definitions)
      .def_rw("import_folders", &CompileRequest::import_folders)
      .def_rw("watches", &CompileRequest::watches)
      .def_rw("frozen", &CompileRequest::frozen)
      .def_rw("tunable", &CompileRequest::tunable)
      .def_rw("gathered", &CompileRequest::gathered)
      .def_rw("libraries", &CompileRequest::libraries)
      .def_rw("limits", &CompileRequest::limits)
      .def_rw("cpu", &CompileRequest::cpu)
      .def_rw("optimization", &CompileRequest::optimization)
      .def_rw("threads", &CompileRequest::threads)
      .def_rw("fast_math", &CompileRequest::fast_math)
      .def_rw("strict_math", &CompileRequest::strict_math)
      .def_rw("stabilise", &CompileRequest::stabilise)
      .def_rw("whole_segment", &CompileRequest::whole_segment)
      .def_rw("check_only", &CompileRequest::check_only)
      .def_rw("reference", &CompileRequest::reference)
      .def("set_parameters", [](CompileRequest& r, const std::string& file, const std::vector<std::string>& map,
                                bool partial, bool cast) { r.parameters = {file, map, partial, cast}; })
      .def("set_model", [](CompileRequest& r, const std::vector<std::string>& dimensions,
                           const std::vector<std::string>& fixed, const std::vector<std::string>& states,
                           const std::vector<std::string>& trainable, const std::vector<std::string>& streams) {
        r.model = ModelOptions{dimensions, fixed, states, trainable, streams, false};
      });
}

void bind_node(nb::module_& m) {
  nb::class_<Node>(m, "Node")
      .def_prop_ro("name", [](const Node& n) { return n.table().name; })
      .def_prop_ro("source", [](const Node& n) { return n.table().source; })
      .def_prop_ro("inputs", [](const Node& n) { return ports(n.table().inputs, n.table().n_inputs); })
      .def_prop_ro("outputs", [](const Node& n) { return ports(n.table().outputs, n.table().n_outputs); })
      .def_prop_ro("watched", [](const Node& n) { return n.table().n_watched; })
      .def_prop_ro("parameters", parameters)
      .def_prop_ro("conditions", conditions)
      .def_prop_ro("on_demand", [](const Node& n) { return n.table().demand != nullptr; })
      .def_prop_ro("immediate", &Node::immediate);
}

void bind_keyed(nb::module_& m) {
  PyType_Slot keyed_slots[] = {{Py_tp_methods, keyed_step_methods}, {0, nullptr}};
  nb::class_<KeyedStepper>(m, "Keyed", nb::type_slots(keyed_slots))
      .def(nb::init<std::shared_ptr<const Node>, std::uint64_t, std::int64_t, const std::vector<std::string>&,
                    nb::object>())
      .def_prop_ro("_size", [](const KeyedStepper& s) { return s.size(); })
      .def("_text", [](const KeyedStepper& s, std::uint32_t key) { return s.text(key); })
      .def("_run", run_keyed)
      .def("_finish", finish_keyed)
      .def("_save", save_keyed)
      .def("_load", load_keyed)
      .def("_load_parameters",
           [](KeyedStepper& s, const std::string& file, const std::vector<std::string>& map, bool partial, bool cast) {
             const UseOfKeyed use(s);
             return s.load_parameters({file, map, partial, cast});
           });
}

void bind_instance(nb::module_& m) {
  PyType_Slot slots[] = {{Py_tp_methods, step_methods}, {0, nullptr}};
  nb::class_<Stepper>(m, "Instance", nb::type_slots(slots))
      .def(nb::init<std::shared_ptr<const Node>, std::uint64_t, std::int64_t, nb::object>())
      .def_prop_ro("cycle", [](const Stepper& s) { return s.header().pushed; })
      .def_prop_ro("row", [](const Stepper& s) { return s.row(); })
      .def_prop_ro("seed", [](const Stepper& s) { return s.header().seed; })
      .def_prop_ro("longest_segment", [](const Stepper& s) { return s.header().longest_segment; })
      .def_prop_ro("buffer_bytes", [](const Stepper& s) { return s.header().buffer_bytes; })
      .def("_run", run)
      .def("_finish", finish)
      .def_prop_ro("settled",
                   [](Stepper& s) {
                     const Stepper::Use use(s);
                     return s.is_settled();
                   })
      .def("_save", save, nb::arg("at_anchor") = false)
      .def("_load", load)
      .def("_load_parameters",
           [](Stepper& s, const std::string& file, const std::vector<std::string>& map, bool partial, bool cast) {
             const Stepper::Use use(s);
             return s.load_parameters({file, map, partial, cast});
           })
      .def("_reset",
           [](Stepper& s) {
             const Stepper::Use use(s);
             s.reset();
           })
      .def("_get_parameter", get_parameter)
      .def("_set_parameter", set_parameter)
      .def("_cells", cells);
}

}  // namespace
}  // namespace rml::python

NB_MODULE(_core, m) {
  using namespace rml::python;
  // A script may still hold a node when Python ends, for instance in a graph of PyTorch. That is
  // not a leak.
  nb::set_leak_warnings(false);
  m.doc() = "The compiler of R(ML)2, and programs that it has compiled into memory.";
  nb::register_exception_translator(translate);
  m.def("set_helpers", [](nb::object run_error, nb::object convert) {
    helpers().run_error = std::move(run_error);
    helpers().convert = std::move(convert);
  });
  m.def("set_array", [](nb::object array) { helpers().array = std::move(array); });
  m.def("set_installation", [](const std::string& prefix) { rml::set_installation(prefix); });
  m.def("command", command);
  m.def("key_seed", rml::rt::hash_of_key, nb::arg("text"), nb::arg("seed"));
  nb::class_<SourceOnce>(m, "Source");
  m.def("compile", compile, nb::arg("request"), nb::arg("checked").none());
  bind_request(m);
  bind_node(m);
  bind_keyed(m);
  bind_instance(m);
}
