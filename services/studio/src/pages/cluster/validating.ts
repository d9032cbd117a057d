import { useEffect, useReducer, useRef } from "react";
import { asProblem, Problem } from "../../api/problem";
import { readOnce } from "../../api/sse";
import { t } from "../../text";
import { next, PATH, type Run } from "./validation";

export interface Validating {
  run: Run | undefined;
  begin: () => void;
  stop: () => void;
}

const now = () => new Date().toISOString();

function problemOf(error: unknown): Problem {
  const problem = asProblem(error);
  if (problem.status !== 409) return problem;
  const { detail, request, errors, id } = problem;
  return new Problem(409, t.validation.busy, detail, request, errors, id);
}

/** Validates the cluster while the component that uses it is there: the end of the connection ends the run. */
export function useValidation(): Validating {
  const [run, dispatch] = useReducer(next, undefined);
  const current = useRef<AbortController>(undefined);
  useEffect(() => () => current.current?.abort(), []);
  const begin = () => {
    current.current?.abort();
    const leaving = new AbortController();
    current.current = leaving;
    dispatch({ is: "begin", at: now() });
    const reading = readOnce({
      path: PATH,
      method: "POST",
      signal: leaving.signal,
      last: "done",
      onEvent: (event) => dispatch({ is: "event", event, at: now() }),
    });
    void reading.catch((error: unknown) => {
      if (!leaving.signal.aborted) dispatch({ is: "break", problem: problemOf(error), at: now() });
    });
  };
  const stop = () => {
    current.current?.abort();
    dispatch({ is: "stop", at: now() });
  };
  return { run, begin, stop };
}
