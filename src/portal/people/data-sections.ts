import type { AdminSchemas } from "../../admin/index.ts";
import type { Translate } from "../../platform/pages/index.ts";
import { describeAction } from "../frame/describe.ts";
import { compareLine } from "../frame/differences.ts";
import { describeDataRequest } from "../frame/data-requests.ts";
import { describeDisclosures } from "../frame/disclosures.ts";
import type { Times } from "../frame/zone.ts";
import german from "./locales/de.json" with { type: "json" };

export type PersonData = AdminSchemas["PersonData"];
export type Section = { heading: string; lines: string[] };
/** `names` are those of schools, groups and apps, by their id. */
export type Words = { t: Translate; times: Times; names: ReadonlyMap<string, string> };

type Stored = Omit<PersonData, "madeAt" | "isComplete" | "retention">;
type Entry = AdminSchemas["StoredEntry"];
type Line = AdminSchemas["AuditLine"];

/** Per list; the JSON has all entries. */
const mostLines = 1000;

/** One section per property of the data that is not empty, and one that names the empty ones. */
export function listSections(data: PersonData, words: Words): Section[] {
  const { t } = words;
  const all = (Object.keys(writers) as (keyof Stored)[]).map((key) => {
    const write = writers[key] as (value: unknown, words: Words) => string[];
    return { heading: t(`data.sections.${key}`), lines: shorten(write(data[key], words), words) };
  });
  const empty = all.filter(({ lines }) => lines.length === 0).map(({ heading }) => heading);
  const rest = empty.length === 0 ? [] : [{ heading: t("data.nothing"), lines: [`${empty.join(", ")}.`] }];
  return [...all.filter(({ lines }) => lines.length > 0), ...rest];
}

/** Writes each property of the data; a new one without a line here does not compile. */
const writers: { [Key in keyof Stored]: (value: Stored[Key], words: Words) => string[] } = {
  person: (person, words) => {
    const { t, times } = words;
    return facts(words, [
      ["firstFull", person.name?.firstFull],
      ["firstCall", person.name?.firstCall],
      ["last", person.name?.last],
      ["role", t(`role.${person.role}`)],
      ["status", t(`states.${person.status === "ACTIVE" ? "active" : "left"}`)],
      ["schools", person.schools.map(({ name }) => name).join(", ")],
      ["homeSchool", person.homeSchool?.name],
      ["groups", person.groups.map((group) => nameGroup(group, words)).join(", ")],
      ["sourceSystemIdentifier", person.sourceSystemIdentifier],
      ["createdAt", times.time(person.createdAt)],
      ["firstSignInAt", times.time(person.firstSignInAt)],
      ["lastSignInAt", times.time(person.lastSignInAt)],
      ["blockedAt", times.time(person.blockedAt)],
      ["leftAt", times.time(person.leftAt)],
      ["softDeletedAt", times.time(person.softDeletedAt)],
      ["purgeAt", times.time(person.purgeAt)],
    ]);
  },
  exemption: (exemption, words) =>
    facts(words, [
      ["keptUntil", words.times.day(exemption?.until)],
      ["reason", exemption?.reason],
      ["givenAt", words.times.time(exemption?.givenAt)],
    ]),
  login: (login, words) =>
    facts(words, [
      ["username", login?.username],
      ["hasPassword", login && words.t(login.hasPassword ? "frame.difference.yes" : "frame.difference.no")],
      ["changedAt", words.times.time(login?.changedAt)],
      ["sessions", login && String(login.sessions)],
    ]),
  userNames: (count, { t }) => (count === 0 ? [] : [t("data.userNames", { count })]),
  recoveryCodes: (count, { t }) => (count === 0 ? [] : [t("data.recoveryCodes", { count })]),
  apps: (apps, words) => apps.map((app) => describeApp(app, words)),
  disclosures: (disclosures, { t, times }) => [
    ...disclosures.slice(0, 1).map(({ recordedSince }) => t("disclosures.text", { day: times.day(recordedSince) })),
    ...describeDisclosures(disclosures, { t, times }).map(({ name, periods, facts: said }) =>
      [`${name}:`, ...periods, ...said].join("\n    "),
    ),
  ],
  consents: (consents, { t, times }) =>
    consents.map(({ appName, scopes, grantedAt }) =>
      t("data.consent", {
        app: appName,
        at: times.time(grantedAt),
        scopes: scopes.map((scope) => t(`scope.${scope.replace(":", "_")}`)).join("; "),
      }),
    ),
  sessions: (sessions, { t, times }) =>
    sessions.map(({ kind, apps, since, endsAt }) => {
      const period = t("uses.since", { since: times.time(since), until: times.time(endsAt) });
      const names = apps.map(({ name }) => name).join(", ");
      return `${t(`uses.kinds.${kind}`)}${names === "" ? "" : ` (${names})`}: ${period}`;
    }),
  schoolChoices: (entries, words) => entries.map((entry) => `${nameApp(entry, words)}: ${nameSchool(entry, words)}`),
  knownDevices: (entries, { t, times }) => entries.map(({ at }) => t("data.usedAt", { at: times.time(at) })),
  failedTries: (entries, { t, times }) =>
    entries.map(({ what, until }) => t("data.failedTries", { count: Number(what), until: times.time(until) })),
  secondFactors: (entries, { t, times }) =>
    entries.map(({ what, at, lastUsedAt }) => {
      const [, kind = "", label = ""] = /^(\S+) (.*)$/.exec(what ?? "") ?? [];
      const factor = t("data.factor", { kind: t(`factors.${kind}`), label, at: times.time(at) });
      return lastUsedAt ? t("data.factorUsed", { factor, at: times.time(lastUsedAt) }) : factor;
    }),
  loginCards: (entries, words) => entries.map((entry) => describeCard(entry, words)),
  pictureCodes: (entries, { t, times }) => entries.map(({ at }) => t("data.picturesSince", { at: times.time(at) })),
  accessReports: (entries, words) => entries.map(({ what, ...entry }) => timed(entry, what ?? "", words)),
  upstreamAccounts: (entries, { t, times }) =>
    entries.map(({ what, at }) => t("data.linkedAt", { account: what ?? "", at: times.time(at) })),
  passwordRequests: (entries, words) =>
    entries.map((entry) => `${words.times.time(entry.at)}: ${nameSchool(entry, words)}`),
  // The answer to a request says that it was received, and not which steps are still open.
  dataRequests: (requests, { t, times }) =>
    requests.map((one) => {
      const { asker, status, history } = describeDataRequest(one, { t, times });
      return [`${asker}:`, ...history, ...(one.state === "CLOSED" ? [`${status}.`] : [])].join(" ");
    }),
  logoutNotices: (entries, words) => entries.map((entry) => `${words.times.time(entry.at)}: ${nameApp(entry, words)}`),
  staffRoles: (roles, words) => roles.map((role) => describeRole(role, words)),
  imports: (imports, { t, times }) =>
    imports.map(({ at, change, classesBefore, classesAfter }) => {
      const classes = [classesBefore, classesAfter].map((names) => names?.join(", ") ?? "").join(" → ");
      const what = t(`data.change.${change}`);
      return `${times.time(at)}: ${what}${classes === " → " ? "" : ` (${classes})`}`;
    }),
  audit: (lines, words) => lines.map((line) => describeLine(line, words)),
  actions: (lines, { t, times }) => lines.map(({ at, action }) => `${times.time(at)}: ${describeAction(action, t)}`),
  events: (entries, words) =>
    entries.map(({ what, ...entry }) => timed(entry, words.t(`data.event.${what ?? "update"}`), words)),
  deliveries: (entries, words) =>
    entries.map(({ what, ...entry }) => timed(entry, words.t(`data.delivery.${what ?? "PENDING"}`), words)),
};

const ownLabels: Record<string, string> = german.data.labels;

const facts = ({ t }: Words, all: readonly [name: string, value: string | null | undefined][]): string[] =>
  all.flatMap(([name, value]) => {
    const label = t(name in ownLabels ? `data.labels.${name}` : `frame.difference.property.${name}`);
    return value ? [`${label}: ${value}`] : [];
  });

const timed = (entry: Pick<Entry, "at" | "clientId">, what: string, words: Words): string =>
  `${words.times.time(entry.at)}, ${nameApp(entry, words)}: ${what}`;

const nameApp = ({ clientId }: Pick<Entry, "clientId">, { t, names }: Words): string =>
  names.get(clientId ?? "") ?? t("data.goneApp");
const nameSchool = ({ schoolId }: Pick<Entry, "schoolId">, { t, names }: Words): string =>
  names.get(schoolId ?? "") ?? t("data.otherSchool");

function nameGroup({ name, role, status }: AdminSchemas["AdminPersonGroup"], { t }: Words): string {
  const notes = [t(`role.${role}`), ...(status === "DELETED" ? [t("frame.difference.value.DELETED")] : [])];
  return `${name} (${notes.join(", ")})`;
}

function describeApp(app: AdminSchemas["AppOfPerson"], { t, times }: Words): string {
  const { name, maySignIn, firstSignInAt, lastSignInAt, groups } = app;
  const used = { first: times.time(firstSignInAt), last: times.time(lastSignInAt) };
  const said = [
    t(maySignIn ? "uses.maySignIn" : "uses.mayNotSignIn"),
    firstSignInAt === null ? t("uses.neverSignedIn") : t("data.signedIn", used),
    ...(groups.length === 0 ? [] : [t("data.seenIn", { groups: groups.map((group) => group.name).join(", ") })]),
  ];
  return `${name}: ${said.join(" ")}`;
}

function describeCard(entry: Entry, words: Words): string {
  const { t, times } = words;
  const made = t("data.card", { school: nameSchool(entry, words), at: times.time(entry.at) });
  return entry.until === null ? made : `${made} ${t("data.revoked", { at: times.time(entry.until) })}`;
}

function describeRole({ role, schoolIds, reason, givenAt, endsAt }: AdminSchemas["StaffRole"], words: Words): string {
  const { t, times } = words;
  const schools = schoolIds.map((schoolId) => nameSchool({ schoolId }, words)).join(", ");
  const notes = facts(words, [
    ["givenAt", times.time(givenAt)],
    ["endsAt", times.time(endsAt)],
    ["reason", reason],
  ]);
  return [`${t(`staffRoles.${role}`)}${schools === "" ? "" : `, ${schools}`}`, ...notes].join("; ");
}

function describeLine(line: Line, words: Words): string {
  const { t, times } = words;
  const by = nameActor(line, t);
  const app = line.names.app === null ? "" : `, ${line.names.app}`;
  const changes = compareLine(line, words).map(({ name, before, after }) => `${name}: ${before} → ${after}`);
  const what = `${times.time(line.at)}: ${describeAction(line.action, t)}${app}${by === "" ? "" : ` (${by})`}`;
  return [what, ...changes].join("; ");
}

/** Who caused a line of the audit log; "" for an unknown program. */
export function nameActor({ actor: { role, program }, names: { actor, actorApp } }: Line, t: Translate): string {
  const name = actor === null ? actorApp : `${actor.firstCall} ${actor.last}`;
  if (name !== null) return name;
  if (role !== "NONE") return t(`staffRoles.${role}`);
  return program === null ? "" : t("moments.program");
}

const shorten = (lines: string[], { t }: Words): string[] =>
  lines.length > mostLines
    ? [...lines.slice(0, mostLines), t("data.more", { count: lines.length - mostLines })]
    : lines;
