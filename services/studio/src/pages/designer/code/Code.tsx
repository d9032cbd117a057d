import { later } from "../../../ui/later";
import type { EditorProps } from "./Editor";

/** The code editor; until it is there, a plain field with the same text. */
export const Code = later<EditorProps>(
  async () => (await import("./Editor")).default,
  ({ label, value, isBig }) => (
    <textarea
      aria-label={label}
      readOnly
      value={value}
      className={`w-full rounded-md border border-line bg-raised p-2 font-mono text-xs ${isBig ? "h-full" : ""}`}
    />
  ),
);
