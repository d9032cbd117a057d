const PAIRS: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };

const SKIPPED = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/y;

/** A place as a person counts it. */
function lineOf(text: string, at: number): string {
  const before = text.slice(0, at).split("\n");
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

/** Brackets and quotes that have no partner; the server checks the rest. */
function javaScriptFault(text: string): string | undefined {
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
      return isRegexNear(text, at) ? undefined : `${lineOf(text, at)}: this text has no end`;
    if (sign === "/" && isRegexStart(text, at)) return undefined;
    last = sign.trim() ? (sign === last && "+-".includes(sign) ? `${last}${sign}` : sign) : last;
    if (sign === "`") {
      open.push({ sign, at });
    } else if ("([{".includes(sign)) open.push({ sign, at });
    else if (PAIRS[sign] !== undefined) {
      if (open.pop()?.sign !== PAIRS[sign]) return `${lineOf(text, at)}: nothing opens this ${sign}`;
    }
  }
  const rest = open.at(-1);
  if (rest) return `${lineOf(text, rest.at)}: nothing closes this ${rest.sign}`;
  return /^[-+*%&|^=<>?:.,]$/.test(last)
    ? `${lineOf(text, text.length)}: the script ends too early`
    : undefined;
}

const isRegexStart = (text: string, at: number): boolean =>
  /(^|[(,=:[!&|?{};\n]|return)\s*$/.test(text.slice(0, at));
const isRegexNear = (text: string, at: number): boolean => /\/[^/\n]*$/.test(text.slice(0, at));

function liquidFault(text: string): string | undefined {
  const sign = /\{\{|\}\}|\{%|%\}/g;
  let open: RegExpExecArray | undefined;
  for (let found = sign.exec(text); found; found = sign.exec(text)) {
    const isOpen = found[0].startsWith("{");
    if (isOpen === (open !== undefined)) {
      const wrong = open ?? found;
      return `${lineOf(text, wrong.index)}: ${wrong[0]} has no partner`;
    }
    open = isOpen ? found : undefined;
  }
  return open && `${lineOf(text, open.index)}: nothing closes this ${open[0]}`;
}

/** What is surely wrong with a script, without running it. */
export function syntaxFault(text: string, language: "JavaScript" | "Liquid"): string | undefined {
  if (!text.trim()) return undefined;
  return language === "JavaScript" ? javaScriptFault(text) : liquidFault(text);
}
