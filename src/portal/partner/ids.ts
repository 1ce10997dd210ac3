import type { AdminSchemas } from "../../admin/index.ts";
import { ifMatch, postAndRedirect, refuseField, unwrap, unwrapIfFound, type PageRequest } from "../frame/index.ts";
import type { PageView, Redirect } from "../frame/index.ts";
import { addressOf, readApp, showAppPage } from "./app-page.ts";
import { listIds, readIds } from "./list.ts";

const move = "/admin/v1/apps/{clientId}/id-move";
const idsAddress = (request: PageRequest): string => `${addressOf(request)}/ids`;

/** `preview` is what a move would do. */
async function show(request: PageRequest, preview: AdminSchemas["IdMovePreview"] | null): Promise<PageView> {
  const { api, path } = request;
  const app = await readApp(request);
  const found = await unwrapIfFound(api.GET(move, { params: { path } }));
  const choices = (await listIds(request)).filter(({ value }) => value !== "SHARED");
  return showAppPage(request, { app, page: "ids", view: "ids", model: { move: found, choices, preview } });
}

export const showIds = (request: PageRequest): Promise<PageView> => show(request, null);

function readWish({ field, times }: PageRequest): AdminSchemas["IdMoveInput"] {
  const { subjectType, sector } = readIds(field("ids"));
  const cutOverAt = field("cutOverOn") === "" ? null : times.startOf(field("cutOverOn"));
  const own = subjectType === "PARTNER" ? { subjectType, ...(sector !== undefined && { sector }) } : ownIds;
  return { ...own, cutOverAt };
}

const ownIds = { subjectType: "APP" as const };

export async function previewMove(request: PageRequest): Promise<PageView> {
  const { api, path } = request;
  const params = { path, query: { "dry-run": true } };
  const preview = await unwrap(api.POST(move, { params, body: readWish(request) }));
  return show(request, preview as AdminSchemas["IdMovePreview"]);
}

export async function startMove(request: PageRequest): Promise<Redirect> {
  const { api, path, idempotencyKey } = request;
  const params = { path, header: { "Idempotency-Key": idempotencyKey } };
  await unwrap(api.POST(move, { params, body: readWish(request) }));
  return { to: idsAddress(request), done: "idMoveStarted" };
}

export const setCutOver = postAndRedirect("cutOverSet", idsAddress, (request) => {
  const { api, path, field } = request;
  const { cutOverAt = null } = readWish(request);
  if (cutOverAt === null && field("cutOverOn") !== "") throw refuseField("cutOverAt", "day_missing");
  return api.PATCH(move, { params: { path, header: ifMatch(request) }, body: { cutOverAt } });
});

export async function cutOver(request: PageRequest): Promise<Redirect> {
  const { api, path, field } = request;
  if (field("confirmed") !== path.clientId) throw refuseField("confirmed", "client_id_not_confirmed");
  await unwrap(api.POST(`${move}/cut-over`, { params: { path } }));
  return { to: idsAddress(request), done: "idsCutOver" };
}

export const callOffMove = postAndRedirect("idMoveCalledOff", idsAddress, ({ api, path }) =>
  api.DELETE(move, { params: { path } }),
);
