//! The database.

crate::declare::meters! {
    group DATABASE_METERS;
    Histogram COMMIT_DURATION = "staunch_commit_duration_seconds" in Seconds {}
        "One commit as a burst sees it, the wait for its group included",
        "p99 below 0.05 s",
        "the database is slow or its disk is: compare with `staunch_database_transaction_duration_seconds`";
    Histogram DATABASE_TRANSACTION_DURATION = "staunch_database_transaction_duration_seconds" in Seconds {}
        "One transaction of the group commit, repetitions included",
        "p99 below 0.05 s",
        "the disk or the network of the database; locks held by others";
    Histogram DATABASE_BATCH_SIZE = "staunch_database_batch_size" in Count {}
        "Bursts, starts and commands that shared a transaction",
        "grows with the load, 64 at most",
        "always at 64: the database is the limit";
    Gauge DATABASE_JOBS_QUEUED = "staunch_database_jobs_queued" in Count {}
        "Bursts, starts and commands that wait for a transaction now",
        "below 64",
        "the database is slower than the load";
    Counter DATABASE_OVERLOADED = "staunch_database_overloaded_total" in Count {}
        "Bursts, starts and commands that found no place in the queue of the group commit",
        "0",
        "the database is slower than the load: fewer executors, or a faster database";
    Counter DATABASE_CONFLICTS = "staunch_database_conflicts_total" in Count {}
        "Bursts that their transaction left out because the instance had another version",
        "near 0",
        "as `staunch_commit_conflicts_total`";
    Counter DATABASE_RETRIES = "staunch_database_retries_total" in Count {}
        "Statements and transactions repeated after a temporary error",
        "0",
        "`staunch_database_errors_total` says which error";
    Counter DATABASE_SPLITS = "staunch_database_splits_total" in Count {}
        "Transactions that failed as a whole and were repeated job by job",
        "0",
        "one burst has a value that the database refuses: the log names it";
    Counter DATABASE_ERRORS = "staunch_database_errors_total" in Count
        { kind: ["deadlock", "serialization", "lock", "busy", "timeout", "pool", "connection", "resources", "full", "read only", "constraint", "schema", "corrupt", "other"] }
        "Errors of the database, by kind; `pool`: no connection became free in time; `busy`: SQLite was locked",
        "0; `constraint` when two starts have one key",
        "`deadlock`, `lock`: another program writes; `pool`: too few connections; `full`: the disk; `connection`, `read only`: the server is away or has moved";
    Histogram DATABASE_QUERY_DURATION = "staunch_database_query_duration_seconds" in Seconds
        { operation: "select, insert, update, delete, other", table: "the tables of the schema, `-` for none" }
        "One statement outside the group commit, by operation and table: lists, searches, timers, the sweep",
        "p99 below 0.1 s",
        "a slow list: look at its plan with `EXPLAIN`; are statistics and indexes there?";
    Histogram DATABASE_LOAD_DURATION = "staunch_database_load_duration_seconds" in Seconds {}
        "One statement that reads the instances that wait to be loaded, repetitions included",
        "p99 below 0.02 s",
        "the cache of the database is too small, or instances are very large";
    Histogram DATABASE_ACQUIRE_DURATION = "staunch_database_acquire_duration_seconds" in Seconds {}
        "The wait for a connection of the pipeline, with the BEGIN of its transaction where it has one",
        "p99 below 0.01 s",
        "too few connections, or the server takes none";
    Gauge DATABASE_CONNECTIONS = "staunch_database_connections" in Count
        { pool: ["writer", "reader"], state: ["idle", "used"] }
        "Open connections to the database, by pool",
        "`used` is below the maximum",
        "as `staunch_database_connections_max`";
    Gauge DATABASE_CONNECTIONS_MAX = "staunch_database_connections_max" in Count
        { pool: ["writer", "reader"] }
        "The largest number of connections of a pool",
        "–",
        "`used` stays at it: queries wait; look for slow ones";
    Histogram DATABASE_ROUND_TRIP = "staunch_database_round_trip_seconds" in Seconds {}
        "A question to the database and its answer, asked every 2 s, the wait for a connection included",
        "p99 below 0.01 s",
        "the network to the database, or its load";
}
