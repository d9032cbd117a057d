import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";

const BOX =
  "w-full rounded-md border border-line-strong/60 bg-raised px-2 text-sm text-ink placeholder:text-soft disabled:opacity-60";

interface Around {
  label: string;
  hint?: ReactNode;
  error?: string;
  hideLabel?: boolean;
  className?: string;
}

function Surround({
  label,
  hint,
  error,
  hideLabel,
  className = "",
  id,
  children,
}: Around & { id: string; children: ReactNode }) {
  return (
    <div className={`min-w-0 ${className}`}>
      <label htmlFor={id} className={hideLabel ? "sr-only" : "mb-1 block text-xs font-medium text-soft"}>
        {label}
      </label>
      {children}
      {hint && <p className="mt-1 text-xs text-soft">{hint}</p>}
      {error && (
        <p role="alert" className="mt-1 text-xs text-faulted">
          {error}
        </p>
      )}
    </div>
  );
}

function split<T extends Around>({ label, hint, error, hideLabel, className, ...rest }: T) {
  return { around: { label, hint, error, hideLabel, className }, rest };
}

export function Field(props: Around & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId();
  const { around, rest } = split(props);
  return (
    <Surround id={id} {...around}>
      <input id={id} type="text" autoComplete="off" className={`${BOX} h-8`} {...rest} />
    </Surround>
  );
}

export function TextArea(props: Around & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId();
  const { around, rest } = split(props);
  return (
    <Surround id={id} {...around}>
      <textarea id={id} rows={6} spellCheck={false} className={`${BOX} py-1.5 font-mono`} {...rest} />
    </Surround>
  );
}

interface SelectProps extends Around, SelectHTMLAttributes<HTMLSelectElement> {
  options: readonly (readonly [string, string])[];
}

export function Select({ options, ...props }: SelectProps) {
  const id = useId();
  const { around, rest } = split(props);
  return (
    <Surround id={id} {...around}>
      <select id={id} className={`${BOX} h-8`} {...rest}>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </Surround>
  );
}

export function Check({ label, ...rest }: { label: ReactNode } & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <label className="inline-flex min-h-6 items-center gap-2 text-sm">
      <input type="checkbox" className="size-4 accent-(--accent)" {...rest} />
      {label}
    </label>
  );
}
