import { convert, literalText } from "../../../model/expressions";
import { type Json, listOf, type Members, membersOf, textOf } from "../../../model/json";
import { Button } from "../../../ui/Button";
import { Code } from "../code/Code";
import { w } from "../words";
import { BOX, type EditorOf } from "./Plain";

const LANGUAGES = ["JavaScript", "Liquid", "Literal"];

/** The cases of a switch: each has a label and a condition. Those of a request have a status code. */
export function Cases({ input, value, onChange }: EditorOf) {
  const cases = listOf(value).map((one) => membersOf(one) ?? {});
  const isCodes = input.uiHint === "http-status-codes";
  const set = (at: number, next: Members) => onChange(listOf(value).with(at, next));
  const add = () => {
    const made: Members = isCodes
      ? { statusCode: 200 }
      : { label: `Case ${cases.length + 1}`, condition: { type: "JavaScript", value: "" } };
    onChange([...listOf(value), made]);
  };
  return (
    <div className="space-y-2">
      {cases.map((one, at) => {
        const condition = membersOf(one.condition);
        const language = textOf(condition?.type) || "JavaScript";
        const setCondition = (part: Members) =>
          set(at, { ...one, condition: { ...(condition ?? { type: language }), ...part } });
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: the place in the list is what names a case
          <div key={at} className="space-y-1 rounded-md border border-line p-2">
            <div className="flex gap-1">
              {isCodes ? (
                <input
                  aria-label={w.statusCode}
                  inputMode="numeric"
                  className={BOX}
                  value={literalText(one.statusCode)}
                  onChange={(event) => set(at, { ...one, statusCode: Number(event.target.value) || 0 })}
                />
              ) : (
                <input
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
              <>
                <select
                  aria-label={w.language(`${w.condition} ${at + 1}`)}
                  value={language}
                  onChange={(event) =>
                    setCondition({
                      type: event.target.value,
                      value: convert(condition?.value, language, event.target.value) ?? "",
                    } satisfies Record<string, Json>)
                  }
                  className="h-6 rounded-sm border border-line bg-raised text-xs"
                >
                  {[...new Set([...LANGUAGES, language])].map((word) => (
                    <option key={word}>{word}</option>
                  ))}
                </select>
                <Code
                  label={`${w.condition} ${at + 1}`}
                  language={language}
                  value={literalText(condition?.value)}
                  onChange={(text) => setCondition({ value: text })}
                />
              </>
            )}
          </div>
        );
      })}
      <Button icon="plus" onClick={add}>
        {w.addCase}
      </Button>
    </div>
  );
}
