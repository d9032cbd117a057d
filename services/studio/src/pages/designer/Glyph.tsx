import { square } from "../../ui/size";

const PATHS: Readonly<Record<string, string>> = {
  branching: "M4 10h5M9 10l6-5M9 10l6 5M12.5 5H15v2.5M12.5 15H15v-2.5",
  decision: "M10 3l7 7-7 7-7-7zM10 7.5v3M10 12.8v.1",
  looping: "M15.5 7A6.5 6.5 0 1 0 16.5 11M16.5 3.5V7.5h-4",
  flow: "M3 6h5v8H3zM12 6h5v8h-5zM8 10h4",
  workflows: "M3 4h6v5H3zM11 11h6v5h-6zM6 9v4.5h5",
  composition: "M3 4h6v5H3zM11 11h6v5h-6zM6 9v4.5h5",
  primitives: "M10 3l6 3.5v7L10 17l-6-3.5v-7zM4 6.5l6 3.5 6-3.5M10 10v7",
  console: "M3 4h14v12H3zM6 8l2.5 2L6 12M10 12.5h4",
  http: "M10 17a7 7 0 1 1 0-14 7 7 0 0 1 0 14zM3 10h14M10 3c-4.5 4-4.5 10 0 14M10 3c4.5 4 4.5 10 0 14",
  scheduling: "M10 17.5a7.5 7.5 0 1 1 0-15 7.5 7.5 0 0 1 0 15zM10 6v4l2.8 2",
  scripting: "M7 5 2.5 10 7 15M13 5l4.5 5-4.5 5",
  nats: "M3 5h14v9h-5l-3 3v-3H3zM6.5 12V7.5l7 4.5V7.5",
  email: "M3 5h14v10H3zM3 5.5l7 5.5 7-5.5",
  files: "M5 2.5h7l3 3v12H5zM12 2.5v3h3",
  compression: "M5 2.5h10v15H5zM10 3v1.5M10 6v1.5M10 9v1.5M8.5 12h3v3h-3z",
  csv: "M3 4h14v12H3zM3 8h14M3 12h14M8 4v12",
  sql: "M4 5c0-3 12-3 12 0v10c0 3-12 3-12 0zM4 5c0 3 12 3 12 0M4 10c0 3 12 3 12 0",
  logging: "M5 3h10v14H5zM7.5 7h5M7.5 10h5M7.5 13h3",
  state: "M10 16a6 6 0 1 1 0-12 6 6 0 0 1 0 12z",
  unknown: "M7.5 7.5a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.700M10 14.5v.1",
};

const OTHER = "M10 3l1.8 5.200L17 10l-5.200 1.8L10 17l-1.8-5.200L3 10l5.200-1.8z";

/** The mark of a kind of activity. */
export function Glyph({ of, size = 18 }: { of: string; size?: number }) {
  return (
    <svg
      aria-hidden="true"
      style={square(size)}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      className="shrink-0"
    >
      <path d={PATHS[of] ?? OTHER} />
    </svg>
  );
}
