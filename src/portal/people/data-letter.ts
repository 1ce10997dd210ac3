import type { AdminSchemas } from "../../admin/index.ts";
import { listSections, type PersonData, type Section, type Words } from "./data-sections.ts";

type School = AdminSchemas["AdminSchool"];
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
  school: School;
  recipients: readonly Recipient[];
  fullName: string;
  askedBy: AdminSchemas["DataRequestAsker"];
  locale: "de" | "en";
};

/** The response to a data access request with what Art. 15 (1) GDPR requires. */
export function writeLetter(
  data: PersonData,
  { school, recipients, fullName, askedBy, locale }: LetterOptions,
  words: Omit<Words, "names">,
): Letter {
  const { t, times } = words;
  const { address, location } = school;
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
  const state = location?.country === "DE" ? location.state : null;
  const authority =
    state === null ? t("letter.authority") : t("letter.authorityOf", { state: t(`frame.state.${state}`) });
  const section = (name: string, lines: string[]): Section => ({ heading: t(`letter.${name}.heading`), lines });
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
      section("purposes", [
        t("letter.purposes.school"),
        t("letter.purposes.signIn"),
        t("letter.purposes.apps"),
        ...(isStaff ? [t("letter.purposes.staff")] : []),
        t("letter.purposes.security"),
      ]),
      section("categories", [
        t("letter.categories.master"),
        t("letter.categories.login"),
        t("letter.categories.usage"),
        ...(isStaff ? [t("letter.categories.staff")] : []),
        t("letter.categories.origin"),
      ]),
      section("recipients", [
        t("letter.recipients.operator"),
        ...(data.apps.length === 0 ? [t("letter.recipients.none")] : [t("letter.recipients.apps")]),
        ...data.apps.map((app) => {
          const known = recipients.find(({ clientId }) => clientId === app.clientId);
          return describeRecipient(app, { known, locale, t });
        }),
      ]),
      section("periods", [
        t("letter.periods.person", { count: deletedPersonDays }),
        ...(leftMonths > 0 ? [t("letter.periods.left", { count: leftMonths })] : []),
        t("letter.periods.audit", { count: auditDays }),
        t("letter.periods.events", { count: eventDays, deliveries: deliveryDays }),
        t("letter.periods.records", { count: recordDays }),
        t("letter.periods.login"),
      ]),
      section("rights", [
        t("letter.rights.rectification"),
        t("letter.rights.objection"),
        t("letter.rights.copy"),
        t("letter.rights.complaint", { authority }),
        t("letter.rights.automated"),
      ]),
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
