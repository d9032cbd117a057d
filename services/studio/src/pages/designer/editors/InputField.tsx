import { useQuery } from "@tanstack/react-query";
import { get } from "../../../api/client";
import type { Api } from "../../../api/types";
import { type Entry, typeOf } from "../../../model/activities";
import { setMember } from "../../../model/commands";
import { type InputType, memberOf } from "../../../model/descriptors";
import { convert, literalText, readInput, writeInput } from "../../../model/expressions";
import { type Json, type Members, membersOf, textOf } from "../../../model/json";
import { completionsOf, inputsOf, scopeOf, variablesOf } from "../../../model/scope";
import { Code } from "../code/Code";
import { useStudio, useView } from "../store";
import { w } from "../words";
import { plainLanguage } from "./kinds";
import { BOX, Plain } from "./Plain";

const ORDER = ["JavaScript", "Liquid", "Variable", "Input", "Secret", "Sql"];

function useLanguages(): string[] {
  const query = useQuery({
    queryKey: ["descriptors", "expressions"],
    queryFn: ({ signal }) =>
      get<Api["Items_ExpressionDescriptor"]>("/descriptors/expression-descriptors", undefined, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const known = query.data?.items.filter((one) => one.isBrowsable).map((one) => one.type);
  return known
    ? [...known].sort((one, other) => ORDER.indexOf(one) - ORDER.indexOf(other))
    : ORDER.slice(0, 4);
}

interface RefProps {
  label: string;
  language: string;
  value: Json | undefined;
  entry: Entry;
  onChange: (value: Json) => void;
}

/** A variable, an input or a secret, chosen by name. */
function Reference({ label, language, value, entry, onChange }: RefProps) {
  const index = useView((state) => state.index);
  const secrets = useQuery({
    queryKey: ["secrets", "picker"],
    queryFn: ({ signal }) => get<Api["Paged_SecretSummary"]>("/secrets", undefined, signal),
    enabled: language === "Secret",
    retry: false,
  });
  const declared =
    language === "Variable" ? variablesOf(index, entry.key) : language === "Input" ? inputsOf(index) : [];
  const names =
    language === "Secret"
      ? (secrets.data?.items ?? []).map((one) => one.name)
      : declared.map((one) => one.name);
  const now = textOf(membersOf(value)?.name) || textOf(value);
  const choose = (name: string) => {
    const held = declared.find((one) => one.name === name)?.held;
    const kept: Members = held
      ? Object.fromEntries(
          ["id", "name", "typeName", "type", "isArray"].flatMap((member) =>
            held[member] === undefined ? [] : [[member, held[member] ?? null]],
          ),
        )
      : { name };
    onChange(kept);
  };
  return (
    <select aria-label={label} className={BOX} value={now} onChange={(event) => choose(event.target.value)}>
      <option value="">{w.choose}</option>
      {now !== "" && !names.includes(now) && <option value={now}>{now}</option>}
      {names.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

const isReference = (language: string): boolean =>
  language === "Variable" || language === "Input" || language === "Secret";

/** The time zone of an activity, where its input has it as a text and not as an expression. */
function zoneOf(activity: Members): string {
  const { type, value } = readInput(activity, { name: "TimeZone", isWrapped: true });
  return type === "Literal" ? literalText(value).trim() : "";
}

/** One input of an activity: its editor, its language, and what is wrong with it. */
export function InputField({ entry, input }: { entry: Entry; input: InputType }) {
  const studio = useStudio();
  const problems = useView((state) => state.problems);
  const found = useView((state) => state.found);
  const languages = useLanguages();
  const member = memberOf(input.name);
  const { type, value, isGiven } = readInput(entry.activity, input);
  const plain = plainLanguage(input);
  const isPlain = type === "Literal" || type === "Object" || type === "Json";
  const mine = [...problems, ...found].filter((one) => one.key === entry.key && one.member === member);
  const set = (language: string, next: Json | undefined) => {
    const now = studio.get().index.get(entry.key) ?? entry;
    const isDefault = next === undefined && (language === "Literal" || language === "Object");
    const held = isDefault ? undefined : writeInput(now.activity, input, language, next);
    studio.do(setMember(studio.get().index, now, [member], held, `${w.did.set} ${input.displayName}`));
  };
  const shown = isPlain ? plain : type;
  const label = input.displayName;
  return (
    <div data-input={input.name}>
      <div className="mb-1 flex min-h-5 items-center gap-2">
        <span
          className="min-w-0 flex-1 truncate text-xs font-medium text-soft"
          title={input.description ?? undefined}
        >
          {label}
        </span>
        {input.isWrapped && (
          <select
            aria-label={w.language(label)}
            value={shown}
            onChange={(event) => {
              studio.seal();
              set(event.target.value, convert(value, type, event.target.value));
            }}
            className={`h-6 max-w-28 rounded-sm border border-transparent bg-transparent text-right text-xs hover:border-line ${isPlain ? "text-soft" : "font-medium text-accent"}`}
          >
            {[...new Set([plain, ...languages, shown])].map((language) => (
              <option key={language} value={language}>
                {language}
              </option>
            ))}
          </select>
        )}
      </div>
      {isPlain && (
        <Plain
          input={input}
          activityType={typeOf(entry.activity)}
          zone={zoneOf(entry.activity)}
          value={value}
          isText={input.isWrapped && (type === "Object" || type === "Json" || !isGiven)}
          onChange={(next) => set(isGiven && isPlain ? type : plain, next)}
        />
      )}
      {isReference(type) && (
        <Reference
          label={label}
          language={type}
          value={value}
          entry={entry}
          onChange={(next) => set(type, next)}
        />
      )}
      {!isPlain && !isReference(type) && (
        <Code
          label={label}
          language={type}
          value={literalText(value)}
          completions={() => completionsOf(scopeOf(studio.get().index, entry.key), type)}
          onChange={(text) => set(type, text)}
          onLeave={() => studio.seal()}
        />
      )}
      {mine.map((problem) => (
        <p
          key={w.fault(problem.fault)}
          role="alert"
          className={`mt-1 text-xs ${problem.isWarning ? "text-waiting" : "text-faulted"}`}
        >
          {w.fault(problem.fault)}
        </p>
      ))}
    </div>
  );
}
