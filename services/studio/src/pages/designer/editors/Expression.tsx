import { convert, literalText } from "../../../model/expressions";
import { type Json, type Members, membersOf, textOf } from "../../../model/json";
import { completionsOf, scopeOf } from "../../../model/scope";
import { syntaxFault } from "../../../model/syntax";
import { Code } from "../code/Code";
import { useStudio } from "../store";
import { w } from "../words";

const LANGUAGES = ["JavaScript", "Liquid", "Literal"];

interface Props {
  label: string;
  /** `{type, value}`, or the same as `expression` of a typed input; it keeps its form. */
  held: Json | undefined;
  /** The activity whose scope the expression has. */
  owner: string;
  onChange: (held: Members) => void;
}

/** An expression that is no input of an activity: the condition of a case or of a transition. */
export function Expression({ label, held, owner, onChange }: Props) {
  const studio = useStudio();
  const outer = membersOf(held);
  const inner = membersOf(outer?.expression);
  const expression = inner ?? outer;
  const language = textOf(expression?.type) || "JavaScript";
  const value = expression?.value;
  const set = (part: Members) => {
    const next = { ...(expression ?? { type: language }), ...part };
    onChange(inner ? { ...outer, expression: next } : next);
  };
  const fault =
    language === "JavaScript" || language === "Liquid"
      ? syntaxFault(literalText(value), language)
      : undefined;
  return (
    <div className="space-y-1">
      <select
        aria-label={w.language(label)}
        value={language}
        onChange={(event) => {
          studio.seal();
          set({ type: event.target.value, value: convert(value, language, event.target.value) ?? "" });
        }}
        className="h-6 rounded-sm border border-line bg-raised text-xs"
      >
        {[...new Set([...LANGUAGES, language])].map((word) => (
          <option key={word}>{word}</option>
        ))}
      </select>
      <Code
        label={label}
        language={language}
        value={literalText(value)}
        completions={() => completionsOf(scopeOf(studio.get().index, owner), language)}
        onChange={(text) => set({ value: text })}
        onLeave={() => studio.seal()}
      />
      {fault && (
        <p role="alert" className="text-xs text-faulted">
          {w.reason(fault)}
        </p>
      )}
    </div>
  );
}
