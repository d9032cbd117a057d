import type { cases as english } from "./cases.en";

export const cases: typeof english = {
  title: "Tests dieses Workflows",
  none: "Dieser Workflow hat noch keine Tests.",
  noneNote:
    "Starten Sie einen Testlauf und speichern Sie ihn als Test, oder importieren Sie eine Testdatei. Tests werden mit dem Workflow gespeichert und laufen wie bei staunch test.",
  runAll: "Alle ausführen",
  run: (name) => `${name} ausführen`,
  edit: (name) => `${name} bearbeiten`,
  remove: (name) => `${name} löschen`,
  editAll: "Als Text bearbeiten",
  passed: (passed, all) => `${passed} von ${all} bestanden`,
  pass: "Bestanden",
  fail: "Nicht bestanden",
  old: "Seit dem Lauf geändert",
  notRun: "Nicht gelaufen",
  differs: (name) => `Was in ${name} abweicht`,
  refused: "Die Tests wurden abgelehnt, es gibt kein Ergebnis.",
  import: "Importieren",
  importNote:
    "Eine Testdatei oder eine Definition mit Tests ersetzt alle Tests hier. Das lässt sich rückgängig machen.",
  importBad: (file, flaws) => `${file} ist keine Testdatei, nichts wurde geändert. ${flaws.join("; ")}`,
  archive: "Es ist ein Archiv: Importieren Sie eine Datei daraus.",
  testless: "Es ist eine Definition, die keine Tests bei sich hat.",
  deleted: (count) =>
    count === 1
      ? "1 Test ist gelöscht. Rückgängig bringt ihn zurück."
      : `${count} Tests sind gelöscht. Rückgängig bringt sie zurück.`,
  imported: (count) => (count === 1 ? "1 Test importiert" : `${count} Tests importiert`),
  export: "Exportieren",
  command: "Die exportierte Datei im Terminal ausführen, neben dem Export ihrer Definition",
  save: "Als Test speichern",
  saveNote:
    "Der Test bekommt Eingabe, Antworten und feste Ergebnisse dieses Laufs und erwartet, was er tat: Status, Ausgaben, Zeilen, Wartendes und Vorfall. Er beginnt zu einer festen Zeit, und Geheimnisse haben erfundene Werte.",
  name: "Name",
  taken: "Ein Test hat diesen Namen schon.",
  saved: (name) => `${name} wird mit dem Workflow gespeichert.`,
  text: "Testdatei",
  textNote: "Wie in einer Datei von staunch test. Anderes aus der Datei steht unter „Als Text bearbeiten“.",
  textAll: "Wie in einer Datei von staunch test, mit dem, was alle Tests gemeinsam haben.",
  flaw: (line, column, message) => `Zeile ${line}, Spalte ${column}: ${message}`,
  only: (names) =>
    `Hierher gehören nur Tests: ${names.join(", ")} gilt für alle und steht unter „Als Text bearbeiten“.`,
  clash: (names) => `Andere Tests haben diesen Namen schon: ${names.join(", ")}.`,
  apply: "Übernehmen",
  cancel: "Abbrechen",
  did: {
    add: "Als Test speichern",
    edit: "Tests bearbeiten",
    remove: "Test löschen",
    import: "Tests importieren",
  },
  newName: "Testlauf",
};
