//! The whole router over the memory twins, with real executors and a real cache-notifier.

mod accept;
mod access;
mod alterations;
mod bounds;
mod browser;
mod composite;
mod connections;
mod definitions;
mod description;
mod endpoint;
mod errors;
mod events;
mod executions;
mod files;
mod idempotency;
mod identity;
mod instances;
mod links;
mod placeholder;
mod resume;
mod runs;
mod studio;
mod upload;
mod world;
mod wrong;
