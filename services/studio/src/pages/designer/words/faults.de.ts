import type { Fault } from "../../../model/problems";
import type { Reason } from "../../../model/reasons";

/** The box of the inspector that the server calls `canStartWorkflow`. */
export const canStart = "Startet den Workflow";

/** What the server says, with the words of the page beside its own. */
const said = (message: string): string =>
  message.replace("set canStartWorkflow", `set "${canStart}" (canStartWorkflow)`);

const FIELDS = {
  second: "Sekunde",
  minute: "Minute",
  hour: "Stunde",
  "day of month": "Tag des Monats",
  month: "Monat",
  "day of week": "Wochentag",
};

export function reason(one: Reason): string {
  switch (one.is) {
    case "cronValue":
      return `${one.text} liegt für das Feld ${FIELDS[one.field]} nicht zwischen ${one.from} und ${one.to}`;
    case "cronStep":
      return `/${one.text} ist keine Schrittweite für das Feld ${FIELDS[one.field]}`;
    case "cronOrder":
      return `${one.text} endet, bevor es beginnt`;
    case "cronFields":
      return "ein Cron-Ausdruck hat 5 Felder, oder 6 mit Sekunden";
    case "jsonEnd":
      return "der Text endet zu früh";
    case "jsonValue":
      return "hier fehlt ein Wert";
    case "jsonString":
      return "diese Zeichenkette hat kein Ende";
    case "jsonEscape":
      return "ein Zeichen dieser Zeichenkette muss maskiert werden";
    case "jsonName":
      return "hier fehlt der Name eines Elements";
    case "jsonRest":
      return "hier darf nichts mehr stehen";
    case "jsonObject":
      return "eine Definition ist ein Objekt";
    case "jsonRoot":
      return "root muss eine Aktivität sein, also ein Objekt";
    case "jsonSign":
      return `hier fehlt ${one.signs.map((sign) => `„${sign}“`).join(" oder ")}`;
    case "textEnd":
      return `Zeile ${one.line}, Spalte ${one.column}: Dieser Text hat kein Ende`;
    case "scriptEnd":
      return `Zeile ${one.line}, Spalte ${one.column}: Das Skript endet zu früh`;
    case "notOpened":
      return `Zeile ${one.line}, Spalte ${one.column}: Nichts öffnet dieses ${one.sign}`;
    case "notClosed":
      return `Zeile ${one.line}, Spalte ${one.column}: Nichts schließt dieses ${one.sign}`;
    case "noPartner":
      return `Zeile ${one.line}, Spalte ${one.column}: ${one.sign} hat kein Gegenstück`;
  }
}

const KINDS = {
  number: "keine Zahl",
  whole: "keine ganze Zahl",
  boolean: "weder true noch false",
  span: "keine Zeitspanne wie 00:05:00",
  time: "kein Zeitpunkt wie 2026-01-31T08:00:00Z",
  guid: "keine eindeutige Id",
  status: "kein Statuscode: Es gibt die von 100 bis 599",
};

const CHOSEN = { variable: "keine Variable", input: "keine Eingabe", secret: "kein Geheimnis" };

const DECLARED = { variable: "Variablen", input: "Eingaben", output: "Ausgaben" };

export function fault(one: Fault): string {
  switch (one.is) {
    case "type":
      return `Dieser Server kennt den Aktivitätstyp ${one.type} nicht. Importieren Sie, was ihn anbietet, oder entfernen Sie die Aktivität.`;
    case "double":
      return `Eine andere Aktivität hat die Id ${one.id}. Jede braucht eine eigene.`;
    case "line":
      return `Eine Linie von ${one.from || "nirgends"} nach ${one.to || "nirgends"} endet außerhalb dieses Flussdiagramms.`;
    case "outcome":
      return `Eine Linie beginnt am Ergebnis ${one.outcome}, das diese Aktivität nicht hat. Sie hat: ${one.outcomes.join(", ") || "keines"}.`;
    case "unreached":
      return "Diese Aktivität läuft nie: Keine Linie führt vom Anfang zu ihr.";
    case "literal":
      return `${one.input}: „${one.value}“ ist ${KINDS[one.fault]}.`;
    case "json":
      return `${one.input}: Das ist kein JSON. ${reason(one.reason)}`;
    case "cron":
      return `Cron-Ausdruck: ${reason(one.reason)}.`;
    case "syntax":
      return `${one.input}: ${reason(one.reason)}.`;
    case "variable":
      return `${one.input}: Hier gibt es keine Variable ${one.name}.`;
    case "input":
      return `${one.input}: Der Workflow hat keine Eingabe ${one.name}.`;
    case "unchosen":
      return `${one.input}: Es ist ${CHOSEN[one.what]} gewählt.`;
    case "name":
      return `Zwei ${DECLARED[one.kind]} heißen ${one.name}.`;
    case "empty":
      return "Der Workflow hat noch keine Aktivitäten.";
    case "server":
      return one.input ? `${one.input}: ${said(one.message)}` : said(one.message);
    case "more":
      return "Der Server hat mehr Probleme gefunden, als er nennt.";
  }
}
