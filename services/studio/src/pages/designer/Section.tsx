import type { ReactNode } from "react";

/** A part of the inspector that can be folded. */
export function Section({
  title,
  children,
  isOpen = true,
}: {
  title: string;
  children: ReactNode;
  isOpen?: boolean;
}) {
  return (
    <details open={isOpen} className="border-b border-line px-3 py-2">
      <summary className="cursor-pointer text-xs font-semibold text-soft select-none">{title}</summary>
      <div className="mt-2 space-y-3">{children}</div>
    </details>
  );
}
