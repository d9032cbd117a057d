import type { ReactNode } from "react";
import { useStudio } from "./store";

interface Props {
  className?: string;
  children: ReactNode;
}

/** Fields and buttons that change the definition: off for who may not save it. */
export function Locked({ className = "space-y-3", children }: Props) {
  return (
    <fieldset disabled={useStudio().isLocked} className={`min-w-0 ${className}`}>
      {children}
    </fieldset>
  );
}
