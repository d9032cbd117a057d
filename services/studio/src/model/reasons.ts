/** Why a text cannot be read, as a value: the page says it in words. */
export type Reason =
  | { is: "cronValue"; text: string; field: CronField; from: number; to: number }
  | { is: "cronStep"; text: string; field: CronField }
  | { is: "cronOrder"; text: string }
  | { is: "cronFields" }
  | {
      is:
        | "jsonEnd"
        | "jsonValue"
        | "jsonString"
        | "jsonEscape"
        | "jsonName"
        | "jsonRest"
        | "jsonObject"
        | "jsonRoot";
    }
  | { is: "jsonSign"; signs: readonly string[] }
  | ({ is: "textEnd" | "scriptEnd" } & Place)
  | ({ is: "notOpened" | "notClosed" | "noPartner"; sign: string } & Place);

/** A place in a text, as a person counts. */
interface Place {
  line: number;
  column: number;
}

export type CronField = "second" | "minute" | "hour" | "day of month" | "month" | "day of week";
