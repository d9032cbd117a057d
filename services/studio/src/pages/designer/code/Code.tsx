import { lazy, Suspense } from "react";
import type { EditorProps } from "./Editor";

const Editor = lazy(() => import("./Editor"));

/** The code editor; until it is there, a plain field with the same text. */
export function Code(props: EditorProps) {
  return (
    <Suspense
      fallback={
        <textarea
          aria-label={props.label}
          readOnly
          value={props.value}
          className={`w-full rounded-md border border-line bg-raised p-2 font-mono text-xs ${props.isBig ? "h-full" : ""}`}
        />
      }
    >
      <Editor {...props} />
    </Suspense>
  );
}
