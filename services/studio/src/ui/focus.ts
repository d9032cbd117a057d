/** What can have the focus by Tab. The focus never comes by itself to what removes something. */
const STOPS =
  'a[href], button:not(:disabled, [data-danger]), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), summary, [tabindex]:not([tabindex="-1"])';

/** How long what was pressed may take to put the focus somewhere itself. */
const PATIENCE_MS = 80;

/** A part of the page, and which of its children led to what has the focus. */
export interface Step<E = Element> {
  part: E;
  at: number;
}

/** The way from what has the focus up to the page, so that it is known when the lowest part of it is gone. */
function wayTo(element: Element): Step[] {
  const way: Step[] = [];
  for (let child = element, part = child.parentElement; part; child = part, part = part.parentElement)
    way.push({ part, at: [...part.children].indexOf(child) });
  return way;
}

interface Looks<E> {
  isThere: (part: E) => boolean;
  /** It takes the focus as a whole: a list that scrolls, a panel, the page. */
  isWhole: (part: E) => boolean;
  /** What can have the focus within one of its children. */
  stopsIn: (part: E, child: number) => E[];
  children: (part: E) => number;
}

/**
 * Who takes the focus of what is gone: of the nearest part that is still there, what stands at its place, or else what
 * is before it, or else that part as a whole.
 */
export function heirOf<E>(
  way: readonly Step<E>[],
  { isThere, isWhole, stopsIn, children }: Looks<E>,
): E | undefined {
  for (const { part, at } of way) {
    if (!isThere(part)) continue;
    for (let child = Math.max(at, 0); child < children(part); child += 1) {
      const [first] = stopsIn(part, child);
      if (first) return first;
    }
    for (let child = Math.min(at, children(part)) - 1; child >= 0; child -= 1) {
      const last = stopsIn(part, child).at(-1);
      if (last) return last;
    }
    if (isWhole(part)) return part;
  }
  return undefined;
}

const isSeen = (element: Element) => element.getClientRects().length > 0;

const looks: Looks<Element> = {
  isThere: (part) => part.isConnected,
  isWhole: (part) => part.hasAttribute("tabindex"),
  stopsIn: (part, at) => {
    const child = part.children[at];
    if (!child) return [];
    return [...(child.matches(STOPS) ? [child] : []), ...child.querySelectorAll(STOPS)].filter(isSeen);
  },
  children: (part) => part.children.length,
};

/** Who takes the focus of an element that has it now, once that is gone. */
export function heirFor(element: Element | null): () => Element | undefined {
  const way = element && element !== document.body ? wayTo(element) : [];
  return () => heirOf(way, looks);
}

/**
 * Where what has the focus is taken away, or can be used no more, what is nearest to it takes the focus: without one,
 * the next Tab would begin at the top of the page. What puts the focus somewhere by itself comes first.
 */
export function keepFocus(): () => void {
  let last: Element | undefined;
  let way: Step[] = [];
  let path = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const isNowhere = () => document.activeElement === document.body || document.activeElement === null;
  const isUsable = (element: Element) => element.isConnected && !element.matches(":disabled");
  const into = ({ target }: FocusEvent) => {
    if (!(target instanceof Element)) return;
    last = target;
    way = wayTo(target);
    path = location.pathname;
  };
  const out = ({ target }: FocusEvent) => {
    const left = target;
    // What is taken away loses the focus before it is gone.
    queueMicrotask(() => {
      if (left === last && left instanceof Element && isUsable(left) && isNowhere()) last = undefined;
    });
  };
  const give = () => {
    timer = undefined;
    // The designer takes keys wherever the focus is, and puts it on its canvas itself.
    if (!last || !isNowhere() || !document.hasFocus() || document.getElementById("designer-canvas")) return;
    // What works comes back.
    if (last.isConnected && last.getAttribute("aria-busy") === "true") return;
    if (isUsable(last)) {
      if (last instanceof HTMLElement) last.focus({ preventScroll: true });
      return;
    }
    const page = document.getElementById("page");
    // Another page begins at its top.
    const heir = (path === location.pathname && heirOf(way, looks)) || page;
    if (heir instanceof HTMLElement) heir.focus({ preventScroll: true });
  };
  const watch = new MutationObserver(() => {
    if (last && timer === undefined && (isNowhere() || !isUsable(last)))
      timer = setTimeout(give, PATIENCE_MS);
  });
  document.addEventListener("focusin", into);
  document.addEventListener("focusout", out);
  watch.observe(document.body, {
    childList: true,
    subtree: true,
    attributes: true,
    attributeFilter: ["disabled", "aria-busy"],
  });
  return () => {
    clearTimeout(timer);
    document.removeEventListener("focusin", into);
    document.removeEventListener("focusout", out);
    watch.disconnect();
  };
}
