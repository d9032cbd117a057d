import { useState } from "react";
import {
  dictionaryOf,
  doubleKeys,
  heldBy,
  isNotJson,
  objectOfRows,
  type Row,
  rowsOf,
  valueTypeOf,
} from "../../../model/dictionary";
import { isNumeric, literalFault, literalText } from "../../../model/expressions";
import { isMembers, isSame, type Json, namesOf, writeText } from "../../../model/json";
import { Button } from "../../../ui/Button";
import { Code } from "../code/Code";
import { w } from "../words";
import { focusAdded } from "./added";
import { BOX, type EditorOf } from "./Plain";

interface RowProps {
  label: string;
  row: Row;
  at: number;
  valueType: string;
  isDouble: boolean;
  onChange: (row: Row) => void;
  onRemove: () => void;
}

function faultOf(row: Row, valueType: string, isDouble: boolean): string | undefined {
  if (isDouble) return w.doubleKey(row.key);
  if (row.key === "" && row.text !== "") return w.emptyKey;
  if (row.isJson) return isNotJson(row) ? w.notJson : undefined;
  const fault = literalFault(heldBy(row, valueType), valueType);
  return fault && w.fault({ is: "literal", input: row.key, value: row.text, fault, type: valueType });
}

function Pair({ label, row, at, valueType, isDouble, onChange, onRemove }: RowProps) {
  const name = row.key || String(at + 1);
  const fault = faultOf(row, valueType, isDouble);
  const valueLabel = w.valueOf(label, name);
  return (
    <div>
      <div className="flex gap-1">
        <input
          data-first=""
          aria-label={w.keyOf(label, at + 1)}
          aria-invalid={isDouble || undefined}
          autoComplete="off"
          placeholder={w.key}
          className={`${BOX} !w-0 flex-2`}
          value={row.key}
          onChange={(event) => onChange({ ...row, key: event.target.value })}
        />
        {valueType === "Boolean" ? (
          <select
            aria-label={valueLabel}
            className={`${BOX} !w-0 flex-3`}
            value={row.text}
            onChange={(event) => onChange({ ...row, text: event.target.value })}
          >
            {[...new Set(["true", "false", row.text])].map((word) => (
              <option key={word}>{word}</option>
            ))}
          </select>
        ) : (
          <input
            aria-label={valueLabel}
            autoComplete="off"
            inputMode={isNumeric(valueType) ? "decimal" : undefined}
            className={`${BOX} !w-0 flex-3 ${row.isJson ? "font-mono text-xs" : ""}`}
            value={row.text}
            onChange={(event) => onChange({ ...row, text: event.target.value })}
          />
        )}
        {valueType === "Object" && (
          <select
            aria-label={w.formOf(label, name)}
            className={`${BOX} !w-17 shrink-0 !px-1`}
            value={row.isJson ? "json" : "text"}
            onChange={(event) => onChange({ ...row, isJson: event.target.value === "json" })}
          >
            <option value="text">{w.asText}</option>
            <option value="json">{w.asJson}</option>
          </select>
        )}
        <Button tone="quiet" icon="close" label={w.removeItem(row.key)} onClick={onRemove} />
      </div>
      {fault && (
        <p role="alert" className="mt-0.5 text-xs text-faulted">
          {fault}
        </p>
      )}
    </div>
  );
}

/** Keys and values, one pair a row. What is no object is shown as JSON, and so is any on request. */
export function Dictionary({ input, value, isText, onChange }: EditorOf) {
  const label = input.displayName;
  const valueType = valueTypeOf(input);
  const held = dictionaryOf(value);
  const [asJson, setAsJson] = useState(false);
  // Rows that an object cannot hold, such as two with one key, are kept here while nobody else changes the value.
  const [typed, setTyped] = useState<{ rows: Row[]; made: Json }>();
  const rows = typed && held && isSame(typed.made, held) ? typed.rows : rowsOf(held ?? {}, valueType);
  const doubles = doubleKeys(rows);
  const isRows = held !== undefined && !asJson;
  const set = (next: Row[]) => {
    const made = objectOfRows(next, valueType);
    setTyped({ rows: next, made });
    const isEmpty = namesOf(made).length === 0;
    onChange(isEmpty ? undefined : isText && !isMembers(value) ? writeText(made, "") : made);
  };
  const setText = (text: string) => onChange(text === "" ? undefined : text);
  return (
    <div data-rows="" className="space-y-1">
      {isRows ? (
        rows.map((row, at) => (
          <Pair
            // biome-ignore lint/suspicious/noArrayIndexKey: a key changes while it is typed
            key={at}
            label={label}
            row={row}
            at={at}
            valueType={valueType}
            isDouble={doubles.has(row.key) && rows.findIndex((one) => one.key === row.key) !== at}
            onChange={(next) => set(rows.with(at, next))}
            onRemove={() => set(rows.toSpliced(at, 1))}
          />
        ))
      ) : (
        <Code
          label={label}
          language="json"
          value={typeof value === "string" ? value : literalText(value)}
          onChange={setText}
        />
      )}
      <div className="flex gap-1">
        {isRows && (
          <Button
            icon="plus"
            aria-label={`${label}: ${w.addItem}`}
            onClick={(event) => {
              set([...rows, { key: "", text: valueType === "Boolean" ? "true" : "", isJson: false }]);
              focusAdded(event.currentTarget);
            }}
          >
            {w.addItem}
          </Button>
        )}
        <Button
          tone="quiet"
          aria-label={`${label}: ${isRows ? w.editJson : w.editRows}`}
          disabled={held === undefined}
          onClick={() => setAsJson(!asJson)}
        >
          {isRows ? w.editJson : w.editRows}
        </Button>
      </div>
    </div>
  );
}
