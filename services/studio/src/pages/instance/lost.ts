import { Problem } from "../../api/problem";

/** Whether something was there and is not any more: its data came once, and now the server knows nothing of it. */
export function isLost({ data, error }: { data: unknown; error: unknown }): boolean {
  return data !== undefined && error instanceof Problem && error.status === 404;
}
