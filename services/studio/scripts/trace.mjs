// What a trace of the browser says of the main thread of a page: how long script and layout took, frame by frame.

/** Work of a frame: script, style, layout and what prepares a paint. */
const WORK = new Set([
  "Commit",
  "EvaluateScript",
  "EventDispatch",
  "FireAnimationFrame",
  "FireIdleCallback",
  "FunctionCall",
  "HitTest",
  "Layerize",
  "Layout",
  "Paint",
  "PrePaint",
  "RunMicrotasks",
  "TimerFire",
  "UpdateLayoutTree",
  "v8.callFunction",
  "v8.compile",
  "MajorGC",
  "MinorGC",
]);

const at = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;

/** The thread on which the page runs: the renderer's main thread that worked most. */
function mainOf(events) {
  const worked = new Map();
  const names = new Map();
  for (const event of events) {
    const key = `${event.pid} ${event.tid}`;
    if (event.name === "thread_name") names.set(key, event.args.name);
    if (event.ph === "X" && WORK.has(event.name)) worked.set(key, (worked.get(key) ?? 0) + event.dur);
  }
  const mains = [...worked].filter(([key]) => names.get(key) === "CrRendererMain");
  const [key] = mains.sort(([, one], [, other]) => other - one)[0] ?? [];
  return events.filter((event) => `${event.pid} ${event.tid}` === key);
}

/** Events that are in no other one of the same kind: what is inside them is counted with them. */
function outermost(events) {
  const sorted = [...events].sort((one, other) => one.ts - other.ts || other.dur - one.dur);
  let end = 0;
  return sorted.filter((event) => {
    if (event.ts < end) return false;
    end = event.ts + event.dur;
    return true;
  });
}

/** Milliseconds by the thread's own clock, which stands still while other programs have the processor. */
const cost = (event) => (event.tdur ?? event.dur) / 1000;

/** Milliseconds of work for each frame, and the longest task. */
export function framesOf(trace) {
  const events = mainOf(JSON.parse(trace.toString()).traceEvents);
  const complete = events.filter((event) => event.ph === "X");
  const timesOf = (name) => events.filter((event) => event.name === name).map((event) => event.ts);
  const marked = timesOf("BeginMainThreadFrame");
  const begins = (marked.length > 0 ? marked : timesOf("FireAnimationFrame")).sort(
    (one, other) => one - other,
  );
  const work = outermost(complete.filter((event) => WORK.has(event.name)));
  const frames = begins.map(() => 0);
  let frame = 0;
  for (const event of work) {
    while (frame + 1 < begins.length && begins[frame + 1] <= event.ts) frame += 1;
    if (frames.length > 0) frames[frame] += cost(event);
  }
  const tasks = outermost(
    complete.filter((event) => event.name === "RunTask" || event.name.endsWith("::RunTask")),
  );
  const sorted = frames.filter((ms) => ms > 0).sort((one, other) => one - other);
  return {
    frames: sorted.length,
    mean: sorted.reduce((sum, ms) => sum + ms, 0) / Math.max(1, sorted.length),
    p95: at(sorted, 0.95),
    worst: sorted.at(-1) ?? 0,
    longest: Math.max(0, ...tasks.map(cost)),
    work: work.reduce((sum, event) => sum + cost(event), 0),
  };
}
