# SPDX-License-Identifier: Apache-2.0
"""Slow, independent reference of the labels of gpu work in ONE PyTorch profiler trace: iteration, phase, layer, operation,
collectives, windows, instances.

Written from docs/reference/attribution.md, sections 3, 4, 5 and 6 of the specification and the lists in data/ alone, on the
records of chopper_reference; it shares no code and no algorithm with the C++ program.

    attribution_reference.py FILE     prints one JSON object

What needs the sequences of a map, the launch order or repetition is not told here: such labels are None, and `how` says
what told the others. Choices where the rules leave room are marked "CHOICE" below.
"""
import bisect
import gc
import json
import re
import sys
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
import chopper_reference as reference  # noqa: E402
import windows_reference as windows  # noqa: E402

DATA = reference.ROOT / "data"
MODULE = "nn.Module: "
LAYER = re.compile(r"(?:layer|block)[ _#:\-<]?(\d+)>?\Z", re.ASCII | re.IGNORECASE)
PATH = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.\w+)+", re.ASCII)
ENGINE = "autograd::engine::evaluate_function: "
WORD_END = re.compile(r"[ :#.(\[]")
COPIES = ("ag_in", "ag_out", "rs_in")
KINDS = ("ag", "rs", "ar", "bc", "a2a", "p2p", "reduce", "gather", "scatter", "barrier", "comm")
LENGTHS = ("busy compute comm memcpy overlap exposed_comm exposed_comm_strict exposed_memcpy idle comm_copy").split()
TYPE_BYTES = {
    "float": 4, "half": 2, "bfloat16": 2, "double": 8, "long": 8, "int": 4, "short": 2, "byte": 1, "char": 1, "bool": 1,
    "complexfloat": 8, "complexdouble": 16, "complexhalf": 4, "float8_e4m3fn": 1, "float8_e5m2": 1,
    "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1, "uint16": 2, "uint32": 4, "uint64": 8}


def load_toml(path):
    with open(path, "rb") as file:
        return tomllib.load(file)


class Lists:
    """The data of the rules: phases.toml and the maps of operations."""

    def __init__(self):
        self.phases = load_toml(DATA / "phases.toml")
        self.names, self.aliases, self.ranges, self.paths, self.modules = set(), [], [], [], []
        self.classes, self.features = load_toml(DATA / "classes.toml"), load_toml(DATA / "operations" / "features.toml")
        for path in sorted((DATA / "operations").glob("*.toml")):
            map_ = load_toml(path)
            self.names |= set(map_.get("names", {}).get("canonical", []))
            self.aliases += [tuple(text.split(" = ")) for text in map_.get("names", {}).get("alias_prefixes", [])]
            self.ranges += map_.get("ranges", {}).items()
            self.paths += [(end, rule["operation"]) for rule in map_.get("path", []) for end in rule["ends"]]
            self.modules += map_.get("module", [])

    def operation_named(self, name):
        """The canonical name that an annotation means, without the phase prefix; None when it is no name."""
        for text in (name, name[2:] if name.startswith(("f_", "b_")) else name):
            for prefix, canonical in [("", ""), *self.aliases]:
                if text.startswith(prefix) and canonical + text[len(prefix):] in self.names:
                    return canonical + text[len(prefix):]
        return None


def is_range(span):
    return span.cat in reference.RANGE_KIND or span.cat == "python_function" and span.name.startswith(MODULE)


def is_operator(span):
    return reference.RANGE_KIND.get(span.cat) == "operator"


def is_annotation(span):
    return span.cat == "user_annotation"


def is_module(span):
    return span.cat == "python_function"


def sequence_of(span):
    number = reference.to_id(span.args.get("Sequence number")) if is_operator(span) else None
    return number if number is not None and number >= 0 else None


def forward_thread_of(span):
    return (reference.to_id(span.args.get("Fwd thread id")) or 0) if is_operator(span) else 0


def module_class(span):
    """("Linear", 3) of "nn.Module: Linear_3"; the number may be missing."""
    name, _, number = span.name.removeprefix(MODULE).rpartition("_")
    return (name, int(number)) if name and number.isascii() and number.isdigit() else (span.name.removeprefix(MODULE), None)


# ------------------------------------------------------------------------------------------------------------- stacks

class Stacks:
    """Section 1. `around`: the range that was open when a range began; `inner`: the innermost at the start of a call."""

    def __init__(self, spans):
        self.around, self.inner, self.ranges = {}, {}, defaultdict(list)
        queries = defaultdict(set)
        for span in spans:
            if is_range(span):
                self.ranges[span.thread].append(span)
            elif span.gpu_kind and span.launch:
                queries[span.launch.thread].add(span.launch)
        for thread in self.ranges.keys() | queries.keys():
            members = self.ranges[thread]
            members.sort(key=lambda r: (r.start, -r.end, r.offset))
            opened, place = [], 0

            def innermost(time):
                while opened and time >= max(opened[-1].end, opened[-1].start + 1):
                    opened.pop()
                return opened[-1] if opened else None
            for call in sorted(queries[thread], key=lambda c: c.start):
                while place < len(members) and members[place].start <= call.start:
                    self.around[members[place]] = innermost(members[place].start)
                    opened.append(members[place])
                    place += 1
                self.inner[call] = innermost(call.start)
            for span in members[place:]:
                self.around[span] = innermost(span.start)
                opened.append(span)

    def chain(self, span):
        """The range and those around it, from the inside out."""
        result = []
        while span is not None:
            result.append(span)
            span = self.around[span]
        return result

    def of(self, work):
        return self.chain(self.inner[work.launch]) if work.launch else []


# ------------------------------------------------------------------------------------------------- forward and backward

def partners(ranges):
    """{backward operator: its forward operator} of section 5."""
    forward, backward = defaultdict(dict), defaultdict(list)
    for span in ranges:
        number = sequence_of(span)
        if number is None:
            continue
        if forward_thread_of(span) > 0:
            backward[span.thread[0], forward_thread_of(span)].append((number, span))
        else:
            members = forward[span.thread].setdefault(number, span)
            if (span.start, -span.end, span.offset) > (members.start, -members.end, members.offset):
                forward[span.thread][number] = span
    result = {}
    for (pid, _), members in backward.items():
        numbers = {number for number, _ in members}
        # CHOICE: of threads that hold equally many the one whose first forward operator starts first; numbers that the first
        # thread does not have are those of the next.
        votes = [(len(numbers & forward[t].keys()), -min(s.start for s in forward[t].values()), t)
                 for t in forward if t[0] == pid]
        threads = [t for most, _, t in sorted(votes, key=lambda v: v[:2], reverse=True) if most]
        for number, span in members:
            partner = next((forward[t][number] for t in threads if number in forward[t]), None)
            if partner:
                result[span] = partner
    return result


CPP_NODE = re.compile(r"CppNode<(?:[^<>]*::)?([^<>]*)")


def may_name(forward, node):
    """Whether the operator's own name may stand for the node: not for C++ functions that are called otherwise."""
    function = CPP_NODE.search(node.name)
    if not function or not function[1]:
        return True
    plain = [re.sub(r"[\W_]", "", name, flags=re.ASCII).lower() for name in (forward.name.split("::")[-1], function[1])]
    return bool(plain[0]) and plain[1] in (plain[0], plain[0] + "function")


# ------------------------------------------------------------------------------------------------------------- labels

class Trace:
    """All labels of one file."""

    def __init__(self, spans, text=None):
        self.lists, self.spans = Lists(), spans
        self.works = [s for s in spans if s.gpu_kind]
        self.stacks = Stacks(spans)
        self.ranges = sorted(self.stacks.around, key=lambda r: (r.start, -r.end, r.offset))
        self.kinds = {r: self.kinds_of(r) for r in self.ranges}
        self.rule, _, self.marks, self.mark_records = windows.iteration_marks(spans, self.is_outermost_step, text)
        self.autograd_threads = self.find_autograd_threads()
        self.partner = partners(self.ranges)
        self.with_backward = set(self.partner.values())
        self.clips = self.clip_regions()
        self.find_block_classes()
        self.told, self.named = {}, {}
        self.find_children()
        self.find_nodes()
        self.places = windows.places_of(self.works, self.marks)

    # ---- ranges

    def kinds_of(self, span):
        """What a range is by its name: engine, optimizer, forward, backward."""
        name, lower, kinds, phases = span.name, span.name.lower(), set(), self.lists.phases
        if is_module(span):
            return kinds
        word = WORD_END.split(lower.lstrip("# "), maxsplit=1)[0] if is_annotation(span) else None
        for kind in ("engine", "optimizer", "forward", "backward"):
            rules = phases[kind]
            if (reference.starts(name, rules.get("prefix", [])) or reference.contains(lower, rules.get("contains_nocase", []))
                    or word in rules.get("words", [])):
                kinds.add(kind)
        # CHOICE: traces from before the engine's own ranges have this node by its name.
        if is_operator(span) and reference.contains(name, phases["engine"].get("accumulate_contains", [])):
            kinds.add("engine")
        if is_annotation(span) and self.lists.operation_named(name):
            kinds |= {"forward"} if name.startswith("f_") else {"backward"} if name.startswith("b_") else set()
        return kinds

    def find_autograd_threads(self):
        """Those with engine nodes and without numbered forward operators outside of them."""
        threads = {r.thread for r in self.ranges if self.is_node(r)}
        for span in self.ranges:
            if span.thread in threads and sequence_of(span) is not None and forward_thread_of(span) == 0:
                if not any(self.is_node(r) for r in self.stacks.chain(span)):
                    threads.discard(span.thread)
        return threads

    def is_outermost_step(self, span):
        return not any(r.name.startswith(windows.OPTIMIZER) for r in self.stacks.chain(span)[1:])

    def clip_regions(self):
        """{thread: [(start, end)]} of clipping without a range of its own."""
        result = defaultdict(list)
        operators = set(self.lists.phases["clip"]["operators"])
        for thread, members in self.stacks.ranges.items():
            after, first = None, None                   # the last end of a forward or backward range; the operator behind it
            for span in members:
                is_frame = is_module(span) and thread not in self.autograd_threads
                if is_frame or self.kinds[span] & {"forward", "backward", "engine"}:
                    after, first = max(after or span.end, span.end), None
                elif span.name.startswith(windows.OPTIMIZER):
                    if first and self.is_outermost_step(span):
                        result[thread].append((first.start, span.start))
                    # CHOICE: without such ranges the search begins behind the step before.
                    after, first = max(after or span.end, span.end), None
                elif first is None and span.name in operators and (after is None or span.start >= after) and is_operator(span):
                    first = span
        return result

    def is_clip(self, work):
        return any(a <= work.launch.start < b for a, b in self.clips[work.launch.thread])

    # ---- phase

    def phase(self, work):
        if work.launch is None:
            return "unlabelled"
        chain = self.stacks.of(work)
        kinds = set().union(*(self.kinds[r] for r in chain))
        on_autograd = work.launch.thread in self.autograd_threads
        if "optimizer" in kinds or self.is_clip(work):
            return "optimizer"
        if on_autograd or "engine" in kinds or any(forward_thread_of(r) > 0 for r in chain):
            return "backward"
        if "forward" in kinds or any(is_module(r) or r in self.with_backward for r in chain):
            return "forward"
        return "backward" if "backward" in kinds else "other"

    def recompute(self, work):
        chain = self.stacks.of(work)
        engine = any("engine" in self.kinds[r] for r in chain)
        if work.launch is None or not (engine or work.launch.thread in self.autograd_threads):
            return False
        for span in chain:
            if "engine" in self.kinds[span]:
                return False
            if is_module(span) or sequence_of(span) is not None and forward_thread_of(span) == 0:
                return self.phase(work) == "backward"   # CHOICE: the optimizer repeats nothing
        return False

    # ---- layer

    def find_block_classes(self):
        """Classes of repeated blocks, of section 6."""
        rules = self.lists.phases["modules"]
        used = set()                                    # frames with launch calls inside
        for span in {self.stacks.inner[w.launch] for w in self.works if w.launch}:
            while span is not None and span not in used:
                used.add(span)
                span = self.stacks.around[span]
        instances, holders = defaultdict(set), defaultdict(set)
        for frame in self.ranges:
            if is_module(frame) and frame in used:
                name, number = module_class(frame)
                instances[name].add(number)
                holders[name] |= {module_class(r)[0] for r in self.stacks.chain(frame)[1:] if is_module(r)}
        classes = {c for c in instances if len(instances[c] - {None}) >= 2}
        classes = {c for c in classes if c not in holders[c] and c not in rules["containers"]}
        called_so = {c for c in classes if reference.contains(c, rules["block_parts"])
                     and not reference.contains(c, rules["not_block_parts"])}
        classes = called_so or classes
        self.blocks = {c for c in classes if not holders[c] & classes}

    def tells(self, span):
        """The layer that one range tells, or None."""
        if span not in self.told:
            self.told[span] = None                      # ends circles
            self.told[span] = self.layer_told(span)
        return self.told[span]

    def layer_told(self, span):
        if is_module(span):
            name, number = module_class(span)
            return number if name in self.blocks else None
        found = LAYER.match(span.name)
        if found:
            return int(found[1])
        for path in PATH.finditer(span.name):
            for element in path[0].split("."):
                if element.isdigit():
                    return int(element)
        if span in self.partner:                        # CHOICE: backward operators without an engine node around them too
            return self.layer_in(self.stacks.chain(self.partner[span]))
        return None

    def layer_in(self, chain):
        return next((self.tells(r) for r in chain if self.tells(r) is not None), None)

    def is_node(self, span):
        """CHOICE: backward operators are nodes too where no range of the engine is around them."""
        return "engine" in self.kinds[span] or forward_thread_of(span) > 0

    def find_nodes(self):
        """{thread: outermost engine nodes with a sequence number, in order}"""
        self.nodes = defaultdict(list)
        for span in self.ranges:
            if self.is_node(span) and not any(self.is_node(r) for r in self.stacks.chain(span)[1:]):
                if sequence_of(span) is not None:
                    self.nodes[span.thread].append(span)

    def layer(self, work):
        """(layer or None, how: stack, node, outside or None for not told here)"""
        if work.launch is None:
            return None, "no_launch"
        chain, phase = self.stacks.of(work), self.phase(work)
        layer = self.layer_in(chain)
        if layer is not None:
            return layer, "stack"
        if phase in ("optimizer", "other"):
            return None, "outside"
        numbered = any(sequence_of(r) is not None for r in chain if "engine" in self.kinds[r])
        if work.launch.thread in self.autograd_threads and not numbered:
            nodes = self.nodes[work.launch.thread]
            place = bisect.bisect_right(nodes, work.launch.start, key=lambda r: r.start) - 1
            if place >= 0 and self.tells(nodes[place]) is not None:
                return self.tells(nodes[place]), "node"
        return None, None

    def launch_layer(self, work):
        return next((self.tells(r) for r in reversed(self.stacks.of(work)) if self.tells(r) is not None), None)

    # ---- operation

    def find_children(self):
        self.children = defaultdict(list)
        for span in self.ranges:
            if is_module(span):
                self.children[self.module_around(span)].append(span)

    def module_around(self, span):
        return next((r for r in self.stacks.chain(span)[1:] if is_module(r)), None)

    def operation(self, work):
        """(operation, how)"""
        if work.klass == "comm":
            return collective_kind(work, self.stacks.of(work)), "collective"
        if work.launch is None:
            return "unlabelled", "none"
        chain = self.stacks.of(work)
        for span in chain:
            name = self.range_operation(span)
            if name in COPIES:
                return name, "copy"
        for span in chain:
            name = self.lists.operation_named(span.name) if is_annotation(span) else None
            if name or self.range_operation(span):
                return name or self.range_operation(span), "annotation"
        if self.is_clip(work):
            return "opt_gc", "annotation"               # CHOICE: the region is one of the optimizer's ranges
        if work.launch.thread in self.autograd_threads and not any(self.is_node(r) for r in chain):
            if any(r.name in self.lists.phases["engine"].get("accumulate_operators", []) for r in chain):
                return "b_ga", "accumulate"
        name, how = self.operation_of(chain, work, self.recompute(work))
        if name is None and (work.gpu_kind != "kernel" or "Graph" in work.launch.name):
            return work.launch.name, "call"
        return (name, how) if name else ("unlabelled", "none")

    def range_operation(self, span):
        return next((operation for prefix, operation in self.lists.ranges if span.name.startswith(prefix)), None)

    def operation_of(self, chain, work=None, again=False):
        """(operation, how) from the ranges, behind the annotations. `work` is what runs below them, where it is not what these ranges
        are the partners of; `again`: it is work of the forward pass, repeated."""
        for span in chain:
            for path in paths_of(span):
                for end, operation in self.lists.paths:
                    if path == end or path.endswith("." + end):
                        return operation, "path"
        for span in [] if again else chain:
            if span in self.partner:
                name, how = self.operation_below(self.partner[span])
                if how.endswith("operator") and not may_name(self.partner[span], span):
                    break
                if name:
                    return name, "partner " + how.removeprefix("partner ")
        engines = [r for r in chain if "engine" in self.kinds[r]]
        if any(part in r.name for r in engines for part in self.lists.phases["engine"].get("accumulate_contains", [])):
            return "b_ga", "accumulate"
        for span in chain:                              # CHOICE: the innermost that a map knows
            name = self.module_operation(span, work, chain) if is_module(span) else None
            if name:
                return name, "module"
        for span in chain:
            if is_module(span):
                return module_class(span)[0], "class"
            for path in paths_of(span):
                return path.rpartition(".")[2], "last"
        # CHOICE: old traces write marks as operators; they name no piece of a model.
        operators = [r for r in chain if is_operator(r) and not windows.MARK.match(r.name)]
        if operators:
            return operators[-1].name.removeprefix(ENGINE), "operator"
        return None, "none"

    def operation_below(self, span):
        """(operation, how) of work launched directly in a range."""
        if span not in self.named:
            self.named[span] = (None, "none")           # ends circles
            chain = self.stacks.chain(span)
            name = next((n for n in ((self.lists.operation_named(r.name) if is_annotation(r) else None) for r in chain) if n), None)
            self.named[span] = (name, "annotation") if name else self.operation_of(chain)
        return self.named[span]

    def features(self, work, chain):
        """What data/operations/features.toml says that a kernel does."""
        tables, below = self.lists.features, []
        for span in chain:
            if is_module(span):
                break
            below += [span.name] if is_operator(span) else []
        name = work.name.lower() if work else ""
        # CHOICE: the outermost that the table knows, `aten::bmm` below `aten::matmul`.
        known = {name: f for f, names in tables["operators"].items() for name in names}
        found = {next((known[n.removeprefix("aten::")] for n in reversed(below) if n.removeprefix("aten::") in known), None)} - {None}
        if not found and "fused" in name:
            words = name.split("_")
            found = {f for f, parts in tables["fused"].items() if any(part in words for part in parts)}
        if not found:
            order = [text.split(" = ") for text in tables["kernels"]["order"]]
            found = {next((f for part, f in order if part in name), "vector")}
        if work:
            return found | ({work.klass} if work.klass in ("gemm", "attention") else {"vector"})
        rules, innermost = self.lists.classes["operator_class"], below[0] if below else ""
        return found | ({"attention"} if reference.contains(innermost, rules["attention_contains"]) else
                        {"gemm"} if innermost in rules["gemm_exact"] or reference.contains(innermost, rules["gemm_contains"]) else {"vector"})

    def module_operation(self, span, work, chain):
        parent, name = self.module_around(span), module_class(span)[0]
        for rule in self.lists.modules:
            if not any(part in name for part in rule["class"]):
                continue
            if rule.get("parent") and not (parent and any(part in module_class(parent)[0] for part in rule["parent"])):
                continue
            fitting = [c for c in self.children[parent] if any(part in module_class(c)[0] for part in rule["class"])]
            if "index" in rule and fitting.index(span) != rule["index"]:
                continue
            if "of" in rule and len(fitting) != rule["of"]:
                continue
            if "accepts" in rule and not self.features(work, chain) & set(rule["accepts"]):
                continue
            return rule["operation"]
        return None


MODULE_PATH = re.compile(r"(?:[a-z_]\w*(?:\.\w+)+|[A-Za-z_]\w*(?:\.\w+)*\.\d+(?:\.\w+)*)\Z", re.ASCII)
NAMED_MODULE = re.compile(r".* (?:\(|for )([A-Za-z_]\w*(?:\.\w+)*)\)?\Z", re.ASCII)


def paths_of(span):
    """Module paths in the name of an annotation. CHOICE: the whole name (`DataParallel.forward` is none), or what stands in
    parentheses or behind "for" at its end."""
    if not is_annotation(span):
        return []
    found = NAMED_MODULE.match(span.name)
    return [found[1]] if found else [span.name] if MODULE_PATH.match(span.name) else []


# -------------------------------------------------------------------------------------------------------- collectives

# Parts of names without their other signs, in the order in which they are tried.
KIND_PARTS = (
    ("allreduce", "ar"), ("crossdevicereduce", "ar"), ("reducescatter", "rs"), ("allgather", "ag"), ("alltoall", "a2a"),
    ("broadcast", "bc"), ("sendrecv", "p2p"), ("send", "p2p"), ("recv", "p2p"), ("barrier", "barrier"), ("reduce", "reduce"),
    ("scatter", "scatter"), ("gather", "gather"))


def kind_named(name):
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return next((kind for part, kind in KIND_PARTS if part in plain), None)


def collective_args(work, chain):
    """The record that has the collective's data: itself, else the innermost record_param_comms."""
    if work.args.get("Collective name") is not None:
        return work.args
    return next((r.args for r in chain if r.name == "record_param_comms"), {})


def collective_kind(work, chain):
    sources = [work.args.get("Collective name")] + [r.args.get("Collective name") for r in chain if r.name == "record_param_comms"]
    sources += [r.name for r in chain if r.name.startswith(("c10d::", "nccl:"))]
    sources.append(re.split(r"[<(]", work.name)[0])
    return next((kind for kind in (kind_named(name) for name in sources if isinstance(name, str)) if kind), "comm")


def collective_bytes(args):
    elements = [reference.to_id(args.get(key)) for key in ("In msg nelems", "Out msg nelems")]
    size = TYPE_BYTES.get(str(args.get("dtype")).lower())
    elements = [n for n in elements if n is not None]
    return max(elements) * size if elements and size else None


# ----------------------------------------------------------------------------------------------------- sums of one gpu

class Cover:
    """The length of a union of intervals before a time."""

    def __init__(self, intervals):
        self.starts, self.ends, self.before = [], [], []
        for begin, end in sorted(intervals):
            if self.ends and begin <= self.ends[-1]:
                self.ends[-1] = max(self.ends[-1], end)
            else:
                self.starts.append(begin)
                self.ends.append(end)
        total = 0
        for begin, end in zip(self.starts, self.ends):
            self.before.append(total)
            total += end - begin

    def until(self, time):
        place = bisect.bisect_right(self.starts, time) - 1
        return self.before[place] + min(time, self.ends[place]) - self.starts[place] if place >= 0 else 0

    def within(self, begin, end):
        return self.until(end) - self.until(begin)


class Gpu:
    """Time lines, instances and sums of the gpu work of one device."""

    def __init__(self, trace, gpu):
        self.trace = trace
        self.works = windows.in_start_order(w for w in trace.works if w.gpu == gpu)
        self.busy = Cover((w.start, w.end) for w in self.works)
        self.comm = Cover((w.start, w.end) for w in self.works if windows.kind_of(w) == "COMM")
        self.comp = Cover((w.start, w.end) for w in self.works if windows.kind_of(w) == "COMP")
        self.gaps = {}                                  # kernel: (E, prep, call)
        for _, prep, call, work in windows.gaps(self.works, [], {w: None for w in self.works}):
            self.gaps[work] = (work.start - prep - call, prep, call)
        self.places = {w: trace.places[w] for w in self.works}
        self.parts = windows.window_parts(self.works, trace.marks, self.places)
        self.boundaries = sorted(part[2] for part in self.parts if part[0] == "iteration")

    def scope_of(self, work):
        """(scope, place)"""
        if work.launch is None:
            return "unlabelled", None
        if self.places[work] is not None:
            return "iteration", self.places[work]
        return ("head" if not self.trace.marks or work.launch.start < self.trace.marks[0][1] else "tail"), None

    def idle_parts(self, work):
        """(prep, call, prep while idle, call while idle)"""
        if work not in self.gaps:
            return 0, 0, 0, 0
        begin, prep, call = self.gaps[work]
        return (prep, call, prep - self.busy.within(begin, begin + prep), call - self.busy.within(begin + prep, work.start))

    def crosses(self, work):
        """Whether a window begins in the pause before a kernel."""
        if work not in self.gaps:
            return False
        place = bisect.bisect_right(self.boundaries, self.gaps[work][0])
        return place < len(self.boundaries) and self.boundaries[place] <= work.start

    def intervals(self, works, own=None):
        """What lengths_of counts."""
        for work in works:
            labels = [windows.kind_of(work)]
            if labels == ["COMP"] and not work.comm_copy:
                labels.append("strict")
            if work.comm_copy and labels != ["COMM"]:
                labels.append("copy")
            if own is not None and own(work):
                labels.append("own")
            yield work.start, work.end, labels

    def lengths_of(self, intervals, start, end):
        total = Counter()
        for length, on in windows.pieces_of(intervals, start, end):
            windows.add_lengths(total, length, on & {"COMP", "COMM", "MEM"})
            total["exposed_comm_strict"] += length if "COMM" in on and "strict" not in on else 0
            total["comm_copy"] += length if "copy" in on else 0
            total["foreign"] += length if on and "own" not in on else 0
        return total

    def own_row(self, works):
        """The keys without prefix, of the work of a scope."""
        parts = [self.idle_parts(w) for w in works]
        row = {key: sum(p[i] for p in parts) for i, key in enumerate(("prep_ns", "call_ns", "prep_idle_ns", "call_idle_ns"))}
        row["inter_iteration_ns"] = sum(sum(self.gaps[w][1:]) for w in works if self.crosses(w))
        row["num_no_launch"] = sum(1 for w in works if w.gpu_kind == "kernel" and windows.kind_of(w) == "COMP" and not w.launch)
        if works:
            start, end = min(w.start for w in works), max(w.end for w in works)
            row |= {"start_ns": start, "span_ns": end - start}
            total = self.lengths_of(self.intervals(works), start, end)
            row |= {key + "_ns": total[key] for key in LENGTHS}
        else:
            row |= {"start_ns": None, "span_ns": 0} | {key + "_ns": 0 for key in LENGTHS}
        return row

    def window_row(self, scope, place, start, end):
        total = self.lengths_of(self.intervals(self.works, lambda w: self.scope_of(w) == (scope, place)), start, end)
        row = {"window_start_ns": start, "window_ns": end - start, "foreign_ns": total["foreign"]}
        row |= {f"window_{key}_ns": total[key] for key in LENGTHS}
        prep = call = 0
        for work, (begin, prep_ns, _) in self.gaps.items():
            for a, b, is_prep in ((begin, begin + prep_ns, True), (begin + prep_ns, work.start, False)):
                a, b = max(a, start), min(b, end)
                if a < b:
                    idle = b - a - self.busy.within(a, b)
                    prep, call = prep + idle * is_prep, call + idle * (not is_prep)
        return row | {"window_prep_idle_ns": prep, "window_call_idle_ns": call}

    def timeline(self):
        """{(scope, ordinal): row}; scopes without work and window are missing."""
        members = defaultdict(list)
        for work in self.works:
            members[self.scope_of(work)].append(work)
        rows = {("trace", None): self.own_row(self.works)}
        windows_of = {(part[0], part[1]): part for part in self.parts}
        for key in members.keys() | windows_of.keys():
            rows[key] = self.own_row(members[key])
            if key in windows_of:
                _, _, start, end, last = windows_of[key]
                rows[key] |= self.window_row(*key, start, end)
                if key[0] == "iteration":
                    rows[key] |= self.iteration_row(key[1], members, start, end) | {"last": last}
        return rows

    def iteration_row(self, place, members, start, end):
        mine, following = members[("iteration", place)], members.get(("iteration", place + 1))
        row = {"iteration": self.trace.marks[place][0], "micro_steps": self.trace.micro_steps().get(place, 0), "gap_to_next_ns": None}
        if mine and following:
            row["gap_to_next_ns"] = min(w.start for w in following) - max(w.end for w in mine)
        kernels = [w for w in self.works if w.gpu_kind == "kernel" and start <= w.start < end]
        launched = sum(1 for w in kernels if w.launch)
        row["complete"] = (self.trace.is_recorded(place) and self.trace.launch_share(place) >= 0.99
                           and (not kernels or launched / len(kernels) >= 0.99))
        return row

    def instances(self, key_of):
        """[[works]] of section 7. `key_of` gives (iteration, phase, recompute, layer, operation)."""
        threads = defaultdict(list)
        for work in self.works:
            threads[work.launch.thread if work.launch else None].append(work)
        result = []
        for members in threads.values():
            members.sort(key=lambda w: (w.launch.start, w.start, w.end, w.offset) if w.launch else (w.start, w.end, w.offset))
            copies = run = None                         # (key, works) of copies just before, and of the other work that goes on
            for work in members:
                key = key_of(work)
                if work.klass == "comm" or work.launch is None:
                    result.append([work])
                    copies = None
                elif key[4] in COPIES:                  # CHOICE: a run of copies ends at any other record
                    if copies is None or copies[0] != key:
                        copies = (key, [])
                        result.append(copies[1])
                    copies[1].append(work)
                else:
                    if run is None or run[0] != key:
                        run = (key, [])
                        result.append(run[1])
                    run[1].append(work)
                    copies = None
        return result

    def operations(self, key_of):
        """{(phase, operation): row}"""
        rows, classes, durations = defaultdict(Counter), defaultdict(Counter), defaultdict(list)
        for instance in self.instances(key_of):
            _, phase, _, _, operation = key_of(instance[0])
            row = rows[phase, operation]
            duration = sum(w.end - w.start for w in instance)
            durations[phase, operation].append(duration)
            row.update(num_instances=1, num_kernels=len(instance), duration_ns=duration,
                       elapsed_ns=max(w.end for w in instance) - min(w.start for w in instance))
            for work in instance:
                classes[phase, operation][work.klass] += work.end - work.start
                prep, call, prep_idle, call_idle = self.idle_parts(work)
                # CHOICE: communication does not overlap with itself.
                overlap = 0 if work.klass == "comm" else self.comm.within(work.start, work.end)
                row.update(overlap_ns=overlap, prep_ns=prep, call_ns=call, prep_idle_ns=prep_idle,
                           call_idle_ns=call_idle, num_no_launch=work.gpu_kind == "kernel" and windows.kind_of(work) == "COMP"
                           and work.launch is None)
        for key, row in rows.items():
            ordered = sorted(durations[key])
            row |= {f"p{percent:02}_ns": reference.quantile(ordered, percent) for percent in (5, 50, 95)}
            row["classes"] = classes[key]
        return rows

    def collectives(self):
        """{work: row}"""
        trace, rows = self.trace, {}
        for work in self.works:
            if work.klass == "comm":
                chain = trace.stacks.of(work)
                args = collective_args(work, chain)
                place = self.places[work]
                rows[work] = {
                    "iteration": None if place is None else trace.marks[place][0], "ordinal": place, "phase": trace.phase(work),
                    "kind": collective_kind(work, chain), "group": args.get("Process Group Name"),
                    "group_size": reference.to_id(args.get("Group size")), "bytes": collective_bytes(args),
                    "seq": reference.to_id(args.get("Seq")), "duration_ns": work.end - work.start,
                    "exposed_ns": work.end - work.start - self.comp.within(work.start, work.end)}
        return rows


# ----------------------------------------------------------------------------------------------- iterations, what is possible

def micro_steps(self):
    """{place: passes of the autograd engine}"""
    if not hasattr(self, "passes"):
        self.passes = {}
        for nodes in self.nodes.values():
            counts, latest = Counter(), {}
            for span in nodes:
                place = windows.place_of(span.start, self.marks)
                if place is not None:
                    counts[place] += place not in latest or sequence_of(span) > latest[place]
                    latest[place] = sequence_of(span)
            for place, count in counts.items():
                self.passes[place] = max(self.passes.get(place, 0), count)
    return self.passes


def is_recorded(self, place):
    """Whether the end of a mark was recorded. CHOICE: a periodic mark ends where the next one begins, and without marks nothing does."""
    if self.rule in ("periodic", "none"):
        return self.rule == "periodic" and place + 1 < len(self.marks)
    return self.mark_records[place].args.get("finished") != "false"


def is_kernel_launch(call):
    return call.cat in reference.CALL_KIND and "Launch" in call.name and "HostFunc" not in call.name


def launch_share(self, place):
    """Share of the kernel launches of an iteration that have gpu records."""
    if not hasattr(self, "launches"):
        self.launches = defaultdict(list)
        with_record = {w.launch for w in self.works if w.launch}
        for call in self.spans:
            if is_kernel_launch(call):
                self.launches[windows.place_of(call.start, self.marks)].append(call in with_record)
    mine = self.launches[place]
    return sum(mine) / len(mine) if mine else 1.0


Trace.micro_steps, Trace.is_recorded, Trace.launch_share = micro_steps, is_recorded, launch_share


def possible(trace, works):
    """Gpu records for which the ids and times allow a label, whatever was linked."""
    calls, owners = defaultdict(set), reference.device_processes(works, calls_by_correlation(trace.spans))
    for call in trace.spans:
        if call.cat in reference.CALL_KIND:
            calls[reference.to_id(call.args.get("correlation")) or 0].add(call.thread[0])
    launch = operator = iteration = 0
    for work in works:
        correlation = reference.to_id(work.args.get("correlation")) or 0
        pids = calls[correlation] if correlation else set()
        launch += bool(pids) and (len(pids) == 1 and work.gpu not in owners or owners.get(work.gpu) in pids)
        if work.launch:
            operator += any(is_operator(r) for r in trace.stacks.of(work)) or work.operator is not None
            iteration += windows.place_of(work.launch.start, trace.marks) is not None
    return {"launch": launch, "operator": operator, "iteration": iteration}


def calls_by_correlation(spans):
    calls = defaultdict(list)
    for span in spans:
        if span.cat in reference.CALL_KIND:
            calls[reference.to_id(span.args.get("correlation")) or 0].append(span)
    calls.pop(0, None)
    return calls


def load(path):
    """The trace of a file, labelled."""
    collecting = gc.isenabled()
    gc.disable()                                        # millions of small objects and no cycles
    try:
        return Trace(reference.load_spans(path, Counter())[0])
    finally:
        if collecting:
            gc.enable()


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: attribution_reference.py FILE")
    trace = load(sys.argv[1])
    result = {"iteration_rule": trace.rule, "marks": len(trace.marks), "blocks": sorted(trace.blocks), "gpus": []}
    for gpu in sorted({w.gpu for w in trace.works}, key=lambda g: (g is None, g or 0)):
        mine = Gpu(trace, gpu)
        time, how = defaultdict(Counter), defaultdict(Counter)
        for work in mine.works:
            layer, layer_how = trace.layer(work)
            operation, operation_how = trace.operation(work)
            for label, value in (("phase", trace.phase(work)), ("layer", layer), ("operation", operation)):
                time[label][str(value)] += work.end - work.start
            how["layer"][str(layer_how)] += 1
            how["operation"][operation_how] += 1
        result["gpus"].append({
            "gpu": gpu, "records": len(mine.works), "possible": possible(trace, mine.works), "time_ns": time, "how": how,
            "timeline": [{"scope": key[0], "ordinal": key[1]} | row for key, row in mine.timeline().items()],
            "collectives": Counter(row["kind"] for row in mine.collectives().values())})
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
