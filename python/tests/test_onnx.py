"""ONNX models: rows equal to those of the exported source, and to those of ONNX Runtime if it is installed."""

from __future__ import annotations

import pathlib
import pickle

import numpy as np
import pytest
from conftest import Command

import rmlc

SOURCE = """
node main(x: f32[2]) -> (y: f32[2])
  w = param([[0.5, 0.25], [0.0, 1.0]]);
  h = [0.0, 0.0] fby y;
  y = tanh(matmul(w, x) + 0.5 * h);
"""
X = np.random.default_rng(3).standard_normal((50, 2)).astype(np.float32)


@pytest.fixture(scope="module")
def model(command: Command, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("model")
    (folder / "m.rml").write_text(SOURCE, encoding="utf-8")
    done = command("export", "m.rml", "-o", "m.onnx", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "m.onnx"


def test_a_model_runs_as_its_source(model: pathlib.Path) -> None:
    node = rmlc.onnx.load(model, state={"h": "h_next"}).node()
    own = rmlc.compile(SOURCE).node().start().run(x=X)
    assert [str(port) for port in node.inputs] == ["x: f32[2]"]
    np.testing.assert_allclose(node.start().run(x=X).y, own.y, rtol=1e-6, atol=1e-7)


def test_state_that_is_not_named_has_its_first_value(model: pathlib.Path) -> None:
    node = rmlc.onnx.load(model).node()
    assert [port.name for port in node.inputs] == ["x"]
    rows = node.start().run(x=X)
    expected = np.tanh(X @ np.array([[0.5, 0.25], [0.0, 1.0]]).T)
    np.testing.assert_allclose(rows.y, expected, rtol=1e-5, atol=1e-6)
    assert np.array_equal(rows.y, rows.h_next)


@pytest.mark.parametrize("value", [[0.5, -2.0], np.array([0.5, -2.0])])
def test_fixed_inputs_are_constants(tmp_path: pathlib.Path, value: object) -> None:
    onnx = pytest.importorskip("onnx")
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    x, h, y = (helper.make_tensor_value_info(name, kind, [2]) for name in "xhy")
    graph = helper.make_graph([helper.make_node("Mul", ["x", "h"], ["y"])], "g", [x, h], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), tmp_path / "m.onnx")
    assert [port.name for port in rmlc.onnx.load(tmp_path / "m.onnx").node().inputs] == ["x", "h"]
    node = rmlc.onnx.load(tmp_path / "m.onnx", fix={"h": value}).node()
    assert [port.name for port in node.inputs] == ["x"]
    np.testing.assert_allclose(node.start().run(x=X).y, X * np.array([0.5, -2.0]), rtol=1e-6)


def test_trainable_tensors_are_parameters(model: pathlib.Path) -> None:
    assert not rmlc.onnx.load(model).node().params
    params = rmlc.onnx.load(model, trainable="w*").node().params
    assert [port.type for port in params.values()] == ["f32[2, 2]"]


def test_a_model_as_a_source(model: pathlib.Path, tmp_path: pathlib.Path) -> None:
    read = rmlc.onnx.load(model, state={"h": "h_next"})
    assert "node main(x: f32[2])" in read.source
    written = rmlc.load(read.write(tmp_path / "w.rml")).node()
    assert np.array_equal(written.start().run(x=X).y, read.node().start().run(x=X).y)
    with pytest.raises(FileExistsError, match="w.rml"):
        read.write(tmp_path / "w.rml")
    with pytest.raises(TypeError, match="`write` it as a source"):
        read.diff()


def test_a_model_can_be_pickled(model: pathlib.Path) -> None:
    node = rmlc.onnx.load(model, state={"h": "h_next"}).node()
    assert np.array_equal(pickle.loads(pickle.dumps(node)).start().run(x=X).y, node.start().run(x=X).y)


def test_free_dimensions_and_streams(tmp_path: pathlib.Path) -> None:
    onnx = pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    source = np.random.default_rng(5)
    tensors = {"W": source.standard_normal((1, 12, 2)), "R": source.standard_normal((1, 12, 3))}
    graph = helper.make_graph(
        [helper.make_node("LSTM", ["x", "W", "R"], ["y"], hidden_size=3)], "g",
        [helper.make_tensor_value_info("x", kind, ["T", "batch", 2])],
        [helper.make_tensor_value_info("y", kind, ["T", 1, "batch", 3])],
        [helper.make_tensor(name, kind, value.shape, value.flatten()) for name, value in tensors.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    file = tmp_path / "lstm.onnx"
    onnx.save(made, file)
    x = source.standard_normal((7, 1, 2)).astype(np.float32)
    expected = runtime.InferenceSession(str(file)).run(None, {"x": x})[0]
    whole = rmlc.onnx.load(file, dim={"T": 7, "batch": 1}).node().start().run(x=x[None])
    np.testing.assert_allclose(whole.y[0], expected, rtol=1e-5, atol=1e-6)
    node = rmlc.onnx.load(file, dim={"batch": 1}, stream=0).node()
    cycles = node.start().run({node.inputs[0].name: x.reshape(7, *node.inputs[0].shape)})
    np.testing.assert_allclose(np.ravel(cycles[node.outputs[0].name]), np.ravel(expected), rtol=1e-5, atol=1e-6)


def test_what_is_wrong_is_told(model: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere.onnx"):
        rmlc.onnx.load(tmp_path / "nowhere.onnx")
    with pytest.raises(ValueError, match="ends in .onnx"):
        rmlc.onnx.load(model.with_suffix(".rml"))
    with pytest.raises(rmlc.CompileError, match="no output 'nothing'"):
        rmlc.onnx.load(model, state={"h": "nothing"})
    with pytest.raises(TypeError, match="state: expected a mapping"):
        rmlc.onnx.load(model, state=["h=h_next"])  # type: ignore[arg-type]
    with pytest.raises((TypeError, ValueError), match="dim: batch"):
        rmlc.onnx.load(model, dim={"batch": 1.5})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="fix: h: expected numbers"):
        rmlc.onnx.load(model, fix={"h": object()})
    damaged = tmp_path / "damaged.onnx"
    damaged.write_bytes(model.read_bytes()[:40])
    with pytest.raises(rmlc.CompileError):
        rmlc.onnx.load(damaged)
