import type { GroupStatus, PersonStatus } from "../../generated/prisma/enums.ts";
import { AppError } from "../platform/errors.ts";
import { join, literal, sql, type Sql } from "../platform/database/sql.ts";

export type { GroupStatus, PersonStatus };

type Transition<To> = { to: To } | { refused: string };

export const personTransitions = {
  ACTIVE: {
    change: { to: "ACTIVE" },
    softDelete: { to: "SOFT_DELETED" },
    restore: { refused: "The person is not deleted." },
    delete: { refused: "Only a soft-deleted person can be deleted for good. Soft-delete them first." },
  },
  SOFT_DELETED: {
    change: { refused: "The person is deleted. Restore them first." },
    softDelete: { refused: "The person is deleted already." },
    restore: { to: "ACTIVE" },
    delete: { to: "GONE" },
  },
} as const satisfies Record<PersonStatus, Record<string, Transition<PersonStatus | "GONE">>>;

export const groupTransitions = {
  ACTIVE: {
    change: { to: "ACTIVE" },
    delete: { to: "DELETED" },
    restore: { refused: "The group is not deleted." },
  },
  DELETED: {
    change: { refused: "The group is deleted. Restore it first." },
    delete: { refused: "The group is deleted already." },
    restore: { to: "ACTIVE" },
  },
} as const satisfies Record<GroupStatus, Record<string, Transition<GroupStatus>>>;

export type PersonStep = keyof (typeof personTransitions)[PersonStatus];
export type GroupStep = keyof (typeof groupTransitions)[GroupStatus];

export function checkPersonStep(status: PersonStatus, step: PersonStep): void {
  checkTransition("person_wrong_status", personTransitions[status][step]);
}

export function checkGroupStep(status: GroupStatus, step: GroupStep): void {
  checkTransition("group_wrong_status", groupTransitions[status][step]);
}

function checkTransition(code: string, transition: Transition<string>): void {
  if ("refused" in transition) throw new AppError("conflict", code, transition.refused);
}

type Transitions<Step extends string> = Readonly<Record<string, Readonly<Record<Step, Transition<string>>>>>;

const listAllowed = <Step extends string>(transitions: Transitions<Step>, step: Step) =>
  Object.entries(transitions).flatMap(([status, steps]) =>
    "to" in steps[step] ? [{ status, to: steps[step].to }] : [],
  );

const allows = <Step extends string>(transitions: Transitions<Step>, status: Sql, step: Step): Sql =>
  sql`${status} IN (${join(listAllowed(transitions, step).map((allowed) => literal(allowed.status)))})`;

const after = <Step extends string>(transitions: Transitions<Step>, step: Step): Sql =>
  literal(listAllowed(transitions, step)[0]!.to);

/** SQL conditions and values for statements about many people or groups. */
export const allowsPersonStep = (status: Sql, step: PersonStep): Sql => allows(personTransitions, status, step);
export const allowsGroupStep = (status: Sql, step: GroupStep): Sql => allows(groupTransitions, status, step);

export const personStatusAfter = (step: Exclude<PersonStep, "delete">): Sql => after(personTransitions, step);
export const groupStatusAfter = (step: GroupStep): Sql => after(groupTransitions, step);
