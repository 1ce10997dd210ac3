import { makeTranslator } from "../../platform/pages/index.ts";
import type { Schemas } from "../handler.ts";
import type { PrintedDocument } from "./draw.ts";
import german from "./locales/de.json" with { type: "json" };
import english from "./locales/en.json" with { type: "json" };

export const receiptTexts = makeTranslator({ de: german, en: english });

type Item = Schemas["AppAttribute"] | Schemas["AppScope"];

export function describeReceipt(
  { receipt, schoolName, agreement }: Schemas["AgreementProof"],
  { language, now }: { language: "de" | "en"; now: Date },
): PrintedDocument {
  const t = receiptTexts(language);
  const { appName, provider } = receipt;
  const timeZone = "Europe/Berlin";
  const time = new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short", timeZone });
  const day = new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone });
  const at = (text: string) => time.format(new Date(text));
  const nameRole = (role: string) => t(`role.${role}`);
  const nameItem = (item: Item) => t(`item.${item}`);
  const who = ({ name, role }: Schemas["AgreementActor"]) => `${name ?? t("unnamed")} (${nameRole(role)})`;
  const inWords = ({ de, en }: Schemas["AppText"]) => (language === "de" ? (de ?? en) : (en ?? de)) ?? t("none");
  const list = (items: readonly Item[]) => (items.length === 0 ? [t("none")] : [items.map(nameItem).join(", ")]);
  const describeNeed = (item: Item, { isRequired, purpose }: { isRequired: boolean; purpose: Schemas["AppText"] }) =>
    `${nameItem(item)} (${t(isRequired ? "need.required" : "need.optional")}): ${inWords(purpose)}`;
  const state =
    receipt.withdrawnAt !== null && receipt.withdrawnBy !== undefined
      ? t("withdrawn", { at: at(receipt.withdrawnAt), who: who(receipt.withdrawnBy) })
      : receipt.replacedAt !== null
        ? t("replaced", { at: at(receipt.replacedAt) })
        : t("inForce");
  return {
    language,
    now,
    title: t("title"),
    lead: t("lead", { school: schoolName, app: appName }),
    footer: t("footer", { id: receipt.id }),
    sections: [
      {
        heading: t("heading.agreement"),
        lines: [
          provider === null ? t("app", { name: appName }) : t("appOfProvider", { name: appName, provider }),
          t("version", { version: receipt.version, date: day.format(new Date(agreement.publishedAt!)) }),
          t("sha256", { hash: receipt.sha256 }),
        ],
      },
      {
        heading: t("heading.acceptance"),
        lines: [t("accepted", { at: at(receipt.acceptedAt), who: who(receipt.acceptedBy) }), state],
      },
      { heading: t("heading.given"), lines: list([...receipt.attributes, ...receipt.scopes]) },
      { heading: t("heading.withheld"), lines: list(receipt.withheld) },
      {
        heading: t("heading.purposes"),
        lines: [
          ...agreement.attributes.map(({ attribute, ...need }) => describeNeed(attribute, need)),
          ...agreement.scopes.map(({ scope, ...need }) => describeNeed(scope, need)),
        ],
      },
      { heading: t("heading.deletion"), lines: inWords(agreement.deletionPeriods).split("\n") },
      {
        heading: t("heading.subprocessors"),
        lines:
          agreement.subprocessors.length === 0
            ? [t("none")]
            : agreement.subprocessors.map(({ name, country, purpose }) => `${name} (${country}): ${purpose}`),
      },
      { heading: t("heading.text"), lines: agreement.text === null ? [t("pdf")] : agreement.text.split("\n") },
    ],
  };
}
