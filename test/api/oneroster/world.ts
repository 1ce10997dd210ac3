import type { NewApp } from "../../../src/access/index.ts";
import { allScopes, type Make } from "../../support/make.ts";
import { getReader, type Reader } from "../../support/api.ts";
import { startService, type TestService } from "../../support/service.ts";
import { makeMakers } from "../../support/make.ts";
import type { TestApp } from "../../support/token.ts";

export const versions = { v1p2: "/ims/oneroster/rostering/v1p2", v1p1: "/ims/oneroster/v1p1" } as const;
export const roster = versions.v1p2;

export type Row = Record<string, unknown> & { sourcedId: string };

export const appWithRoster = (make: Make, wishes: Partial<NewApp> = {}): Promise<TestApp> =>
  make.app({ scopes: [...allScopes, "oneroster:read"], ...wishes });

/** Reads all rows of a list. */
export async function rowsOf(read: Reader, path: string): Promise<Row[]> {
  const { status, body } = await read(path);
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return Object.values(body as Record<string, Row[]>)[0]!;
}

export type RosterWorld = Awaited<ReturnType<typeof makeRosterWorld>>;

/** A school with a class, a course and a group without people, and what another school does not share. */
export async function makeRosterWorld(wishes: Partial<NewApp> = {}) {
  const service: TestService = await startService();
  const make = makeMakers(service.db, service.clock());
  const app = await appWithRoster(make, wishes);
  const school = await make.school({ name: "Nord", officialId: "DE-NI-1" });
  const classId = await make.group({ school, name: "5a" });
  const courseId = await make.group({ school, name: "Mathe", type: "KURS" });
  const club = await make.group({ school, name: "Schach", type: "SONSTIG" });
  const teacher = await make.person({
    school,
    role: "TEACHER",
    groups: [classId],
    name: nameOf("Ada Marie", "Zander"),
  });
  const student = await make.person({
    school,
    groups: [classId, courseId],
    name: { firstFull: "Bo Emil", firstCall: "Bo", last: "Ähre" },
    sourceSystemIdentifier: "s-1",
  });
  const nameless = await make.person({ school, groups: [classId], name: null });
  await make.grant({ app: app.clientId, school, groups: [classId, courseId, club] });
  const hiddenSchool = await make.school({ name: "Süd" });
  const hiddenClass = await make.group({ school: hiddenSchool });
  const hiddenPerson = await make.person({ school: hiddenSchool, groups: [hiddenClass] });
  const read = await getReader(service, app, ["oneroster:read"]);
  const ids = { school, classId, courseId, club, teacher, student, nameless };
  return {
    service,
    make,
    app,
    read,
    ...ids,
    hidden: { school: hiddenSchool, classId: hiddenClass, person: hiddenPerson },
  };
}

export const nameOf = (firstFull: string, last: string) => ({ firstFull, firstCall: firstFull, last });
