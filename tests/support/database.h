// SPDX-License-Identifier: Apache-2.0
// Databases for tests: made of SQL, as bytes; and the tables that profilers write, with a few rows.
#pragma once

#include <string>
#include <string_view>

namespace chopper::test {

/// Runs SQL in an empty database and returns its bytes. Aborts on an error in the SQL.
std::string database_of(std::string_view sql);

/// Tables of rocpd (schema version 3) of one guid: a suffix such as "_0a1b" and the views without it.
std::string rocpd_tables(std::string_view suffix, std::string_view guid);
/// Rows of one process with two gpus, four dispatches of two kernels, and a range and an instant marked; counters
/// GRBM_GUI_ACTIVE with two instances and SQ_WAVES with four. The pid is `process`.
std::string rocpd_rows(std::string_view suffix, int process);

/// Tables of an export of Nsight Systems, with two processes that use the same correlations on a gpu of their own.
std::string nsight_tables();

/// Tables of rocmProfileData with a kernel, a copy and a marker.
std::string rpd_tables();

}  // namespace chopper::test
