import { formatCount } from "../lib/format";
import { sparkPath, sparkSums } from "../lib/spark";
import { language, t } from "../text";

const WIDTH = 80;
const HEIGHT = 16;

interface Props {
  /** One count for each part of the last hour, the oldest first. */
  counts: readonly number[];
  /** The server counted to a limit: there may be more. */
  isCutShort?: boolean;
  className?: string;
}

/** What happened in the last hour, as a line; for those who do not see it, in numbers. */
export function Spark({ counts, isCutShort = false, className = "h-4 w-20" }: Props) {
  const { total, most } = sparkSums(counts);
  const minutes = Math.round(60 / Math.max(1, counts.length));
  const number = (value: number) => formatCount(value, language);
  const words = t.spark(number(total), number(most), minutes, isCutShort);
  return (
    <svg
      role="img"
      aria-label={words}
      viewBox={`0 -1 ${WIDTH} ${HEIGHT + 2}`}
      preserveAspectRatio="none"
      className={`shrink-0 ${className}`}
    >
      <title>{words}</title>
      <path
        d={sparkPath(counts, WIDTH, HEIGHT)}
        fill="none"
        stroke="currentColor"
        strokeWidth={1.5}
        strokeLinejoin="round"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}
