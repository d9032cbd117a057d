import { square } from "../ui/size";

/** The sign of the product. */
export function Mark({ size = 24 }: { size?: number }) {
  return (
    <svg aria-hidden="true" style={square(size)} viewBox="0 0 32 32" className="shrink-0">
      <rect width="32" height="32" rx="7" className="fill-accent" />
      <g fill="none" className="stroke-on-accent" strokeWidth="3" strokeLinecap="round">
        <path d="M8 11h10a5 5 0 0 1 0 10H8" />
      </g>
      <circle cx="8" cy="11" r="3" className="fill-on-accent" />
      <circle cx="8" cy="21" r="3" className="fill-on-accent" />
    </svg>
  );
}
