import { listDisclosures, type Disclosure } from "../../access/index.ts";
import type { PersonId, SchoolId } from "../../directory/index.ts";
import { present } from "../present.ts";
import type { PrismaDb } from "../../platform/database/db.ts";
import { isReached, type Reach } from "../../staff/index.ts";
import { listDeliveriesOf, type DeliveryOfSubject } from "../../webhooks/index.ts";
import type { AdminHandler } from "../handler.ts";
import { getReachedPerson } from "../whose-person.ts";

/** Limit for deliveries of one person. */
const most = 1000;

type Known = { schools: ReadonlyMap<SchoolId, string>; deliveries: readonly DeliveryOfSubject[] };

function presentDisclosure({ periods, ...one }: Disclosure, reach: Reach, { schools, deliveries }: Known) {
  const sent = deliveries.find(({ clientId, state }) => clientId === one.clientId && state === "DELIVERED");
  const named = (id: SchoolId): { id: SchoolId; name: string }[] => {
    const name = schools.get(id);
    return name !== undefined && isReached(reach, { schools: [id] }) ? [{ id, name }] : [];
  };
  const isOlder = (since: Date): boolean => since <= one.recordedSince;
  return present("Disclosure", {
    ...one,
    periods: periods.map(({ since, until, attributes, schoolIds, agreed }) => ({
      since: isOlder(since) ? null : since,
      until,
      attributes,
      schools: schoolIds.flatMap(named),
      agreements: agreed.flatMap(({ schoolId, since: acceptedAt, ...agreement }) =>
        named(schoolId).map((school) => ({ ...agreement, acceptedAt, school })),
      ),
    })),
    lastSentAt: sent?.finishedAt ?? null,
  });
}

type Asked = { personId: PersonId; now: Date; reach: Reach; deliveries: readonly DeliveryOfSubject[] };

/** What apps could learn about the person, with a function that presents it. */
export async function readDisclosures(db: PrismaDb, { personId, now, reach, deliveries }: Asked) {
  const found = await listDisclosures(db.pool, { personId, now });
  const ids = [...new Set(found.flatMap(({ periods }) => periods.flatMap(({ schoolIds }) => schoolIds)))];
  const rows = await db.prisma.school.findMany({ where: { id: { in: ids } }, select: { id: true, name: true } });
  const known = {
    schools: new Map(rows.map(({ id, name }) => [id as SchoolId, name])),
    deliveries,
  };
  return { found, presentOne: (one: Disclosure) => presentDisclosure(one, reach, known) };
}

export const listDisclosuresOfPerson: AdminHandler<"listDisclosuresOfPerson"> = async (deps, request) => {
  const { personId, reach, origin, page } = request;
  await getReachedPerson(deps.db, reach, personId);
  const deliveries = await listDeliveriesOf(deps.db.pool, { subjectId: personId, limit: most });
  const { found, presentOne } = await readDisclosures(deps.db, { personId, now: origin.at, reach, deliveries });
  return page.answerFrom(found, presentOne, ({ place }) => place);
};
