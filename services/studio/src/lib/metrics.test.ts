import { expect, it } from "vitest";
import { metric, parseMetrics } from "./metrics";

const TEXT = `# TYPE staunch_cluster_outbox gauge
staunch_cluster_outbox 3
staunch_cluster_stream_bytes{stream="STAUNCH_DEAD"} 0
staunch_cluster_stream_bytes{stream="STAUNCH_EVENTS"} 23974
odd{a="x\\"y",b="{}"} 1.5e3
`;

it("reads metrics with and without labels", () => {
  const samples = parseMetrics(TEXT);
  expect(samples).toHaveLength(4);
  expect(metric(samples, "staunch_cluster_outbox")).toBe(3);
  expect(metric(samples, "staunch_cluster_stream_bytes", { stream: "STAUNCH_EVENTS" })).toBe(23974);
  expect(metric(samples, "odd", { a: 'x"y' })).toBe(1500);
  expect(metric(samples, "missing")).toBeUndefined();
});
