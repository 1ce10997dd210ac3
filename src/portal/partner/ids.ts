import type { AdminSchemas } from "../../admin/index.ts";
import { refuseField, type PageRequest } from "../frame/index.ts";
import { app, showAppPage } from "./app-page.ts";
import { listIds, readIds } from "./list.ts";

export const page = `${app}/ids`;

/** `preview` is what a move would do. */
export async function showIds(request: PageRequest, preview: AdminSchemas["IdMovePreview"] | null = null) {
  const { call, find } = request;
  const [read, move, ids] = [await call("getApp"), await find("getIdMove"), await listIds(request)];
  const model = { move, choices: ids.filter(({ value }) => value !== "SHARED"), preview };
  return showAppPage(request, { app: read, page: "ids", view: "ids", model });
}

export function readMove({ field, times }: PageRequest): AdminSchemas["IdMoveInput"] {
  const { subjectType, sector } = readIds(field("ids"));
  const cutOverAt = field("cutOverOn") === "" ? null : times.startOf(field("cutOverOn"));
  if (subjectType !== "PARTNER") return { subjectType: "APP", cutOverAt };
  return { subjectType, ...(sector !== undefined && { sector }), cutOverAt };
}

export async function previewMove(request: PageRequest) {
  const preview = await request.call("createIdMove", { query: { "dry-run": true }, body: readMove(request) });
  return showIds(request, preview as AdminSchemas["IdMovePreview"]);
}

/** Errors: Refused day_missing. */
export function readCutOver(request: PageRequest): AdminSchemas["IdMoveUpdate"] {
  const { cutOverAt = null } = readMove(request);
  if (cutOverAt === null && request.field("cutOverOn") !== "") throw refuseField("cutOverAt", "day_missing");
  return { cutOverAt };
}
