-- Times are in a table of their own.
CREATE TABLE rocpd_kernel_dispatch_0198c0de (id INTEGER PRIMARY KEY, guid TEXT, track_id INTEGER, kernel_id INTEGER, start_id INTEGER, end_id INTEGER);
