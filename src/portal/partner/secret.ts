import { Refused, take, type Gone, type Shown, type Visit } from "../frame/index.ts";
import { addressOf, appPath, readApp, refuseOtherApp, showAppPage } from "./place.ts";

const dayInSeconds = 86_400;
/** For how many days the present secret may stay valid; 0 for one that leaked. */
const overlaps = [0, 1, 7, 30, 90] as const;

export async function showSecret(visit: Visit): Promise<Shown> {
  return showAppPage(visit, {
    app: await readApp(visit),
    page: "secret",
    view: "secret",
    model: { overlaps, made: null, chosen: Number(visit.field("days") || 1) },
  });
}

/** Makes a new secret, which stands on the page that answers, and nowhere else. */
export async function rotateSecret(visit: Visit): Promise<Shown> {
  refuseOtherApp(visit);
  const { api, field, once } = visit;
  const days = overlaps.find((one) => String(one) === field("days")) ?? 1;
  const made = await take(
    api.POST("/admin/v1/apps/{clientId}/secret", {
      params: { path: appPath(visit), header: { "Idempotency-Key": once } },
      body: { keepOldSeconds: days * dayInSeconds },
    }),
  );
  return showAppPage(visit, {
    app: await readApp(visit),
    page: "secret",
    view: "secret",
    model: { overlaps, made, chosen: 1 },
  });
}

export async function endOldSecret(visit: Visit): Promise<Gone> {
  refuseOtherApp(visit);
  const call = visit.api.DELETE("/admin/v1/apps/{clientId}/old-secret", { params: { path: appPath(visit) } });
  await take(call).catch((error: unknown) => {
    // The same form came twice, or the old secret has ended by itself.
    if (!(error instanceof Refused) || error.code !== "old_secret_not_found") throw error;
  });
  return { to: `${addressOf(visit)}/secret`, done: "oldSecretEnded" };
}
