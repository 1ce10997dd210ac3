import type { GroupType, NewSchool, PersonName, PersonRole } from "../directory/index.ts";

export type SchoolKey = "main" | "second";

export type AccountKind =
  "PUPIL" | "TEACHER" | "BOTH_SCHOOLS" | "WITHOUT_NAME" | "SOFT_DELETED" | "REFUSED" | "OTHER" | "UMLAUTS";

type GroupKey = `${SchoolKey} ${string}`;

/** The first of `at` is the home school. */
type Account = {
  kind: AccountKind;
  username: string;
  name: PersonName | null;
  role: PersonRole;
  at: readonly [SchoolKey, ...SchoolKey[]];
  groups: readonly GroupKey[];
  expectation: string;
};

const address = { address: "Testweg 1", addressAddition: null, city: "Öhningen", zipCode: "00000" };
const location = { country: "DE", state: "NI" };

export const schools: Record<SchoolKey, Omit<NewSchool, "id" | "officialId">> = {
  main: { name: "Sandbox: Gymnasium Übersee", address, location, schoolingLevel: "GYMNASIUM" },
  second: { name: "Sandbox: Grundschule Süd", address, location, schoolingLevel: "GRUNDSCHULE" },
};

export const audiences: Record<SchoolKey, readonly [PersonRole, ...PersonRole[]]> = {
  main: ["STUDENT", "TEACHER"],
  second: ["TEACHER", "OTHER"],
};

/** Keys end with the group's source system identifier. */
export const groups: Record<GroupKey, { at: SchoolKey; name: string; type: GroupType; isSynced: boolean }> = {
  "main 5a": { at: "main", name: "5a", type: "KLASSE", isSynced: true },
  "main 5b": { at: "main", name: "5b", type: "KLASSE", isSynced: true },
  "main 10a": { at: "main", name: "10a", type: "KLASSE", isSynced: true },
  "main choir": { at: "main", name: "Chor", type: "SONSTIG", isSynced: false },
  "second 3b": { at: "second", name: "3b", type: "KLASSE", isSynced: true },
};

export const accounts: readonly Account[] = [
  {
    kind: "PUPIL",
    username: "pupil",
    role: "STUDENT",
    at: ["main"],
    groups: ["main 5a", "main choir"],
    name: { firstFull: "Ada Marie", firstCall: "Ada", last: "Muster" },
    expectation: "Signs in. The app sees one class; the choir is not synced and does not show.",
  },
  {
    kind: "TEACHER",
    username: "teacher",
    role: "TEACHER",
    at: ["main"],
    groups: ["main 5a"],
    name: { firstFull: "Bo Emil", firstCall: "Bo", last: "Beispiel" },
    expectation: "Signs in as a teacher of one class.",
  },
  {
    kind: "BOTH_SCHOOLS",
    username: "two.schools",
    role: "TEACHER",
    at: ["main", "second"],
    groups: ["main 5b", "second 3b"],
    name: { firstFull: "Dana Luise", firstCall: "Dana", last: "de Vries" },
    expectation: "Chooses a school when signing in. Both schools and both classes show in one record.",
  },
  {
    kind: "WITHOUT_NAME",
    username: "no.name",
    role: "STUDENT",
    at: ["main"],
    groups: ["main 5a"],
    name: null,
    expectation: "Signs in. All parts of the name are null or missing: show something else.",
  },
  {
    kind: "SOFT_DELETED",
    username: "soft.deleted",
    role: "STUDENT",
    at: ["main"],
    groups: ["main 5a"],
    name: { firstFull: "Elif", firstCall: "Elif", last: "Zander" },
    expectation: "Cannot sign in. Shows only if the app asks for deleted people: keep the data until it is purged.",
  },
  {
    kind: "REFUSED",
    username: "refused",
    role: "STUDENT",
    at: ["second"],
    groups: ["second 3b"],
    name: { firstFull: "Finn Ole", firstCall: "Finn", last: "Kurz" },
    expectation: "Is refused, as the school lets no pupils in. Shows among the people, and not among the users.",
  },
  {
    kind: "OTHER",
    username: "other",
    role: "OTHER",
    at: ["second"],
    groups: [],
    name: { firstFull: "Gwen", firstCall: "Gwen", last: "Kramer" },
    expectation: "Signs in with the role OTHER. Shows among the users, and not among the people.",
  },
  {
    kind: "UMLAUTS",
    username: "umlauts",
    role: "STUDENT",
    at: ["main"],
    groups: ["main 5b"],
    name: { firstFull: "Änne Łucja", firstCall: "Änne", last: "Öztürk-Groß" },
    expectation: "Signs in. The name comes back letter by letter, and sorts as in a German dictionary.",
  },
];

/** Pupils without a login who leave at the end of the year. */
export const leavers: readonly PersonName[] = [
  { firstFull: "Hannes", firstCall: "Hannes", last: "Abgang" },
  { firstFull: "Ida", firstCall: "Ida", last: "Abgang" },
];
