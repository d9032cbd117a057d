//! Executors over the memory twins: whole commands, many nodes, crashes at every step.

mod apply;
mod call;
mod crash;
mod event;
mod fault;
mod order;
mod request;
mod script;
mod world;
