# SPDX-License-Identifier: Apache-2.0
"""Reads counter passes of one process into plain dispatches, on its own: CSV, JSON and databases of rocprofv3, raw page
of ncu."""
import csv
import gzip
import io
import json
import sqlite3
from collections import defaultdict

COUNTER_COLUMNS = {"rocprofv3-6.2": 15, "rocprofv3-6.3": 18, "rocprofv3-6.4": 19, "rocprofv3-7.0": 19}
KERNEL_COLUMNS = {"rocprofv3-6.2": 16, "rocprofv3-6.3": 18, "rocprofv3-6.4": 18, "rocprofv3-7.0": 22}
INSTANCES = {"GRBM": 1, "SQ": 4, "TCC": 16}             # of a die


class Difference(Exception):
    """What a run's files say and its truth does not."""


def expect(holds, text):
    if not holds:
        raise Difference(text)


class Dispatch:
    """A dispatch as a file has it; None is what the pass does not count."""
    __slots__ = ("name", "items", "group", "start", "end", "cycles", "operations", "busy", "read", "written", "clock")

    def __init__(self):
        for each in self.__slots__:
            setattr(self, each, None)


def text_of(path):
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


def rows_of(path):
    reader = csv.reader(io.StringIO(text_of(path)))
    header = next(reader)
    return header, [dict(zip(header, row, strict=True)) for row in reader]


def take_counters(dispatch, values, num_dies):
    """What AMD's counters mean (formats.md 3.1, 3.2)."""
    dispatch.cycles = values["GRBM_GUI_ACTIVE"] / num_dies
    if "SQ_INSTS_VALU_MFMA_MOPS_BF16" in values:
        dispatch.operations = 512 * values["SQ_INSTS_VALU_MFMA_MOPS_BF16"]
        dispatch.busy = values["SQ_VALU_MFMA_BUSY_CYCLES"]
        expect(values["GRBM_COUNT"] > values["GRBM_GUI_ACTIVE"], "busy for longer than there is time")
    name = "TCC_EA0" if "TCC_EA0_RDREQ" in values or "TCC_EA0_WRREQ" in values else "TCC_EA"
    if f"{name}_RDREQ" in values:
        narrow, wide = values[f"{name}_RDREQ_32B"], values.get("TCC_BUBBLE", 0)
        dispatch.read = 128 * wide + 64 * (values[f"{name}_RDREQ"] - wide - narrow) + 32 * narrow
    if f"{name}_WRREQ" in values:
        full = values[f"{name}_WRREQ_64B"]
        dispatch.written = 64 * full + 32 * (values[f"{name}_WRREQ"] - full)
    if "TCC_REQ" in values and "TCC_HIT" in values:
        expect(values["TCC_REQ"] == values["TCC_HIT"] + values["TCC_MISS"], "requests are no hits and misses")


def csv_dispatches(folder, run, form, num_dies):
    """counter_collection and kernel_trace; the second has the times of every release."""
    path = next(folder / f for f in run["files"] if "counter_collection" in f)
    header, rows = rows_of(path)
    expect(len(header) == COUNTER_COLUMNS[form], f"{path.name}: {len(header)} columns")
    values, first = defaultdict(dict), {}
    for row in rows:
        number = int(row["Dispatch_Id"])
        expect(row["Counter_Name"] not in values[number], "a counter twice")
        values[number][row["Counter_Name"]] = float(row["Counter_Value"])
        first.setdefault(number, row)
    path = next(folder / f for f in run["files"] if "kernel_trace" in f)
    header, rows = rows_of(path)
    expect(len(header) == KERNEL_COLUMNS[form], f"{path.name}: {len(header)} columns")
    expect(len(rows) == len(values), f"{path.name}: {len(rows)} dispatches, counted {len(values)}")
    agent = str(run["agent"]) if form < "rocprofv3-6.4" else f"Agent {run['agent']}"
    found = {}
    for i, row in enumerate(rows):
        number = int(row.get("Dispatch_Id", i + 1))
        seen, dispatch = first[number], found.setdefault(number, Dispatch())
        dispatch.name, dispatch.group = row["Kernel_Name"], int(seen["Workgroup_Size"])
        dispatch.start, dispatch.end = int(row["Start_Timestamp"]), int(row["End_Timestamp"])
        dispatch.items = [int(row[f"Grid_Size_{axis}"]) for axis in "XYZ"]
        expect(seen["Kernel_Name"] == row["Kernel_Name"], "names differ between the tables")
        expect(row["Agent_Id"] == seen["Agent_Id"] == agent, f"agent {row['Agent_Id']}")
        if "Start_Timestamp" in seen:
            times = int(seen["Start_Timestamp"]), int(seen["End_Timestamp"])
            expect(times == (dispatch.start, dispatch.end), "times")
        x, y, z = dispatch.items
        expect(x * y * z % 2**32 == int(seen["Grid_Size"]), "grid size")
        take_counters(dispatch, values[number], num_dies)
    return found


def csv_marks(folder, run):
    found = [f for f in run["files"] if "marker_api_trace" in f]
    return [(r["Function"], int(r["Start_Timestamp"]), int(r["End_Timestamp"])) for r in rows_of(folder / found[0])[1]
            ] if found else []


def json_of(folder, run):
    tools = json.loads(text_of(folder / run["files"][0]))["rocprofiler-sdk-tool"]
    expect(len(tools) == 1 and tools[0]["metadata"]["pid"] == run["process"], "process")
    return tools[0]


def json_dispatches(folder, run, _form, num_dies):
    """Values are of the single instances: their number is that of the hardware."""
    tool = json_of(folder, run)
    names = {s["kernel_id"]: s["formatted_kernel_name"] for s in tool["kernel_symbols"]}
    counters = {c["id"]["handle"]: c for c in tool["counters"]}
    nodes = {a["id"]["handle"]: a["logical_node_id"] for a in tool["agents"]}
    traced = {k["dispatch_info"]["dispatch_id"]: k for k in tool["buffer_records"]["kernel_dispatch"]}
    found = {}
    for record in tool["callback_records"]["counter_collection"]:
        data = record["dispatch_data"]
        info = data["dispatch_info"]
        dispatch = found.setdefault(info["dispatch_id"], Dispatch())
        dispatch.name = names[info["kernel_id"]]
        dispatch.start, dispatch.end = data["start_timestamp"], data["end_timestamp"]
        dispatch.items = [info["grid_size"][axis] for axis in "xyz"]
        sizes = [info["workgroup_size"][axis] for axis in "xyz"]
        dispatch.group = sizes[0] * sizes[1] * sizes[2]
        expect(nodes[info["agent_id"]["handle"]] == run["agent"], "agent")
        expect(traced[info["dispatch_id"]]["dispatch_info"] == info, "the two lists of dispatches differ")
        expect(traced[info["dispatch_id"]]["start_timestamp"] == dispatch.start, "times")
        values, instances = defaultdict(float), defaultdict(int)
        for value in record["records"]:
            counter = counters[value["counter_id"]["handle"]]
            values[counter["name"]] += value["value"]
            instances[counter["name"]] += 1
        for counter in counters.values():
            name = counter["name"]
            expect(instances[name] == INSTANCES[counter["block"]] * num_dies, f"instances of {name}")
        take_counters(dispatch, values, num_dies)
    expect(len(traced) == len(found), "dispatches without counters")
    return found


def json_marks(folder, run):
    tool = json_of(folder, run)
    names = {m["key"]: m["value"] for m in tool["strings"]["marker_api"]}
    return [(names[m["correlation_id"]["internal"]], m["start_timestamp"], m["end_timestamp"])
            for m in tool["buffer_records"]["marker_api"]]


def database_of(folder, run):
    connection = sqlite3.connect(f"file:{folder / run['files'][0]}?mode=ro", uri=True)
    expect(connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "the database is damaged")
    return connection


def rocpd_dispatches(folder, run, _form, num_dies):
    """The tables without suffix are views; the view of sums must agree with the rows of instances."""
    connection = database_of(folder, run)
    agents = dict(connection.execute("SELECT id, logical_index FROM rocpd_info_agent"))
    found, event_of = {}, {}
    for row in connection.execute(
            "SELECT D.dispatch_id, D.event_id, K.display_name, D.start, D.\"end\", D.agent_id, D.workgroup_size_x, "
            "D.workgroup_size_y, D.workgroup_size_z, D.grid_size_x, D.grid_size_y, D.grid_size_z, P.pid "
            "FROM rocpd_kernel_dispatch D JOIN rocpd_info_kernel_symbol K ON K.id = D.kernel_id AND K.guid = D.guid "
            "JOIN rocpd_info_process P ON P.id = D.pid AND P.guid = D.guid ORDER BY D.dispatch_id"):
        dispatch = found.setdefault(row[0], Dispatch())
        event_of[row[1]] = row[0]
        dispatch.name, dispatch.start, dispatch.end = row[2:5]
        expect(agents[row[5]] == run["agent"] and row[12] == run["process"], "agent or process")
        dispatch.group, dispatch.items = row[6] * row[7] * row[8], list(row[9:12])
    blocks = dict(connection.execute("SELECT name, block FROM rocpd_info_pmc"))
    values = defaultdict(dict)
    for event, name, value, count in connection.execute(
            "SELECT V.event_id, I.name, SUM(V.value), COUNT(*) FROM rocpd_pmc_event V JOIN rocpd_info_pmc I "
            "ON I.id = V.pmc_id AND I.guid = V.guid GROUP BY V.event_id, I.id"):
        expect(count == INSTANCES[blocks[name]] * num_dies, f"instances of {name}")
        values[event_of[event]][name] = value
    sums = connection.execute("SELECT dispatch_id, counter_name, value FROM counters_collection").fetchall()
    expect({(d, n, v) for d, n, v in sums} == {(d, n, v) for d, row in values.items() for n, v in row.items()}, "sums")
    for number, dispatch in found.items():
        take_counters(dispatch, values[number], num_dies)
    return found


def rocpd_marks(folder, run):
    return [(json.loads(text)["message"], start, end) for text, start, end in database_of(folder, run).execute(
        "SELECT E.extdata, R.start, R.\"end\" FROM rocpd_region R JOIN rocpd_event E ON E.id = R.event_id AND "
        "E.guid = R.guid JOIN rocpd_string S ON S.id = E.category_id AND S.guid = E.guid "
        "WHERE S.string LIKE 'MARKER_%'")]


def ncu_dispatches(folder, run, _form, _num_dies):
    """The raw page has lengths, no times: kernels are put one behind the other here."""
    lines = [line for line in text_of(folder / run["files"][0]).splitlines() if not line.startswith("==")]
    reader = csv.reader(lines)
    header, units = next(reader), next(reader)
    expect(len(units) == len(header) and units[header.index("gpu__time_duration.sum")] == "ns", "line of units")
    found, now = {}, 0
    for row in (dict(zip(header, cells, strict=True)) for cells in reader):
        dispatch = found.setdefault(int(row["ID"]) + 1, Dispatch())
        block, grid = ([int(n) for n in row[key].strip("()").split(",")] for key in ("Block Size", "Grid Size"))
        dispatch.name, dispatch.group = row["Kernel Name"], block[0] * block[1] * block[2]
        dispatch.items = [b * g for b, g in zip(block, grid, strict=True)]
        dispatch.start, dispatch.end = now, now + int(row["gpu__time_duration.sum"])
        now = dispatch.end
        dispatch.cycles = float(row["sm__cycles_elapsed.max"])
        if "sm__ops_path_tensor_src_bf16_dst_fp32.sum" in row:
            dispatch.operations = float(row["sm__ops_path_tensor_src_bf16_dst_fp32.sum"])
            share = float(row["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"]) / 100
            dispatch.busy = share * dispatch.cycles         # of one unit: times their number by the caller
        if "dram__bytes_read.sum" in row:
            dispatch.read, dispatch.written = float(row["dram__bytes_read.sum"]), float(row["dram__bytes_write.sum"])
    return found


def dispatches_of(folder, run, form, num_dies, num_matrix_units):
    if form == "ncu":
        found = ncu_dispatches(folder, run, form, num_dies)
        for dispatch in found.values():
            if dispatch.busy is not None:
                dispatch.busy *= num_matrix_units
        return found
    reader = {"rocprofv3-json": json_dispatches, "rocpd": rocpd_dispatches}.get(form, csv_dispatches)
    return reader(folder, run, form, num_dies)


def marks_of(folder, run, form):
    """Name, start and end of what the program marked; the raw page of ncu has none."""
    if form == "ncu":
        return []
    return {"rocprofv3-json": json_marks, "rocpd": rocpd_marks}.get(form, csv_marks)(folder, run)
