// The handlers of the conformance kit, in TypeScript; with the argument `client`, the client's calls;
// with `watch` and an instance, its events.
// @ts-check

import { appendFileSync, readFileSync } from "node:fs";
import { connect } from "@nats-io/transport-node";
import { Client, Refused, RequestError, TaskFailure, Worker } from "staunch-client";

const { NATS_URL, WORKER_PREFIX: prefix, WORKER_JOURNAL: journal = "", WORKER_DRAIN } = process.env;
const { pid } = process;

/** @param {string} what @param {import("staunch-client").Task<any>} task */
function note(what, task) {
  appendFileSync(journal, `${what} ${task.id} ${task.attempt} ${pid}\n`);
}

/** @param {import("staunch-client").Task<{ms: number}>} task */
async function slow(task) {
  note("begin", task);
  await new Promise((resolve) => {
    const timer = setTimeout(resolve, task.input.ms);
    task.signal.addEventListener("abort", () => resolve(clearTimeout(timer)));
  });
  note(task.signal.aborted ? "cancelled" : "end", task);
  task.signal.throwIfAborted();
  return { pid };
}

async function work() {
  const user = process.env.WORKER_USER;
  const login = user ? { user, pass: "secret", inboxPrefix: `_INBOX.${user}` } : {};
  const nc = await connect({ servers: NATS_URL, maxReconnectAttempts: -1, ...login });
  const worker = new Worker(nc, { drainMs: Number(WORKER_DRAIN ?? 30) * 1000 });
  worker.task(`${prefix} echo.ü`, (task) => {
    note("begin", task);
    task.progress({ step: "echo" });
    const deadline = task.deadline ? task.deadline.getTime() / 1000 : null;
    const { input, attempt, key, traceparent: trace = null } = task;
    return { input, attempt, key, trace, deadline, workflow: task.workflowName, correlation: task.correlationId };
  });
  worker.task(`${prefix} slow`, slow, { concurrency: 3 });
  worker.task(`${prefix} blocking`, slow);
  worker.task(`${prefix} second`, (task) => task.version, { version: 2 });
  worker.task(`${prefix} fail-once`, (task) => {
    note("begin", task);
    // Half a surrogate pair has no form in JSON, and is a failure all the same.
    if (task.attempt === 1) throw new Error("the parcel service is away: \ud800");
    return { attempt: task.attempt };
  });
  worker.task(`${prefix} fail-for-good`, (task) => {
    note("begin", task);
    throw new TaskFailure("declined", { type: "CardDeclined", detail: "no money", status: 402 });
  });
  worker.task(`${prefix} fail-later`, (task) => {
    note("begin", task);
    if (task.attempt === 1) throw new TaskFailure("busy", { retryable: true, retryAfter: 2 });
    return { attempt: task.attempt };
  });
  const decode = (/** @type {any} */ input) => {
    if (typeof input?.number !== "number") throw new Error("number is no number");
    return /** @type {number} */ (input.number);
  };
  worker.task(`${prefix} typed`, (task) => task.input + 1, { decode });
  worker.task(`${prefix} big`, (/** @type {import("staunch-client").Task<{bytes: number}>} */ task) => {
    note("begin", task);
    return "x".repeat(task.input.bytes);
  });
  worker.task(`${prefix} deep`, (/** @type {import("staunch-client").Task<{levels: number}>} */ task) => {
    note("begin", task);
    /** @type {unknown[]} */
    let value = [];
    for (let level = 0; level < task.input.levels; level += 1) value = [value];
    return value;
  });
  worker.task(`${prefix} length`, (task) => task.input.length, {
    decode: (/** @type {any} */ input) => {
      if (typeof input?.text !== "string") throw new Error("text is no text");
      return /** @type {string} */ (input.text);
    },
  });
  /** @type {import("staunch-client").Task<unknown>[]} */
  const kept = [];
  worker.task(`${prefix} progress`, (/** @type {import("staunch-client").Task<{steps: unknown[]}>} */ task) => {
    for (const ended of kept) ended.progress("too late");
    kept.push(task);
    for (const step of task.input.steps) task.progress(step);
    try {
      task.progress("x".repeat(70_000));
    } catch (refused) {
      if (refused instanceof TaskFailure) return refused.title;
    }
    return "not refused";
  });
  worker.task(`${prefix} counting`, async (/** @type {import("staunch-client").Task<{count: number}>} */ task) => {
    for (let number = 0; number < task.input.count; number += 1) {
      task.progress({ number });
      note("said", task);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return task.input.count;
  });
  worker.task(`${prefix} crash-before-result`, (task) => {
    note("begin", task);
    const begun = readFileSync(journal, "utf8").split("\n").filter((line) => line.includes(`begin ${task.id}`));
    if (begun.length === 1) process.kill(pid, "SIGKILL");
    return { survived: true };
  });
  await worker.run();
  await nc.close();
}

async function call() {
  const nc = await connect({ servers: NATS_URL });
  const client = new Client(nc);
  const definition = `${prefix}-waits`;
  /** @type {Record<string, unknown>} */
  const said = {};
  const instance = `${prefix}-instance`;
  const options = { settled: true, correlationId: "c1", instanceId: instance };
  said.status = (await client.start(definition, {}, options)).subStatus;
  await client.start(definition, {}, options).catch((error) => {
    if (error instanceof Refused) said.again = error.outcome.refusal;
  });
  said.query = (await client.query(instance)).subStatus;
  const events = follow(client, instance);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await client.signal("go.on", { by: "Ada" }, { instanceId: instance });
  said.watched = await events;
  said.late = await follow(client, instance);
  said.output = (await client.query(instance)).output;
  const held = await client.start(definition, {}, { settled: true });
  const [bookmark] = held.bookmarks;
  const resumed = await client.resume(held.workflowInstanceId ?? "", bookmark, { Payload: 1 });
  said.resumed = resumed.subStatus;
  await client.resume(held.workflowInstanceId ?? "", bookmark).catch((error) => {
    if (error instanceof Refused) said.refused = error.outcome.refusal;
  });
  const third = await client.start(definition, {}, { settled: true });
  said.cancelled = (await client.cancel(third.workflowInstanceId ?? "", "no need")).subStatus;
  await client.start("there is none").catch((error) => {
    if (error instanceof RequestError) said.absent = error.status;
  });
  console.log(JSON.stringify(said));
  await nc.close();
}

/** @param {Client} client @param {string} instance */
async function follow(client, instance) {
  const events = [];
  for await (const event of client.watch(instance)) events.push(event.event);
  return events;
}

/** @param {string} instance */
async function watch(instance) {
  const nc = await connect({ servers: NATS_URL });
  console.log(JSON.stringify(await follow(new Client(nc), instance)));
  await nc.close();
}

const [mode, instance] = process.argv.slice(2);
if (mode === "client") await call();
else if (mode === "watch") await watch(instance);
else await work();
