const counted = (passed: number, failed: number, skipped: number) =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`;

export const validation = {
  tab: "Validate",
  title: "Validate this cluster",
  what: "A validation starts some hundreds of small workflows, through every node, for about a minute. Their names begin with validate-, and all of them are removed at the end.",
  load: "Meanwhile it takes a share of the cluster's power.",
  spares:
    "It does not kill or restart nodes: the checks that need this are skipped. staunch validate --local 3 makes them, on nodes of its own.",
  begin: "Start the validation",
  again: "Run again",
  stop: "Stop",
  leaving:
    "The validation ends when you leave this page or close it. You may look at the other tabs of this page.",
  run: (name: string) => `Validation ${name}`,
  asking: "Asks the nodes",
  nodes: "Through",
  executors: "Workflows run on",
  time: "Time",
  doing: "Current step",
  list: "Parts and their checks",
  /** The parts, as the server names them. */
  parts: {
    "1 distributed runtime": "1 Distributed runtime",
    "2 scheduled tasks": "2 Scheduled tasks",
    "3 cache invalidation": "3 Cache invalidation",
    "4 failover": "4 Failover",
    "5 high availability": "5 High availability",
    "6 distributed lock": "6 Distributed lock",
    cleanup: "Cleanup",
  } as Record<string, string>,
  states: {
    pending: "To do",
    running: "Running",
    ok: "Passed",
    failed: "Failed",
    skipped: "Skipped",
    unfinished: "Not completed",
    untouched: "Not run",
    handed: "By the server",
  },
  counted,
  passed: "The cluster passed.",
  failed: "The cluster failed.",
  failedChecks: "Failed checks",
  stopped: "You stopped the validation.",
  ended: "The server ended the validation.",
  busy: "A validation is running already.",
  unreadable: "The result cannot be read.",
  unreadableDetail: "The server sent an end of the validation that this page does not understand.",
  noVerdict: "There is no verdict. Below is what was seen until then.",
  removing: "The server removes now what the validation made.",
  remains: (name: string) =>
    `What the validation made may still be there. The names of its definitions begin with ${name}.`,
  announce: {
    asking: "The validation begins.",
    at: (part: string, failed: number) =>
      failed === 0 ? `Validation: ${part}.` : `Validation: ${part}. Failed checks so far: ${failed}.`,
    broken: (why: string) => `The validation is not complete: ${why}`,
  },
};
