import type { AdminSchemas } from "../../admin/index.ts";
import type { Translate } from "../../platform/pages/index.ts";
import type { Times } from "./zone.ts";

type Disclosure = AdminSchemas["Disclosure"];
type Writing = { t: Translate; times: Pick<Times, "day" | "time"> };

/** Says what each app could learn about a person, the apps that can read something now first. */
export function describeDisclosures(disclosures: readonly Disclosure[], writing: Writing) {
  const schools = new Set(disclosures.flatMap(({ periods }) => periods.flatMap((period) => idsOf(period.schools))));
  const described = disclosures.map((one) => describe(one, writing, schools.size > 1));
  return [...described.filter(({ isOver }) => !isOver), ...described.filter(({ isOver }) => isOver)];
}

const idsOf = (schools: readonly { id: string }[]): string[] => schools.map(({ id }) => id);

const listAttributes = (attributes: readonly string[], t: Translate): string =>
  attributes.map((name) => t(`personAttribute.${name}`)).join(", ") || t("frame.disclosures.nothing");

/** `facts` are sentences on sign-ins, reads and webhooks; `isOver`: the app can read nothing now. */
function describe(one: Disclosure, writing: Writing, namesSchools: boolean) {
  const { t, times } = writing;
  const { name, provider, signIn, lastReadAt, lastSentAt, deletedAt } = one;
  const facts = [
    signIn &&
      t(signIn.firstAt === signIn.lastAt ? "frame.disclosures.signedInOnce" : "frame.disclosures.signedIn", {
        first: times.time(signIn.firstAt),
        last: times.time(signIn.lastAt),
        what: listAttributes(signIn.attributes, t),
      }),
    lastReadAt && t("frame.disclosures.lastRead", { at: times.time(lastReadAt) }),
    lastSentAt && t("frame.disclosures.lastSent", { at: times.time(lastSentAt) }),
    deletedAt && t("frame.disclosures.deleted", { day: times.time(deletedAt) }),
  ];
  return {
    name: provider === null ? name : `${name} (${provider})`,
    isOver: one.periods.every(({ until }) => until !== null) && (signIn === null || deletedAt !== null),
    periods: one.periods.map((period) => describePeriod(period, one, { ...writing, namesSchools })),
    facts: facts.filter((text) => text !== null),
  };
}

function describePeriod(
  { since, until, attributes, schools, agreements }: AdminSchemas["DisclosurePeriod"],
  { recordedSince }: Disclosure,
  { t, times, namesSchools }: Writing & { namesSchools: boolean },
): string {
  const key = `${until === null ? "since" : "from"}${since === null ? "Before" : ""}`;
  const words = {
    since: since === null ? times.day(recordedSince) : times.time(since),
    until: times.time(until),
    what: listAttributes(attributes, t),
  };
  const under = agreements.map(({ version, acceptedAt }) =>
    t("frame.disclosures.agreement", { version, day: times.day(acceptedAt) }),
  );
  const said = [t(`frame.disclosures.${key}`, words), ...under].join(" ");
  const names = schools.map(({ name }) => name).join(", ");
  return namesSchools && names !== "" ? `${said} (${names})` : said;
}
