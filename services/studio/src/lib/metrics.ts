/** One line of the metrics of a server: its name, its labels, its value. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Reads the text format of Prometheus. */
export function parseMetrics(text: string): Sample[] {
  return text.split("\n").flatMap((line): Sample[] => {
    const match = line.startsWith("#") ? null : LINE.exec(line);
    if (!match?.[1] || !match[3]) return [];
    const labels: Record<string, string> = {};
    for (const [, name, value] of (match[2] ?? "").matchAll(LABEL)) {
      if (name && value !== undefined) labels[name] = value.replaceAll('\\"', '"').replaceAll("\\\\", "\\");
    }
    return [{ name: match[1], labels, value: Number(match[3]) }];
  });
}

export function metric(
  samples: readonly Sample[],
  name: string,
  labels: Record<string, string> = {},
): number | undefined {
  return samples.find(
    (one) =>
      one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value),
  )?.value;
}
