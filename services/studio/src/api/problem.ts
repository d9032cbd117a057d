import { language, t } from "../text";

/** What the server said about a request that did not succeed. */
export class Problem extends Error {
  override readonly name = "Problem";

  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly request: string,
    readonly errors: string[] = [],
    readonly id?: string,
    readonly permissions?: string[],
    /** The whole answer. */
    readonly body: Readonly<Record<string, unknown>> = {},
  ) {
    super(detail || title);
  }

  /** All of it, as text for a report. */
  report(): string {
    const lines = [`${this.status} ${this.title}`, this.detail, ...this.errors, this.request];
    if (this.id) lines.push(this.id);
    return lines.filter(Boolean).join("\n");
  }
}

/** A sentence; the name of a file or an id at its begin stays as it is written. */
function sentence(text: string): string {
  const trimmed = text.trim();
  if (!trimmed) return "";
  const [word = ""] = trimmed.split(/\s/);
  const isWord = /^\p{Ll}+('\p{Ll}+)?[,:;.!?]?$/u.test(word);
  const first = isWord ? trimmed.charAt(0).toUpperCase() + trimmed.slice(1) : trimmed;
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

function sentencesOf(errors: unknown): string[] {
  if (errors === null || typeof errors !== "object") return [];
  return Object.entries(errors).flatMap(([member, said]) => {
    const all = Array.isArray(said) ? said : [said];
    const place = member && member !== "generalErrors" ? `${member}: ` : "";
    return all.map((one) => sentence(place + String(one)));
  });
}

function stringOf(body: Record<string, unknown>, member: string): string {
  const value = body[member];
  return typeof value === "string" ? value : "";
}

/** Reads a problem document; any other body is taken as it is. */
export function problemOf(status: number, request: string, text: string, traceId?: string): Problem {
  let body: Record<string, unknown> = {};
  try {
    const parsed: unknown = JSON.parse(text);
    if (parsed !== null && typeof parsed === "object") body = { ...parsed };
  } catch {
    if (text.trim() && !text.trimStart().startsWith("<")) body = { detail: text.slice(0, 500) };
  }
  const said = stringOf(body, "title");
  const own = t.problem.titles[status] || t.problem.unexpected(status);
  const title = language === "en" ? said || own : own;
  const detail = sentence(stringOf(body, "detail")) || sentence(said || title);
  const id = stringOf(body, "instance") || traceId;
  const errors = sentencesOf(body.errors).filter((one) => one !== detail);
  return new Problem(status, title, detail, request, errors, id || undefined, undefined, body);
}

export function unreachable(request: string): Problem {
  return new Problem(0, t.problem.unreachable, t.problem.unreachableDetail, request);
}

export function cutOff(request: string): Problem {
  return new Problem(0, t.problem.cutOff, t.problem.cutOffDetail, request);
}

export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new Problem(0, t.problem.page, sentence(detail), "");
}
