// SPDX-License-Identifier: Apache-2.0
// Uses the public headers and nothing else: prints the version, and proves that a report can be asked for.
#include <chopper/chopper.h>

#include <filesystem>
#include <iostream>

int main() {
  const std::filesystem::path nowhere = "no/such/run";
  const chopper::Report report = chopper::report_json({&nowhere, 1}, {});
  if (report.exit_code != 1 || report.error.empty() || !report.json.empty()) return 1;
  std::cout << chopper::version() << '\n';
}
