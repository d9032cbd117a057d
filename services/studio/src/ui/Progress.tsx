interface Props {
  label: string;
  done: number;
  total: number;
  /** The part of what is done that failed. With it, colours say how it went. */
  failed?: number;
  /** What is shown, in words. */
  words?: string;
}

/** How much of something counted is done. */
export function Progress({ label, done, total, failed, words }: Props) {
  const width = (count: number) => ({ width: `${(100 * count) / Math.max(total, 1)}%` });
  const isOver = done === total;
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuenow={done}
      aria-valuetext={words}
      className="flex h-1.5 overflow-hidden rounded-sm bg-sunken"
    >
      <div
        className={`h-full ${failed !== undefined && isOver ? "bg-finished" : "bg-accent"}`}
        style={width(done - (failed ?? 0))}
      />
      {failed !== undefined && failed > 0 && <div className="h-full bg-faulted" style={width(failed)} />}
    </div>
  );
}
