import { useQuery } from "@tanstack/react-query";
import { get } from "../../../api/client";
import type { Api } from "../../../api/types";
import type { InputType } from "../../../model/descriptors";
import { itemsOf, literalOf, literalText } from "../../../model/expressions";
import { isMembers, type Json, listOf, membersOf, textOf, writeText } from "../../../model/json";
import { literalList } from "../../../model/outcomes";
import { Code } from "../code/Code";
import { useView } from "../store";
import { w } from "../words";
import { Cases } from "./Cases";
import { Cron } from "./Cron";
import { Dictionary } from "./Dictionary";
import { kindOf, optionsOf } from "./kinds";
import { ListEditor } from "./List";

export const BOX =
  "h-8 w-full min-w-0 rounded-md border border-line-strong/60 bg-raised px-2 text-sm placeholder:text-soft";

export interface EditorOf {
  input: InputType;
  value: Json | undefined;
  /** Whether the value is a list as JSON in a text. */
  isText: boolean;
  activityType: string;
  /** The time zone that the activity names, if it names one as it is. */
  zone?: string;
  onChange: (value: Json | undefined) => void;
}

const HINTS: Readonly<Record<string, string>> = {
  TimeSpan: "00:05:00",
  DateTimeOffset: "2026-01-31T08:00:00Z",
  DateTime: "2026-01-31T08:00:00Z",
};

function placeholderOf(input: InputType): string {
  const given = input.defaultValue;
  if (given !== null && given !== undefined && typeof given !== "object" && String(given) !== "")
    return String(given);
  return HINTS[input.typeName] ?? "";
}

function Choice({
  input,
  value,
  onChange,
  options,
}: EditorOf & { options: { text: string; value: string }[] }) {
  const now = literalText(value);
  const known = options.some((option) => option.value === now);
  const fallback = placeholderOf(input);
  return (
    <select
      aria-label={input.displayName}
      className={BOX}
      value={now}
      onChange={(event) => onChange(event.target.value || undefined)}
    >
      {!options.some((option) => option.value === "") && (
        <option value="">{fallback ? w.byDefault(fallback) : w.notSet}</option>
      )}
      {!known && now !== "" && <option value={now}>{now}</option>}
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.text || w.notSet}
        </option>
      ))}
    </select>
  );
}

/** A list keeps its form: an array, or JSON in a text. */
const written = (items: Json[], was: Json | undefined, isText: boolean): Json =>
  Array.isArray(was) || !isText ? items : writeText(items, "");

function Choices({ input, value, isText, onChange }: EditorOf) {
  const chosen = literalList(value);
  const given = Array.isArray(input.defaultValue) ? input.defaultValue.map(String) : [];
  const shown = value === undefined ? given : chosen;
  return (
    <div className="flex flex-wrap gap-x-3 gap-y-1">
      {optionsOf(input).map((option) => (
        <label key={option.value} className="inline-flex h-6 items-center gap-1.5 text-sm">
          <input
            type="checkbox"
            className="size-4 accent-(--accent)"
            checked={shown.includes(option.value)}
            onChange={(event) => {
              const next = event.target.checked
                ? [...shown, option.value]
                : shown.filter((one) => one !== option.value);
              onChange(written(next, value, isText));
            }}
          />
          {option.text}
        </label>
      ))}
    </div>
  );
}

function VariablePicker({ input, value, onChange, activityType }: EditorOf) {
  const doc = useView((state) => membersOf(state.history.doc));
  const variables = listOf(doc?.variables).filter(isMembers);
  const now = membersOf(value);
  const options = variables.map((one) => ({
    text: textOf(one.name),
    value: textOf(one.id) || textOf(one.name),
  }));
  return (
    <Choice
      input={input}
      isText={false}
      activityType={activityType}
      value={textOf(now?.id) || textOf(now?.name)}
      options={options}
      onChange={(id) => {
        const chosen = variables.find((one) => one.id === id || one.name === id);
        if (chosen)
          onChange({
            ...now,
            id: chosen.id ?? null,
            name: chosen.name ?? null,
            typeName: chosen.typeName ?? "Object",
          });
      }}
    />
  );
}

function DefinitionPicker(props: EditorOf) {
  const query = useQuery({
    queryKey: ["definitions", "picker"],
    queryFn: ({ signal }) =>
      get<Api["DefinitionPage"]>("/workflow-definitions", { versionOptions: "Latest" }, signal),
    staleTime: 30_000,
  });
  const options = (query.data?.items ?? []).map((one) => ({
    text: one.name || one.definitionId,
    value: one.definitionId,
  }));
  return <Choice {...props} options={options} />;
}

function OutputPicker(props: EditorOf) {
  const doc = useView((state) => membersOf(state.history.doc));
  const names = listOf(doc?.outputs).map((one) => textOf(membersOf(one)?.name));
  return <Choice {...props} options={names.map((name) => ({ text: name, value: name }))} />;
}

/** The editor of a value that is no expression. */
export function Plain(props: EditorOf) {
  const { input, value, isText, onChange, activityType } = props;
  const kind = kindOf(input);
  const text = literalText(value);
  switch (kind) {
    case "switch": {
      const now =
        value === undefined ? input.defaultValue === true : value === true || text.toLowerCase() === "true";
      return (
        <button
          type="button"
          role="switch"
          aria-checked={now}
          aria-label={input.displayName}
          onClick={() => onChange(typeof value === "string" ? String(!now) : !now)}
          className={`flex h-6 w-11 items-center rounded-full border px-0.5 ${now ? "justify-end border-accent bg-accent" : "border-line-strong bg-sunken"}`}
        >
          <span className="size-4.5 rounded-full bg-raised shadow-sm" />
        </button>
      );
    }
    case "choice":
      return <Choice {...props} options={optionsOf(input)} />;
    case "choices":
      return <Choices {...props} />;
    case "list":
      return (
        <ListEditor
          label={input.displayName}
          items={literalList(value)}
          onChange={(items) =>
            onChange(items.length === 0 ? undefined : written(itemsOf(items, input), value, isText))
          }
        />
      );
    case "cases":
      return <Cases {...props} />;
    case "variable":
      return <VariablePicker {...props} />;
    case "definition":
      return <DefinitionPicker {...props} />;
    case "output":
      return <OutputPicker {...props} />;
    case "cron":
      return <Cron label={input.displayName} value={text} zone={props.zone} onChange={onChange} />;
    case "json":
      return (
        <Code
          label={input.displayName}
          language="json"
          value={text}
          onChange={(next) => onChange(next === "" ? undefined : next)}
        />
      );
    case "dictionary":
      return <Dictionary {...props} />;
    case "code": {
      const language = activityType === "Elsa.RunJavaScript" ? "JavaScript" : "Sql";
      return <Code label={input.displayName} language={language} value={text} onChange={onChange} />;
    }
    case "lines":
      return (
        <textarea
          aria-label={input.displayName}
          rows={4}
          className={`${BOX} h-auto py-1`}
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      );
    default:
      return (
        <input
          aria-label={input.displayName}
          type={input.isSensitive ? "password" : "text"}
          autoComplete="off"
          inputMode={kind === "number" ? "decimal" : undefined}
          className={BOX}
          placeholder={placeholderOf(input)}
          value={text}
          onChange={(event) => onChange(literalOf(event.target.value, input, value))}
        />
      );
  }
}
