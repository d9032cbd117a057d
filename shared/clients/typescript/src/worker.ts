/** A worker: takes tasks, works, publishes results, and acknowledges what is stored. */

import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import type { Consumer, ConsumerInfo, JetStreamClient, JsMsg } from "@nats-io/jetstream";
import { headers, nuid, type NatsConnection } from "@nats-io/transport-node";
import { hostname } from "node:os";
import { Client, RequestError } from "./client.js";
import { type FailureOptions, TaskFailure } from "./failure.js";
import { progressBody, progressHeaders } from "./progress.js";
import { OBJECTS_HINT, PAYLOADS_STORE, RESULT_BYTES_MAX, put, type Report } from "./report.js";
import { PAYLOAD_BYTES_MAX, STREAM, VERSION, bodyBytesMax, standIns, token } from "./wire.js";

/** How long one pull waits for a task. A worker that stops waits for the end of its last one. */
const PULL_MS = 2_000;
/** How often the limits of the consumer are read again: an operator may change them. */
const LIMITS_MS = 30_000;
const ACK_WAIT_MIN_MS = 500;
const RETRY_MS_MAX = 5_000;
/** How long a try to write an object is followed by another one. */
const TRYING_MS = 120_000;
const ANSWER_MS = 5_000;
const DETAIL_CHARS_MAX = 4_000;
/** The name of every worker among the services of NATS. */
const NAME = "staunch-worker";
/** A timer of Node has no longer time. */
const TIMER_MS_MAX = 2 ** 31 - 1;

export type Log = (level: "info" | "warn" | "error", text: string) => void;

/** A task, as its handler gets it. */
export interface Task<Input> {
  id: string;
  type: string;
  version: number;
  input: Input;
  attempt: number;
  /** After this time the result is not used. */
  deadline?: Date;
  /** The same for every delivery of this attempt: the idempotency key of what the handler calls. */
  key: string;
  instanceId: string;
  definitionId: string;
  activityId: string;
  /** The name of the definition, if it has one. */
  workflowName?: string;
  /** The correlation id of the instance, if it has one. */
  correlationId?: string;
  traceparent?: string;
  /** Aborts when nobody wants the result any more; its reason says why. */
  signal: AbortSignal;
  /**
   * Says how far the work is, as JSON of at most 64 KiB, to those who listen at this moment. What the broker
   * has not confirmed when the connection ends is lost, and logged; a value that is no JSON or is larger is
   * refused with a `TaskFailure`.
   */
  progress(value: unknown): void;
}

/** A task as it comes from its message. */
type Read = Omit<Task<unknown>, "progress">;

export interface TaskOptions<Input> {
  version?: number;
  concurrency?: number;
  /** Makes the input from JSON; what it throws is a failure that is not tried again. */
  decode?: (input: unknown) => Input;
}

export interface WorkerOptions {
  /** The time that tasks in hand have when the worker stops. */
  drainMs?: number;
  /** That of the consumer; it counts only for a user who may not ask for it. */
  ackWaitMs?: number;
  log?: Log;
}

type Why = "cancelled" | "deadline" | "stopping";

interface Handler {
  type: string;
  version: number;
  name: string;
  concurrency: number;
  work: (task: Task<any>) => unknown;
  decode?: (input: unknown) => unknown;
  ackWait: number;
  /** The tasks in hand, by id, each with what ends it before its handler does. */
  ends: Map<string, (why: Why) => void>;
  jobs: Set<Promise<void>>;
}

/** Handlers of tasks, over a connection to NATS. */
export class Worker {
  readonly #nc: NatsConnection;
  readonly #js: JetStreamClient;
  readonly #drain: number;
  readonly #ackWait: number;
  readonly #log: Log;
  readonly #handlers: Handler[] = [];
  readonly #stop = new AbortController();
  readonly #stopped: Promise<void>;

  constructor(nc: NatsConnection, options: WorkerOptions = {}) {
    this.#nc = nc;
    this.#js = jetstream(nc);
    this.#drain = options.drainMs ?? 30_000;
    this.#ackWait = options.ackWaitMs ?? 30_000;
    this.#log = options.log ?? ((level, text) => console[level](`staunch: ${text}`));
    this.#stopped = new Promise((resolve) => {
      this.#stop.signal.addEventListener("abort", () => resolve());
    });
  }

  /** Offers a handler for a type of tasks. */
  task<Input = unknown, Output = unknown>(
    type: string,
    work: (task: Task<Input>) => Output | Promise<Output>,
    options: TaskOptions<Input> = {},
  ): this {
    const { version = 1, concurrency = 8, decode } = options;
    const name = `${token(type)}.${version}`;
    const rest = { ackWait: 30_000, ends: new Map(), jobs: new Set<Promise<void>>() };
    this.#handlers.push({ type, version, name, concurrency, work, decode, ...rest });
    return this;
  }

  /** Takes no more tasks; `run` resolves when those in hand are done, or their time is over. */
  stop(): void {
    this.#stop.abort();
  }

  /** Works until `stop`, or SIGTERM or SIGINT. */
  async run(options: { signals?: boolean } = {}): Promise<void> {
    const names = options.signals === false ? [] : (["SIGTERM", "SIGINT"] as const);
    const stop = () => this.stop();
    for (const name of names) process.on(name, stop);
    const leave = this.#announce();
    try {
      await Promise.all(this.#handlers.map((handler) => this.#serve(handler)));
      await this.#nc.flush();
    } finally {
      leave();
      for (const name of names) process.off(name, stop);
    }
  }

  /** Says who works at what to those who ask: the worker is a service of NATS (ADR-32) without endpoints. */
  #announce(): () => void {
    const id = nuid.next();
    const tasks = this.#handlers.map(({ type, version, concurrency }) => ({ type, version, concurrency }));
    const metadata = { "staunch-tasks": JSON.stringify(tasks), host: hostname() };
    const about = { name: NAME, id, version: VERSION, metadata };
    const started = new Date().toISOString();
    const answers: Record<string, object> = {
      PING: about,
      INFO: { ...about, description: "", endpoints: [] },
      STATS: { ...about, started, endpoints: [] },
    };
    const subscriptions = Object.entries(answers).flatMap(([verb, answer]) => {
      const type = `io.nats.micro.v1.${verb.toLowerCase()}_response`;
      const body = JSON.stringify({ type, ...answer });
      return ["", `.${NAME}`, `.${NAME}.${id}`].map((whom) =>
        this.#nc.subscribe(`$SRV.${verb}${whom}`, {
          callback: (error, question) => {
            if (error) this.#log("warn", `nobody is told who works here: ${error.message}`);
            else question.respond(body);
          },
        }),
      );
    });
    return () => {
      for (const subscription of subscriptions) subscription.unsubscribe();
    };
  }

  async #serve(handler: Handler): Promise<void> {
    const notices = this.#nc.subscribe(`staunch.task-cancel.${handler.name}.*`, {
      callback: (error, notice) => {
        if (error) return this.#log("warn", `${handler.name}: hears of no cancellations: ${error.message}`);
        handler.ends.get(notice.subject.slice(notice.subject.lastIndexOf(".") + 1))?.("cancelled");
      },
    });
    const pulling = this.#pull(handler);
    await this.#stopped;
    const limit = sleep(this.#drain);
    await pulling;
    await Promise.race([Promise.all(handler.jobs), limit.over]);
    limit.clear();
    for (const end of handler.ends.values()) end("stopping");
    notices.unsubscribe();
  }

  async #pull(handler: Handler): Promise<void> {
    const durable = `task-${token(handler.type)}-${handler.version}`;
    const stop = this.#stop.signal;
    let source: Consumer | undefined;
    let read = 0;
    let complaint = "";
    while (!stop.aborted) {
      if (handler.jobs.size >= handler.concurrency) {
        await Promise.race([this.#stopped, ...handler.jobs]);
        continue;
      }
      let message: JsMsg | null;
      try {
        if (!source || Date.now() - read > LIMITS_MS) {
          const info = await this.#info(durable);
          if (!source) this.#log("info", `${handler.name}: takes tasks from ${durable}`);
          source = this.#js.consumers.getConsumerFromInfo(info);
          handler.ackWait = Math.max((info.config.ack_wait ?? 0) / 1e6, ACK_WAIT_MIN_MS);
          read = Date.now();
        }
        message = await source.next({ expires: PULL_MS });
        complaint = "";
      } catch (error) {
        if (text(error) !== complaint && !stop.aborted) {
          complaint = text(error);
          this.#log("warn", `${durable}: no tasks for now, tries again: ${complaint}`);
        }
        read = 0;
        const pause = sleep(1_000);
        await Promise.race([pause.over, this.#stopped]);
        pause.clear();
        continue;
      }
      if (!message) continue;
      if (stop.aborted) {
        message.nak();
        continue;
      }
      const job: Promise<void> = this.#handle(handler, message)
        .catch((error) => this.#log("error", `${handler.name}: left to the next delivery: ${text(error)}`))
        .finally(() => handler.jobs.delete(job));
      handler.jobs.add(job);
    }
  }

  async #info(durable: string): Promise<ConsumerInfo> {
    try {
      const manager = await jetstreamManager(this.#nc, { checkAPI: false });
      return await manager.consumers.info(STREAM, durable);
    } catch (error) {
      // An account that may use a consumer of another one cannot ask for it.
      if (!(error instanceof Error) || error.name !== "JetStreamNotEnabled") throw error;
      const config = { ack_wait: this.#ackWait * 1e6 };
      return { stream_name: STREAM, name: durable, config } as ConsumerInfo;
    }
  }

  async #handle(handler: Handler, message: JsMsg): Promise<void> {
    const abort = new AbortController();
    let task: Task<unknown>;
    let isOver = false;
    try {
      const read = readTask(handler, message, abort.signal);
      task = {
        ...read,
        progress: (value) => {
          if (!isOver) this.#progress(handler, read, value);
        },
      };
    } catch (error) {
      return this.#poison(handler, message, text(error));
    }
    const id = token(task.id);
    let end: (why: Why) => void = () => {};
    const ended = new Promise<Why>((resolve) => (end = resolve));
    handler.ends.set(id, end);
    let beat: NodeJS.Timeout | undefined;
    const next = () => {
      beat = setTimeout(() => {
        this.#try(handler, () => message.working());
        next();
      }, handler.ackWait / 3);
    };
    next();
    const left = task.deadline ? task.deadline.getTime() - Date.now() : TIMER_MS_MAX;
    const late = setTimeout(() => end("deadline"), Math.max(0, Math.min(left, TIMER_MS_MAX)));
    const work = this.#work(handler, task).then(() => undefined);
    try {
      const why = await Promise.race([work, ended]);
      if (why === undefined) {
        this.#try(handler, () => message.ack());
        return;
      }
      this.#log("warn", `${handler.name}: task ${task.id} is given up: ${why}`);
      this.#try(handler, () => (why === "stopping" ? message.nak() : message.ack()));
      clearTimeout(beat);
      abort.abort(why);
      // It keeps its place until it has ended.
      await work;
    } finally {
      isOver = true;
      clearTimeout(beat);
      clearTimeout(late);
      if (handler.ends.get(id) === end) handler.ends.delete(id);
    }
  }

  /** Answers a delivery. What the broker does not get is delivered again. */
  #try(handler: Handler, answer: () => void): void {
    try {
      answer();
    } catch (error) {
      this.#log("warn", `${handler.name}: the broker did not get an answer: ${text(error)}`);
    }
  }

  /** Publishes how far a task is, unless nobody wants its result any more. */
  #progress(handler: Handler, task: Read, value: unknown): void {
    const body = progressBody(task, value);
    if (task.signal.aborted) return;
    const lost = (error: unknown) =>
      this.#log("warn", `${handler.name}: the progress of task ${task.id} is lost: ${text(error)}`);
    try {
      const subject = `staunch.task-progress.${handler.name}.${token(task.id)}`;
      this.#nc.publish(subject, body, { headers: progressHeaders(task) });
      // The connection forgets what it has not sent when it ends, and tells those alone who wait for it.
      this.#nc.flush().catch(lost);
    } catch (error) {
      lost(error);
    }
  }

  async #work(handler: Handler, task: Task<unknown>): Promise<void> {
    let report: Report;
    try {
      const whole = await this.#whole(task.input);
      const input = handler.decode ? decoded(handler.decode, whole) : whole;
      const output = await handler.work({ ...task, input });
      report = await this.#report(handler, task, output ?? null);
    } catch (error) {
      if (task.signal.aborted) return;
      if (!(error instanceof TaskFailure)) {
        this.#log("warn", `${handler.name}: task ${task.id} fails: ${(error as Error)?.stack ?? error}`);
      }
      report = { body: failed(task.attempt, error) };
    }
    await this.#send(handler, task.id, task.attempt, report, task.traceparent, task.signal);
  }

  /** The report about a result, which is an object where no message carries it. */
  async #report(handler: Handler, task: Task<unknown>, output: unknown): Promise<Report> {
    const body = written({ attempt: task.attempt, output });
    const maxPayload = this.#nc.info?.max_payload ?? 1 << 20;
    if (Buffer.byteLength(body) <= bodyBytesMax(maxPayload)) return { body };
    const value = Buffer.from(JSON.stringify(output));
    if (value.length > RESULT_BYTES_MAX) {
      throw new TaskFailure(
        `the result has ${value.length} bytes, more than the ${RESULT_BYTES_MAX} that a result may have`,
        { type: "ResultTooLarge", detail: "keep large data elsewhere and return a reference to it" },
      );
    }
    const below = `tasks/${token(task.id)}/${task.attempt}`;
    const begun = Date.now();
    for (let pause = 100; ; pause = Math.min(pause * 2, RETRY_MS_MAX)) {
      try {
        const object = await put(this.#js, below, value, maxPayload);
        return { body: written({ attempt: task.attempt }), object };
      } catch (error) {
        task.signal.throwIfAborted();
        if (Date.now() - begun > TRYING_MS) {
          const detail = `the object store ${PAYLOADS_STORE}: ${text(error)}; ${OBJECTS_HINT}`;
          const title = "the result is larger than a message, and its object is not stored";
          throw new TaskFailure(title, { type: "ResultNotStored", detail, retryable: true });
        }
        this.#log("warn", `${handler.name}: the result of task ${task.id} is not stored yet: ${text(error)}`);
      }
      await sleep(pause).over;
    }
  }

  /** The input with its large values: a message could not carry them. */
  async #whole(input: unknown): Promise<unknown> {
    const client = new Client(this.#nc, { timeoutMs: ANSWER_MS });
    const around = { input };
    let left = PAYLOAD_BYTES_MAX;
    for (const [place, key, hash] of [...standIns(around)]) {
      try {
        const bytes = await client.payload(hash, { bytesMax: left });
        place[key] = JSON.parse(new TextDecoder().decode(bytes));
        left -= bytes.length;
      } catch (error) {
        // What is gone or too large does not come with another attempt.
        const isRefused = error instanceof RequestError && error.status >= 400 && error.status < 500;
        throw new TaskFailure("a large value of the input cannot be read", {
          type: "InputUnavailable",
          detail: text(error),
          retryable: !isRefused && !(error instanceof SyntaxError),
        });
      }
    }
    return around.input;
  }

  /** Publishes a result until JetStream says that it is stored, or nobody wants it any more. */
  async #send(
    handler: Handler,
    id: string,
    attempt: number,
    report: Report,
    trace?: string,
    signal?: AbortSignal,
  ): Promise<void> {
    const head = headers();
    head.set("Staunch-Attempt", String(attempt));
    if (trace) head.set("traceparent", trace);
    if (report.object) head.set("Staunch-Payload", `$payload=${report.object}`);
    const options = { msgID: `${id}.${attempt}.result`, headers: head, timeout: 5_000 };
    const subject = `staunch.cmd.task.${handler.name}.${token(id)}`;
    for (let pause = 100; !signal?.aborted; pause = Math.min(pause * 2, RETRY_MS_MAX)) {
      try {
        await this.#js.publish(subject, report.body, options);
        return;
      } catch (error) {
        this.#log("warn", `${handler.name}: the result of task ${id} is not stored yet: ${text(error)}`);
      }
      await sleep(pause).over;
    }
  }

  /** Ends what is no task, so that it does not come again. If it names one, that has failed. */
  async #poison(handler: Handler, message: JsMsg, reason: string): Promise<void> {
    this.#log("error", `${handler.name}: a message is no task, and is removed: ${reason}`);
    const id = message.headers?.get("Staunch-Task");
    const attempt = Number(message.headers?.get("Staunch-Attempt"));
    if (id && Number.isInteger(attempt) && attempt > 0) {
      const options = { type: "UnreadableTask", detail: reason };
      const failure = new TaskFailure("the worker cannot read the task", options);
      await this.#send(handler, id, attempt, { body: failed(attempt, failure) });
    }
    message.term(reason.replace(/\s+/g, " ").slice(0, 200));
  }
}

function readTask(handler: Handler, message: JsMsg, signal: AbortSignal): Read {
  const body = message.json<Record<string, any>>();
  const texts = ["taskId", "workflowInstanceId", "workflowDefinitionId", "activityId"];
  for (const name of texts) {
    if (typeof body[name] !== "string") throw new Error(`${name} is no text`);
  }
  if (!Number.isInteger(body.attempt) || !("input" in body)) throw new Error("no attempt, or no input");
  if (body.taskType !== handler.type || body.taskVersion !== handler.version) {
    throw new Error(`the task is one of ${body.taskType}, version ${body.taskVersion}`);
  }
  const deadline = body.deadline ? new Date(body.deadline) : undefined;
  if (deadline && Number.isNaN(deadline.getTime())) throw new Error("deadline is no time");
  return {
    id: body.taskId,
    type: handler.type,
    version: handler.version,
    input: body.input,
    attempt: body.attempt,
    deadline,
    key: message.headers?.get("Nats-Msg-Id") || `${body.taskId}.${body.attempt}`,
    instanceId: body.workflowInstanceId,
    definitionId: body.workflowDefinitionId,
    activityId: body.activityId,
    workflowName: body.workflowName ?? undefined,
    correlationId: body.correlationId ?? undefined,
    traceparent: message.headers?.get("traceparent") || undefined,
    signal,
  };
}

function decoded(decode: (input: unknown) => unknown, input: unknown): unknown {
  try {
    return decode(input);
  } catch (error) {
    const options = { type: "InvalidInput", detail: text(error) };
    throw new TaskFailure("the input is not what the worker takes", options);
  }
}

function written(body: Record<string, unknown>): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    throw new TaskFailure("the result is not JSON", { type: "ResultUnfit", detail: text(error) });
  }
}

/** A text of bounded length. Half a surrogate pair, as where it is cut, has no form in JSON. */
function short(text?: string): string | undefined {
  return text?.slice(0, DETAIL_CHARS_MAX).replace(/\p{Surrogate}/gu, "\ufffd");
}

function failed(attempt: number, thrown: unknown): string {
  const isMeant = thrown instanceof TaskFailure;
  const options = isMeant ? thrown.options : { detail: text(thrown), retryable: true };
  const name = thrown instanceof Error ? thrown.name : "the handler has failed";
  const { type, detail, status, retryable = false, retryAfter } = options as FailureOptions;
  const error = { type, title: short(isMeant ? thrown.title : name), detail: short(detail), status };
  const after = retryAfter === undefined ? undefined : Math.ceil(retryAfter);
  return JSON.stringify({ status: "failed", attempt, error, retryable, retryAfter: after });
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function sleep(ms: number): { over: Promise<void>; clear: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  return { over, clear: () => clearTimeout(timer) };
}
