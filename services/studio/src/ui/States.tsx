import { type ReactNode, useRef, useState } from "react";
import { asProblem, Problem } from "../api/problem";
import { passes } from "../app/again";
import { visible } from "../lib/visible";
import { t } from "../text";
import { Button } from "./Button";
import { Icon } from "./Icon";

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-12 text-center">
      <p className="text-lg font-medium">{title}</p>
      {children && <div className="max-w-xl text-sm text-soft">{children}</div>}
    </div>
  );
}

const isDenied = (error: unknown) => error instanceof Problem && error.status === 403;

/** What the caller may not see, and what is needed for it. */
export function Denied({ children }: { children: ReactNode }) {
  return <Empty title={t.problem.titles[403] ?? ""}>{children}</Empty>;
}

/** The shape of what comes, before it comes. */
export function Loading({ rows = 6 }: { rows?: number }) {
  return (
    <div role="status" aria-label={t.loading} className="space-y-2 p-4">
      {Array.from({ length: rows }, (_, row) => `row${row}`).map((key, row) => (
        <div key={key} className="skeleton h-5" style={{ width: `${92 - ((row * 17) % 40)}%` }} />
      ))}
    </div>
  );
}

/** What happened, where, and what to do; all of it to copy. */
export function Failed({ error, retry, note }: { error: unknown; retry?: () => void; note?: string }) {
  const problem = asProblem(error);
  const [copied, setCopied] = useState(false);
  return (
    <div role="alert" className="m-4 rounded-md border border-faulted bg-raised p-4">
      <p className="flex items-center gap-2 font-medium text-faulted">
        <Icon name="incidents" />
        {problem.title}
      </p>
      {problem.detail !== problem.title && <p className="mt-1 break-words">{visible(problem.detail)}</p>}
      {problem.errors.length > 0 && (
        <ul className="mt-1 list-disc pl-5 text-sm">
          {problem.errors.map((one) => (
            <li key={one}>{one}</li>
          ))}
        </ul>
      )}
      {note && <p className="mt-1 text-sm">{note}</p>}
      {problem.request && <p className="mt-2 font-mono text-xs text-soft">{problem.request}</p>}
      <div className="mt-3 flex gap-2">
        {retry && (
          <Button icon="refresh" onClick={retry}>
            {t.tryAgain}
          </Button>
        )}
        <Button
          icon="copy"
          tone="quiet"
          onClick={() => {
            void navigator.clipboard.writeText(problem.report());
            setCopied(true);
          }}
        >
          {copied ? t.copied : t.copyProblem}
        </Button>
      </div>
    </div>
  );
}

export interface QueryLike<T> {
  data: T | undefined;
  error: unknown;
  /** How often it has failed. */
  errorUpdateCount?: number;
  isPending: boolean;
  refetch: () => unknown;
}

/** Why a query failed, also while it is asked again: what one reads does not vanish meanwhile. */
function useHeldError({ error, errorUpdateCount = 0 }: QueryLike<unknown>): unknown {
  const held = useRef<unknown>(undefined);
  if (error) held.current = error;
  return error ?? (errorUpdateCount > 0 ? held.current : undefined);
}

/** A query that failed, and whether it is tried again by itself. */
export function FailedQuery({ query }: { query: QueryLike<unknown> }) {
  const error = useHeldError(query);
  if (!error) return null;
  const note = passes(error) ? t.triesAgain : undefined;
  return <Failed error={error} note={note} retry={() => void query.refetch()} />;
}

/** Shows a query as it is: loading, failed, or what came. */
export function Shown<T>({
  query,
  rows,
  children,
}: {
  query: QueryLike<T>;
  rows?: number;
  children: (data: T) => ReactNode;
}) {
  const error = useHeldError(query);
  if (query.data !== undefined) return children(query.data);
  if (isDenied(error)) return <Denied>{asProblem(error).detail}</Denied>;
  if (error) return <FailedQuery query={query} />;
  return <Loading rows={rows} />;
}
