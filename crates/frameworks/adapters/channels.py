"""For frameworks with channels last: the layout of weights, and which padding they call SAME."""
import numpy as np

from protocol import sides


def is_same(op, shape):
    """Whether the padding is what TensorFlow calls SAME for an input of this shape."""
    def wanted(length, kernel, stride):
        total = max((-(-length // stride) - 1) * stride + kernel - length, 0)
        return total // 2, total - total // 2

    top, bottom, left, right = sides(op)
    return ((top, bottom) == wanted(shape["height"], op["kernel"][0], op["stride"][0])
            and (left, right) == wanted(shape["width"], op["kernel"][1], op["stride"][1]))


class ChannelsLast:
    """How the graph's weights lie in a framework that keeps channels last: turned once on the way in
    and once on the way out, so that no step has to. Convolutions are [height, width, in, out] there,
    dense layers [in, out]."""

    def __init__(self, graph):
        self.nodes, self.logits = graph["nodes"], graph["logits"]
        self.users = [[] for _ in self.nodes]
        for place, node in enumerate(self.nodes):
            for source in node["inputs"]:
                self.users[source].append(place)
        self.owners = {parameter["name"]: (node, parameter["shape"])
                       for node in self.nodes for parameter in node["parameters"]}
        # By dense layer: the image shape that was flattened before it.
        self.flattened = {}
        # Layers that flatten and must bring the channels to the front themselves.
        self.turned = set()
        for place, node in enumerate(self.nodes):
            source = self.nodes[node["inputs"][0]]["shape"] if node["inputs"] else {}
            if node["op"]["kind"] == "flatten" and "channels" in source:
                dense = self.dense_after(place)
                if dense is None:
                    self.turned.add(node["name"])
                for name in dense or ():
                    self.flattened[name] = [source["channels"], source["height"], source["width"]]

    def dense_after(self, place):
        """The dense layers that this node feeds, if all layers in between ignore the order; otherwise None."""
        found = [] if self.users[place] and place != self.logits else None
        for user in self.users[place] if found is not None else ():
            kind = self.nodes[user]["op"]["kind"]
            more = [self.nodes[user]["name"]] if kind == "dense" else None
            if kind in ("relu", "dropout"):
                more = self.dense_after(user)
            if more is None:
                return None
            found += more
        return found

    def inward(self, name, array):
        node, shape = self.owners[name]
        if len(shape) == 4:
            array = array.transpose(2, 3, 1, 0)
        elif len(shape) == 2:
            image = self.flattened.get(node["name"])
            if image:
                array = array.reshape([shape[0]] + image).transpose(0, 2, 3, 1).reshape(shape)
            array = array.T
        return np.ascontiguousarray(array)

    def outward(self, name, array):
        node, shape = self.owners[name]
        if len(shape) == 4:
            array = array.reshape(shape[2:] + [shape[1], shape[0]]).transpose(3, 2, 0, 1)
        elif len(shape) == 2:
            array = array.T
            image = self.flattened.get(node["name"])
            if image:
                array = array.reshape([shape[0]] + image[1:] + image[:1]).transpose(0, 3, 1, 2).reshape(shape)
        return np.ascontiguousarray(array)
