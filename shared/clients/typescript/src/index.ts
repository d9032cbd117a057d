/** Workers and clients of Staunch, durable workflows on NATS. */

export { Client, Refused, RequestError } from "./client.js";
export type { Event, Instance, Outcome, SignalOptions, StartOptions } from "./client.js";
export { TaskFailure } from "./failure.js";
export type { FailureOptions } from "./failure.js";
export { Worker } from "./worker.js";
export type { Log, Task, TaskOptions, WorkerOptions } from "./worker.js";
