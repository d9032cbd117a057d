export interface Throttled {
  /** Asks for a run. */
  (): void;
  /** Drops the run that is due. A later call begins anew. */
  stop(): void;
}

/**
 * Runs at once, then again at the end of each pause in which it was asked for. A run that takes longer than the
 * pause ends before the next one begins.
 */
export function throttle(run: () => unknown, pauseMs: number): Throttled {
  let isAsked = false;
  let pause: ReturnType<typeof setTimeout> | undefined;
  let turn = 0;

  function begin(): void {
    isAsked = false;
    turn += 1;
    const own = turn;
    let open = 2;
    const over = () => {
      open -= 1;
      if (open > 0 || own !== turn) return;
      pause = undefined;
      if (isAsked) begin();
    };
    pause = setTimeout(over, pauseMs);
    let work: unknown;
    try {
      work = run();
    } finally {
      if (work instanceof Promise) work.then(over, over);
      else over();
    }
  }

  const ask = () => {
    if (pause === undefined) begin();
    else isAsked = true;
  };
  ask.stop = () => {
    clearTimeout(pause);
    pause = undefined;
    isAsked = false;
    turn += 1;
  };
  return ask;
}
