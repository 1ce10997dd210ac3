import { findSchool, findSchoolLogo, type SchoolId } from "../../directory/index.ts";
import { limitThreaded } from "../../platform/threads/index.ts";
import { findParentLetter, printUnknown, takePrint } from "../../accounts/index.ts";
import { signInPath } from "../../sign-on/index.ts";
import type { CardSkipReason } from "./card-holders.ts";
import type { Print } from "../card-pdf/draw.ts";
import type { PrintedCard } from "../card-pdf/layout.ts";
import { cardTexts, type CardLanguage } from "../card-pdf/texts.ts";
import type { MadeLoginCard } from "./give-credentials.ts";
import type { AdminDeps, AdminHandler, AdminRequest, Schemas } from "../handler.ts";
import { schoolUnknown } from "../reached.ts";

const print = limitThreaded<Print, Uint8Array>({
  module: new URL("./card-pdf/draw.ts", import.meta.url),
  seconds: 300,
});

export type LeftOut = { name: Schemas["PersonName"]; className: string | null; reason: CardSkipReason };

/** What a document shows; people who are left out are listed at its end. */
export type Printable = {
  printsSecret: boolean;
  withLetters?: boolean;
  cards: readonly MadeLoginCard[];
  leftOut?: readonly LeftOut[];
};

type Asked = Pick<AdminRequest<"printLoginCards">, "schoolId" | "query" | "origin" | "connection">;

export async function printCards(
  deps: Pick<AdminDeps, "db" | "issuerUrl">,
  { schoolId, query, origin, connection }: Asked,
  { printsSecret, withLetters = false, cards, leftOut = [] }: Printable,
): Promise<Buffer> {
  const language = query.language ?? "de";
  const school = await findSchool(deps.db, schoolId);
  if (school === null) throw schoolUnknown();
  const t = cardTexts(language);
  const job = {
    language,
    schoolName: school.name,
    signInAddress: deps.issuerUrl.replace(/\/$/, "") + signInPath,
    printsSecret,
    letter: withLetters ? ((await findParentLetter(deps.db, schoolId)) ?? t("letter")) : null,
    cards: cards.map((card) => presentPrinted(card, language)),
    leftOut: leftOut.map(({ name, className, reason }) => {
      return { name: fullName(name) ?? t("nameless"), className, reason: t(`reason.${reason}`) };
    }),
  };
  const logo = await findSchoolLogo(deps.db, schoolId);
  const given = { job, logo: logo && logo.bytes, now: origin.at };
  return Buffer.from(await print(given, { by: origin.actorId, caller: connection }));
}

export const attachmentOf = (language: CardLanguage = "de", type: "pdf" | "csv" = "pdf") => ({
  "Content-Disposition": `attachment; filename="${cardTexts(language)("file")}.${type}"`,
});

export const printLoginCards: AdminHandler<"printLoginCards"> = async (deps, request) => {
  const { schoolId, cardPrintId, query, origin } = request;
  const asked = { id: cardPrintId, caller: origin.actorId, now: origin.at };
  const body = await takePrint(deps.db, deps.keys, asked, async (kept) => {
    const content = kept as Printable & { schoolId: SchoolId };
    if (content.schoolId !== schoolId) throw printUnknown();
    return printCards(deps, request, content);
  });
  return { status: 200, body, headers: attachmentOf(query.language) };
};

export const fullName = (name: Schemas["PersonName"]): string | null => name && `${name.firstCall} ${name.last}`;

const presentPrinted = (card: MadeLoginCard, language: CardLanguage): PrintedCard => ({
  name: fullName(card.name),
  className: card.className,
  username: card.username,
  password: card.password,
  url: card.url,
  secret: card.pin ?? (card.picture && cardTexts(language)(`picture.${card.picture}`)),
});
