-- Written with compressed columns.
CREATE TABLE rocpd_metadata_0198c0de (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
INSERT INTO rocpd_metadata_0198c0de VALUES (1, 'schema_version', '4'), (2, 'compression', 'lz4-frame-v1');
CREATE TABLE rocpd_kernel_dispatch_0198c0de (id INTEGER PRIMARY KEY, start BIGINT);
