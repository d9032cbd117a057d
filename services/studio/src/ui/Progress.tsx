/** How much of something counted is done. */
export function Progress({ label, done, total }: { label: string; done: number; total: number }) {
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuenow={done}
      className="h-1.5 overflow-hidden rounded-sm bg-sunken"
    >
      <div className="h-full bg-accent" style={{ width: `${(100 * done) / Math.max(total, 1)}%` }} />
    </div>
  );
}
