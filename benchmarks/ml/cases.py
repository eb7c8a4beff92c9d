"""The cases of run.py: what is timed, by which of our programs, against which peers.

A case is a workload with its parameters. `own` is the program in R(ML)2, its constants and the macros
of its driver, the file of the same name that ends in .cc; None: there is none yet. `cpp` are programs of
the C++ peers' folder with their arguments, built there by build.sh; `python` are arguments of
peers_torch.py and peers_jax.py; `old` is the script of the peers' folder for their own Python.
"""
from dataclasses import dataclass, field


@dataclass
class Own:
    program: str
    definitions: dict = field(default_factory=dict)
    macros: dict = field(default_factory=dict)


@dataclass
class Case:
    workload: str
    parameters: dict
    own: Own | None = None
    cpp: list = field(default_factory=list)
    python: bool = True
    old: list = field(default_factory=list)

    @property
    def name(self):
        return "/".join([self.workload, *(str(v) for v in self.parameters.values())])


def cases():
    found = []
    for units in (32, 64, 128, 256, 512):
        own = Own("lstm_infer", {"units": units, "inputs": units // 2}, {"UNITS": units})
        cpp = [["lstm_infer", units, 1], ["onednn_lstm", "infer", units, 1]]
        found.append(Case("lstm_infer", {"H": units}, own, cpp, old=["torch_lstm_infer.py", units, 1]))
    for units in (64, 128):
        for batch in (1, 32):
            cpp = [["lstm_train", units, batch, 1], ["onednn_lstm", "train", units, batch, 1]]
            old = ["torch_lstm_train.py", units, batch, 1]
            found.append(Case("lstm_train", {"H": units, "B": batch}, None, cpp, old=old))
    for batch in (1, 64):
        own = Own("mlp_train", {"batch": batch}, {"BATCH": batch})
        old = ["torch_mlp_train.py", batch, 1]
        found.append(Case("mlp_train", {"B": batch}, own, [["mlp_train", batch, 1]], old=old))
    for units in (64, 128):
        for length in (64, 128, 256):
            cpp = [["bilstm", units, length, 1], ["onednn_lstm", "bilstm", units, length, 1]]
            old = ["torch_bilstm.py", units, length, 1]
            found.append(Case("bilstm", {"H": units, "T": length}, None, cpp, old=old))
    for features in (64, 1024):
        found.append(Case("bn", {"F": features}, None, [["bn", features, 1]], old=["torch_bn.py", features, 1]))
    found.append(Case("moe", {}, None, [["moe"]], old=["torch_moe.py", 1]))
    found.append(Case("online", {}, None, [["online"]], old=["py_online.py", 10000]))
    return found
