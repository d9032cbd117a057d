import { completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, historyKeymap, indentWithTab } from "@codemirror/commands";
import { foldKeymap } from "@codemirror/language";
import { searchKeymap } from "@codemirror/search";
import type { KeyBinding } from "@codemirror/view";

interface Kind {
  isBig: boolean;
  isReadOnly: boolean;
  leave: () => void;
}

/**
 * The keys of an editor. Tab goes on to the next field, but indents in a big editor. Esc first closes what is
 * open, and takes back what is selected; then it leaves the editor.
 */
export function keysOf({ isBig, isReadOnly, leave }: Kind): readonly KeyBinding[] {
  return [
    ...completionKeymap,
    ...defaultKeymap,
    ...historyKeymap,
    ...foldKeymap,
    ...(isBig ? searchKeymap : []),
    ...(isBig && !isReadOnly ? [indentWithTab] : []),
    {
      key: "Escape",
      run: () => {
        leave();
        return true;
      },
    },
  ];
}
