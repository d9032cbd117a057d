//! Every bound of the system, named, units last. A queue, loop, body, retry or wait without a
//! limit here is a bug.

use std::time::Duration;

/// Characters of an id that comes from outside.
pub const ID_CHARS_MAX: usize = 128;
/// Bytes of a workflow definition document.
pub const DEFINITION_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Activities in one definition.
pub const ACTIVITIES_MAX: usize = 10_000;
/// Containers inside containers in one definition.
pub const NESTING_MAX: usize = 64;
/// Bytes of a command's body on the wire (input, payload), below the 1 MiB of a NATS message.
pub const COMMAND_BYTES_MAX: usize = 512 * 1024;
/// Bytes of the commands that one pull takes; more than the largest message of the stream has.
pub const PULL_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of the commands that one executor has in hand. Each is there several times while it is
/// worked on: as it came, as JSON, in the state, in the statement that commits it.
pub const IN_HAND_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Bytes of the bodies of all requests at work in one ingress; more are refused with 503.
pub const BODIES_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes of an instance's encoded state.
pub const STATE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Activity executions in one turn, before the instance yields with `Rest::OutOfBudget`.
pub const STEPS_PER_TURN_MAX: usize = 10_000;
/// Activity executions in the life of an instance: what stops an endless loop.
pub const STEPS_PER_INSTANCE_MAX: u64 = 10_000_000;
/// Bytes that one turn writes (journal, variables, outputs, effects), before it yields.
pub const BYTES_PER_TURN_MAX: usize = 4 * 1024 * 1024;
/// Activities of one instance scheduled at the same time.
pub const SCHEDULED_MAX: usize = 50_000;
/// Open bookmarks of one instance.
pub const BOOKMARKS_MAX: usize = 10_000;
/// Outputs of activities that an instance remembers for its scripts; the oldest go first.
pub const OUTPUTS_MAX: usize = 1_000;
/// Incidents kept in an instance; older ones are in the journal.
pub const INCIDENTS_MAX: usize = 100;
/// Ids of applied commands that an instance remembers, to know a redelivery by.
pub const APPLIED_COMMANDS_MAX: usize = 64;
/// Bytes of one journal message (a written line, an error text); longer ones are cut.
pub const JOURNAL_MESSAGE_BYTES_MAX: usize = 16 * 1024;
/// Bytes of an expression's source.
pub const EXPRESSION_BYTES_MAX: usize = 256 * 1024;
/// Memory of one JavaScript evaluation, in bytes.
pub const SCRIPT_MEMORY_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Stack of one JavaScript evaluation, in bytes.
pub const SCRIPT_STACK_BYTES_MAX: usize = 256 * 1024;
/// Wall-clock time of one evaluation of a script, counted once it has a core: an executor runs as
/// many turns with scripts at the same time as it has cores.
pub const SCRIPT_TIME_MAX: Duration = Duration::from_secs(1);
/// Bytes a Liquid template may render.
pub const TEMPLATE_OUTPUT_BYTES_MAX: usize = 1024 * 1024;
/// Bytes read from the answer to an outgoing HTTP call.
pub const CALL_RESPONSE_BYTES_MAX: usize = 1024 * 1024;
/// Longest wait for an outgoing HTTP call.
pub const CALL_TIME_MAX: Duration = Duration::from_secs(100);
/// Tries of an outgoing HTTP call that is answered with a passing error.
pub const CALL_TRIES_MAX: u32 = 5;
/// Shards that timers and schedules are divided into.
pub const TIMER_SHARDS: i32 = 64;
/// Commands that wait for an executor, before the HTTP gateway refuses more.
pub const BACKLOG_MAX: u64 = 50_000;
/// Deliveries of one command before it is parked among the dead.
pub const DELIVERIES_MAX: i64 = 20;
/// How long a resume or a task completion that came too early is kept.
pub const RESUME_WAIT_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How long an event that nobody waits for is kept.
pub const EVENT_WAIT_MAX: Duration = Duration::from_secs(10 * 60);
/// How long it is remembered that an event was handed out: longer than any stream delivers it again.
pub const ROUTED_KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a command waits for those of the same sender that come before it.
pub const SEQUENCE_WAIT_MAX: Duration = Duration::from_secs(10 * 60);
/// Bookmarks and triggers that one event is handed to.
pub const EVENT_RECEIVERS_MAX: u64 = 100_000;
/// Items on one page of a list.
pub const PAGE_ITEMS_MAX: u64 = 1_000;
