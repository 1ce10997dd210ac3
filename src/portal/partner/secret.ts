import { postAndRedirect, unwrap, type PageView, type PageRequest } from "../frame/index.ts";
import { addressOf, showAppPage } from "./app-page.ts";

const dayInSeconds = 86_400;
/** Days for which the present secret stays valid; 0 for a leaked one. */
const overlaps = [0, 1, 7, 30, 90] as const;

export async function showSecret(request: PageRequest): Promise<PageView> {
  const model = { overlaps, made: null, chosen: Number(request.field("days") || 1) };
  return showAppPage(request, { page: "secret", view: "secret", model });
}

export async function rotateSecret(request: PageRequest): Promise<PageView> {
  const { api, field, idempotencyKey } = request;
  const made = await unwrap(
    api.POST("/admin/v1/apps/{clientId}/secret", {
      params: { path: request.path, header: { "Idempotency-Key": idempotencyKey } },
      body: { keepOldSeconds: Number(field("days") || 1) * dayInSeconds },
    }),
  );
  return showAppPage(request, { page: "secret", view: "secret", model: { overlaps, made, chosen: 1 } });
}

export const endOldSecret = postAndRedirect(
  "oldSecretEnded",
  (request) => `${addressOf(request)}/secret`,
  ({ api, path }) => api.DELETE("/admin/v1/apps/{clientId}/old-secret", { params: { path } }),
  // Also if the old secret has expired.
  "old_secret_not_found",
);
