import type { AdminSchemas } from "../../admin/index.ts";
import { unwrapIfFound } from "./refused.ts";
import type { PageRequest } from "./page-request.ts";

const mostCards = 10;

/** Whether the school uses QR codes. */
export async function findHasCards({ api, path }: PageRequest): Promise<boolean> {
  const settings = await unwrapIfFound(api.GET("/admin/v1/schools/{schoolId}/card-settings", { params: { path } }));
  return settings?.enabled ?? true;
}

/** The person's login cards at the page's school, latest first; none if the reader may not read them. */
export async function listLoginCards({ api, path }: PageRequest): Promise<AdminSchemas["LoginCard"][]> {
  const params = { path, query: { person: path.personId, limit: mostCards } };
  return (await unwrapIfFound(api.GET("/admin/v1/schools/{schoolId}/login-cards", { params }))) ?? [];
}

export const revokeLoginCard = ({ api, path, param }: PageRequest) =>
  api.DELETE("/admin/v1/schools/{schoolId}/login-cards/{loginCardId}", {
    params: { path: { ...path, loginCardId: param("cardId") } },
  });
