import fc from "fast-check";
import { zip } from "./rosters.ts";

export const officialIds = ["DE-RR-0", "DE-RR-1", "DE-RR-2"];

type Context = { school: string; isDeleted: boolean };
type Pupil = { id: string; role: string; name: string; contexts: Context[]; isDeleted: boolean };
type Group = { id: string; title: string; school: string; previous: string; isDeleted: boolean };
type Member = { group: string; person: string; role: string; isDeleted: boolean };

export type RandomRoster = {
  format: "plain" | "schulconnex" | "oneroster 1.1" | "oneroster 1.2";
  mode: "BULK" | "DELTA";
  pupils: Pupil[];
  groups: Group[];
  members: Member[];
};

const personIds = ["p1", "p2", "p3", "p4"];
const groupIds = ["c1", "c2", "c3"];
const role = fc.constantFrom("student", "teacher");
const seldom = fc.integer({ min: 0, max: 3 }).map((n) => n === 0);

/**
 * Rosters of every format and mode with few ids, in which whatever can be deleted sometimes is. Some of them have
 * faults.
 */
export const randomRoster: fc.Arbitrary<RandomRoster> = fc.record({
  format: fc.constantFrom("plain", "schulconnex", "oneroster 1.1", "oneroster 1.2"),
  mode: fc.constantFrom("BULK", "DELTA"),
  pupils: fc.uniqueArray(
    fc.record({
      id: fc.constantFrom(...personIds),
      role,
      name: fc.constantFrom("Ada", "Bo"),
      contexts: fc.uniqueArray(fc.record({ school: fc.constantFrom(...officialIds), isDeleted: seldom }), {
        selector: ({ school }) => school,
        minLength: 1,
        maxLength: 2,
      }),
      isDeleted: seldom,
    }),
    { selector: ({ id }) => id, minLength: 1, maxLength: 4 },
  ),
  groups: fc.uniqueArray(
    fc.record({
      id: fc.constantFrom(...groupIds),
      title: fc.constantFrom("5a", "5b"),
      school: fc.constantFrom(...officialIds),
      previous: fc.oneof(
        { weight: 4, arbitrary: fc.constant("") },
        { weight: 1, arbitrary: fc.constantFrom(...groupIds) },
      ),
      isDeleted: seldom,
    }),
    { selector: ({ id }) => id, maxLength: 3 },
  ),
  members: fc.uniqueArray(
    fc.record({ group: fc.constantFrom(...groupIds), person: fc.constantFrom(...personIds), role, isDeleted: seldom }),
    {
      selector: ({ group, person }) => `${group} ${person}`,
      maxLength: 6,
    },
  ),
});

/** The file, and the school that it is for where it names none. */
export async function writeRandomRoster(
  roster: RandomRoster,
): Promise<{ content: string | Buffer; officialId?: string }> {
  if (roster.format === "plain") return { content: writePlain(roster), officialId: officialIdOf(roster) };
  if (roster.format === "schulconnex") return { content: writeSchulconnex(roster) };
  return { content: await writeOneRoster(roster) };
}

const officialIdOf = ({ pupils }: RandomRoster): string => pupils[0]!.contexts[0]!.school;

function writePlain({ pupils, groups, members }: RandomRoster): string {
  const titles = (id: string) =>
    members
      .filter(({ person }) => person === id)
      .map(({ group }) => groups.find((one) => one.id === group)?.title ?? "");
  return `id;role;first_name;last_name;classes;status\n${pupils
    .map(
      ({ id, role: as, name, isDeleted }) =>
        `${id};${as};${name};Test;${titles(id).join("|")};${isDeleted ? "deleted" : ""}\n`,
    )
    .join("")}`;
}

function writeSchulconnex({ pupils, groups, members }: RandomRoster): string {
  const codes: Record<string, string> = { student: "LERN", teacher: "LEHR" };
  const gruppen = (pid: string, school: string) =>
    members
      .flatMap((member) =>
        groups.filter(({ id }) => id === member.group && member.person === pid).map((group) => ({ member, group })),
      )
      .filter(({ group }) => group.school === school)
      .map(({ member, group }) => ({
        gruppe: { id: group.id, bezeichnung: group.title, typ: "KLASSE" },
        gruppenzugehoerigkeit: { rollen: [codes[member.role]] },
      }));
  const record = ({ id, role: as, name, contexts, isDeleted }: Pupil) => ({
    pid: id,
    person: { name: { vorname: name, familienname: "Test" } },
    personenkontexte: contexts.map((context) => ({
      organisation: { kennung: context.school },
      rolle: codes[as],
      gruppen: gruppen(id, context.school),
      loeschung: isDeleted || context.isDeleted ? { zeitpunkt: "2026-02-03T08:00Z" } : null,
    })),
  });
  return JSON.stringify(pupils.map(record));
}

function writeOneRoster({ format, mode, pupils, groups, members }: RandomRoster): Promise<Buffer> {
  const isDelta = mode === "DELTA";
  const status = (isDeleted: boolean) => (isDelta && isDeleted ? "tobedeleted" : "");
  const isSeparate = format === "oneroster 1.2";
  const shown = <Item extends { isDeleted: boolean }>(items: Item[]) =>
    items.filter(({ isDeleted }) => isDelta || !isDeleted);
  const list = (contexts: Context[]) => contexts.map(({ school }) => school).join(",");
  const enrollments = shown(members).flatMap((member) =>
    groups.filter(({ id }) => id === member.group).map(({ school }) => ({ ...member, school })),
  );
  const manifest = ["orgs", "users", "classes", "enrollments", ...(isSeparate ? ["roles"] : [])]
    .map((file) => `file.${file},${mode.toLowerCase()}\n`)
    .join("");
  return zip({
    "manifest.csv": `propertyName,value\noneroster.version,${format.slice(-3)}\n${manifest}`,
    "orgs.csv": `sourcedId,type,identifier\n${officialIds.map((id) => `${id},school,${id}\n`).join("")}`,
    "users.csv": `sourcedId,status,${isSeparate ? "" : "orgSourcedIds,role,"}givenName,familyName\n${shown(pupils)
      .map(
        (p) => `${p.id},${status(p.isDeleted)},${isSeparate ? "" : `"${list(p.contexts)}",${p.role},`}${p.name},Test\n`,
      )
      .join("")}`,
    ...(isSeparate && {
      "roles.csv": `sourcedId,status,userSourcedId,roleType,role,orgSourcedId\n${shown(pupils)
        .flatMap((p) =>
          p.contexts.map(
            ({ school, isDeleted }, n) =>
              `${p.id}-${school},${status(isDeleted || p.isDeleted)},${p.id},${n === 0 ? "primary" : "secondary"},${p.role},${school}\n`,
          ),
        )
        .join("")}`,
    }),
    "classes.csv": `sourcedId,status,title,classType,schoolSourcedId,metadata.previousSourcedId\n${shown(groups)
      .map((g) => `${g.id},${status(g.isDeleted)},${g.title},homeroom,${g.school},${g.previous}\n`)
      .join("")}`,
    "enrollments.csv": `sourcedId,status,classSourcedId,schoolSourcedId,userSourcedId,role\n${enrollments
      .map((m) => `${m.group}-${m.person},${status(m.isDeleted)},${m.group},${m.school},${m.person},${m.role}\n`)
      .join("")}`,
  });
}
