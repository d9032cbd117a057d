//! The built-in activities. An activity decides, and has no effect of its own: it asks its
//! `engine::Step` for everything it wants done.
//!
//! To add one:
//! 1. write a file with a struct that implements `engine::Activity`: `descriptor` first, then the
//!    decisions; keep between decisions only what `Step::memory` and the tags of children hold;
//! 2. put a table of tests at its bottom, with the helpers of `tests`;
//! 3. add it to the list in `all.rs`.

mod all;
mod archive;
mod break_loop;
mod bulk_dispatch_workflows;
mod called;
mod complete;
mod correlate;
mod create_zip_archive;
mod cron;
mod delay;
mod dispatch_workflow;
mod download_http_file;
mod end;
mod event;
mod execute_workflow;
mod fault;
mod finish;
mod flow_decision;
mod flow_fork;
mod flow_join;
mod flow_node;
mod flow_send_http_request;
mod flow_switch;
mod flowchart;
mod for_each;
mod for_loop;
mod fork;
mod http_endpoint;
mod if_else;
mod key_changed;
mod key_value_delete;
mod key_value_get;
mod key_value_put;
mod listening;
mod log;
mod message_received;
mod misfire;
mod nats;
mod object_get;
mod object_put;
mod object_stored;
mod open_file;
mod parallel;
mod parallel_for_each;
mod publish_event;
mod publish_message;
mod read_csv;
mod read_line;
mod request;
mod run_javascript;
mod run_task;
mod save_file;
mod send_email;
mod send_http_request;
mod sequence;
mod set_name;
mod set_output;
mod set_variable;
mod shown;
mod sql;
mod sql_command;
mod sql_query;
mod sql_single_value;
mod start;
mod start_at;
mod state_machine;
mod switch;
mod timer;
mod while_loop;
mod worker_activity;
mod write_file_http_response;
mod write_http_response;
mod write_line;

#[cfg(test)]
mod tests;

pub use all::all;
