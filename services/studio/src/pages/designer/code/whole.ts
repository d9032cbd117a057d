import { isMembers, NotJson, readText } from "../../../model/json";
import { w } from "../words";

export interface TextFault {
  offset: number;
  line: number;
  column: number;
  message: string;
}

/** Reads a text that is to be a definition. */
function checked(text: string): void {
  const doc = readText(text);
  if (!isMembers(doc)) throw new NotJson({ is: "jsonObject" }, 0, 1, 1);
  const { root } = doc;
  // A definition that is not finished has no root; one of another kind would empty the graph.
  if (root !== undefined && root !== null && !isMembers(root)) throw new NotJson({ is: "jsonRoot" }, 0, 1, 1);
}

/** Why a text is no definition, and where. */
export function faultIn(text: string): TextFault | undefined {
  try {
    checked(text);
    return undefined;
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    const { offset, line, column, reason } = error;
    return { offset, line, column, message: w.reason(reason) };
  }
}
