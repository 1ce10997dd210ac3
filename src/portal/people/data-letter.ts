import type { AdminSchemas } from "../../admin/index.ts";
import { listSections, type PersonData, type Section, type Words } from "./data-sections.ts";

/** An app that sees the person, as schools know it. */
type Recipient = Pick<AdminSchemas["CatalogueApp"], "clientId" | "name" | "provider" | "purpose" | "privacyUrl">;

export type Letter = {
  title: string;
  sender: string[];
  recipient: string[];
  place: string;
  opening: string[];
  sections: Section[];
  dataHeading: string;
  data: Section[];
};

export type LetterOptions = {
  school: AdminSchemas["AdminSchool"];
  recipients: readonly Recipient[];
  fullName: string;
  askedBy: AdminSchemas["DataRequestAsker"];
  state: string | null;
  locale: "de" | "en";
};

type Sentence = string | readonly [key: string, values: Record<string, string | number>];

/** The response to a data access request with what Art. 15 (1) GDPR requires. */
export function writeLetter(
  data: PersonData,
  { school, recipients, fullName, askedBy, state, locale }: LetterOptions,
  words: Omit<Words, "names">,
): Letter {
  const { t, times } = words;
  const { address } = school;
  const sender = [
    school.name,
    ...(address === null
      ? []
      : [address.address, address.addressAddition ?? "", `${address.zipCode} ${address.city}`].filter(Boolean)),
  ];
  const named = [...data.person.schools, school, ...data.person.groups, ...data.apps.flatMap(({ schools }) => schools)];
  const names = new Map([
    ...named.map(({ id, name }): [string, string] => [id, name]),
    ...[...data.apps, ...recipients].map(({ clientId, name }): [string, string] => [clientId, name]),
  ]);
  const request = t(`letter.opening.${askedBy}`, { name: fullName });
  const isStaff = data.staffRoles.length > 0;
  const authority = state === null ? t("letter.authority") : t("letter.authorityOf", { state });
  const section = (name: string, sentences: readonly (Sentence | false)[], more: string[] = []): Section => {
    const said = sentences
      .filter((one) => one !== false)
      .map((one) => (typeof one === "string" ? ([one] as const) : one));
    const lines = said.map(([key, values]) => t(`letter.${name}.${key}`, values));
    return { heading: t(`letter.${name}.heading`), lines: [...lines, ...more] };
  };
  const described = data.apps.map((app) => {
    const known = recipients.find(({ clientId }) => clientId === app.clientId);
    return describeRecipient(app, { known, locale, t });
  });
  const { leftMonths, deletedPersonDays, auditDays, eventDays, deliveryDays, recordDays } = data.retention;
  return {
    title: t("data.documentTitle"),
    sender,
    recipient: askedBy === "PERSON" ? [fullName] : t(`letter.to.${askedBy}`, { name: fullName }).split("\n"),
    place: [address?.city, times.day(data.madeAt)].filter(Boolean).join(", "),
    opening: [
      [request, t("letter.about", { at: times.time(data.madeAt), school: school.name })].join(" "),
      ...(data.isComplete ? [] : [t("data.incomplete")]),
    ],
    sections: [
      section("purposes", ["school", "signIn", "apps", isStaff && "staff", "security"]),
      section("categories", ["master", "login", "usage", isStaff && "staff", "origin"]),
      section("recipients", ["operator", data.apps.length === 0 ? "none" : "apps"], described),
      section("periods", [
        ["person", { count: deletedPersonDays }],
        leftMonths > 0 && ["left", { count: leftMonths }],
        ["audit", { count: auditDays }],
        ["events", { count: eventDays, deliveries: deliveryDays }],
        ["records", { count: recordDays }],
        "login",
      ]),
      section("rights", ["rectification", "objection", "copy", ["complaint", { authority }], "automated"]),
    ],
    dataHeading: t("letter.data"),
    data: listSections(data, { ...words, names }),
  };
}

function describeRecipient(
  app: AdminSchemas["AppOfPerson"],
  { known, locale, t }: { known: Recipient | undefined; locale: "de" | "en"; t: Words["t"] },
): string {
  const attributes = app.attributes.map((name) => t(`personAttribute.${name}`)).join(", ");
  const purpose = known?.purpose[locale] ?? known?.purpose.de ?? known?.purpose.en;
  return [
    known?.provider ? t("letter.recipients.app", { app: app.name, provider: known.provider }) : `${app.name}.`,
    t("letter.recipients.purpose", { purpose: purpose ?? t("letter.recipients.noPurpose") }),
    t("letter.recipients.data", { attributes: attributes || t("frame.disclosures.nothing") }),
    ...(known?.privacyUrl ? [t("letter.recipients.privacy", { url: known.privacyUrl })] : []),
  ].join(" ");
}
