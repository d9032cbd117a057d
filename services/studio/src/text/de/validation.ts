import type { Text } from "..";

export const validation: Text["validation"] = {
  tab: "Prüfen",
  title: "Diesen Cluster prüfen",
  what: "Eine Prüfung startet etwa eine Minute lang einige hundert kleine Workflows, über jeden Knoten. Ihre Namen beginnen mit validate-, und am Ende werden alle entfernt.",
  load: "Währenddessen nimmt sie einen Teil der Leistung des Clusters.",
  spares:
    "Sie beendet keine Knoten und startet keine neu: Was das braucht, wird ausgelassen. staunch validate --local 3 prüft es, auf eigenen Knoten.",
  begin: "Prüfung beginnen",
  again: "Noch einmal prüfen",
  stop: "Beenden",
  leaving:
    "Die Prüfung endet, wenn Sie diese Seite verlassen oder schließen. Die anderen Reiter dieser Seite dürfen Sie öffnen.",
  run: (name) => `Prüfung ${name}`,
  asking: "Fragt die Knoten",
  nodes: "Über",
  executors: "Workflows laufen auf",
  time: "Zeit",
  doing: "Aktueller Schritt",
  list: "Teile und was in ihnen geprüft wird",
  parts: {
    "1 distributed runtime": "1 Verteilte Ausführung",
    "2 scheduled tasks": "2 Geplante Aufgaben",
    "3 cache invalidation": "3 Erneuern der Caches",
    "4 failover": "4 Ausfall eines Knotens",
    "5 high availability": "5 Hochverfügbarkeit",
    "6 distributed lock": "6 Verteilte Sperre",
    cleanup: "Aufräumen",
  },
  states: {
    pending: "Steht an",
    running: "Läuft",
    ok: "Bestanden",
    failed: "Nicht bestanden",
    skipped: "Ausgelassen",
    unfinished: "Nicht vollständig",
    untouched: "Nicht geprüft",
    handed: "Durch den Server",
  },
  counted: (passed, failed, skipped) =>
    `${passed} bestanden, ${failed} nicht bestanden, ${skipped} ausgelassen`,
  passed: "Der Cluster hat bestanden.",
  failed: "Der Cluster hat nicht bestanden.",
  failedChecks: "Nicht bestanden",
  stopped: "Sie haben die Prüfung beendet.",
  ended: "Der Server hat die Prüfung beendet.",
  busy: "Eine Prüfung läuft schon.",
  unreadable: "Das Ergebnis ist nicht lesbar.",
  unreadableDetail: "Der Server sandte ein Ende der Prüfung, das diese Seite nicht versteht.",
  noVerdict: "Es gibt kein Ergebnis. Unten steht, was bis dahin zu sehen war.",
  removing: "Der Server entfernt jetzt, was die Prüfung angelegt hat.",
  remains: (name) =>
    `Was die Prüfung angelegt hat, ist vielleicht noch da. Die Namen ihrer Definitionen beginnen mit ${name}.`,
  announce: {
    asking: "Die Prüfung beginnt.",
    at: (part, failed) =>
      failed === 0 ? `Prüfung: ${part}.` : `Prüfung: ${part}. Bisher nicht bestanden: ${failed}.`,
    broken: (why) => `Die Prüfung ist nicht vollständig: ${why}`,
  },
};
