import { Refused, unwrap, type Redirect, type PageView, type PageRequest } from "../frame/index.ts";
import { addressOf, appPath, readApp, showAppPage } from "./app-page.ts";

const dayInSeconds = 86_400;
/** Days for which the present secret stays valid; 0 for a leaked one. */
const overlaps = [0, 1, 7, 30, 90] as const;

export async function showSecret(request: PageRequest): Promise<PageView> {
  return showAppPage(request, {
    app: await readApp(request),
    page: "secret",
    view: "secret",
    model: { overlaps, made: null, chosen: Number(request.field("days") || 1) },
  });
}

export async function rotateSecret(request: PageRequest): Promise<PageView> {
  const { api, field, idempotencyKey } = request;
  const days = overlaps.find((one) => String(one) === field("days")) ?? 1;
  const made = await unwrap(
    api.POST("/admin/v1/apps/{clientId}/secret", {
      params: { path: appPath(request), header: { "Idempotency-Key": idempotencyKey } },
      body: { keepOldSeconds: days * dayInSeconds },
    }),
  );
  return showAppPage(request, {
    app: await readApp(request),
    page: "secret",
    view: "secret",
    model: { overlaps, made, chosen: 1 },
  });
}

export async function endOldSecret(request: PageRequest): Promise<Redirect> {
  const call = request.api.DELETE("/admin/v1/apps/{clientId}/old-secret", { params: { path: appPath(request) } });
  await unwrap(call).catch((error: unknown) => {
    // The form was sent twice, or the old secret has expired.
    if (!(error instanceof Refused) || error.code !== "old_secret_not_found") throw error;
  });
  return { to: `${addressOf(request)}/secret`, done: "oldSecretEnded" };
}
