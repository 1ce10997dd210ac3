import type { PersonId, SchoolId } from "../../directory/index.ts";
import type { Origin } from "../../events/index.ts";
import { present } from "../../platform/contract-types.ts";
import type { Transaction } from "../../platform/database/db.ts";
import { isCardGrade, setSecretsIn, type CardSettings, type MadeCard, type Prepared } from "../../accounts/index.ts";
import type { CardHolder } from "./card-holders.ts";
import type { Schemas } from "../handler.ts";

export type MadeLoginCard = Schemas["MadeLoginCard"];

type Given = { settings: CardSettings; prepared: ReadonlyMap<PersonId, Prepared> };
type Giving = Given & { schoolId: SchoolId; mustChange: boolean; groupIds: readonly string[] | null; origin: Origin };

/** The holder's card only if cards work for their grade. */
const cardOf = ({ personId, grade }: CardHolder, { settings, prepared }: Given): MadeCard | null =>
  isCardGrade(settings, grade) ? prepared.get(personId)!.card : null;

/** Sets what was prepared for people who have user names and whom the caller locked; `groupIds` as it was asked. */
export async function giveCredentials(
  tx: Transaction,
  holders: readonly CardHolder[],
  { schoolId, mustChange, groupIds, origin, ...given }: Giving,
): Promise<void> {
  const people = holders.map((holder) => {
    const { personId } = holder;
    return { personId, passwordHash: given.prepared.get(personId)!.passwordHash, card: cardOf(holder, given) };
  });
  await setSecretsIn(tx, { schoolId, people, mustChange, groupIds }, origin);
}

export function presentMade(holder: CardHolder, given: Given): MadeLoginCard {
  const { personId, name, className, username } = holder;
  const card = cardOf(holder, given);
  return present<MadeLoginCard>({
    personId,
    name,
    className,
    username: username!,
    password: given.prepared.get(personId)!.password,
    cardId: card?.id ?? null,
    url: card?.url ?? null,
    secondStep: card?.secondStep ?? "NONE",
    pin: card?.secondStep === "PIN" ? card.answer : null,
    picture: card?.secondStep === "PICTURE" ? card.answer : null,
  });
}
