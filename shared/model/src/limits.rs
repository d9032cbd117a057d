//! Every bound that a user can meet, named, units last. A bound that only one module knows is a
//! constant of that module. A queue, loop, body, retry or wait without a limit is a bug.

use std::time::Duration;

/// The shortest time for which an ended instance is kept: a start that is delivered again within it
/// finds its instance and does not run twice.
pub const RETENTION_MIN: Duration = Duration::from_secs(60 * 60);
/// Characters of an id that comes from outside.
pub const ID_CHARS_MAX: usize = 128;
/// Nesting depth of lists and objects in one value: inputs, payloads, results, variables, outputs.
/// The same for every entry point, and in JSON as in MessagePack.
pub const DEPTH_MAX: usize = 64;
/// Nesting depth of lists and objects in a message or record that carries values: a command, an
/// instance's state, an answer. Below the 128 levels at which the JSON reader gives up.
pub const CARRIER_DEPTH_MAX: usize = DEPTH_MAX + 32;
/// Nesting depth of elements in XML that is read as a value: each is an object, perhaps in a list,
/// below [`DEPTH_MAX`].
pub const XML_DEPTH_MAX: usize = DEPTH_MAX / 2 - 1;
/// Elements, texts and other nodes in XML that is read as a value.
pub const XML_NODES_MAX: u32 = 100_000;
/// Bytes of a subject that a sender names for its answer.
pub const SUBJECT_BYTES_MAX: usize = 2_048;
/// Bytes of a workflow definition document.
pub const DEFINITION_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Tries to change a definition that others change at the same time.
pub const EDIT_TRIES_MAX: u32 = 64;
/// Activities in one definition.
pub const ACTIVITIES_MAX: usize = 10_000;
/// Containers inside containers in one definition. In JSON, each takes two levels of
/// [`CARRIER_DEPTH_MAX`].
pub const NESTING_MAX: usize = 64;
/// Bytes of a command's body on the wire (input, payload), below the 1 MiB of a NATS message.
pub const COMMAND_BYTES_MAX: usize = 512 * 1024;
/// Bytes, as MessagePack, of the output that a child hands to its waiting parent: a command carries
/// it, together with the few hundred bytes of the child's result.
pub const CHILD_OUTPUT_BYTES_MAX: usize = COMMAND_BYTES_MAX - 4 * 1024;
/// Bytes, as JSON, of the input of a task: its message carries it, together with the names and ids of
/// the task. Where an input has more, its large values rest in payloads.
pub const TASK_INPUT_BYTES_MAX: usize = COMMAND_BYTES_MAX - 4 * 1024;
/// Bytes of an outcome on the wire, below the 1 MiB of a NATS message. A larger one is sent without
/// the output, and its receiver reads the instance.
pub const OUTCOME_BYTES_MAX: usize = 1000 * 1024;
/// Bytes, as JSON, of the response for an HTTP client that an instance keeps beside its state. A
/// larger one is answered with an error.
pub const RESPONSE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of the commands that one pull takes; more than the largest message of the stream.
pub const PULL_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of the commands that one executor works on. Memory holds each command several times
/// meanwhile: as received, as JSON, in the state, in the statement that commits it.
pub const IN_HAND_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Bytes of the bodies of all requests in progress in one ingress; further requests are refused
/// with 503.
pub const BODIES_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Connections that one HTTP port keeps open, unless configured otherwise.
pub const CONNECTIONS_MAX: usize = 10_000;
/// Connections of the port for health and metrics.
pub const ADMIN_CONNECTIONS_MAX: usize = 64;
/// Time in which the headers of a request arrive; an idle connection is closed after it, too.
pub const HEADERS_TIME_MAX: Duration = Duration::from_secs(10);
/// Bytes of the headers of one request.
pub const HEADERS_BYTES_MAX: usize = 64 * 1024;
/// Time between two parts of the body of a request.
pub const BODY_PAUSE_MAX: Duration = Duration::from_secs(10);
/// Time in which the body of a request arrives; a large one has a second more for each
/// [`BODY_BYTES_PER_SECOND_MIN`].
pub const BODY_TIME_MAX: Duration = Duration::from_secs(120);
/// The least rate of a large body.
pub const BODY_BYTES_PER_SECOND_MIN: u64 = 64 * 1024;
/// Time in which a client has to accept the next part of an answer.
pub const WRITE_TIME_MAX: Duration = Duration::from_secs(30);
/// Time of a TLS handshake, with the wait for its turn.
pub const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(10);
/// Bytes of a file with certificates or a key.
pub const TLS_FILE_BYTES_MAX: usize = 1024 * 1024;
/// Time after which an HTTP/2 connection takes no new requests: longer than a live stream lasts.
pub const HTTP2_TIME_MAX: Duration = Duration::from_secs(2 * 60 * 60);
/// Time in which the requests of an HTTP/2 connection end that takes no new ones.
pub const HTTP2_END_TIME_MAX: Duration = Duration::from_secs(60 * 60);
/// Time after which an HTTP/2 connection that takes no new requests is closed when nothing happens on
/// it, whether its client confirms the end or not.
pub const HTTP2_END_IDLE_TIME: Duration = Duration::from_secs(5);
/// Addresses, credentials or definitions whose requests one limit counts; further ones share one
/// count.
pub const LIMITED_KEYS_MAX: usize = 100_000;
/// Time in which a client that was answered may still send before its connection is closed.
pub const LINGER_TIME_MAX: Duration = Duration::from_secs(1);
/// Bytes of an instance's encoded state.
pub const STATE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Activity executions in one turn, before the instance yields with `Rest::OutOfBudget`.
pub const STEPS_PER_TURN_MAX: usize = 10_000;
/// Activity executions of an instance without a wait, unless configured otherwise. This limit stops
/// endless loops.
pub const STEPS_WITHOUT_WAIT_MAX: u64 = 1_000_000;
/// Activity executions in a turn on the event loop. A longer turn goes on in another thread.
pub const STEPS_INLINE_MAX: usize = 1_000;
/// Activity executions in one turn of a definition with scripts, each of which may take long.
pub const SCRIPT_STEPS_PER_TURN_MAX: usize = 500;
/// Journal entries of one turn that are written one by one. Later ones that repeat an entry of the
/// turn are folded into it, with their count.
pub const JOURNAL_ENTRIES_WHOLE_MAX: usize = 2_000;
/// The same for a turn that continues another.
pub const JOURNAL_ENTRIES_WHOLE_CONTINUED_MAX: usize = 100;
/// Bytes of the journal that one turn writes, before it yields.
pub const JOURNAL_BYTES_PER_TURN_MAX: usize = 3 * 1024 * 1024;
/// Depth of workflows that wait for each other, each for the next.
pub const CHILD_DEPTH_MAX: u32 = 64;
/// Instances in a row that each start the next without waiting for it, before the rate limit
/// [`CHAINED_STARTS_PER_SECOND`] applies.
pub const CHAIN_FREE_MAX: u32 = 16;
/// Starts per second that an executor applies for one definition in longer chains.
pub const CHAINED_STARTS_PER_SECOND: u32 = 10;
/// Bytes that one turn writes (journal, variables, outputs, effects), before it yields.
pub const BYTES_PER_TURN_MAX: usize = 4 * 1024 * 1024;
/// Activities of one instance scheduled at the same time.
pub const SCHEDULED_MAX: usize = 50_000;
/// Open bookmarks of one instance.
pub const BOOKMARKS_MAX: usize = 10_000;
/// Children that one BulkDispatchWorkflows starts.
pub const BULK_CHILDREN_MAX: usize = 10_000;
/// Effects that one turn asks for, before it yields.
pub const EFFECTS_PER_TURN_MAX: usize = 1_000;
/// Outputs of activities that an instance remembers for its scripts; the oldest go first.
pub const OUTPUTS_MAX: usize = 1_000;
/// Incidents kept in an instance; older ones are in the journal.
pub const INCIDENTS_MAX: usize = 100;
/// Ids of applied commands that an instance remembers, to recognise a redelivery.
pub const APPLIED_COMMANDS_MAX: usize = 64;
/// Bytes of one journal message (a written line, an error text); longer ones are cut.
pub const JOURNAL_MESSAGE_BYTES_MAX: usize = 16 * 1024;
/// Bytes of one input or output in the journal; longer ones are cut.
pub const JOURNAL_VALUE_BYTES_MAX: usize = 4 * 1024;
/// Bytes of all inputs and outputs of one execution in the journal of one turn; those after that are
/// cut to nothing.
pub const JOURNAL_VALUES_BYTES_MAX: usize = 32 * 1024;
/// Bytes of one variable in the journal; longer ones are cut.
pub const JOURNAL_VARIABLE_BYTES_MAX: usize = 16 * 1024;
/// Bytes of all variables that one turn has changed, in the journal; those after that are cut to
/// nothing.
pub const JOURNAL_VARIABLES_BYTES_MAX: usize = 64 * 1024;
/// Migrations of an instance that it remembers, to show its journal with the versions that it ran.
pub const MIGRATIONS_MAX: usize = 100;
/// Journal lines that are read to answer one question about the history of an instance.
pub const HISTORY_LINES_MAX: u64 = 50_000;
/// Activities with given results in one run of a test.
pub const PINS_MAX: usize = 1_000;
/// Bytes of an expression's source.
pub const EXPRESSION_BYTES_MAX: usize = 256 * 1024;
/// Memory of one JavaScript evaluation, in bytes.
pub const SCRIPT_MEMORY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Stack of one JavaScript evaluation, in bytes.
pub const SCRIPT_STACK_BYTES_MAX: usize = 256 * 1024;
/// Wall-clock time of one evaluation of a script, from the moment when it gets a core. An executor
/// runs at most as many turns with scripts at the same time as it has cores.
pub const SCRIPT_TIME_MAX: Duration = Duration::from_secs(1);
/// Bytes a Liquid template may render.
pub const TEMPLATE_OUTPUT_BYTES_MAX: usize = 1024 * 1024;
/// Bytes read from the answer to an outgoing HTTP call.
pub const CALL_RESPONSE_BYTES_MAX: usize = 1024 * 1024;
/// Rows of the result of an SQL query.
pub const SQL_ROWS_MAX: usize = 10_000;
/// Bytes of the result of an SQL query.
pub const SQL_RESULT_BYTES_MAX: usize = 1024 * 1024;
/// Receivers of one mail, copies included.
pub const MAIL_RECEIVERS_MAX: usize = 100;
/// Bytes of a file that is read or saved as a whole, and of one append.
pub const FILE_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Bytes of a file that grows by appending.
pub const FILE_APPENDED_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes of the files in an archive that a workflow makes, before they are compressed.
pub const ARCHIVE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The largest setting of the bytes of a body of JSON.
pub const JSON_BODY_BYTES_MOST: usize = 8 * 1024 * 1024;
/// Bytes above which a file, a body or a value rests in a payload and not in the state of its instance,
/// unless configured otherwise; the largest such setting, too.
pub const PAYLOAD_ABOVE_BYTES: usize = 256 * 1024;
/// The smallest such setting, in bytes.
pub const PAYLOAD_ABOVE_BYTES_MIN: usize = 4 * 1024;
/// Bytes of a payload, unless configured otherwise.
pub const PAYLOAD_BYTES_MAX: u64 = 100 * 1024 * 1024;
/// Bytes of a part of a payload: what is in memory of each payload that is read or written.
pub const PAYLOAD_CHUNK_BYTES: usize = 256 * 1024;
/// Bytes of all payloads that are loaded into one turn, for scripts and activities that need them in
/// memory.
pub const PAYLOADS_LOADED_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// How long a payload is kept to which no instance refers: longer than a command that refers to it
/// is on its way.
pub const PAYLOAD_KEPT: Duration = Duration::from_secs(8 * 24 * 60 * 60);
/// Files in an archive that a workflow makes.
pub const ARCHIVE_ENTRIES_MAX: usize = 1_000;
/// Records that a workflow reads from one CSV text.
pub const CSV_RECORDS_MAX: usize = 10_000;
/// Longest wait for an outgoing call.
pub const CALL_TIME_MAX: Duration = Duration::from_secs(100);
/// Attempts of one call that is made again after failures.
pub const CALL_ATTEMPTS_MAX: u32 = 1_000;
/// Bytes of the name of an activity type that workers register.
pub const ACTIVITY_TYPE_BYTES_MAX: usize = 128;
/// Inputs, outputs or outcomes of an activity type that workers register.
pub const ACTIVITY_PROPERTIES_MAX: usize = 100;
/// Bytes of the document of an activity type.
pub const ACTIVITY_TYPE_DOCUMENT_BYTES_MAX: usize = 64 * 1024;
/// Activity types that workers register, each version counted.
pub const ACTIVITY_TYPES_MAX: usize = 10_000;
/// Pause between two attempts of a call.
pub const CALL_PAUSE_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Time from the first attempt of a call to its next one in which the instance is held for an HTTP
/// client that waits; later attempts follow after a timer.
pub const CALL_HELD_TIME_MAX: Duration = Duration::from_secs(10);
/// Shards that timers and schedules are divided into.
pub const TIMER_SHARDS: i32 = 64;
/// Commands that wait for an executor, before ingress refuses more.
pub const BACKLOG_MAX: u64 = 50_000;
/// A command is delivered again when its executor has sent no progress for this time. The same as
/// in `nats/topology.toml`.
pub const ACK_WAIT: Duration = Duration::from_secs(3);
/// Unreadable rows that one node remembers, until a sweep moves them to the dead letters.
pub const UNREADABLE_ROWS_MAX: usize = 1_000;
/// Deliveries of one command before it is moved to the dead letters.
pub const DELIVERIES_MAX: i64 = 20;
/// How long a resume or a task completion that came too early is kept.
pub const RESUME_WAIT_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How long an event is kept while no instance waits for it, if the configuration says nothing else.
pub const EVENT_WAIT: Duration = Duration::from_secs(24 * 60 * 60);
/// How long the database remembers that an event was handed out: longer than a stream may deliver
/// the event again.
pub const ROUTED_KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a command waits for the earlier commands of the same sender.
pub const SEQUENCE_WAIT_MAX: Duration = Duration::from_secs(10 * 60);
/// Bookmarks and triggers that one event is handed to.
pub const EVENT_RECEIVERS_MAX: u64 = 100_000;
/// Items that a page of a list may leave out before it.
pub const PAGE_SKIP_MAX: u64 = 1_000_000_000;
/// Items of a list in a request.
pub const REQUEST_ITEMS_MAX: usize = 1_000;
/// Bytes of a name, a correlation id or a search term in a request.
pub const NAME_BYTES_MAX: usize = 1_024;
/// Labels of definitions.
pub const LABELS_MAX: usize = 1_000;
/// Labels of one version of a definition.
pub const VERSION_LABELS_MAX: usize = 100;
/// Characters of the name of a label.
pub const LABEL_NAME_CHARS_MAX: usize = 100;
/// Bytes of the description of a label.
pub const LABEL_DESCRIPTION_BYTES_MAX: usize = 2_000;
/// Searchable variables of one definition.
pub const SEARCHABLE_MAX: usize = 16;
/// Bytes of the name of a searchable variable.
pub const SEARCHABLE_NAME_BYTES_MAX: usize = 128;
/// Bytes of a text in the index of searchable values. A longer text is found by its first bytes, and
/// as a whole.
pub const SEARCHABLE_TEXT_BYTES_MAX: usize = 256;
/// Bytes of a beginning of texts that a filter looks for: less than the index has of a long text.
pub const SEARCHED_PREFIX_BYTES_MAX: usize = 250;
/// Comparisons with searchable values in one filter.
pub const VALUE_FILTERS_MAX: usize = 8;
/// How long an `Idempotency-Key` belongs to the request that used it first.
pub const IDEMPOTENCY_KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// Bytes of an answer that is kept for requests repeated under the same `Idempotency-Key`.
pub const KEPT_ANSWER_BYTES_MAX: usize = 64 * 1024;
/// Instances up to which a list says how many there are: counting reads each of them. A longer list
/// says this number.
pub const LIST_COUNT_MAX: u64 = 100_000;
/// Items on one page of a list.
pub const PAGE_ITEMS_MAX: u64 = 1_000;
/// Items that a list can have. A page that begins after them is empty.
pub const LIST_ITEMS_MAX: u64 = 1 << 53;
/// Bytes of the name of an API key.
pub const KEY_NAME_BYTES_MAX: usize = 200;
/// Permissions of one API key.
pub const KEY_PERMISSIONS_MAX: usize = 100;
/// Days until an API key expires, at most: a hundred years.
pub const KEY_DAYS_MAX: u64 = 36_500;

/// Alterations in one command.
pub const ALTERATIONS_MAX: usize = 100;

/// Time in which a drain waits for the work in progress, unless callers wait longer for answers.
pub const DRAIN_TIME_MAX: Duration = Duration::from_secs(30);
/// Streams of live updates and connections of hubs that one ingress keeps open, unless configured
/// otherwise.
pub const LIVE_STREAMS_MAX: usize = 500;
/// Those of one caller.
pub const LIVE_STREAMS_PER_CALLER_MAX: usize = 100;
/// Bytes of live updates that wait for one reader.
pub const LIVE_BYTES_BUFFERED_MAX: usize = 128 * 1024;
/// Live updates that wait for one reader.
pub const LIVE_EVENTS_BUFFERED_MAX: usize = 256;
/// Time in which a reader of live updates makes room for the next one, before it is cut off.
pub const LIVE_SLOW_TIME_MAX: Duration = Duration::from_secs(10);
/// Time after which a stream of live updates ends and its reader connects again, with credentials
/// that are still good.
pub const LIVE_TIME_MAX: Duration = Duration::from_secs(60 * 60);
/// Time between two signs of life on a stream of live updates.
pub const LIVE_HEARTBEAT: Duration = Duration::from_secs(15);
/// Bytes of one message of a client of a hub.
pub const HUB_MESSAGE_BYTES_MAX: usize = 32 * 1024;
/// Time in which a client of a hub has to send its handshake.
pub const HUB_HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(15);
/// Time in which a client of a hub has to send something: its clients send a ping every 15 s.
pub const HUB_IDLE_TIME_MAX: Duration = Duration::from_secs(30);
/// Types and versions of tasks in one request for tasks over HTTP.
pub const TASK_KINDS_PER_POLL_MAX: usize = 16;
/// Tasks that one request over HTTP takes.
pub const TASKS_PER_POLL_MAX: usize = 100;
/// The longest wait of a request for tasks over HTTP: less than the patience of common proxies.
pub const TASK_POLL_WAIT_MAX: Duration = Duration::from_secs(25);
