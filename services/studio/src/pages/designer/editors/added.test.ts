import { afterEach, expect, it, vi } from "vitest";
import { focusAdded } from "./added";

afterEach(() => vi.unstubAllGlobals());

it("what is typed after a row was added goes into its first field, once it is drawn", () => {
  class Input {
    focus = vi.fn();
    select = vi.fn();
  }
  vi.stubGlobal("HTMLInputElement", Input);
  let draw: () => void = () => undefined;
  vi.stubGlobal("requestAnimationFrame", (then: () => void) => {
    draw = then;
  });
  const fields = [new Input()];
  const button = { closest: () => ({ querySelectorAll: () => fields }) } as unknown as HTMLElement;
  focusAdded(button);
  fields.push(new Input());
  draw();
  expect(fields.map(({ focus }) => focus.mock.calls.length)).toEqual([0, 1]);
  expect(fields[1]?.select).toHaveBeenCalledOnce();
});
