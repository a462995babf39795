"""granite as an ONNX graph in float32, built from the very weights Quintet reads."""

import numpy as np
import numpy.typing as npt
from onnx import TensorProto, helper, numpy_helper

from quintet.embed.canonical.weights import Affine, Norm, Weights, read_granite
from quintet.embed.models import PACK_HASH, granite_file

OPSET = 17


class Graph:
    """Nodes and constants, named as they come."""

    def __init__(self) -> None:
        self.nodes: list[object] = []
        self.constants: list[object] = []

    def constant(self, value: npt.ArrayLike, kind: npt.DTypeLike = np.float32) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value, kind, order="C"), name))
        return name

    def add(self, kind: str, *inputs: str, **settings: object) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **settings))
        return name

    def affine(self, x: str, affine: Affine) -> str:
        product = self.add("MatMul", x, self.constant(affine.weight))
        return self.add("Add", product, self.constant(affine.bias))

    def norm(self, x: str, norm: Norm, epsilon: float) -> str:
        weight, bias = self.constant(norm.weight), self.constant(norm.bias)
        return self.add("LayerNormalization", x, weight, bias, axis=-1, epsilon=epsilon)

    def gelu(self, x: str) -> str:
        erf = self.add("Erf", self.add("Div", x, self.constant(np.sqrt(2))))
        return self.add("Mul", self.add("Mul", x, self.add("Add", erf, self.constant(1))), self.constant(0.5))

    def attention(self, x: str, qkv: Affine, heads: int) -> str:
        width = qkv.weight.shape[0]
        split = self.constant([0, 0, heads, width // heads], np.int64)
        parts = []
        for n in range(3):
            columns = slice(n * width, (n + 1) * width)
            part = self.affine(x, Affine(qkv.weight[:, columns], qkv.bias[columns]))
            order = [0, 2, 3, 1] if n == 1 else [0, 2, 1, 3]
            parts.append(self.add("Transpose", self.add("Reshape", part, split), perm=order))
        scores = self.add("MatMul", parts[0], parts[1])
        scores = self.add("Div", scores, self.constant(np.sqrt(width // heads)))
        mixed = self.add("MatMul", self.add("Softmax", scores, axis=-1), parts[2])
        together = self.constant([0, 0, width], np.int64)
        return self.add("Reshape", self.add("Transpose", mixed, perm=[0, 2, 1, 3]), together)


def build(weights: Weights) -> bytes:
    """Input `ids`, batch x tokens; output the first token's last state."""
    graph = Graph()
    words = graph.add("Gather", graph.constant(weights.words.rows()), "ids")
    length = graph.add("Slice", graph.add("Shape", "ids"), *(graph.constant([n], np.int64) for n in (1, 2)))
    start = graph.constant([0], np.int64)
    places = graph.add("Slice", graph.constant(weights.positions), start, length)
    x = graph.norm(graph.add("Add", words, places), weights.norm, weights.epsilon)
    for layer in weights.layers:
        attended = graph.affine(graph.attention(x, layer.qkv, weights.heads), layer.out)
        x = graph.norm(graph.add("Add", attended, x), layer.out_norm, weights.epsilon)
        fed = graph.affine(graph.gelu(graph.affine(x, layer.up)), layer.down)
        x = graph.norm(graph.add("Add", fed, x), layer.down_norm, weights.epsilon)
    first = graph.constant(0, np.int64)
    graph.nodes.append(helper.make_node("Gather", [x, first], ["vectors"], axis=1))
    inputs = [helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "tokens"])]
    outputs = [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", "width"])]
    whole = helper.make_graph(graph.nodes, "granite", inputs, outputs, graph.constants)
    model = helper.make_model(whole, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    return bytes(model.SerializeToString())


def granite_graph() -> bytes:
    place = granite_file()
    if place is None:
        raise SystemExit("the weights of granite are not installed")
    return build(read_granite(place, PACK_HASH))
