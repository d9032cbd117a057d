import { ROOT } from "./base";
import { expiryOf, personOf, type Session } from "./session";

/**
 * The tabs of one browser hand their session on: a new tab asks those that are open, and what one of them renews or ends
 * holds for all of the same person. It goes from tab to tab, and is written down nowhere but in the store of each tab.
 */
export interface Tabs {
  /** The session that other tabs have, of this person where one is named; nothing where they are of several. */
  ask: (person?: string) => Promise<Session | undefined>;
  renewed: (next: Session) => void;
  out: (person: string) => void;
}

/** What a tab does with its session. */
export interface Keeper {
  current: () => Session;
  isRefused: () => boolean;
  adopt: (next: Session) => void;
  leave: () => void;
}

type Message =
  | { is: "ask"; from: string }
  | { is: "answer"; to: string; session: Session }
  | { is: "renewed"; session: Session }
  | { is: "out"; person: string };

export type Channel = Pick<BroadcastChannel, "postMessage" | "onmessage">;

/** The longest that a tab waits for the first answer, and after that for those of others. */
const WAIT_MS = 300;
const MORE_MS = 50;

/** The one session that counts longest, where all are of one person. */
export function chosenOf(answers: readonly Session[], person?: string): Session | undefined {
  const fit = answers.filter((one) => person === undefined || personOf(one) === person);
  if (new Set(fit.map(personOf)).size !== 1) return undefined;
  return fit.reduce((one, other) => (expiryOf(other) > expiryOf(one) ? other : one));
}

export function connect(channel: Channel, keeper: Keeper): Tabs {
  const asking = new Map<string, (answer: Session) => void>();
  const say = (message: Message) => channel.postMessage(message);

  const hear = (message: Message): void => {
    const mine = keeper.current();
    if (message.is === "ask") {
      if (mine.kind !== "none" && !keeper.isRefused()) say({ is: "answer", to: message.from, session: mine });
    } else if (message.is === "answer") asking.get(message.to)?.(message.session);
    else if (mine.kind === "none") return;
    else if (message.is === "out") {
      if (message.person === personOf(mine)) keeper.leave();
    } else if (personOf(message.session) === personOf(mine) && expiryOf(message.session) >= expiryOf(mine))
      keeper.adopt(message.session);
  };
  channel.onmessage = ({ data }: MessageEvent<Message>) => hear(data);

  return {
    ask: (person) =>
      new Promise((resolve) => {
        const from = `${Date.now()} ${Math.random()}`;
        const answers: Session[] = [];
        const end = () => {
          asking.delete(from);
          resolve(chosenOf(answers, person));
        };
        let timer = setTimeout(end, WAIT_MS);
        asking.set(from, (answer) => {
          answers.push(answer);
          if (answers.length > 1) return;
          clearTimeout(timer);
          timer = setTimeout(end, MORE_MS);
        });
        say({ is: "ask", from });
      }),
    renewed: (session) => say({ is: "renewed", session }),
    out: (person) => say({ is: "out", person }),
  };
}

/** Until it is connected, a tab is alone. */
export let tabs: Tabs = { ask: async () => undefined, renewed: () => undefined, out: () => undefined };

export function watchTabs(keeper: Keeper): void {
  tabs = connect(new BroadcastChannel(`staunch.session ${ROOT}`), keeper);
}
