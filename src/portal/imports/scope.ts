import type { AdminSchemas } from "../../admin/index.ts";

type Scope = Pick<AdminSchemas["Import"], "mode" | "people">;

const scopes = {
  BULK: { mode: "BULK", people: "ALL" },
  STUDENTS: { mode: "BULK", people: "STUDENTS" },
  TEACHERS: { mode: "BULK", people: "TEACHERS" },
  DELTA: { mode: "DELTA", people: "ALL" },
} as const satisfies Record<string, Scope>;

export type ScopeChoice = keyof typeof scopes;

/** What a file may list, as a form lets people choose: the whole school, all students, all teachers, a part. */
export const scopeChoices = Object.keys(scopes) as ScopeChoice[];

export const readScope = (text: string): Scope | undefined =>
  scopeChoices.filter((choice) => choice === text).map((choice) => scopes[choice])[0];

export const scopeChoiceOf = ({ mode, people }: Scope): ScopeChoice =>
  mode === "DELTA" || people === "ALL" ? mode : people;
