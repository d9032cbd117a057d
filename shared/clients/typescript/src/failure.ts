/** A failure as a handler means it. */

export interface FailureOptions {
  type?: string;
  detail?: string;
  status?: number;
  retryable?: boolean;
  /** The least number of seconds before the next attempt. */
  retryAfter?: number;
}

/** A failure as the handler means it; any other error is a failure that is tried again. */
export class TaskFailure extends Error {
  constructor(readonly title: string, readonly options: FailureOptions = {}) {
    super(title);
  }
}
