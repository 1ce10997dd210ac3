import type { AdminSchemas } from "../../admin/index.ts";
import { take, takeIfThere } from "./refused.ts";
import type { Visit } from "./visit.ts";

type Card = AdminSchemas["LoginCard"];

const mostCards = 10;

/**
 * The login cards of a person at the school of the page, the latest first, for the template `login-cards`.
 *
 * Shape: none for somebody whose cards the reader does not reach.
 */
export async function listLoginCards({ api, part }: Visit, personId: string): Promise<Card[]> {
  const params = { path: { schoolId: part("schoolId") }, query: { person: personId, limit: mostCards } };
  return (await takeIfThere(api.GET("/admin/v1/schools/{schoolId}/login-cards", { params }))) ?? [];
}

/** Ends the card that the address names. */
export async function revokeLoginCard({ api, part }: Visit): Promise<void> {
  const path = { schoolId: part("schoolId"), loginCardId: part("cardId") };
  await take(api.DELETE("/admin/v1/schools/{schoolId}/login-cards/{loginCardId}", { params: { path } }));
}
