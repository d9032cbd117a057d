import { square } from "./size";

const PATHS = {
  home: "M3 9.5 10 4l7 5.5V16a1 1 0 0 1-1 1h-4v-5H8v5H4a1 1 0 0 1-1-1z",
  definitions: "M4 4h5v4H4zM11 12h5v4h-5zM6.5 8v6H11",
  instances: "M6 4.5v11l9-5.5z",
  incidents: "M10 3.5 17.5 16.5h-15zM10 8.5v3.5M10 14.2v.3",
  tasks: "M11.5 8.5 4 16M9 4.5l2-1.5 6 6-1.5 2-2-.5-3-3zM3 15l2 2",
  messages: "M3 5h14v10H3zM3 5.5l7 5.5 7-5.5",
  cluster: "M3.5 4h13v4.5h-13zM3.5 11.5h13V16h-13zM6 6.3h.1M6 13.8h.1",
  access: "M8 12a4 4 0 1 1 3.2-6.4L17 5.5v3h-2v2h-2.2A4 4 0 0 1 8 12zM7 8h.1",
  secrets: "M5 9h10v8H5zM7 9V6.5a3 3 0 0 1 6 0V9",
  search: "M9 14.5a5.5 5.5 0 1 1 0-11 5.5 5.5 0 0 1 0 11zM13 13l4 4",
  sun: "M10 13.5a3.5 3.5 0 1 1 0-7 3.5 3.5 0 0 1 0 7zM10 2v2M10 16v2M2 10h2M16 10h2M4.5 4.5 6 6M14 14l1.5 1.5M15.5 4.5 14 6M6 14l-1.5 1.5",
  moon: "M16.5 12A7 7 0 1 1 8 3.5a5.5 5.5 0 0 0 8.5 8.5z",
  clock: "M10 17.5a7.5 7.5 0 1 1 0-15 7.5 7.5 0 0 1 0 15zM10 6v4l2.8 2",
  close: "M5 5l10 10M15 5 5 15",
  bin: "M4 6h12M8 6V4h4v2M5.5 6l.7 11h7.6l.7-11M8.5 9v5M11.5 9v5",
  more: "M4.9 10h.2M9.9 10h.2M14.9 10h.2",
  down: "m5 8 5 5 5-5",
  up: "m5 12 5-5 5 5",
  right: "m8 5 5 5-5 5",
  left: "m12 5-5 5 5 5",
  copy: "M7 7h9v9H7zM4 13V4h9",
  download: "M10 3v9M6 9l4 4 4-4M4 16.5h12",
  upload: "M10 13V4M6 7.5 10 3.5l4 4M4 16.5h12",
  plus: "M10 4v12M4 10h12",
  check: "m4 10.5 4 4 8-9",
  user: "M10 10a3.2 3.2 0 1 0 0-6.5 3.2 3.2 0 0 0 0 6.5zM3.5 17c.5-3.5 3-5 6.5-5s6 1.5 6.5 5",
  external: "M8 4H4v12h12v-4M11 4h5v5M16 4l-7 7",
  pin: "M7.5 3h5l-.6 5.5 2.6 2.5v1.5h-9V11l2.6-2.5zM10 12.5V17.5",
  list: "M4 5h12M7 10h9M10 15h6M4 10v5",
  refresh: "M16 7a6.5 6.5 0 1 0 .3 5M16.5 3.5V7H13",
} as const;

export type IconName = keyof typeof PATHS;

/** A line drawing of 20 × 20; the words beside it say the same. */
export function Icon({
  name,
  size = 16,
  className = "",
}: {
  name: IconName;
  size?: number;
  className?: string;
}) {
  return (
    <svg
      aria-hidden="true"
      style={square(size)}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "more" ? 2.6 : 1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      className={`shrink-0 ${className}`}
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
