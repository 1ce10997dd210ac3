import { findRows, run, sql, statement } from "../../platform/database/sql.ts";
import type { Parameter, Queryable, Statement } from "../../platform/database/sql.ts";
import { currentTraceparent } from "../../platform/telemetry/tracing/index.ts";
import type { Writer } from "../disclosure/record.ts";
import { announceFrom, takeAnnounced } from "./announced.ts";
import { appendChange } from "./diff.ts";
import { keepSeen } from "./seen.ts";
import { selectSnapshot, snapshotRecord, fromSubjects, valuesOf } from "./snapshot.ts";
import type { SnapshotRow, SnapshotStore, Subject, SubjectValues } from "./snapshot.ts";

const find = statement<SubjectValues>((values) => selectSnapshot(fromSubjects(values)), "access.findSnapshot");

const fromRows = (rows: Parameter) =>
  sql`(SELECT * FROM jsonb_to_recordset(${rows}::jsonb) AS before (${snapshotRecord}))`;
type Emitted = SubjectValues & { now: Date; before: string; traceparent: string | null };
const emitBy = (by: Writer, name: string) =>
  statement<Emitted>((values) => {
    const ctes = [
      sql`before AS MATERIALIZED ${fromRows(values.before)}`,
      sql`after AS MATERIALIZED (${selectSnapshot(fromSubjects(values))})`,
    ];
    const { now, traceparent } = values;
    return appendChange({ before: sql`before`, after: sql`after`, ctes }, { now, traceparent, by });
  }, name);
const emit: Record<Writer, Statement<Emitted>> = {
  change: emitBy("change", "access.emitDiff"),
  "change-again": emitBy("change-again", "access.emitDiffAgain"),
  "sign-in": emitBy("sign-in", "access.emitSignIn"),
};

const keep = statement<SubjectValues & { before: string }>(
  (values) => keepSeen({ subject: fromSubjects(values), before: fromRows(values.before) }),
  "access.keepSeen",
);

const take = statement<SubjectValues>((values) => takeAnnounced(fromSubjects(values)), "access.takeAnnounced");

const announceNow = statement<SubjectValues & { now: Date }>(
  (values) => announceFrom(selectSnapshot(fromSubjects(values)), values.now),
  "access.announce",
);

export const findSnapshot = (tx: Queryable, subjects: readonly Subject[]): Promise<SnapshotRow[]> =>
  findRows<SnapshotRow, SubjectValues>(tx, find, valuesOf(subjects));

type Diff = { before: readonly SnapshotRow[]; subjects: readonly Subject[]; by: Writer };

export async function emitDiff(tx: Queryable, now: Date, { before, subjects, by }: Diff): Promise<number> {
  const traceparent = currentTraceparent();
  const values = { ...valuesOf(subjects), now, before: JSON.stringify(before), traceparent };
  const [row] = await findRows<{ events: number }, Emitted>(tx, emit[by], values);
  return row!.events;
}

export async function announce(tx: Queryable, now: Date, subjects: readonly Subject[]): Promise<void> {
  await run(tx, announceNow, { ...valuesOf(subjects), now });
}

export function makeParameterStore(tx: Queryable) {
  const subjects: Subject[] = [];
  const before: SnapshotRow[] = [];
  const store: SnapshotStore = {
    async add(added) {
      subjects.push(...added);
      before.push(...(await findSnapshot(tx, added)));
    },
    async keepSeen() {
      const rows = before.filter((row) => row.person_at !== null || row.user_at !== null);
      if (rows.length > 0) await run(tx, keep, { ...valuesOf(subjects), before: JSON.stringify(rows) });
    },
    takeAnnounced: async () =>
      subjects.some(({ type }) => type === "person")
        ? findRows<SnapshotRow, SubjectValues>(tx, take, valuesOf(subjects))
        : [],
    emit: (now, announced) => emitDiff(tx, now, { before: joinRows(before, announced), subjects, by: "change" }),
  };
  return { ...store, subjects, before };
}

function joinRows(before: readonly SnapshotRow[], announced: readonly SnapshotRow[]): SnapshotRow[] {
  const keyOf = ({ client_id, type, subject_id }: SnapshotRow) => `${type} ${subject_id} ${client_id}`;
  const keys = new Set(before.map(keyOf));
  return [...before, ...announced.filter((row) => !keys.has(keyOf(row)))];
}
