import type { Reason } from "./reasons";

const PAIRS: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };

const SKIPPED = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/y;

/** A place as a person counts it. */
function placeOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at).split("\n");
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** Brackets and quotes that have no partner; the server checks the rest. */
function javaScriptFault(text: string): Reason | undefined {
  const open: { sign: string; at: number }[] = [];
  let last = "";
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? "";
    const isTemplate = open.at(-1)?.sign === "`";
    if (isTemplate) {
      if (sign === "\\") at++;
      else if (sign === "`") {
        open.pop();
        last = sign;
      } else if (sign === "$" && text[at + 1] === "{") open.push({ sign: "{", at: ++at });
      continue;
    }
    SKIPPED.lastIndex = at;
    const skipped = SKIPPED.exec(text);
    if (skipped) {
      at += skipped[0].length - 1;
      if (!skipped[0].startsWith("/")) last = '"';
      continue;
    }
    if (sign === '"' || sign === "'")
      return isRegexNear(text, at) ? undefined : { is: "textEnd", ...placeOf(text, at) };
    if (sign === "/" && isRegexStart(text, at)) return undefined;
    last = sign.trim() ? (sign === last && "+-".includes(sign) ? `${last}${sign}` : sign) : last;
    if (sign === "`") {
      open.push({ sign, at });
    } else if ("([{".includes(sign)) open.push({ sign, at });
    else if (PAIRS[sign] !== undefined) {
      if (open.pop()?.sign !== PAIRS[sign]) return { is: "notOpened", sign, ...placeOf(text, at) };
    }
  }
  const rest = open.at(-1);
  if (rest) return { is: "notClosed", sign: rest.sign, ...placeOf(text, rest.at) };
  return /^[-+*%&|^=<>?:.,]$/.test(last) ? { is: "scriptEnd", ...placeOf(text, text.length) } : undefined;
}

const isRegexStart = (text: string, at: number): boolean =>
  /(^|[(,=:[!&|?{};\n]|return)\s*$/.test(text.slice(0, at));
const isRegexNear = (text: string, at: number): boolean => /\/[^/\n]*$/.test(text.slice(0, at));

function liquidFault(text: string): Reason | undefined {
  const sign = /\{\{|\}\}|\{%|%\}/g;
  let open: RegExpExecArray | undefined;
  for (let found = sign.exec(text); found; found = sign.exec(text)) {
    const isOpen = found[0].startsWith("{");
    if (isOpen === (open !== undefined)) {
      const wrong = open ?? found;
      return { is: "noPartner", sign: wrong[0], ...placeOf(text, wrong.index) };
    }
    open = isOpen ? found : undefined;
  }
  return open && { is: "notClosed", sign: open[0], ...placeOf(text, open.index) };
}

/** What is surely wrong with a script, without running it. */
export function syntaxFault(text: string, language: "JavaScript" | "Liquid"): Reason | undefined {
  if (!text.trim()) return undefined;
  return language === "JavaScript" ? javaScriptFault(text) : liquidFault(text);
}
