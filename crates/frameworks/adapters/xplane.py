"""Reads profiles of TensorFlow and JAX (`*.xplane.pb`), without their protobuf classes,
which no two releases keep in the same place. Fields are those of xplane.proto and hlo.proto."""
import glob
import os
import re

# Where the optimiser's operators stand, in TensorFlow by itself and in JAX by a named scope.
OPTIMISERS = ("sgd", "adam")


def operators(folder):
    """(operator, calls, seconds) of every profile under a folder."""
    for path in glob.glob(os.path.join(folder, "**", "*.xplane.pb"), recursive=True):
        with open(path, "rb") as file:
            yield from of_space(file.read())


def of_space(data):
    """(operator, calls, seconds) of one XSpace: of its accelerators, or where it has none of the host."""
    planes = [Plane(value) for number, value in fields(data) if number == 1]
    programs = {}
    for plane in planes:
        programs.update(plane.programs)
    on_device = [plane for plane in planes if plane.name.startswith("/device:") and plane.lines]
    for plane in on_device or planes:
        for name, seconds in plane.kernels(programs) if on_device else plane.calls(programs):
            yield name, 1, seconds


class Plane:
    """A device or the host: lines (threads, streams) of events; or the programs that XLA made."""

    def __init__(self, data):
        self.name, self.lines, self.names, self.titles, self.stat_names = "", [], {}, {}, {}
        self.programs = {}
        for number, value in fields(data):
            if number == 2:
                self.name = value.decode()
            elif number == 3:
                self.lines.append(value)
            elif number == 4:
                entry = dict(fields(value))
                self.metadata(entry.get(1, 0), entry[2])
            elif number == 5:
                entry = dict(fields(value))
                self.stat_names[entry.get(1, 0)] = text(dict(fields(entry[2])), 2)

    def metadata(self, key, data):
        for number, value in fields(data):
            if number == 2:
                self.names[key] = value.decode()
            elif number == 4:
                self.titles[key] = value.decode()
            elif number == 5:
                # The only bytes among the statistics are a whole HloProto.
                program = dict(fields(value)).get(6)
                if program:
                    self.programs.update(of_program(program))

    def events(self, line):
        """(name, title, begin in ps, duration in ps, statistics) in the order they were written."""
        start = next((value for number, value in fields(line) if number == 3), 0) * 1000
        for number, value in fields(line):
            if number == 4:
                event, statistics = {}, {}
                for part, content in fields(value):
                    if part == 4:
                        statistic = dict(fields(content))
                        statistics[self.stat_names.get(statistic.get(1), "")] = self.text_of(statistic)
                    else:
                        event[part] = content
                key = event.get(1, 0)
                begin = start + event.get(2, 0)
                yield self.names.get(key, ""), self.titles.get(key, ""), begin, event.get(3, 0), statistics

    def text_of(self, statistic):
        return text(statistic, 5) if 5 in statistic else self.stat_names.get(statistic.get(7), "")

    def calls(self, programs):
        """Operators on the host: (operator, seconds)."""
        begun, ended = {}, {}
        for line in self.lines:
            for name, title, begin, duration, statistics in self.events(line):
                if "hlo_op" in statistics:
                    operator = programs.get((statistics.get("hlo_module", ""), name), plain(name))
                    begun.setdefault(name, []).append((begin, begin + duration, operator))
                elif name.startswith("end: "):
                    ended.setdefault(name[5:], []).append(begin)
                elif name.startswith("EagerLocalExecute: "):
                    if not is_function(name[19:]):
                        yield name[19:], duration / 1e12
                elif title and name.endswith(":" + title) and not is_function(title):
                    yield of_node(name, title), duration / 1e12
        # An end tells no module: it is that of the last call by this name, in whatever module.
        for name, times in begun.items():
            yield from durations(sorted(times), sorted(ended.get(name, ())))

    def kernels(self, programs):
        """Operators on an accelerator: (operator, seconds)."""
        for line in self.lines:
            # Other lines repeat the same time, by module or by step.
            if not text(dict(fields(line)), 2).startswith("Stream"):
                continue
            for name, _, _, duration, statistics in self.events(line):
                if "hlo_op" in statistics:
                    instruction = statistics["hlo_op"]
                    name = programs.get((statistics.get("hlo_module", ""), instruction), plain(instruction))
                elif statistics.get("tf_op"):
                    path, _, kind = statistics["tf_op"].rpartition(":")
                    name = of_node(path, kind) if kind else name
                yield name, duration / 1e12


def is_function(name):
    """Whether it is a complete graph, whose operators are also listed one by one."""
    return name.startswith("__") or name in ("PartitionedCall", "StatefulPartitionedCall")


def durations(begun, ended):
    """(operator, seconds) of each call; one that others wait for lasts until its end is told, in whatever thread."""
    place = 0
    for index, (begin, until, operator) in enumerate(begun):
        following = begun[index + 1][0] if index + 1 < len(begun) else float("inf")
        while place < len(ended) and ended[place] < following:
            until = max(until, ended[place])
            place += 1
        yield operator, (until - begin) / 1e12


def of_program(data):
    """{(module, instruction): operator} of an HloProto."""
    module = dict(fields(data)).get(1, b"")
    module_name = text(dict(fields(module)), 1)
    found = {}
    for number, computation in fields(module):
        if number == 3:
            instructions = [Instruction(value) for part, value in fields(computation) if part == 2]
            for instruction in with_operators(instructions):
                if instruction.operator:
                    found[(module_name, instruction.name)] = instruction.operator
    return found


class Instruction:
    """One of XLA's instructions, with the framework's operator that it comes from, where it says so."""

    def __init__(self, data):
        parts = dict(fields(data))
        self.name, self.opcode, self.number = text(parts, 1), text(parts, 2), parts.get(35, 0)
        self.operands = [operand for field, value in fields(data) if field == 36 for operand in integers(value)]
        source = dict(fields(parts.get(7, b"")))
        kind, path = text(source, 1), text(source, 2).split(";")[0]
        self.operator = of_node(path, kind) if kind else of_path(path)
        # What JAX calls the gradient of a product is the transposition that follows it.
        if self.opcode in ("dot", "convolution") and not kind:
            self.operator = self.opcode


def with_operators(instructions):
    """What XLA put before an operator without saying why is counted to it, but for copies."""
    users = {operand: one for one in instructions for operand in one.operands}
    for instruction in reversed(instructions):
        if not instruction.operator and not re.search("copy|transpose", instruction.name):
            user = users.get(instruction.number)
            instruction.operator = user.operator if user else ""
    return instructions


def of_node(path, kind):
    """An operator of TensorFlow: its kind; those of the optimiser are told apart by where they stand."""
    scope = path.split("/")[0].lower()
    return f"{scope}/{kind}" if scope in OPTIMISERS else kind


def of_path(path):
    """An operator of JAX: the last part of `jit(step)/jvp(batch-norm)/jit(relu)/max`, with the scope or
    function that it stands in: `relu/max`."""
    *scopes, operator = path.split("/")
    for scope in reversed(scopes[1:]):
        within = re.sub(r"^(jit|jvp|transpose|pjit|vmap|checkpoint)\(|\)$", "", scope)
        while within != scope:
            scope, within = within, re.sub(r"^(jit|jvp|transpose|pjit|vmap|checkpoint)\(|\)$", "", within)
        if within:
            return f"{within}/{operator}"
    return operator


def plain(name):
    """`wrapped_reduce-window.3` and `Conv2D_1.1` without what only numbers them."""
    name = re.sub(r"^wrapped_", "", name)
    return re.sub(r"((\.|_)\d+|\.clone|\.remat\d*)+$", "", name)


def text(parts, number):
    value = parts.get(number, b"")
    return value.decode(errors="replace") if isinstance(value, bytes) else ""


def integers(value):
    """A repeated integer: one, or several packed."""
    if not isinstance(value, bytes):
        return [value]
    found, place = [], 0
    while place < len(value):
        number, place = varint(value, place)
        found.append(number)
    return found


def fields(data):
    """(number, value) of a protobuf message: integers, and bytes for all that has a length."""
    place, end = 0, len(data)
    while place < end:
        key, place = varint(data, place)
        wire = key & 7
        if wire == 0:
            value, place = varint(data, place)
        elif wire == 2:
            length, place = varint(data, place)
            value, place = data[place : place + length], place + length
        else:
            length = 8 if wire == 1 else 4
            value, place = data[place : place + length], place + length
        yield key >> 3, value


def varint(data, place):
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
        shift += 7
