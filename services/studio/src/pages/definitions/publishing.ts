import type { Api } from "../../api/types";

/** What became of definitions that were to be published. */
export interface Published {
  /** Those that are published now, the ones that were so before among them. */
  done: string[];
  /** Those that are not, each with the reasons; none for one that is not there any more. */
  left: [id: string, reasons: string[]][];
}

/**
 * Publishes definitions. The server takes them one by one: those that use one that comes later are refused at first, so
 * what was refused is sent again for as long as something was published.
 */
export async function publishAll(
  ids: readonly string[],
  send: (ids: string[]) => Promise<Api["Publications"]>,
): Promise<Published> {
  const done: string[] = [];
  const gone: string[] = [];
  let open = [...ids];
  let reasons: Api["Publications"]["problems"] = {};
  for (;;) {
    const answer = await send(open).catch((error: unknown) => {
      // What is published already is told all the same.
      if (done.length === 0) throw error;
    });
    if (!answer) break;
    done.push(...answer.published, ...answer.alreadyPublished);
    gone.push(...answer.notFound);
    open = answer.failed;
    reasons = answer.problems;
    if (open.length === 0 || answer.published.length === 0) break;
  }
  const failed = open.map((id): [string, string[]] => [id, reasons[id] ?? []]);
  return { done, left: [...failed, ...gone.map((id): [string, string[]] => [id, []])] };
}
