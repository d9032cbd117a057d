/** Workers and clients of Staunch, durable workflows on NATS. */

export { Client, Refused, RequestError } from "./client.js";
export type { Event, Instance, Outcome, SignalOptions, StartOptions } from "./client.js";
export { TaskFailure, Worker } from "./worker.js";
export type { FailureOptions, Log, Task, TaskOptions, WorkerOptions } from "./worker.js";
