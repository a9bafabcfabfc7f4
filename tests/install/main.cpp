// SPDX-License-Identifier: Apache-2.0
// Uses the public headers and nothing else, and prints the version.
#include <chopper/chopper.h>

#include <iostream>

int main() { std::cout << chopper::version() << '\n'; }
