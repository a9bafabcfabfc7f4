// SPDX-License-Identifier: Apache-2.0
// Uses the public headers and nothing else: reports on the folder it is given, proves that a failure comes back as one,
// and prints the version.
#include <chopper/chopper.h>

#include <filesystem>
#include <iostream>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: consumer FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const chopper::Report report = chopper::report_json({&folder, 1}, {.by_layer = true});
  if (report.exit_code != 0) {
    std::cerr << "exit code " << report.exit_code << ": " << report.error << '\n';
    return 1;
  }
  for (const char* const needed :
       {"\"timeline\"", "\"scope\":\"trace\"", "\"operations\":[\n", "\"phase\":\"backward\"", "\"layer\":"}) {
    if (report.json.find(needed) != std::string::npos) continue;
    std::cerr << "the report lacks " << needed << '\n';
    return 1;
  }

  const std::filesystem::path nowhere = "no/such/run";
  const chopper::Report failed = chopper::report_json({&nowhere, 1}, {});
  if (failed.exit_code != 1 || failed.error.empty() || !failed.json.empty()) {
    std::cerr << "a run that is not there was reported on\n";
    return 1;
  }
  std::cout << chopper::version() << '\n';
}
