import { useMemo, useRef } from "react";
import { isMembers, type Json, NotJson, readText, writeText } from "../../../model/json";
import Editor from "../code/Editor";
import { useStudio, useView } from "../store";
import { w } from "../words";

/** Why a text is no definition, and where. */
function faultIn(text: string) {
  try {
    if (!isMembers(readText(text))) throw new NotJson({ is: "jsonObject" }, 0, 1, 1);
    return undefined;
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    const { offset, line, column, reason } = error;
    return { offset, line, column, message: w.reason(reason) };
  }
}

/** The definition as text. What parses is the graph at once; what does not leaves the graph as it was. */
export default function TextTab() {
  const studio = useStudio();
  const doc = useView((state) => state.history.doc);
  const typed = useRef<{ text: string; doc: Json }>(undefined);
  const broken = useView((state) => state.broken);
  const fault = useMemo(() => (broken === undefined ? undefined : faultIn(broken)), [broken]);
  const text = broken ?? (typed.current?.doc === doc ? typed.current.text : writeText(doc));
  const change = (next: string) => {
    if (faultIn(next)) {
      studio.set({ broken: next });
      return;
    }
    studio.set({ broken: undefined });
    studio.do({
      label: w.did.text,
      patches: [{ do: "set", path: [], value: readText(next) }],
      merge: "text",
    });
    typed.current = { text: next, doc: studio.get().history.doc };
  };
  return (
    <div className="flex h-full flex-col">
      <p role="status" className={`px-3 py-1 text-xs ${fault ? "text-faulted" : "text-soft"}`}>
        {fault ? w.textBad(fault.line, fault.column, fault.message) : w.textGood}
      </p>
      <div className="min-h-0 flex-1">
        <Editor
          isBig
          label={w.textLabel}
          language="json"
          value={text}
          fault={fault}
          onChange={change}
          onLeave={() => studio.seal()}
        />
      </div>
    </div>
  );
}
