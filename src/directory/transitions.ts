import { AppError } from "../platform/errors.ts";

export type PersonStatus = "ACTIVE" | "SOFT_DELETED";
export type GroupStatus = "ACTIVE" | "DELETED";

/** Where a step leads, or why it is refused. */
type Transition<To> = { to: To } | { refused: string };

/** Every step in every state. `change` is whatever alters a person and leaves the state as it is. */
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

/** `change` is a new name, a new member or another role of one. */
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
  const transition: Transition<string> = personTransitions[status][step];
  if ("refused" in transition) throw new AppError("conflict", "person_wrong_status", transition.refused);
}

export function checkGroupStep(status: GroupStatus, step: GroupStep): void {
  const transition: Transition<string> = groupTransitions[status][step];
  if ("refused" in transition) throw new AppError("conflict", "group_wrong_status", transition.refused);
}
