import type { AppEventType } from "../../events/index.ts";
import { sql, type Parameters, type Sql } from "../../platform/database/sql.ts";
import type { SnapshotRow } from "./snapshot.ts";

/** What an app or, with an empty `client`, every app sees of a person, group or school. */
export type Subject = { type: AppEventType; id: string; client: string };

/** Keeps, for one change, what apps saw before it. */
export type SnapshotStore = {
  /** Adds what apps see of subjects that the snapshot does not have. */
  add(subjects: readonly Subject[]): Promise<void>;
  /** Takes what first sign-ins announced of the subjects since they were added. */
  takeAnnounced(): Promise<SnapshotRow[]>;
  /** Emits how what apps see differs from the snapshot and from `announced`; answers the number of events. */
  emit(now: Date, announced: readonly SnapshotRow[]): Promise<number>;
};

/** Subjects as parameters. */
export type SubjectValues = { types: string[]; ids: string[]; clients: string[] };

export const valuesOf = (subjects: readonly Subject[]): SubjectValues => ({
  types: subjects.map(({ type }) => type),
  ids: subjects.map(({ id }) => id),
  clients: subjects.map(({ client }) => client),
});

/** The subjects that are given, for a FROM; the columns are type, id and client_id. */
export const fromSubjects = ({ types, ids, clients }: Parameters<SubjectValues>): Sql =>
  sql`unnest(${types}::text[], ${ids}::uuid[], ${clients}::text[])`;
