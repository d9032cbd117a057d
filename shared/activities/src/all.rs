//! The registry of the built-in activities.

use engine::{Activity, Registry};

use crate::*;

/// Every built-in activity.
#[must_use]
pub fn all() -> Registry {
    let activities: Vec<Box<dyn Activity>> = vec![
        Box::new(break_loop::BreakLoop),
        Box::new(bulk_dispatch_workflows::BulkDispatchWorkflows),
        Box::new(complete::Complete),
        Box::new(correlate::Correlate),
        Box::new(create_zip_archive::CreateZipArchive),
        Box::new(cron::Cron),
        Box::new(delay::Delay),
        Box::new(dispatch_workflow::DispatchWorkflow),
        Box::new(download_http_file::DownloadHttpFile),
        Box::new(end::End),
        Box::new(event::Event),
        Box::new(execute_workflow::ExecuteWorkflow),
        Box::new(fault::Fault),
        Box::new(finish::Finish),
        Box::new(flow_decision::FlowDecision),
        Box::new(flow_fork::FlowFork),
        Box::new(flow_join::FlowJoin),
        Box::new(flow_node::FlowNode),
        Box::new(flow_send_http_request::FlowSendHttpRequest),
        Box::new(flow_switch::FlowSwitch),
        Box::new(flowchart::Flowchart),
        Box::new(for_each::ForEach),
        Box::new(for_loop::ForLoop),
        Box::new(fork::Fork),
        Box::new(http_endpoint::HttpEndpoint),
        Box::new(if_else::IfElse),
        Box::new(log::Log),
        Box::new(open_file::OpenFile),
        Box::new(parallel::Parallel),
        Box::new(parallel_for_each::ParallelForEach),
        Box::new(publish_event::PublishEvent),
        Box::new(read_csv::ReadCsv),
        Box::new(read_line::ReadLine),
        Box::new(run_javascript::RunJavaScript),
        Box::new(run_task::RunTask),
        Box::new(save_file::SaveFile),
        Box::new(send_email::SendEmail),
        Box::new(send_http_request::SendHttpRequest),
        Box::new(sequence::Sequence),
        Box::new(set_name::SetName),
        Box::new(set_output::SetOutput),
        Box::new(set_variable::SetVariable),
        Box::new(sql_command::SqlCommand),
        Box::new(sql_query::SqlQuery),
        Box::new(sql_single_value::SqlSingleValue),
        Box::new(start::Start),
        Box::new(start_at::StartAt),
        Box::new(state_machine::StateMachine),
        Box::new(switch::Switch),
        Box::new(timer::Timer),
        Box::new(while_loop::WhileLoop),
        Box::new(write_file_http_response::WriteFileHttpResponse),
        Box::new(write_http_response::WriteHttpResponse),
        Box::new(write_line::WriteLine),
    ];
    Registry::new(activities)
}
