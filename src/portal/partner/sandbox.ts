import type { AdminSchemas } from "../../admin/index.ts";
import { postAndRedirect, unwrap, unwrapPage, type PageView, type PageRequest } from "../frame/index.ts";
import { addressOf, showAppPage } from "./app-page.ts";

/** `made` is a new sandbox, whose passwords are shown once. */
async function show(request: PageRequest, made: AdminSchemas["CreatedSandbox"] | null): Promise<PageView> {
  const query = { app: request.path.clientId, limit: 10 };
  const { items } = await unwrapPage(request.api.GET("/admin/v1/sandboxes", { params: { query } }));
  return showAppPage(request, { page: "sandbox", view: "sandbox", model: { sandboxes: items, made } });
}

export const showSandboxes = (request: PageRequest): Promise<PageView> => show(request, null);

export async function createSandbox(request: PageRequest): Promise<PageView> {
  const params = { path: request.path, header: { "Idempotency-Key": request.idempotencyKey } };
  return show(request, await unwrap(request.api.POST("/admin/v1/apps/{clientId}/sandboxes", { params })));
}

type StepName = AdminSchemas["SandboxStepName"];

const sandbox = "/admin/v1/sandboxes/{sandboxId}";
const sandboxAddress = (request: PageRequest): string => `${addressOf(request)}/sandbox`;

/** Runs the steps up to the selected one. The API validates the name. */
export const playSandbox = postAndRedirect("sandboxPlayed", sandboxAddress, ({ api, path, field }) =>
  api.POST(`${sandbox}/steps`, { params: { path }, body: { upTo: field("step") as StepName } }),
);

export const deleteSandbox = postAndRedirect("sandboxDeleted", sandboxAddress, ({ api, path }) =>
  api.DELETE(sandbox, { params: { path } }),
);
