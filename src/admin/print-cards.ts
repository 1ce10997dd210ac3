import { findSchool, findSchoolLogo, type SchoolId } from "../directory/index.ts";
import { limitThreaded } from "../platform/threads/index.ts";
import { printUnknown, takePrint } from "../accounts/index.ts";
import { signInPath } from "../sign-on/index.ts";
import type { PrintedCard } from "./card-pdf/layout.ts";
import type { Print } from "./card-pdf/print.ts";
import { cardWords, type CardLanguage } from "./card-pdf/texts.ts";
import type { AdminHandler, Schemas } from "./handler.ts";
import { refuseOtherSchool, schoolUnknown } from "./reached.ts";

type MadeLoginCard = Schemas["MadeLoginCard"];
type Content = { schoolId: SchoolId; printsSecret: boolean; cards: MadeLoginCard[] };

const print = limitThreaded<Print, Uint8Array>({
  module: new URL("./card-pdf/print.ts", import.meta.url),
  seconds: 60,
});

export const printLoginCards: AdminHandler<"printLoginCards"> = async (deps, request) => {
  const { schoolId, cardPrintId, query, reach, origin, connection } = request;
  const language = query.language ?? "de";
  refuseOtherSchool(reach, schoolId);
  const school = await findSchool(deps.db, schoolId);
  if (school === null) throw schoolUnknown();
  const asked = { id: cardPrintId, caller: origin.actorId, now: origin.at };
  const body = await takePrint(deps.db, deps.keys, asked, async (content) => {
    const { printsSecret, cards, ...made } = content as Content;
    if (made.schoolId !== schoolId) throw printUnknown();
    const signInAddress = deps.issuerUrl.replace(/\/$/, "") + signInPath;
    const logo = await findSchoolLogo(deps.db, schoolId);
    const printed = cards.map((card) => presentPrinted(card, language));
    const job = { language, schoolName: school.name, signInAddress, printsSecret, cards: printed };
    return print({ job, logo: logo && logo.bytes, now: origin.at }, { by: origin.actorId, caller: connection });
  });
  const headers = { "Content-Disposition": `attachment; filename="${cardWords[language].file}"` };
  return { status: 200, body: Buffer.from(body), headers };
};

const presentPrinted = (card: MadeLoginCard, language: CardLanguage): PrintedCard => ({
  name: card.name && `${card.name.firstCall} ${card.name.last}`,
  className: card.className,
  username: card.username,
  password: card.password,
  url: card.url,
  secret: card.pin ?? (card.picture === null ? null : (cardWords[language].pictures[card.picture] ?? card.picture)),
});
