import type { RetentionDefaults } from "../directory/index.ts";
import type { Given } from "./due.ts";

/**
 * What the operator sets: periods of schools without their own, within what others may choose, and when a run is held.
 *
 * Units: share from 0 to 1.
 */
export type RetentionRules = {
  defaults: RetentionDefaults;
  limits: { [Name in keyof RetentionDefaults]: { min: number; max: number } };
  /** A run that would soft-delete more than both of a school's people is held. */
  hold: { people: number; share: number };
  noticeDays: number;
};

export const givenAt = ({ defaults }: Pick<RetentionRules, "defaults">, now: Date): Given => ({ ...defaults, now });

export const isUnusual = (hold: RetentionRules["hold"], due: number, people: number): boolean =>
  due > hold.people && due > people * hold.share;
