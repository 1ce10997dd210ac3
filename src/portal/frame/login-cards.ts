import type { AdminSchemas } from "../../admin/index.ts";
import { unwrap, unwrapIfFound } from "./refused.ts";
import type { PageRequest } from "./page-request.ts";

type Card = AdminSchemas["LoginCard"];

const mostCards = 10;

/** The person's login cards at the page's school, latest first; none if the reader may not read them. */
export async function listLoginCards({ api, param }: PageRequest, personId: string): Promise<Card[]> {
  const params = { path: { schoolId: param("schoolId") }, query: { person: personId, limit: mostCards } };
  return (await unwrapIfFound(api.GET("/admin/v1/schools/{schoolId}/login-cards", { params }))) ?? [];
}

export async function revokeLoginCard({ api, param }: PageRequest): Promise<void> {
  const path = { schoolId: param("schoolId"), loginCardId: param("cardId") };
  await unwrap(api.DELETE("/admin/v1/schools/{schoolId}/login-cards/{loginCardId}", { params: { path } }));
}
