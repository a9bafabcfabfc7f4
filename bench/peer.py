#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does with another program what `chopper report` does, as nearly as it can: peer.py PEER FILE.

compare_speed.py runs this with the Python that has the peers and measures the process. Exit status 77: not installed.
Prints the version it ran.

  json-load   json.load of the standard library: reading alone
  hta         HolisticTraceAnalysis: load, time split, communication overlap, kernel table
  tracelens   TraceLens: load with its call tree, GPU time line, kernels with their launchers
  perfetto    Perfetto's trace processor: load, kernel table in SQL (a trace_processor_shell must be on the PATH)
"""
import importlib.metadata
import importlib.util
import json
import shutil
import sys

NOT_INSTALLED = 77


def version_of(package):
    """Returns the version of `package`; ends the process when it is missing."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        sys.exit(NOT_INSTALLED)


def run_json_load(path):
    with open(path, encoding="utf-8") as file:
        json.load(file)
    return "json.load, Python " + sys.version.split()[0]


def run_hta(path):
    version = version_of("HolisticTraceAnalysis")
    from hta.trace_analysis import TraceAnalysis
    analysis = TraceAnalysis(trace_files={0: path}, trace_dir="")
    analysis.get_temporal_breakdown(visualize=False)
    analysis.get_comm_comp_overlap(visualize=False)
    analysis.get_gpu_kernel_breakdown(visualize=False)
    return "HolisticTraceAnalysis " + version


def run_tracelens(path):
    # By module: the distribution of this name on PyPI is another program.
    if importlib.util.find_spec("TraceLens") is None:
        sys.exit(NOT_INSTALLED)
    from TraceLens import TreePerfAnalyzer
    analyzer = TreePerfAnalyzer.from_file(path)
    analyzer.get_df_gpu_timeline()
    analyzer.get_df_kernel_launchers()
    try:
        return "TraceLens " + importlib.metadata.version("TraceLens")
    except importlib.metadata.PackageNotFoundError:
        return "TraceLens (source folder)"


def run_perfetto(path):
    version = version_of("perfetto")
    shell = shutil.which("trace_processor_shell")
    if shell is None:
        sys.exit(NOT_INSTALLED)
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig
    with TraceProcessor(trace=path, config=TraceProcessorConfig(bin_path=shell)) as processor:
        rows = processor.query("select name, count(*) as n, sum(dur) as total from slice where category = 'kernel' "
                               "group by name order by total desc")
        sum(1 for _ in rows)
    return "perfetto " + version


PEERS = {"json-load": run_json_load, "hta": run_hta, "tracelens": run_tracelens, "perfetto": run_perfetto}


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in PEERS:
        sys.exit(__doc__)
    print(PEERS[sys.argv[1]](sys.argv[2]))
