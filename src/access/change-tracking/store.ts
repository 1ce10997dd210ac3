import type { AppEventType } from "../../events/index.ts";
import { sql, type Parameters, type Sql } from "../../platform/database/sql.ts";
import type { SnapshotRow } from "./snapshot.ts";

/** An empty `client` means every app. */
export type Subject = { type: AppEventType; id: string; client: string };

export type SnapshotStore = {
  add(subjects: readonly Subject[]): Promise<void>;
  takeAnnounced(): Promise<SnapshotRow[]>;
  emit(now: Date, announced: readonly SnapshotRow[]): Promise<number>;
};

export type SubjectValues = { types: string[]; ids: string[]; clients: string[] };

export const valuesOf = (subjects: readonly Subject[]): SubjectValues => ({
  types: subjects.map(({ type }) => type),
  ids: subjects.map(({ id }) => id),
  clients: subjects.map(({ client }) => client),
});

export const fromSubjects = ({ types, ids, clients }: Parameters<SubjectValues>): Sql =>
  sql`unnest(${types}::text[], ${ids}::uuid[], ${clients}::text[])`;
