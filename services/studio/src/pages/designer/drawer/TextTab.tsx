import { useRef, useState } from "react";
import { isMembers, type Json, NotJson, readText, writeText } from "../../../model/json";
import Editor from "../code/Editor";
import { useStudio, useView } from "../store";
import { w } from "../words";

/** The definition as text. What parses is the graph at once; what does not leaves the graph as it was. */
export default function TextTab() {
  const studio = useStudio();
  const doc = useView((state) => state.history.doc);
  const typed = useRef<{ text: string; doc: Json }>(undefined);
  const [fault, setFault] = useState<{ offset: number; line: number; column: number; message: string }>();
  const [broken, setBroken] = useState<string>();
  const text = broken ?? (typed.current?.doc === doc ? typed.current.text : writeText(doc));
  const change = (next: string) => {
    try {
      const value = readText(next);
      if (!isMembers(value)) throw new NotJson({ is: "jsonObject" }, 0, 1, 1);
      setFault(undefined);
      setBroken(undefined);
      studio.do({ label: w.did.text, patches: [{ do: "set", path: [], value }], merge: "text" });
      typed.current = { text: next, doc: studio.get().history.doc };
    } catch (error) {
      if (!(error instanceof NotJson)) throw error;
      setBroken(next);
      const { offset, line, column, reason } = error;
      setFault({ offset, line, column, message: w.reason(reason) });
    }
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
