//! The REST API, one file per resource. Each handler is listed here, once, with its documentation
//! beside it; the permission it needs is in [`crate::auth::permission`].

pub(crate) mod activity_filter;
mod activity_types;
mod alterations;
mod applications;
pub(crate) mod book;
mod bulk;
mod checking;
mod cluster;
mod counts;
mod cursor;
mod definitions;
mod demo;
mod descriptors;
mod events;
mod executions;
mod figures;
mod files;
mod front;
mod graph;
mod health;
mod hub;
mod identity;
mod incidents;
mod instance_filter;
mod instances;
mod journal;
mod keys;
mod labels;
mod last_hour;
mod leases;
mod letters;
mod link_page;
mod listeners;
mod live;
mod naming;
mod nodes;
mod open_tasks;
mod password;
mod payloads;
pub(crate) mod plans;
mod publishing;
mod reading;
mod removal;
mod resilience;
mod resume;
mod roles;
mod run;
mod runtime;
mod saving;
mod schedules;
mod scripting;
mod searching;
mod secrets;
mod short_form;
mod side_by_side;
mod start;
pub(crate) mod studio;
mod tasks;
mod test_cases;
mod test_runs;
mod tokens;
mod transfer;
mod transfers;
mod unfinished;
mod urls;
mod users;
mod validation;
mod why;

use std::sync::Arc;

use axum::routing::{get, post};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;

/// A router that documents itself.
pub(crate) type Routes = OpenApiRouter<Arc<App>>;

/// The routes under each mount of the API.
pub(crate) fn api() -> Routes {
    Routes::default()
        .routes(routes!(definitions::list))
        .routes(routes!(definitions::count))
        .routes(routes!(definitions::is_name_unique))
        .routes(routes!(definitions::many_by_id))
        .routes(routes!(definitions::by_id))
        .routes(routes!(definitions::by_definition_id))
        .routes(routes!(definitions::get, publishing::delete))
        .routes(routes!(definitions::versions))
        .routes(routes!(figures::of_definition))
        .routes(routes!(graph::subgraph))
        .routes(routes!(graph::segments))
        .routes(routes!(files::export_one, files::export_with_users))
        .routes(routes!(files::export, files::export_get))
        .routes(routes!(publishing::delete_number))
        .routes(routes!(publishing::delete_version))
        .routes(routes!(publishing::publish))
        .routes(routes!(scripting::type_definitions))
        .routes(routes!(publishing::retract))
        .routes(routes!(publishing::revert))
        .routes(routes!(publishing::consumers))
        .routes(routes!(publishing::update_references))
        .routes(routes!(run::execute, run::execute_get))
        .routes(routes!(run::dispatch))
        .routes(routes!(run::bulk_dispatch))
        .routes(routes!(bulk::publish))
        .routes(routes!(bulk::retract))
        .routes(routes!(bulk::delete_definitions))
        .routes(routes!(bulk::refresh))
        .routes(routes!(bulk::reload))
        .routes(routes!(saving::import_together))
        .routes(routes!(instances::list, start::start_or_list))
        .routes(routes!(start::start_only))
        .routes(routes!(start::query))
        .routes(routes!(instances::counts, instances::counts_by_post))
        .routes(routes!(last_hour::last_hour))
        .routes(routes!(unfinished::by_definition))
        .routes(routes!(instances::get, instances::delete))
        .routes(routes!(instances::execution_state))
        .routes(routes!(why::why))
        .routes(routes!(journal::newest))
        .routes(routes!(journal::state))
        .routes(routes!(executions::list))
        .routes(routes!(executions::summaries))
        .routes(routes!(executions::count))
        .routes(routes!(executions::by_id))
        .routes(routes!(executions::get))
        .routes(routes!(executions::call_stack))
        .routes(routes!(instances::variables, alterations::set_variables))
        .routes(routes!(alterations::alter))
        .routes(routes!(alterations::run))
        .routes(routes!(alterations::retry, alterations::retry_get))
        .routes(routes!(plans::dry_run))
        .routes(routes!(plans::submit))
        .routes(routes!(plans::get))
        .routes(routes!(plans::stop))
        .routes(routes!(transfer::restart))
        .routes(routes!(transfer::export, transfers::export_one))
        .routes(routes!(transfers::export, transfers::export_get))
        .routes(routes!(transfers::delete_versions))
        .routes(routes!(instances::bookmarks))
        .routes(routes!(urls::make))
        .routes(routes!(resume::resume))
        .routes(routes!(resume::cancel))
        .routes(routes!(bulk::cancel))
        .routes(routes!(bulk::delete_instances))
        .routes(routes!(bulk::delete_instances_by_id))
        .routes(routes!(bulk::delete_instances_by_filter))
        .merge(token_links())
        .routes(routes!(events::trigger))
        .routes(routes!(incidents::groups))
        .routes(routes!(schedules::list))
        .routes(routes!(schedules::get))
        .routes(routes!(schedules::pause))
        .routes(routes!(schedules::resume))
        .routes(routes!(schedules::trigger))
        .routes(routes!(letters::list, letters::list_by_post))
        .routes(routes!(letters::get, letters::delete))
        .routes(routes!(letters::body))
        .routes(routes!(letters::replay))
        .routes(routes!(runtime::status))
        .routes(routes!(runtime::pause))
        .routes(routes!(runtime::resume))
        .routes(routes!(runtime::drain))
        .routes(routes!(live::events))
        .routes(routes!(live::of_instance))
        .route(hub::PATH, get(hub::connect))
        .route(hub::NEGOTIATE, post(hub::negotiate))
        .routes(routes!(open_tasks::list))
        .routes(routes!(leases::poll))
        .routes(routes!(leases::heartbeat))
        .routes(routes!(tasks::complete))
        .routes(routes!(tasks::fail))
        .routes(routes!(activity_types::list, activity_types::register))
        .routes(routes!(activity_types::delete))
        .routes(routes!(short_form::schema))
        .routes(routes!(activity_types::pools))
        .routes(routes!(activity_types::at_work))
        .routes(routes!(descriptors::activities))
        .routes(routes!(descriptors::activity))
        .routes(routes!(descriptors::options))
        .routes(routes!(descriptors::log_persistence_strategies))
        .routes(routes!(descriptors::workflow_commit_strategies))
        .routes(routes!(descriptors::activity_commit_strategies))
        .routes(routes!(descriptors::variables))
        .routes(routes!(descriptors::storage_drivers))
        .routes(routes!(descriptors::output_converters))
        .routes(routes!(descriptors::incident_strategies))
        .routes(routes!(descriptors::activation_strategies))
        .routes(routes!(descriptors::expressions))
        .routes(routes!(descriptors::features))
        .routes(routes!(descriptors::installed))
        .routes(routes!(descriptors::version))
        .merge(tools())
        .merge(people())
        .merge(secrets())
        .merge(labels())
        .routes(routes!(keys::list, keys::make))
        .routes(routes!(keys::delete))
        .routes(routes!(keys::audit))
        .routes(routes!(nodes::list))
        .routes(routes!(payloads::keep))
        .routes(routes!(payloads::read))
        .routes(routes!(cluster::leases))
        .routes(routes!(counts::counts))
        .routes(routes!(listeners::list))
        .routes(routes!(cluster::streams))
        .routes(routes!(cluster::database))
        .routes(routes!(cluster::statements))
        .routes(routes!(validation::validate))
        .routes(routes!(demo::show))
        .routes(routes!(demo::kill))
}

/// The routes under each mount of the API that a designer has tabs for.
fn tools() -> Routes {
    Routes::default()
        .routes(routes!(test_runs::activity))
        .routes(routes!(resilience::strategies))
        .routes(routes!(resilience::retries))
}

/// The routes under each mount of the API about users and their logins.
fn people() -> Routes {
    Routes::default()
        .routes(routes!(identity::login))
        .routes(routes!(identity::refresh))
        .routes(routes!(identity::logout))
        .routes(routes!(identity::me))
        .routes(routes!(password::change))
        .routes(routes!(users::list, users::create))
        .routes(routes!(users::update, users::delete))
        .routes(routes!(roles::list, roles::create))
        .routes(routes!(roles::update, roles::delete))
        .routes(routes!(applications::list, applications::create))
        .routes(routes!(applications::delete))
}

/// The routes under each mount of the API about secrets.
fn secrets() -> Routes {
    Routes::default()
        .routes(routes!(secrets::list, secrets::create))
        .routes(routes!(secrets::picker))
        .routes(routes!(secrets::descriptors))
        .routes(routes!(secrets::get, secrets::update, secrets::update_by_post, secrets::delete))
        .routes(routes!(secrets::rotate))
        .routes(routes!(secrets::revoke))
        .routes(routes!(secrets::test))
}

/// The routes under each mount of the API about labels of definitions.
fn labels() -> Routes {
    Routes::default()
        .routes(routes!(labels::list, labels::create))
        .routes(routes!(labels::get, labels::update, labels::delete))
        .routes(routes!(labels::of_version, labels::set_of_version))
}

/// The routes under each mount of the API that take whole definitions, or the ids of all activities of one.
pub(crate) fn documents() -> Routes {
    Routes::default()
        .routes(routes!(journal::journal, journal::journal_filtered))
        .routes(routes!(executions::report))
        .routes(routes!(transfers::import))
        .routes(routes!(checking::check))
        .routes(routes!(short_form::shorten))
        .routes(routes!(short_form::expand))
        .routes(routes!(test_runs::workflow))
        .routes(routes!(test_cases::cases))
        .routes(routes!(test_cases::check))
        .routes(routes!(test_cases::make))
        .routes(routes!(saving::post))
        .routes(routes!(saving::put))
        .routes(routes!(saving::import, saving::import_put))
        .routes(routes!(files::import))
        .routes(routes!(saving::import_as, saving::import_as_put))
}

/// Links with a token; under each mount of the API and at the root.
pub(crate) fn token_links() -> Routes {
    Routes::default()
        .routes(routes!(tokens::resume, tokens::resume_with_body))
        .routes(routes!(tokens::trigger))
}

/// The routes at the root.
pub(crate) fn root() -> Routes {
    Routes::default()
        .merge(token_links())
        .routes(routes!(front::page))
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
        .routes(routes!(health::metrics))
        .routes(routes!(health::openapi))
        .routes(routes!(health::asyncapi))
        .routes(routes!(hub::connect))
        .routes(routes!(hub::negotiate))
        .route(hub::PATH, get(hub::connect))
        .route(hub::NEGOTIATE, post(hub::negotiate))
}
