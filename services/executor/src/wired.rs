//! Executors over the memory twins: whole commands, many nodes, crashes at every step.

mod alter;
mod apply;
mod attach;
mod bound;
mod call;
mod crash;
mod event;
mod fault;
mod large;
mod listen;
mod order;
mod panic;
mod request;
mod result;
mod room;
mod runaway;
mod searchable;
mod secret;
mod share;
mod task;
mod unfit;
mod world;
