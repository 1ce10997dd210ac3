import type { AdminSchemas } from "../../admin/index.ts";
import { unwrap, unwrapPage, type Redirect, type PageView, type PageRequest } from "../frame/index.ts";
import { addressOf, appPath, clientIdOf, readApp, showAppPage } from "./app-page.ts";

/** `made` is a new sandbox, whose passwords are shown once. */
async function show(request: PageRequest, made: AdminSchemas["CreatedSandbox"] | null): Promise<PageView> {
  const query = { app: clientIdOf(request), limit: 10 };
  const [app, { items }] = await Promise.all([
    readApp(request),
    unwrapPage(request.api.GET("/admin/v1/sandboxes", { params: { query } })),
  ]);
  return showAppPage(request, { app, page: "sandbox", view: "sandbox", model: { sandboxes: items, made } });
}

export const showSandboxes = (request: PageRequest): Promise<PageView> => show(request, null);

export async function createSandbox(request: PageRequest): Promise<PageView> {
  const params = { path: appPath(request), header: { "Idempotency-Key": request.idempotencyKey } };
  return show(request, await unwrap(request.api.POST("/admin/v1/apps/{clientId}/sandboxes", { params })));
}

type StepName = AdminSchemas["SandboxStepName"];

/** Runs the steps up to the selected one. The API validates the name. */
export async function playSandbox(request: PageRequest): Promise<Redirect> {
  const path = { sandboxId: request.param("sandboxId") };
  const body = { upTo: request.field("step") as StepName };
  await unwrap(request.api.POST("/admin/v1/sandboxes/{sandboxId}/steps", { params: { path }, body }));
  return { to: `${addressOf(request)}/sandbox`, done: "sandboxPlayed" };
}

export async function deleteSandbox(request: PageRequest): Promise<Redirect> {
  const path = { sandboxId: request.param("sandboxId") };
  await unwrap(request.api.DELETE("/admin/v1/sandboxes/{sandboxId}", { params: { path } }));
  return { to: `${addressOf(request)}/sandbox`, done: "sandboxDeleted" };
}
