import type { Json } from "./json";

/** What the server says about activity types, as far as the model needs it. */
export interface InputType {
  name: string;
  typeName: string;
  displayName: string;
  description?: string | null;
  category?: string | null;
  order: number;
  isBrowsable: boolean;
  isReadOnly: boolean;
  isSensitive: boolean;
  isWrapped: boolean;
  uiHint: string;
  uiSpecifications: unknown;
  defaultValue?: unknown;
  defaultSyntax: string;
  options?: string[] | null;
}

export interface OutputType {
  name: string;
  typeName: string;
  displayName: string;
  description?: string | null;
  isBrowsable: boolean;
}

export interface PortType {
  name: string;
  displayName: string;
  type: string;
  isBrowsable: boolean;
}

export interface ActivityType {
  typeName: string;
  name: string;
  version: number;
  category: string;
  displayName: string;
  description?: string | null;
  kind: string;
  isContainer: boolean;
  isBrowsable: boolean;
  isStart: boolean;
  isTerminal: boolean;
  inputs: InputType[];
  outputs: OutputType[];
  ports: PortType[];
  constructionProperties: unknown;
}

/** Types by name: the newest version unless another one is asked for. */
export class Types {
  private static made = 0;
  /** Another number for each set of types. */
  readonly number = ++Types.made;
  private readonly newest = new Map<string, ActivityType>();
  private readonly exact = new Map<string, ActivityType>();

  constructor(readonly all: readonly ActivityType[]) {
    for (const type of all) {
      this.exact.set(`${type.typeName} ${type.version}`, type);
      const known = this.newest.get(type.typeName);
      if (!known || known.version < type.version) this.newest.set(type.typeName, type);
    }
  }

  get(typeName: string, version?: Json): ActivityType | undefined {
    return this.exact.get(`${typeName} ${String(version)}`) ?? this.newest.get(typeName);
  }

  /** What a palette shows: one version of each type. */
  offered(): ActivityType[] {
    return [...this.newest.values()].filter((type) => type.isBrowsable || CONTAINERS.includes(type.typeName));
  }
}

export const CONTAINERS: readonly string[] = [
  "Elsa.Flowchart",
  "Elsa.Sequence",
  "Elsa.Parallel",
  "Elsa.Fork",
];

/** The member of an activity that has an input, output or port of this name. */
export function memberOf(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}

export function wordsOf(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").replace(/\bJava Script\b/g, "JavaScript");
}

export const shortType = (typeName: string): string => typeName.slice(typeName.lastIndexOf(".") + 1);
