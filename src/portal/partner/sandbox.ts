import type { AdminSchemas } from "../../admin/index.ts";
import { take, takePage, type Gone, type Shown, type Visit } from "../frame/index.ts";
import { addressOf, appPath, clientIdOf, readApp, refuseOtherApp, showAppPage } from "./place.ts";

/** Shape: `made` is a sandbox that this request made, whose passwords stand on this page and nowhere else. */
async function show(visit: Visit, made: AdminSchemas["CreatedSandbox"] | null): Promise<Shown> {
  const query = { app: clientIdOf(visit), limit: 10 };
  const [app, { items }] = await Promise.all([
    readApp(visit),
    takePage(visit.api.GET("/admin/v1/sandboxes", { params: { query } })),
  ]);
  return showAppPage(visit, { app, page: "sandbox", view: "sandbox", model: { sandboxes: items, made } });
}

export async function showSandboxes(visit: Visit): Promise<Shown> {
  refuseOtherApp(visit);
  return show(visit, null);
}

export async function createSandbox(visit: Visit): Promise<Shown> {
  refuseOtherApp(visit);
  const params = { path: appPath(visit), header: { "Idempotency-Key": visit.once } };
  return show(visit, await take(visit.api.POST("/admin/v1/apps/{clientId}/sandboxes", { params })));
}

type StepName = AdminSchemas["SandboxStepName"];

/** Plays up to the step that the button names; the API refuses a name that is none. */
export async function playSandbox(visit: Visit): Promise<Gone> {
  refuseOtherApp(visit);
  const path = { sandboxId: visit.part("sandboxId") };
  const body = { upTo: visit.field("step") as StepName };
  await take(visit.api.POST("/admin/v1/sandboxes/{sandboxId}/steps", { params: { path }, body }));
  return { to: `${addressOf(visit)}/sandbox`, done: "sandboxPlayed" };
}

export async function deleteSandbox(visit: Visit): Promise<Gone> {
  refuseOtherApp(visit);
  const path = { sandboxId: visit.part("sandboxId") };
  await take(visit.api.DELETE("/admin/v1/sandboxes/{sandboxId}", { params: { path } }));
  return { to: `${addressOf(visit)}/sandbox`, done: "sandboxDeleted" };
}
