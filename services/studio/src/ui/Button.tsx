import type { ButtonHTMLAttributes, ReactNode } from "react";
import { Icon, type IconName } from "./Icon";

export type Tone = "plain" | "main" | "danger" | "quiet";

const TONES: Record<Tone, string> = {
  plain: "border-line-strong/50 bg-raised hover:bg-sunken",
  main: "border-accent bg-accent text-on-accent hover:brightness-110",
  danger: "border-faulted bg-raised text-faulted hover:bg-faulted hover:text-raised",
  quiet: "border-transparent hover:bg-sunken",
};

/** A long word wraps where the window is narrow for the size of the text. */
const NARROW = "max-[20rem]:h-auto max-[20rem]:min-h-8 max-[20rem]:max-w-full max-[20rem]:whitespace-normal";

export const buttonClass = (tone: Tone = "plain") =>
  `inline-flex h-8 items-center justify-center gap-1.5 rounded-md border px-2.5 text-sm font-medium whitespace-nowrap disabled:opacity-45 disabled:pointer-events-none ${NARROW} ${TONES[tone]}`;

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  tone?: Tone;
  icon?: IconName;
  /** The name of a button that shows its icon only. */
  label?: string;
  busy?: boolean;
  children?: ReactNode;
}

export function Button({ tone, icon, label, busy, children, className = "", disabled, ...rest }: Props) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      aria-busy={busy || undefined}
      data-danger={tone === "danger" || undefined}
      disabled={disabled || busy}
      className={`${buttonClass(tone)} ${children ? "" : "w-8 !px-0"} ${className}`}
      {...rest}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
