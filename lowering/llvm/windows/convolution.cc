// Emits convolutions and their gradients as correlations, for floats, without the exact bits of the reference engine.
// Otherwise they are calls of the runtime's kernels.
#include "lowering/llvm/windows/convolution.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lowering/llvm/function/values.h"
#include "lowering/llvm/windows/correlation.h"
#include "lowering/llvm/windows/filter_gradient.h"
#include "semantics/core/queries.h"
#include "semantics/operators/kernels.h"

namespace rml::codegen {

namespace {

Correlation shared(DType dtype, const Convolution& c) {
  Correlation r;
  r.dtype = dtype;
  r.batch = c.batch;
  r.groups = c.groups;
  for (std::size_t k = 0; k < r.window.size(); ++k) r.window[k] = c.windows.axis[k].size;
  return r;
}

Correlation forward(DType dtype, const Convolution& c) {
  Correlation r = shared(dtype, c);
  r.in = c.in;
  r.out = c.out;
  r.filter_in = r.window_size();
  r.filter_out = c.in * r.window_size();
  for (std::size_t k = 0; k < r.extent.size(); ++k) {
    const window::Axis& a = c.windows.axis[k];
    r.extent[k] = r.result[k] = a.out;
    r.stride[k] = a.stride;
    r.taps[k] = {a.size, 0, 1, 0, a.dilation};
    r.source[k] = a.in;
    r.before[k] = a.begin;
  }
  return r;
}

// Finds the taps that see the inputs at place, place + stride, … of an axis, and their outputs: input i is seen by tap
// k at output (i + begin - k dilation) / stride. Returns false if no tap does.
bool taps_at(const window::Axis& a, std::int64_t place, AxisTaps& taps, std::int64_t& before) {
  const auto divides = [&](std::int64_t k) { return (place + a.begin - k * a.dilation) % a.stride == 0; };
  std::int64_t first = 0;
  while (first < a.size && first < a.stride && !divides(first)) ++first;
  if (first >= a.size || !divides(first)) return false;
  const std::int64_t step = a.stride / std::gcd(a.stride, a.dilation);
  taps.filter = first;
  taps.filter_step = step;
  taps.count = (a.size - first + step - 1) / step;
  taps.source = (place + a.begin - first * a.dilation) / a.stride;
  taps.source_step = -(step * a.dilation / a.stride);
  before = std::max<std::int64_t>(0, -std::min(taps.source, taps.last_source()));
  taps.source += before;
  return true;
}

// The correlations of g that compute the gradient in x. `complete`: together they write every element of it.
std::vector<Correlation> backward(DType dtype, const Convolution& c, bool& complete) {
  std::vector<Correlation> all;
  const auto& axes = c.windows.axis;
  complete = true;
  Triple places{};
  for (std::size_t k = 0; k < places.size(); ++k) places[k] = std::min(axes[k].stride, axes[k].in);
  for (std::int64_t p = 0; p < volume(places); ++p) {
    const Triple place = {p / places[2] / places[1], p / places[2] % places[1], p % places[2]};
    Correlation r = shared(dtype, c);
    r.in = c.out;
    r.out = c.in;
    r.filter_in = c.in * r.window_size();
    r.filter_out = r.window_size();
    bool seen = true;
    for (std::size_t k = 0; k < places.size(); ++k) {
      const window::Axis& a = axes[k];
      seen = taps_at(a, place[k], r.taps[k], r.before[k]) && seen;
      r.extent[k] = blocks_of(a.in - place[k], a.stride);
      r.source[k] = a.out;
      r.result[k] = a.in;
      r.first[k] = place[k];
      r.step[k] = a.stride;
    }
    complete = complete && seen;
    if (seen) all.push_back(r);
  }
  return all;
}

// True if windows reach beyond the source, which is then padded with zeros.
bool reaches_over(const Correlation& r) {
  for (std::size_t k = 0; k < r.taps.size(); ++k)
    if (r.before[k] > 0 || (r.extent[k] - 1) * r.stride[k] + r.taps[k].furthest() >= r.source[k]) return true;
  return false;
}

// The gradient in x if a filter has infinite elements or NaN. Then no product with a padding zero may be formed. Each
// element of g adds to the inputs that it saw, one after the other.
class SpreadCode : WindowCode {
 public:
  SpreadCode(Function& f, DType dtype, const Convolution& c, IrValue g, IrValue filter, IrValue result)
      : WindowCode(f, dtype), c_(c), g_(g), filter_(filter), result_(result) {}

  IrValue filter_is_finite() {
    const std::int64_t count = c_.groups * c_.out * c_.in * c_.windows.taps(), width = std::min(lanes, count);
    llvm::AllocaInst* zeros = f.variable(vector(width), "zeros");  // or NaN
    ir.CreateStore(llvm::Constant::getNullValue(vector(width)), zeros);
    blocks(count, width, [&](IrValue k) {
      IrValue weights = load_vector(place(filter_, k), width);
      ir.CreateStore(ir.CreateFAdd(ir.CreateLoad(vector(width), zeros), ir.CreateFSub(weights, weights)), zeros);
    });
    return ir.CreateNot(ir.CreateOrReduce(
        ir.CreateFCmpUNO(ir.CreateLoad(vector(width), zeros), llvm::Constant::getNullValue(vector(width)))));
  }

  void emit() {
    const auto& axes = c_.windows.axis;
    const std::int64_t taps = c_.windows.taps(), outputs = c_.windows.outputs(), inputs = c_.windows.inputs();
    clear(result_, c_.batch * c_.groups * c_.in * inputs);
    f.loop(c_.batch * c_.groups, [&](IrValue image) {
      f.loop(c_.out, [&](IrValue o) {
        f.loop(c_.in, [&](IrValue i) {
          IrValue group = ir.CreateURem(image, f.constant(c_.groups));
          IrValue pair = plus(times(plus(times(group, c_.out), o), c_.in), i);
          IrValue from = place(g_, times(plus(times(image, c_.out), o), outputs)),
                  weights = place(filter_, times(pair, taps)),
                  to = place(result_, times(plus(times(image, c_.in), i), inputs));
          each(axes, &window::Axis::size, [&](const Place& tap) {
            each(axes, &window::Axis::out, [&](const Place& output) {
              add(to, output, tap, place(from, output.number), place(weights, tap.number));
            });
          });
        });
      });
    });
  }

 private:
  struct Place {
    std::array<IrValue, window::max_axes> at;
    IrValue number;  // flat index of the place
  };
  void each(const window::Axis (&axes)[window::max_axes], std::int64_t window::Axis::* extent,
            const std::function<void(const Place&)>& visit) {
    f.loop(axes[0].*extent, [&](IrValue i) {
      f.loop(axes[1].*extent, [&](IrValue j) {
        f.loop(axes[2].*extent, [&](IrValue k) {
          visit({{i, j, k}, plus(times(plus(times(i, axes[1].*extent), j), axes[2].*extent), k)});
        });
      });
    });
  }

  void add(IrValue to, const Place& output, const Place& tap, IrValue g, IrValue weight) {
    IrValue inside = ir.getTrue(), number = nullptr;
    for (std::size_t k = 0; k < window::max_axes; ++k) {
      const window::Axis& a = c_.windows.axis[k];
      IrValue at = ir.CreateSub(ir.CreateAdd(ir.CreateMul(output.at[k], f.constant(a.stride)),
                                             ir.CreateMul(tap.at[k], f.constant(a.dilation))),
                                f.constant(a.begin));
      inside = ir.CreateAnd(inside, ir.CreateICmpULT(at, f.constant(a.in)));
      number = number == nullptr ? at : ir.CreateAdd(ir.CreateMul(number, f.constant(a.in)), at);
    }
    f.when(inside, [&] {
      IrValue there = place(to, number);
      IrValue more = ir.CreateFMul(load_scalar(g), load_scalar(weight));
      ir.CreateAlignedStore(ir.CreateFAdd(load_scalar(there), more), there, align);
    });
  }

  const Convolution& c_;
  IrValue g_, filter_, result_;
};

std::int64_t places_of_strides(const window::Windows& w) {
  std::int64_t n = 1;
  for (const window::Axis& a : w.axis) n *= std::min(a.stride, a.in);
  return n;
}

bool to_input(WindowForm form) {
  return form == WindowForm::input_gradient || form == WindowForm::transposed_convolution;
}

// Describes the convolution, if code is generated for it; otherwise nothing.
std::optional<Convolution> generated_convolution(const Function& f, ValueId v, const core::Apply& a) {
  const WindowForm form = operators()[a.op].window;
  std::vector<Shape> shapes;
  for (const ValueId x : a.operands) shapes.push_back(f.info(x).shape);
  Application app;
  app.operand_shapes = shapes;
  app.attributes = a.attributes;
  const Convolution c = convolution_of(form, app, f.info(v).shape);
  const bool empty = c.batch * c.groups * c.in * c.out * c.windows.inputs() * c.windows.outputs() == 0;
  if (!is_float(f.info(v).dtype) || f.module.numeric.strict || empty) return std::nullopt;
  if (to_input(form) && places_of_strides(c.windows) > f.module.target.stride_places) return std::nullopt;
  return c;
}

bool is_finite(const Tensor& t) {
  bool finite = true;
  kernels::dispatch<dtypes::real>(t.dtype(), [&]<class T>(T) {
    finite = std::all_of(t.as<T>(), t.as<T>() + t.elements(), [](T x) { return std::isfinite(x); });
  });
  return finite;
}

// The filter, if it is a constant that the compiler may store in another layout.
const Tensor* constant_filter(const Function& f, const core::Apply& a) {
  const auto* constant = std::get_if<core::Const>(&f.info(a.operands[1]).rhs);
  return constant != nullptr && f.module.options.target.optimization > 0 ? &constant->value : nullptr;
}

}  // namespace

bool emit_convolution(Function& f, ValueId v, const core::Apply& a) {
  const WindowForm form = operators()[a.op].window;
  const DType dtype = f.info(v).dtype;
  const std::optional<Convolution> c = generated_convolution(f, v, a);
  if (!c) return false;
  for (const ValueId x : a.operands) f.prepare(x);
  IrValue first = f.address(a.operands[0]), second = f.address(a.operands[1]), to = f.result(v);
  if (form == WindowForm::convolution) {
    CorrelationCode(f, forward(dtype, *c), first, second, to, constant_filter(f, a)).emit();
  } else if (to_input(form)) {
    bool complete = true;
    const std::vector<Correlation> all = backward(dtype, *c, complete);
    const auto correlate = [&] {
      if (!complete) fill_zero(f, v, to);
      for (const Correlation& r : all) CorrelationCode(f, r, first, second, to, constant_filter(f, a)).emit();
    };
    const auto* known = std::get_if<core::Const>(&f.info(a.operands[1]).rhs);
    if (std::ranges::none_of(all, reaches_over) || (known != nullptr && is_finite(known->value))) {
      correlate();
    } else {
      SpreadCode spread(f, dtype, *c, first, second, to);
      f.when(spread.filter_is_finite(), correlate, [&] { spread.emit(); });
    }
  } else {
    FilterGradientCode(f, dtype, *c, first, second, to).emit();
  }
  return true;
}

// Computes a convolution whose only user is a pool, image by image.
bool convolution_pooled(Function& f, ValueId v, PoolCode& pool, std::int64_t outputs, IrValue to) {
  auto& ir = f.ir;
  const auto* a = apply_of(f.module.core, v);
  if (!f.module.inlined(v) || a == nullptr || operators()[a->op].window != WindowForm::convolution) return false;
  const std::optional<Convolution> c = generated_convolution(f, v, *a);
  if (!c) return false;
  const DType dtype = f.info(v).dtype;
  for (const ValueId x : a->operands) f.prepare(x);
  const Correlation correlation = forward(dtype, *c);
  CorrelationCode code(f, correlation, f.address(a->operands[0]), f.address(a->operands[1]), nullptr,
                       constant_filter(f, *a));
  code.emit([&] { pool.prepare(); },
            [&](IrValue image, IrValue number) {
              IrValue at = ir.CreateMul(number, f.constant(c->out * outputs), "", true, true);
              pool.planes(image, f.offset(dtype, to, at), {}, c->out);
            });
  return true;
}

}  // namespace rml::codegen
