import { literalOf, literalText } from "../../../model/expressions";
import { type Json, listOf, type Members, membersOf, textOf } from "../../../model/json";
import { Button } from "../../../ui/Button";
import { useView } from "../store";
import { w } from "../words";
import { focusAdded } from "./added";
import { Expression } from "./Expression";
import { BOX, type EditorOf } from "./Plain";

/** A status code as it was typed: what is none stays, and is a problem. */
const codeOf = (text: string): Json => literalOf(text, { typeName: "Int32" }, undefined) ?? "";

/** The cases of a switch: each has a label and a condition. Those of a request have a status code. */
export function Cases({ input, value, onChange }: EditorOf) {
  const cases = listOf(value).map((one) => membersOf(one) ?? {});
  const owner = useView((state) => state.selected[0] ?? "");
  const isCodes = input.uiHint === "http-status-codes";
  const set = (at: number, next: Members) => onChange(listOf(value).with(at, next));
  const add = () => {
    const made: Members = isCodes
      ? { statusCode: 200 }
      : { label: `Case ${cases.length + 1}`, condition: { type: "JavaScript", value: "" } };
    onChange([...listOf(value), made]);
  };
  return (
    <div data-rows="" className="space-y-2">
      {cases.map((one, at) => {
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the place in the list is what names a case
          <div key={at} className="space-y-1 rounded-md border border-line p-2">
            <div className="flex gap-1">
              {isCodes ? (
                <input
                  data-first=""
                  aria-label={w.statusCode}
                  inputMode="numeric"
                  className={BOX}
                  value={literalText(one.statusCode)}
                  onChange={(event) => set(at, { ...one, statusCode: codeOf(event.target.value) })}
                />
              ) : (
                <input
                  data-first=""
                  aria-label={`${w.label} ${at + 1}`}
                  className={BOX}
                  value={textOf(one.label)}
                  onChange={(event) => set(at, { ...one, label: event.target.value })}
                />
              )}
              <Button
                tone="quiet"
                icon="close"
                label={w.removeItem(textOf(one.label))}
                onClick={() => onChange(listOf(value).toSpliced(at, 1))}
              />
            </div>
            {!isCodes && (
              <Expression
                label={`${w.condition} ${at + 1}`}
                held={one.condition}
                owner={owner}
                onChange={(condition) => set(at, { ...one, condition })}
              />
            )}
          </div>
        );
      })}
      <Button
        icon="plus"
        onClick={(event) => {
          add();
          focusAdded(event.currentTarget);
        }}
      >
        {w.addCase}
      </Button>
    </div>
  );
}
