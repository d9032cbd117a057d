import { autocompletion, closeBrackets, type Completion as Offer } from "@codemirror/autocomplete";
import { history } from "@codemirror/commands";
import { javascriptLanguage } from "@codemirror/lang-javascript";
import { json } from "@codemirror/lang-json";
import { bracketMatching, foldGutter, HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, setDiagnostics } from "@codemirror/lint";
import { search } from "@codemirror/search";
import { Annotation, Compartment, EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers, tooltips } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useContext, useEffect, useRef } from "react";
import type { Completion } from "../../../model/scope";
import { StudioContext } from "../store";
import { w } from "../words";
import { keysOf } from "./keys";

const style = HighlightStyle.define([
  { tag: [tags.keyword, tags.bool, tags.null], color: "var(--pending)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--finished)" },
  { tag: tags.number, color: "var(--running)" },
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.comment, color: "var(--soft)" },
]);

export interface Fault {
  offset: number;
  message: string;
}

export interface EditorProps {
  value: string;
  language: string;
  label: string;
  isBig?: boolean;
  completions?: () => readonly Completion[];
  fault?: Fault | undefined;
  /** Where there may be several. */
  faults?: readonly Fault[];
  isReadOnly?: boolean;
  onChange: (text: string) => void;
  onLeave?: () => void;
}

/** Styles inside of the editor's own root, where the policy of the page allows them. */
const theme = EditorView.theme({
  "&": { height: "100%", background: "var(--raised)", color: "var(--ink)", fontSize: "12px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: 'ui-monospace, "Cascadia Mono", Menlo, monospace' },
  ".cm-gutters": { background: "var(--sunken)", color: "var(--soft)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { background: "var(--accent-soft)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-tooltip": { background: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    background: "var(--accent)",
    color: "var(--on-accent)",
  },
  ".cm-panels": { background: "var(--sunken)", color: "var(--ink)", borderColor: "var(--line)" },
  ".cm-panel.cm-search": { padding: "4px 32px 4px 8px", fontFamily: "system-ui", fontSize: "12px" },
  ".cm-textfield": {
    minHeight: "24px",
    background: "var(--raised)",
    color: "var(--ink)",
    border: "1px solid var(--line-strong)",
    borderRadius: "6px",
    fontSize: "12px",
  },
  ".cm-button": {
    minHeight: "24px",
    background: "var(--raised)",
    backgroundImage: "none",
    color: "var(--ink)",
    border: "1px solid var(--line-strong)",
    borderRadius: "6px",
    fontSize: "12px",
  },
  ".cm-panel.cm-search label": {
    fontSize: "12px",
    display: "inline-flex",
    minHeight: "24px",
    alignItems: "center",
  },
  ".cm-panel.cm-search [name=close]": { minWidth: "24px", minHeight: "24px", color: "var(--ink)" },
  ".cm-searchMatch": { background: "var(--accent-soft)", outline: "1px solid var(--accent)" },
  ".cm-searchMatch-selected": { background: "var(--raised)", outline: "2px solid var(--accent)" },
  ".cm-completionDetail": { marginLeft: "1em", fontStyle: "normal" },
});

/** The browser would keep the colour of replaced text as a style, which the policy of the page forbids. */
const replacing = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { from, to, empty } = view.state.selection.main;
    const text = event.data;
    if (event.inputType !== "insertText" || !text || empty || view.composing) return false;
    event.preventDefault();
    const plain = () => view.state.update(view.state.replaceSelection(text), { userEvent: "input.type" });
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some((handle) => handle(view, from, to, text, plain))) view.dispatch(plain());
    return true;
  },
});

const KIND = { variable: "variable", input: "property", output: "constant", function: "function" } as const;

function offersOf(completions: (() => readonly Completion[]) | undefined, isBraced: boolean): Extension {
  return autocompletion({
    override: [
      (context) => {
        const word = context.matchBefore(/[\w.]*/);
        if (!word || (word.from === word.to && !context.explicit)) return null;
        if (isBraced && !/\{[{%][^}]*$/.test(context.state.sliceDoc(0, context.pos))) return null;
        const options = (completions?.() ?? []).map(
          ({ label, type, kind }): Offer => ({
            label,
            detail: type,
            type: KIND[kind],
            boost: kind === "function" ? -1 : 0,
          }),
        );
        return { from: word.from, options };
      },
    ],
  });
}

function languageOf(language: string): Extension {
  if (language === "json" || language === "Object" || language === "Json") return json();
  return language === "JavaScript" ? javascriptLanguage : [];
}

/** YAML loads when it is needed; until then, and where it cannot be loaded, the text has no colours. */
async function addYaml(editor: EditorView, place: Compartment): Promise<void> {
  const found = await import("./yaml").catch(() => undefined);
  if (found && place.get(editor.state)) editor.dispatch({ effects: place.reconfigure(found.yaml()) });
}

const Outer = Annotation.define<boolean>();

/** A text editor for code. It loads when it is needed. */
export default function Editor(props: EditorProps) {
  const box = useRef<HTMLDivElement>(null);
  const after = useRef<HTMLSpanElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const { language, isBig, label, value, fault, faults } = props;
  const isLocked = useContext(StudioContext)?.isLocked ?? false;
  const isReadOnly = props.isReadOnly || isLocked;
  useEffect(() => {
    if (!box.current) return;
    const place = new Compartment();
    const root = box.current.shadowRoot ?? box.current.attachShadow({ mode: "open" });
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          history(),
          bracketMatching(),
          closeBrackets(),
          syntaxHighlighting(style),
          theme,
          replacing,
          tooltips({ position: "fixed", parent: root as unknown as HTMLElement }),
          EditorView.lineWrapping,
          place.of(languageOf(language)),
          isBig
            ? [
                lineNumbers(),
                foldGutter(),
                highlightActiveLine(),
                search({ top: true }),
                EditorState.phrases.of(w.searchWords),
              ]
            : [],
          offersOf(() => latest.current.completions?.() ?? [], language === "Liquid"),
          EditorState.readOnly.of(isReadOnly),
          keymap.of(
            keysOf({
              isBig: isBig ?? false,
              isReadOnly,
              leave: () => after.current?.focus(),
            }),
          ),
          EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !update.transactions.some((one) => one.annotation(Outer))) {
              latest.current.onChange(update.state.doc.toString());
            }
            if (update.focusChanged && !update.view.hasFocus) latest.current.onLeave?.();
          }),
        ],
      }),
    });
    view.current = editor;
    if (language === "yaml") void addYaml(editor, place);
    return () => editor.destroy();
  }, [language, isBig, isReadOnly, label]);
  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    editor.dispatch({
      changes: { from: 0, to: editor.state.doc.length, insert: value },
      annotations: Outer.of(true),
    });
  }, [value]);
  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const { doc } = editor.state;
    const found = (faults ?? (fault ? [fault] : [])).map(({ offset, message }): Diagnostic => {
      const line = doc.lineAt(Math.min(offset, doc.length));
      return { from: line.from, to: line.to, severity: "error", message };
    });
    editor.dispatch(setDiagnostics(editor.state, found));
  }, [fault, faults]);
  return (
    <div className={`min-w-0 ${isBig ? "flex h-full flex-col" : ""}`}>
      <div
        ref={box}
        className={`code-host min-w-0 bg-raised ${isBig ? "min-h-0 flex-1 overflow-hidden" : "max-h-64 overflow-auto min-h-8 resize-y rounded-md border border-line-strong/60"}`}
      />
      {isBig && !isReadOnly && <p className="shrink-0 px-3 py-0.5 text-xs text-soft">{w.codeHint}</p>}
      <span ref={after} tabIndex={-1} className="sr-only px-1 text-xs text-soft focus:not-sr-only">
        {w.leftCode(label)}
      </span>
    </div>
  );
}
