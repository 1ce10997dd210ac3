import type { ClientId, NewApp } from "../../src/access/index.ts";
import type { GroupId, PersonId, SchoolId } from "../../src/directory/index.ts";
import type { Make } from "../support/make.ts";
import type { TestApp } from "../support/token.ts";

/** Everything of a world under the names that the matrix prints. */
export type World = {
  apps: Record<string, TestApp>;
  schools: Record<string, SchoolId>;
  groups: Record<string, GroupId>;
  people: Record<string, PersonId>;
};

/**
 * A small world with one of each case that decisions on visibility tell apart.
 * The first letter of a group or person is their school: n(orth), s(outh), e(ast), w(est), m(id), c(lub).
 */
export async function makeMatrixWorld(make: Make, subjectType: NonNullable<NewApp["subjectType"]>): Promise<World> {
  const schools = await named(["north", "south", "east", "west", "mid", "club"], (name) => make.school({ name }));
  const { north, south, east, west, mid, club } = schools;

  const groupAt = { n: north, s: south, e: east, w: west, m: mid, c: club };
  const groups = await named(
    [
      "n-class",
      "n-maths",
      "n-chess",
      "n-last-year",
      "s-class",
      "e-class",
      "w-class",
      "m-class",
      "c-club",
      "c-old-club",
      "c-class",
    ],
    (name) => {
      const deleted = name === "n-last-year" || name === "c-old-club";
      return make.group({
        school: groupAt[name[0] as keyof typeof groupAt],
        name,
        status: deleted ? "DELETED" : "ACTIVE",
      });
    },
  );
  const g = groups;
  const gone = { status: "SOFT_DELETED" } as const;
  const teacher = { role: "TEACHER" } as const;

  const wishes = {
    "n-teacher": { school: north, ...teacher, groups: [g["n-class"]] },
    "n-pupil": { school: north, groups: [g["n-class"], g["n-last-year"]] },
    "n-nameless": { school: north, name: null, groups: [g["n-class"]] },
    "n-in-unsynced-group": { school: north, groups: [g["n-chess"]] },
    "n-in-deleted-group": { school: north, groups: [g["n-last-year"]] },
    "n-in-no-group": { school: north },
    "n-caretaker": { school: north, role: "OTHER", groups: [g["n-class"]] },
    "n-blocked": { school: north, isBlocked: true, groups: [g["n-class"]] },
    "n-gone": { school: north, ...gone, groups: [g["n-class"]] },
    "n-gone-user": { school: north, ...gone, groups: [g["n-class"], g["n-last-year"]] },
    "n-gone-in-unsynced-group": { school: north, ...gone, groups: [g["n-chess"]] },
    "n-gone-caretaker": { school: north, ...gone, role: "OTHER", groups: [g["n-class"]] },
    "ns-two-schools": { schools: [north, south], groups: [g["n-maths"], g["s-class"]] },
    "sn-two-schools": { schools: [south, north], groups: [g["s-class"]] },
    "s-pupil": { school: south, groups: [g["s-class"]] },
    "s-user": { school: south, groups: [g["s-class"]] },
    "e-pupil": { school: east, groups: [g["e-class"]] },
    "e-user": { school: east, groups: [g["e-class"]] },
    "en-two-schools": { schools: [east, north], groups: [g["e-class"], g["n-class"]] },
    "es-two-schools": { schools: [east, south], groups: [g["e-class"]] },
    "w-pupil": { school: west, groups: [g["w-class"]] },
    "w-user": { school: west, groups: [g["w-class"]] },
    "wn-two-schools": { schools: [west, north], groups: [g["w-class"]] },
    // Listed by id to an app without names.
    "m-teacher": {
      id: inPlace(1),
      school: mid,
      ...teacher,
      sourceSystemIdentifier: "source-1",
      groups: [g["m-class"]],
    },
    "m-pupil": { id: inPlace(2), school: mid, groups: [g["m-class"]] },
    "m-caretaker": { id: inPlace(3), school: mid, role: "OTHER" },
    "c-in-club": { school: club, groups: [g["c-club"]] },
    "c-in-old-club": { school: club, groups: [g["c-old-club"], g["c-class"]] },
    "c-in-class": { school: club, groups: [g["c-class"]] },
  } satisfies Record<string, Parameters<Make["person"]>[0]>;

  const labels = Object.keys(wishes) as (keyof typeof wishes)[];
  const people = await named(labels, (label) => {
    const name = { firstFull: label, firstCall: label, last: label };
    // Apps without names list people by id.
    return make.person({ id: inPlace(100 + labels.indexOf(label)), name, ...wishes[label] });
  });
  // A teacher who learns in a course, and a pupil whose part in it is neither learning nor teaching.
  await make.membership({ group: g["n-maths"], person: people["n-teacher"], role: "STUDENT" });
  await make.membership({ group: g["n-maths"], person: people["n-pupil"], role: "OTHER" });

  const appOf = (name: string, wishes: Partial<NewApp> = {}) =>
    make.app({ clientId: name as ClientId, name, loginUrl: `https://${name}.example/login`, subjectType, ...wishes });
  const apps = {
    ...(await named(["reader", "opposite", "stranger"], (name) => appOf(name))),
    // Works on pseudonyms alone.
    nameless: await appOf("nameless", { attributes: [] }),
    // Has everything by its registration, and not everything at each school.
    withheld: await appOf("withheld"),
  };

  const reader = apps.reader.clientId;
  const [north_, teachers] = [
    [g["n-class"], g["n-maths"], g["n-last-year"]],
    { kind: "ROLES", roles: ["TEACHER"] } as const,
  ];
  await make.grant({ app: reader, school: north, groups: north_ });
  await make.grant({ app: reader, school: south, sync: false, groups: [g["s-class"]] });
  await make.grant({ app: reader, school: east, signOn: "NOBODY", groups: [g["e-class"]] });
  await make.grant({ app: reader, school: mid, signOn: teachers, groups: [g["m-class"]] });
  const members = { kind: "GROUPS", groups: [g["c-club"], g["c-old-club"]] } as const;
  await make.grant({ app: reader, school: club, signOn: members, groups: [g["c-class"], g["c-old-club"]] });
  for (const user of ["n-gone-user", "s-user", "e-user", "w-user"] as const)
    await make.signIn({ app: reader, person: people[user] });

  const opposite = apps.opposite.clientId;
  await make.grant({
    app: opposite,
    school: north,
    signOn: { kind: "ROLES", roles: ["OTHER"] },
    sync: false,
    groups: [g["n-chess"]],
  });
  await make.grant({ app: opposite, school: south, groups: [g["s-class"]] });

  await make.grant({ app: apps.nameless.clientId, school: mid, groups: [g["m-class"]] });

  const { clientId } = apps.withheld;
  await make.grant({ app: clientId, school: north, groups: [g["n-class"], g["n-maths"]] });
  await make.grant({ app: clientId, school: south, groups: [g["s-class"]] });
  await make.grant({ app: clientId, school: east, groups: [g["e-class"]] });
  await make.grant({ app: clientId, school: mid, groups: [g["m-class"]] });
  await make.withheld({ app: clientId, school: south, attributes: ["PERSON_NAME", "SCHOOL_ADDRESS"] });
  // West gave the app nothing, or nothing any more.
  await make.withheld({ app: clientId, school: west, attributes: ["PERSON_NAME"] });
  await make.withheld({ app: clientId, school: mid, attributes: ["SOURCE_SYSTEM_IDENTIFIER"] });
  await make.notAgreed({ app: clientId, school: east, items: ["users:read", "schools:read", "PERSON_NAME"] });
  return { apps, schools, groups, people };
}

const inPlace = (place: number) => `00000000-0000-4000-8000-${String(place).padStart(12, "0")}` as PersonId;

async function named<Name extends string, Made>(
  names: Name[],
  make: (name: Name) => Promise<Made>,
): Promise<Record<Name, Made>> {
  const made = {} as Record<Name, Made>;
  for (const name of names) made[name] = await make(name);
  return made;
}
