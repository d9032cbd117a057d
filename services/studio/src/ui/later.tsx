import { type ComponentType, type ReactNode, useEffect, useState } from "react";
import { Problem } from "../api/problem";
import { t } from "../text";
import { Failed, Loading } from "./States";

interface Source<P> {
  loaded?: ComponentType<P>;
  load: () => Promise<ComponentType<P>>;
  meanwhile: (props: P) => ReactNode;
}

async function loading<P>(source: Source<P>): Promise<ComponentType<P>> {
  source.loaded ??= await source.load();
  return source.loaded;
}

function Later<P extends object>({ source, props }: { source: Source<P>; props: P }) {
  const [Part, setPart] = useState(() => source.loaded);
  const [error, setError] = useState<unknown>();
  const [tries, setTries] = useState(1);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each try loads again
  useEffect(() => {
    let isLeft = false;
    loading(source).then(
      (part) => !isLeft && setPart(() => part),
      (failure) => !isLeft && setError(failure),
    );
    return () => {
      isLeft = true;
    };
  }, [source, tries]);
  if (Part) return <Part {...props} />;
  if (error === undefined) return source.meanwhile(props);
  const again = () => {
    setError(undefined);
    setTries(tries + 1);
  };
  return <Failed error={notLoaded(error)} retry={again} />;
}

/**
 * A component whose code is loaded when it is shown. While the code cannot be loaded, the component says so and
 * offers to try again; what stands around it stays as it is. (`React.lazy` would keep the failure for good.)
 */
export function later<P extends object>(
  load: Source<P>["load"],
  meanwhile: Source<P>["meanwhile"] = () => <Loading />,
) {
  const source: Source<P> = { load, meanwhile };
  /** Loads the code before it is needed. A failure is not reported: the component tries again. */
  const preload = async () => void (await loading(source).catch(() => undefined));
  return Object.assign((props: P) => <Later source={source} props={props} />, { preload });
}

function notLoaded(error: unknown): Problem {
  const why = error instanceof Error ? error.message : String(error);
  return new Problem(0, t.problem.notLoaded, t.problem.unreachableDetail, why);
}

type Preload = () => Promise<unknown> | undefined;

const idle = () =>
  new Promise<void>((resolve) => {
    // Safari has no such callback.
    if (typeof requestIdleCallback === "function") requestIdleCallback(() => resolve());
    else setTimeout(resolve, 1000);
  });

/** Loads code that may be needed soon, one part after the other, while the browser has nothing else to do. */
export async function preloadWhenIdle(parts: readonly Preload[]): Promise<void> {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (connection?.saveData) return;
  for (const preload of parts) {
    await idle();
    await preload();
  }
}
