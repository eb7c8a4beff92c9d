"""The cases of run.py: the workloads, our programs for them, and the programs of other frameworks
(the peers) with which they are compared.

A case is a workload with its parameters. The parameters are also constants of the program and, in capitals,
macros of its driver.

  own     our programs. `NAME.cc` drives the node NAME of the file; with `segments` it is also built with
          --chunk segment
  cpp     programs in the C++ peers' folder with their arguments; build.sh of that folder builds them
  onnx    arguments of ort_run in that folder
  python  the scripts peers_NAME.py that have the workload
  old     the script in the peers' folder for their own Python

THREADS in arguments is replaced by the number of threads.
"""
from dataclasses import dataclass, field

THREADS = "THREADS"


@dataclass
class Own:
    node: str
    definitions: dict = field(default_factory=dict)
    file: str | None = None
    driver: str | None = None
    segments: bool = False
    label: str = "rmlc"

    @property
    def source(self):
        return f"{self.file or self.node}.rml"


@dataclass
class Case:
    workload: str
    parameters: dict
    own: list
    cpp: list = field(default_factory=list)
    python: tuple = ("torch", "jax")
    onnx: list = field(default_factory=list)
    old: list = field(default_factory=list)

    @property
    def name(self):
        return "/".join([self.workload, *(str(v) for v in self.parameters.values())])


def lstm(units):
    return {"units": units, "inputs": units // 2}


def cases():
    found = []

    def add(workload, parameters, own, cpp, *python, onnx=(), old=()):
        def threaded(words):
            return [*words, THREADS] if words else []

        compiled = [threaded(words) for words in cpp]
        found.append(Case(workload, parameters, own, compiled, python, threaded(onnx), threaded(old)))

    for units in (32, 64, 128, 256, 512):
        add("lstm_infer", {"H": units}, [Own("lstm_infer", lstm(units))],
            [["lstm_infer", units], ["onednn_lstm", "infer", units]], "torch", "jax",
            onnx=["lstm", units], old=["torch_lstm_infer.py", units])
    for units in (64, 128):
        for batch in (1, 32):
            own = Own("lstm_train" if batch == 1 else "lstm_train_rows", {**lstm(units), "batch": batch},
                      driver="lstm_train", segments=True)
            add("lstm_train", {"H": units, "B": batch}, [own],
                [["lstm_train", units, batch], ["onednn_lstm", "train", units, batch]], "torch", "jax",
                old=["torch_lstm_train.py", units, batch])
    for batch in (1, 64):
        add("mlp_train", {"B": batch}, [Own("mlp_train", {"batch": batch})], [["mlp_train", batch]],
            "torch", "jax", "numpy", old=["torch_mlp_train.py", batch])
    add("mlp_per_sample", {"B": 64},
        [Own("mlp_per_sample", {"batch": 64}, segments=True),
         Own("mlp_train", {"batch": 64}, label="rmlc, whole batches")], [])
    for units in (64, 128):
        for length in (64, 128, 256):
            add("bilstm", {"H": units, "T": length}, [Own("bilstm", {**lstm(units), "length": length}, segments=True)],
                [["bilstm", units, length], ["onednn_lstm", "bilstm", units, length]], "torch", "jax",
                onnx=["bilstm", units, length], old=["torch_bilstm.py", units, length])
    for features in (64, 1024):
        add("bn", {"F": features}, [Own("bn", {"features": features})], [["bn", features]], "torch", "jax",
            old=["torch_bn.py", features])
    for batch in (1, 64):
        add("lenet_infer", {"B": batch}, [Own("lenet_infer", {"batch": batch}, "lenet")], [["lenet", "infer", batch]],
            "torch", "jax", onnx=["lenet", batch], old=["torch_lenet.py", "infer", batch])
    add("lenet_train", {"B": 64}, [Own("lenet_train", {"batch": 64}, "lenet")], [["lenet", "train", 64]],
        "torch", "jax", old=["torch_lenet.py", "train", 64])
    found.append(Case("moe", {}, [Own("moe")], [["moe"]], old=["torch_moe.py", 1]))
    found.append(Case("online", {}, [Own("online")], [["online"]], ("torch", "jax", "numpy"),
                      old=["py_online.py", 10000]))
    return found
