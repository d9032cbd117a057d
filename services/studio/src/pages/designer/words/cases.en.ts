export const cases = {
  title: "Tests of this workflow",
  none: "This workflow has no tests yet.",
  noneNote:
    "Start a test run and save it as a test, or import a test file. Tests are saved with the workflow, and run as staunch test runs them.",
  runAll: "Run all",
  run: (name: string) => `Run ${name}`,
  edit: (name: string) => `Edit ${name}`,
  remove: (name: string) => `Delete ${name}`,
  editAll: "Edit as text",
  /** Of those that were run as they are. */
  passed: (passed: number, all: number) => `${passed} of ${all} pass`,
  pass: "Passed",
  fail: "Failed",
  old: "Changed since it ran",
  notRun: "Not run",
  differs: (name: string) => `What differs in ${name}`,
  refused: "The tests were refused, so there is no result.",
  import: "Import",
  importNote: "A test file, or a definition with tests, takes the place of all tests here. It can be undone.",
  importBad: (file: string, flaws: readonly string[]) =>
    `${file} is no test file, so nothing was changed. ${flaws.join("; ")}`,
  archive: "It is an archive: import a file that is in it.",
  testless: "It is a definition that has no tests with it.",
  /** After an edit. */
  deleted: (count: number) =>
    count === 1
      ? "1 test is deleted. Undo brings it back."
      : `${count} tests are deleted. Undo brings them back.`,
  imported: (count: number) => (count === 1 ? "1 test imported" : `${count} tests imported`),
  export: "Export",
  command: "Run the exported file in a terminal, beside the export of its definition",
  save: "Save as test",
  saveNote:
    "The test gets the input, answers and pinned results of this run, and expects what it did: status, outputs, lines, waits and incident. It begins at a fixed time, and secrets have made-up values.",
  name: "Name",
  taken: "A test has this name already.",
  saved: (name: string) => `${name} is saved with the next save of the workflow.`,
  text: "Test file",
  textNote: "As in a file of staunch test. Other members of the file are under Edit as text.",
  textAll: "As in a file of staunch test, with what all tests share.",
  flaw: (line: number, column: number, message: string) => `Line ${line}, column ${column}: ${message}`,
  only: (names: readonly string[]) =>
    `Only tests belong here: ${names.join(", ")} is for all tests, and is written under Edit as text.`,
  clash: (names: readonly string[]) => `Other tests have this name already: ${names.join(", ")}.`,
  apply: "Apply",
  cancel: "Cancel",
  /** What undo calls it. */
  did: { add: "Save as test", edit: "Edit tests", remove: "Delete a test", import: "Import tests" },
  /** The name of a test before one types another. */
  newName: "Test run",
};
